#!/bin/sh
# Sends generated requests to a real server and checks every answer against docs/openapi.json.
# schemathesis has an environment of its own: what it needs must not decide what we need.
set -eu
cd "$(dirname "$0")/.."
uv=.tools/bin/uv
place=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$place"' EXIT
# One client sends more than any agent would, so its limit is out of the way.
RECOLLECT_EMBEDDING__MODEL=none RECOLLECT_WRITING__JUDGE=rules \
    RECOLLECT_SERVER__REQUESTS_PER_MINUTE=1000000 \
    .venv/bin/recollect serve --port 0 --json --data "$place/api.db" > "$place/started" &
server=$!
while [ ! -s "$place/started" ]; do sleep 0.2; done
address=$(.venv/bin/python -c 'import json, sys; print(json.load(sys.stdin)["address"])' < "$place/started")
# Streams never end, draining waits for others, imports take files, and after the first key nobody
# gets in without one; the rest of the API is asked everything. Made-up keys would be locked out.
"$uv" tool run 'schemathesis>=4' run docs/openapi.json --url "$address" \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    --exclude-operation-id stream_events --exclude-operation-id stream_workspace_events \
    --exclude-operation-id drain_jobs \
    --exclude-operation-id create_key --exclude-operation-id forget \
    --exclude-operation-id import_memory --exclude-operation-id import_chat \
    --generation-with-security-parameters false \
    --max-examples "${EXAMPLES:-20}" --request-timeout 30 "$@"
