"""A server of several processes: whichever answers, the answer is the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.database_servers import Running
from tests.processes import RECOLLECT

_WORKERS = 2


class Served:
    """A server in processes of its own."""

    def __init__(self, place: str, home: Path) -> None:
        environment = {**os.environ, "HOME": str(home), "RECOLLECT_EMBEDDING__MODEL": "none"}
        command = [*RECOLLECT, "serve", "--port", "0", "--workers", str(_WORKERS)]
        self._process = subprocess.Popen(
            [*command, "--data", place, "--json"], stdout=subprocess.PIPE, env=environment
        )
        assert self._process.stdout is not None
        self.address = json.loads(self._process.stdout.readline())["address"]

    @property
    def workers(self) -> list[int]:
        """The processes that answer; one more looks after what they share."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        found = [int(it) for it in children.read_text().split()]
        return [it for it in found if b"spawn_main" in Path(f"/proc/{it}/cmdline").read_bytes()]

    def ask(self, verb: str, route: str, **given: object) -> httpx.Response:
        """Ask over a new connection, so that any of the processes may take it."""
        return httpx.request(verb, f"{self.address}/v1/{route}", timeout=240, **given)

    def stop(self) -> int:
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(60)

    def kill(self) -> None:
        self._process.kill()
        # Its end closes the pipe as soon as nobody writes there any more, the workers neither.
        self._process.communicate(timeout=60)


# Its processes import everything anew, which takes longer than what they are asked.
@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("served")
    path = home / "memory.db"
    server = Running.server
    serving = Served(str(path) if server is None else server.url_for(path), home)
    yield serving
    serving.kill()


def test_whichever_process_answers_knows_what_the_others_were_told(served: Served):
    headers = {"Idempotency-Key": "one"}

    def save(number: int) -> httpx.Response:
        return served.ask("POST", "records", json={"content": f"note {number} about harbours"})

    def save_once(_: int) -> httpx.Response:
        body = {"content": "saved once however often it is asked"}
        return served.ask("POST", "records", json=body, headers=headers)

    with ThreadPoolExecutor(8) as asking:
        saved = list(asking.map(save, range(24)))
        once = list(asking.map(save_once, range(8)))
    assert {it.status_code for it in (*saved, *once)} <= {200, 201}
    assert len({it.json()["id"] for it in once}) == 1
    for answer in saved:
        record = answer.json()
        assert served.ask("GET", f"records/{record['id']}").json()["content"] == record["content"]


@pytest.mark.sqlite(reason="who looks after processes knows no database")
def test_a_process_that_dies_is_replaced_and_nobody_waits_for_it(served: Served):
    assert served.ask("POST", "records", json={"content": "kept"}).is_success
    ends = time.monotonic() + 240
    while len(before := served.workers) < _WORKERS:
        assert time.monotonic() < ends
        time.sleep(0.1)
    os.kill(before[0], signal.SIGKILL)
    while len(served.workers) < _WORKERS or before[0] in served.workers:
        assert time.monotonic() < ends
        time.sleep(0.1)
    answer = served.ask("POST", "recall", json={"query": "what is kept?"})
    assert answer.is_success, answer.text
    assert served.stop() == 0
