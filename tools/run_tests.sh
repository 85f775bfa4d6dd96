#!/bin/sh
# Runs pytest: tools/run_tests.sh WORKERS [argument of pytest]...
#
# Real servers, kills and concurrent writers share two cores, and a busy machine may starve one of
# them: up to three tests that fail are run once more, by themselves, and must pass then. Both
# results stay in the output.
set -u
workers=$1
shift
# Several runs may go on beside each other.
cache=.pytest_cache/$$
failed=$cache/v/cache/lastfailed
# Hundreds of processes are started, which would compile what is not compiled yet.
unset PYTHONDONTWRITEBYTECODE

# What tests write outlives no machine, so it need not reach a disk: a commit there takes longer
# than everything else that most tests do.
room=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
if [ "${room:-0}" -gt 4000000 ]; then
    TMPDIR=$(mktemp -d /dev/shm/recollect-XXXXXX)
    # A database server runs as a user of its own.
    chmod 755 "$TMPDIR"
    export TMPDIR
fi

run() { .venv/bin/pytest -o cache_dir="$cache" "$@"; }

finish() {
    rm -rf "$cache"
    case ${TMPDIR:-} in /dev/shm/recollect-*) rm -rf "$TMPDIR" ;; esac
    exit "$1"
}
trap 'finish 130' INT TERM

run -n "$workers" --dist worksteal "$@"
status=$?
if [ $status -eq 1 ] && [ -f "$failed" ] && [ "$(grep -c ': true' "$failed")" -le 3 ]; then
    echo "Running what failed once more, by itself:"
    run --last-failed --last-failed-no-failures none "$@"
    status=$?
fi
finish $status
