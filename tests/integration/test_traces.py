"""OpenTelemetry traces: sent to the collector that is named, without what is remembered."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.processes import RECOLLECT, Child


@contextmanager
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """Give the address of a collector, and what was sent to it."""
    received: list[bytes] = []

    class Collecting(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Collecting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", received
        server.shutdown()


def test_a_collector_gets_the_spans_of_requests_and_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_model: None
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    with collector() as (endpoint, received):
        environment = {**os.environ, "RECOLLECT_SERVER__TRACES_ENDPOINT": endpoint}
        command = [*RECOLLECT, "--data", str(tmp_path / "memory.db"), "serve", "--port", "0"]
        with Child(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            assert found is not None
            with httpx.Client(base_url=found[0], timeout=60) as client:
                client.post("/v1/records?user=ann", json={"content": "Ann keeps a heron"})
                client.post("/v1/recall?user=ann", json={"query": "which heron?"})
                client.get("/v1/records?user=ann&tags=heronry")
            server.terminate()
    spans = [
        span
        for body in received
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    names = {span.name for span in spans}
    assert {"POST /v1/records", "POST /v1/recall", "GET /v1/records"} <= names
    assert "heron" not in str(spans)
    assert "embed" in names
