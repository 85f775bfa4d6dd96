"""A question never raises, whatever times, eras, ages and durations it names in either language."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect import Memory
from recollect.language.times.expressions import find_times
from tests.conftest import TurnedClock
from tests.examples import examples

_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_NOTES = (
    ("The trip to Lisbon was lovely", datetime(2024, 4, 2, tzinfo=UTC)),
    ("搬家那天下了大雨", datetime(2023, 11, 5, tzinfo=UTC)),
    ("The founding of Rome was celebrated", _FIRST),
    ("婚礼很热闹，我三十岁", _LAST),
)

# What a question is put together from; a name in braces is replaced by one of its words.
_WORDS = {
    "ask": "|when was |How old was I |what happened |the first week of |early |我|每|第",
    "end": "?|是第几天|发生了什么？| how long ago was that|那年我多大|底|初",
    "joint": " || to | and |到|和|的| of |? |，",
    "era": "||BC |AD |公元前|公元|民国|令和|康熙|约|前",
    "clock": "||12:00|晚上| at noon|凌晨",
    "count": "{n}|{n}|一|两|几|半|三十一|九千九百九十九|a|two|a few|half a|several|-5|0.5|1e9",
    "unit": (
        "minutes|hours|days|week|months|quarters|years|decades|centuries|Fridays|weekend"
        "|分钟|小时|天|周|个月|季度|年|个世纪|岁|年半|个多月"
    ),
    "month": "Feb|December|May",
    "beside": "before|after|since|until",
    "side": "之前|之后|前|后|以来|的第|大",
    "ago": "ago|from now|old|later|earlier|back",
    "event": "the trip to Lisbon|the founding of Rome|my wedding|搬家|婚礼|罗马建城",
    "name": "国庆|春节|Easter|last winter|去年春天|下下周三|29 February|月底|Q4|tonight|昨晚|生日",
    "time": (
        "{era}{n}年{n}月{n}日{clock}|{era}{n}年|{n}-{n}-{n}|{n}/{n}/{n}|{month} {n}, {n}"
        "|{n} BC|{name}"
        "|{count} {unit} {ago}|{count}{unit}{side}|过去{count}{unit}|the last {count} {unit}"
    ),
    "part": (
        "{time}|{time}|{count} {unit} {beside} {event}|{event}{side}{count}{unit}"
        "|{count} {unit} {beside} {time}|the {unit} {beside} {event}|between {time} and {time}"
    ),
    "question": "{ask}{part}{end}|{ask}{part}{joint}{part}{end}",
}
_slot = re.compile(r"\{(\w+)\}")
_numbers = st.integers(0, 40) | st.integers(0, 10**5) | st.integers(10**9, 10**30)


@st.composite
def _questions(draw: st.DrawFn) -> str:
    def filled(slot: re.Match[str]) -> str:
        if slot[1] == "n":
            return str(draw(_numbers))
        return _slot.sub(filled, draw(st.sampled_from(_WORDS[slot[1]].split("|"))))

    return _slot.sub(filled, "{question}")


_zones = st.integers(-23 * 60, 23 * 60).map(lambda by: timezone(timedelta(minutes=by)))
_moments = st.sampled_from((_FIRST, _LAST)) | st.datetimes(timezones=_zones)


@settings(max_examples=examples(400), deadline=None)
@given(_questions(), _moments)
def test_reading_the_times_of_a_question_never_raises(question: str, asked_at: datetime):
    for named in find_times(question, asked_at):
        assert named.start <= named.end


class _World:
    """A memory with dates, and a loop to ask it in."""

    def __init__(self, memory: Memory, runner: asyncio.Runner) -> None:
        self._memory, self._runner = memory, runner

    def ask(self, question: str, asked_at: datetime | None) -> None:
        self._runner.run(self._ask(question, asked_at))

    async def _ask(self, question: str, asked_at: datetime | None) -> None:
        wanted: dict[str, Any] = {} if asked_at is None else {"asked_at": asked_at}
        await self._memory.recall(question, min_score=0, **wanted)
        await self._memory.context(question, **wanted)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_World]:
    async def filled() -> Memory:
        memory = await Memory.open(tmp_path_factory.mktemp("times"), clock=TurnedClock())
        for content, at in _NOTES:
            await memory.remember(content, created_at=at)
        return memory

    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        patch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
        memory = runner.run(filled())
        yield _World(memory, runner)
        runner.run(memory.close())


@settings(max_examples=examples(100), deadline=None)
@given(_questions(), st.none() | _moments)
@example("公元前500年1月1日12:00是第几天", None)
@example("What happened 9000 years before the founding of Rome?", None)
@example("婚礼之后9000年发生了什么？", None)
def test_a_question_is_answered_whatever_time_it_names(
    world: _World, question: str, asked_at: datetime | None
):
    world.ask(question, asked_at)
