"""Several processes write to one server, and some of them are killed in the midst of it."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable
from pathlib import Path

import pytest

from recollect import Memory
from recollect.errors import NotFound
from recollect.settings import Settings
from tests.database_servers import Server, kind_of
from tests.nursery import WARM
from tests.reports import write_report

pytestmark = pytest.mark.server

_PROGRAM = Path(__file__).with_name("writing_process.py")
_PROGRAMS = 4


class Writers:
    """Processes that write; what each has told lies in a file of its own."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []
        self._started = 0

    def start(self) -> None:
        self._started += 1
        with (self._folder / f"{self._started}.txt").open("wb") as told:
            self._running.append(
                subprocess.Popen(
                    [WARM, _PROGRAM, self._url, self._folder, str(self._started)],
                    stdout=told,
                    stderr=subprocess.STDOUT,
                )
            )

    def kill_one(self) -> None:
        killed = self._running.pop(0)
        assert killed.poll() is None, "it ended by itself: " + self.told()[-500:]
        killed.kill()
        killed.wait()

    def wait_until_all_write(self) -> None:
        ends = time.monotonic() + 120
        while self.told().count("\nsaved") < _PROGRAMS * 2 or time.monotonic() > ends:
            assert time.monotonic() < ends, self.told()[-2_000:]
            time.sleep(0.2)

    def end(self) -> None:
        while self._running:
            self.kill_one()

    def told(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self._folder.glob("*.txt")))

    def acknowledged(self, kind: str) -> list[tuple[str, str]]:
        """Return where and what; the last line of a killed process may be cut short."""
        found: list[tuple[str, str]] = []
        for path in sorted(self._folder.glob("*.txt")):
            whole = path.read_text().rpartition("\n")[0]
            for line in whole.splitlines():
                word, _, rest = line.partition(" ")
                assert word in ("ready", "saved", "said", "ran"), line
                if word == kind:
                    place, _, ident = rest.rpartition(" ")
                    found.append((place, ident))
        return found


async def _live(
    server: Server, tmp_path: Path, seconds: float, kill_after: float
) -> dict[str, int]:
    """Write, kill and check; return how much was acknowledged, lost and done twice."""
    url = server.url_for(tmp_path / "any.db")
    folder = tmp_path / "told"
    folder.mkdir()
    writers = Writers(url, folder)
    for _ in range(_PROGRAMS):
        writers.start()
    writers.wait_until_all_write()
    ends = time.monotonic() + seconds
    kills = 0
    while time.monotonic() < ends:
        await asyncio.sleep(kill_after)
        kills += 1
        writers.kill_one()
        writers.start()
    writers.end()
    settings = Settings.load({"storage": {"url": url}, "data_dir": folder})
    async with Memory.open(settings) as memory:
        saved, said = writers.acknowledged("saved"), writers.acknowledged("said")
        assert len(saved) >= 2 * _PROGRAMS
        lost = 0
        for place, ident in saved:
            lost += not await _is_there(memory.scope(user=place).get(ident))
        for place, ident in said:
            lost += not await _is_there(memory.scope(user=place).turn(ident))
        ran = Counter(ident for _, ident in writers.acknowledged("ran"))
        await memory.audit.seal()
        verdict = await memory.audit.verify()
        assert verdict.is_intact, verdict.faults
    outcome = {
        "kills": kills,
        "acknowledged": len(saved) + len(said),
        "lost": lost,
        "jobs": len(ran),
        "jobs_run_twice": sum(times > 1 for times in ran.values()),
    }
    assert (outcome["lost"], outcome["jobs_run_twice"]) == (0, 0), outcome
    return outcome


async def _is_there(found: Awaitable[object]) -> bool:
    try:
        await found
    except NotFound:
        return False
    return True


async def test_nothing_acknowledged_is_lost_when_writers_are_killed(server: Server, tmp_path: Path):
    await _live(server, tmp_path, seconds=3, kill_after=1.5)


@pytest.mark.soak
async def test_nothing_acknowledged_is_lost_in_a_minute_of_kills(server: Server, tmp_path: Path):
    outcome = await _live(server, tmp_path, seconds=60, kill_after=10)
    write_report(f"killed-writers-{kind_of(server)}", outcome)
