"""The jobs of one session, in every order and with a kill anywhere: the same is remembered."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from datetime import timedelta
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import delete

from recollect import Memory
from recollect.backends.sql import schema
from recollect.backends.sql.store import SqlStore
from recollect.domain.job import new_holder
from recollect.domain.record import Evidence, Record, Status
from recollect.jobs.queue import SqlJobs
from tests.conftest import TurnedClock
from tests.database_servers import open_at
from tests.fakes import FakeJudge
from tests.reports import write_report
from tests.services import services

pytestmark = pytest.mark.sqlite

_SAID = (
    "My name is Marta.",
    "I live in Lisbon.",
    "I'm allergic to peanuts.",
    "我女儿叫米娅。",
    "We decided to use Postgres.",
    "I am allergic to peanuts.",
    "Remember that the code is 42.",
    "I live in Porto now.",
)
_KINDS = ("extract", "extract_idle", "episode", "judge")
_ORDERS = tuple(permutations(_KINDS))
# Where the process is killed: when it has taken a job, before and after what the job writes, and
# when it has ended the job. Or it is stopped, or another one reads the session at the same time.
_DEATHS = ("taken", "before writing", "after writing", "done", "stopped", "overtaken")
_CASES = tuple(product(_ORDERS, range(len(_KINDS)), _DEATHS))


Dying = Callable[[], AbstractContextManager[None]]


class Killed(BaseException):
    """What nothing in the process can catch or clean up after."""


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Dying:
    """Let what holds jobs within a block belong to a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    machine, _, number = new_holder().split("/")
    name = f"{machine}/{child.pid}/{number}"

    @contextmanager
    def within() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr("recollect.jobs.worker.new_holder", lambda: name)
            patch.setattr("recollect.writing.schedule.this_process", lambda: name)
            yield

    return within


@pytest.fixture
def judge() -> FakeJudge:
    judge = FakeJudge()
    judge.knows("User lives in Lisbon", "User lives in Porto now", "update", is_sure=True)
    judge.knows("User's home is Lisbon", "User lives in Lisbon", "same", is_sure=True)
    return judge


@asynccontextmanager
async def _open(path: Path, clock: TurnedClock, judge: FakeJudge) -> AsyncIterator[Memory]:
    """Open a memory that can be killed: then it is not closed as it should be."""
    memory = await Memory.open(path, clock=clock, judge=judge)
    try:
        yield memory
    except Killed:
        await services(memory).store.close()
    else:
        await memory.close()


async def _tell(path: Path, clock: TurnedClock, judge: FakeJudge) -> None:
    async with _open(path, clock, judge) as memory:
        await memory.remember("User's home is Lisbon", category="user", session="earlier")
        async with memory.session("s") as session:
            for text in _SAID:
                clock.turn(minutes=2)
                (turn,) = await session.observe([{"role": "user", "content": text}])
                if "Mia" in text or "米娅" in text:
                    whole = Evidence(turn=turn.id, start=0, end=len(text))
                    await memory.remember("女儿的名字是米娅", evidence=[whole], session="s")
            await session.end()
    clock.turn(minutes=5)


@contextmanager
def _death(
    how: str, monkeypatch: pytest.MonkeyPatch, overtake: Callable[[], Awaitable[object]]
) -> Iterator[None]:
    """Let the process end this way while it runs the next job."""
    owner: type = {"taken": SqlJobs, "done": SqlJobs}.get(how, SqlStore)
    name = {"taken": "claim", "done": "finish"}.get(how, "commit")
    real = getattr(owner, name)

    async def interrupted(*given: Any, **named: Any) -> Any:
        if how == "stopped":
            raise asyncio.CancelledError
        if how == "overtaken":
            patch.undo()
            await overtake()
            return await real(*given, **named)
        if how != "before writing":
            done = await real(*given, **named)
            if how == "taken" and done is None:
                return None
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupted)
        yield


async def _work(
    path: Path,
    clock: TurnedClock,
    judge: FakeJudge,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[tuple[str, ...], int, str],
) -> None:
    """Run the jobs in this order, until the one at which the process ends."""
    order, last, how = case

    async def overtake() -> None:
        async with _open(path, clock, judge) as other:
            await other.extract("s")

    async with _open(path, clock, judge) as memory:
        worker = services(memory).worker
        for place, kind in enumerate(order):
            if place < last:
                await worker.run_now(kind)
                continue
            with _death(how, monkeypatch, overtake):
                await worker.run_now(kind)
            raise Killed


