"""Whatever is done, in whatever order: a server's database answers as SQLite does."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.domain.record import Record
from recollect.errors import RecollectError
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.database_servers import Running, kind_of
from tests.reports import write_report

pytestmark = pytest.mark.server

_THINGS = ("green tea", "jazz", "the red bicycle", "绿茶", "爵士乐", "红色的自行车", "ticket AB-17")
_VERBS = ("likes", "sold", "looks for", "喜欢", "卖掉了", "在找")
_PEOPLE = ("Ann", "ann", "Bob", "小王", "Ünal")
_STEPS = 14


class Twin:
    """Two memories to which the same is done; they must answer the same."""

    def __init__(self, memories: tuple[Memory, Memory], chance: random.Random) -> None:
        self._memories = memories
        self._chance = chance
        # What was saved: its ids in either memory.
        self._saved: list[tuple[str, str]] = []
        self._turns: list[tuple[str, str]] = []

    async def step(self, clock: TurnedClock) -> None:
        clock.turn(seconds=self._chance.randint(1, 90_000))
        name = self._chance.choice(_NAMES)
        if name in _ON_RECORDS and not self._saved:
            name = "remember"
        await getattr(self, f"_{name}")()

    async def _both(self, verb: str, *given: Any, **named: Any) -> list[Any]:
        answers: list[Any] = []
        for memory in self._memories:
            try:
                answers.append(await getattr(memory, verb)(*given, **named))
            except RecollectError as problem:
                answers.append(problem.code)
        return answers

    async def _on_record(self, verb: str, **named: Any) -> list[Any]:
        pair = self._chance.choice(self._saved)
        answers: list[Any] = []
        for memory, ident in zip(self._memories, pair, strict=True):
            try:
                answers.append(await getattr(memory, verb)(ident, **named))
            except RecollectError as problem:
                answers.append(problem.code)
        return answers

    def _sentence(self) -> str:
        parts = (_PEOPLE, _VERBS, _THINGS)
        return " ".join(self._chance.choice(part) for part in parts)

    async def _remember(self) -> None:
        fields: dict[str, Any] = {"tags": self._chance.sample(["a", "A", "b", "茶"], 2)}
        fields["category"] = self._chance.choice(["user", "project", "Project"])
        if self._chance.random() < 0.2:
            fields["session"] = self._chance.choice(["s", "S", "s "])
        one, other = await self._both("remember", self._sentence(), **fields)
        assert _told(one) == _told(other)
        self._saved.append((one.id, other.id))

    async def _update(self) -> None:
        one, other = await self._on_record("update", content=self._sentence())
        assert _told(one) == _told(other)

    async def _delete(self) -> None:
        one, other = await self._on_record("delete")
        assert _told(one) == _told(other)

    async def _undo(self) -> None:
        one, other = await self._on_record("undo")
        assert _told(one) == _told(other)

    async def _purge(self) -> None:
        one, other = await self._on_record("purge")
        assert one == other

    async def _forget(self) -> None:
        one, other = await self._on_record("forget")
        assert getattr(one, "counts", one) == getattr(other, "counts", other)

    async def _history(self) -> None:
        one, other = await self._on_record("history")
        if isinstance(one, str) or isinstance(other, str):
            assert one == other
        else:
            assert [_told(it.record) for it in one] == [_told(it.record) for it in other]

    async def _observe(self) -> None:
        said = {"role": self._chance.choice(["user", "assistant"]), "content": self._sentence()}
        session = self._chance.choice(["s", "S", "s ", "t"])
        (one,), (other,) = await self._both("observe", said, session=session)
        assert (one.ordinal, one.content, one.act) == (other.ordinal, other.content, other.act)

    async def _list(self) -> None:
        wanted = self._chance.choice(
            [{}, {"tags": ["a"]}, {"category": "project"}, {"session": "s"}, {"limit": 3}]
        )
        one, other = await self._both("list", **wanted)
        assert [_told(it) for it in one] == [_told(it) for it in other]

    async def _turns_of(self) -> None:
        one, other = await self._both("turns", session=self._chance.choice(["s", "S", "s "]))
        assert [(it.ordinal, it.content) for it in one] == [
            (it.ordinal, it.content) for it in other
        ]

    async def _recall(self) -> None:
        one, other = await self._both("recall", self._sentence(), min_score=0.0)
        assert [_hit(it) for it in one.hits] == [_hit(it) for it in other.hits]

    async def _stats(self) -> None:
        one, other = await self._both("stats")
        assert one.store == other.store


_ON_RECORDS = ("update", "delete", "undo", "purge", "forget", "history")
_NAMES = (
    *_ON_RECORDS,
    *("remember", "remember", "remember", "observe", "observe", "list", "turns_of"),
    *("recall", "recall", "recall", "stats"),
)


def _told(answer: Record | str) -> object:
    """What a record says of itself beside its id."""
    if isinstance(answer, str):
        return answer
    return (
        *(answer.content, answer.version, answer.status, answer.tags, answer.category),
        *(answer.session, answer.recorded_at, answer.observed_at, answer.scope),
    )


def _hit(hit: Any) -> object:
    return hit.item.content, round(hit.score, 9)


@pytest.fixture
async def twins(database_path: Path, clock: TurnedClock) -> AsyncIterator[tuple[Memory, Memory]]:
    in_memory = Settings.load({"storage": {"backend": "in_memory"}})
    async with (
        Memory.open(database_path, clock=clock) as on_server,
        Memory.open(in_memory, clock=clock) as in_file,
    ):
        yield on_server, in_file


async def _live(twins: tuple[Memory, Memory], clock: TurnedClock, seeds: range) -> None:
    on_server, in_file = twins
    for seed in seeds:
        user = f"user {seed}"
        twin = Twin((on_server.scope(user=user), in_file.scope(user=user)), random.Random(seed))
        for _ in range(_STEPS):
            await twin.step(clock)


async def test_a_server_answers_as_sqlite_does(twins: tuple[Memory, Memory], clock: TurnedClock):
    await _live(twins, clock, range(6))


@pytest.mark.soak
async def test_a_server_answers_as_sqlite_does_in_five_hundred_lives(
    twins: tuple[Memory, Memory], clock: TurnedClock
):
    await _live(twins, clock, range(500))
    lived = {"lives": 500, "steps": 500 * _STEPS, "different_answers": 0}
    write_report(f"congruence-{kind_of(Running.server)}", lived)