async def _finish(path: Path, clock: TurnedClock, judge: FakeJudge) -> list[object]:
    """Open the memory again and let it do what is left; return what it remembers."""
    async with _open(path, clock, judge) as memory:
        moment = clock.now()
        await memory.drain()
        await memory.work()
        assert clock.now() == moment, "nothing waits for the lease of a dead process"
        turns = {turn.id: turn.ordinal for turn in (await memory.turns(session="s")).items}
        records = (await memory.list(limit=1_000, status=list(Status))).items
        return sorted((_seen(record, turns) for record in records), key=repr)


def _seen(record: Record, turns: dict[str, int]) -> tuple[object, ...]:
    evidence = sorted((turns[it.turn], it.start or 0, it.end or 0) for it in record.evidence)
    return (
        *(record.kind, record.category, record.content, record.status, record.tier),
        *(record.evidence_count, evidence, record.version, round(record.confidence, 6)),
    )


@pytest.fixture
async def story(
    nobody_works: None,
    tmp_path: Path,
    clock: TurnedClock,
    judge: FakeJudge,
    dying: Dying,
) -> tuple[Path, list[object]]:
    """A database whose jobs nobody has run, and what is remembered when they are."""
    path = tmp_path / "told.db"
    with dying():
        await _tell(path, clock, judge)
    copy = tmp_path / "plain.db"
    shutil.copy(path, copy)
    usual = await _finish(copy, clock, judge)
    contents = [it[2] for it in usual if isinstance(it, tuple)]
    assert {"User lives in Porto now", "We decided to use Postgres"} <= set(contents)
    return path, usual


async def _check(
    cases: list[Any],
    story: tuple[Path, list[object]],
    clock: TurnedClock,
    judge: FakeJudge,
    monkeypatch: pytest.MonkeyPatch,
    dying: Dying,
) -> int:
    path, usual = story
    other: dict[object, list[object]] = {}
    for number, case in enumerate(cases):
        copy = path.with_name(f"{number}.db")
        shutil.copy(path, copy)
        with dying():
            await _work(copy, clock, judge, monkeypatch, case)
        found = await _finish(copy, clock, judge)
        if found != usual:
            other[case] = [it for it in found if it not in usual] + [
                ("missing", it) for it in usual if it not in found
            ]
        for left in path.parent.glob(f"{number}.db*"):
            left.unlink() if left.is_file() else shutil.rmtree(left)
    assert not other
    return len(cases)


async def test_in_some_orders_with_some_kills_the_same_is_remembered(
    story: tuple[Path, list[object]],
    clock: TurnedClock,
    judge: FakeJudge,
    monkeypatch: pytest.MonkeyPatch,
    dying: Dying,
):
    cases = Random(33).sample(_CASES, 15)
    await _check(cases, story, clock, judge, monkeypatch, dying)


@pytest.mark.soak
@pytest.mark.timeout(7_200)
async def test_in_every_order_with_a_kill_anywhere_the_same_is_remembered(
    story: tuple[Path, list[object]],
    clock: TurnedClock,
    judge: FakeJudge,
    monkeypatch: pytest.MonkeyPatch,
    dying: Dying,
):
    cases = await _check([*_CASES], story, clock, judge, monkeypatch, dying)
    write_report("jobs-in-any-order", {"cases": cases, "different": 0})


async def test_reading_everything_again_changes_nothing(
    story: tuple[Path, list[object]], clock: TurnedClock, judge: FakeJudge
):
    path, usual = story
    await _finish(path, clock, judge)
    for wait in (0, 30):
        clock.time += timedelta(days=wait)
        database = open_at(path)
        database.write_here(lambda connection: connection.execute(delete(schema.watermarks)))
        database.close_here()
        async with _open(path, clock, judge) as memory:
            read = await memory.extract("s")
            assert {it.status for it in read} == {"skipped"}
        assert await _finish(path, clock, judge) == usual
