"""Stories of people who say things, change their mind, and ask."""

import pytest

from recollect import Memory
from recollect.domain.record import Tier
from tests.conftest import TurnedClock
from tests.fakes import FakeJudge


async def _talk(memory: Memory, session: str, *said: str) -> None:
    """A conversation from its first word to its end, and what is made of it afterwards."""
    async with memory.session(session) as conversation:
        for text in said:
            await conversation.observe({"role": "user", "content": text})
            await conversation.observe({"role": "assistant", "content": "OK."})
        await conversation.end()
    await memory.drain()


@pytest.mark.parametrize(
    ("first", "later", "question", "gone", "now"),
    [
        (
            "From now on, write the summaries in English, please.",
            "From now on, write the summaries in German, please.",
            "In which language are summaries written?",
            "English",
            "German",
        ),
        ("以后周报都用表格。", "以后周报都用图表。", "周报用什么形式？", "表格", "图表"),
    ],
)
async def test_a_preference_is_stated_changed_weeks_later_and_asked_for(
    memory: Memory,
    clock: TurnedClock,
    judge: FakeJudge,
    first: str,
    later: str,
    question: str,
    gone: str,
    now: str,
):
    judge.is_sure_of_all = "update"
    await _talk(memory, "in March", first)
    in_march = clock.turn(days=1)
    clock.turn(days=40)
    await _talk(memory, "in April", later)

    (record,) = await memory.list()
    assert now in record.content
    assert record.tier is Tier.LONG
    told = [it.record for it in await memory.recall(question, owners="record", min_score=0.1)]
    assert told == [record]
    before = await memory.get(record.id, as_of=in_march)
    assert gone in before.content
    assert gone in (await memory.history(record.id))[0].record.content


@pytest.mark.parametrize(
    ("decided", "reversed_", "old", "new"),
    [
        (
            "We decided to use MySQL for the orders service.",
            "We decided to use PostgreSQL for the orders service instead.",
            "MySQL",
            "PostgreSQL",
        ),
        (
            "我们决定订单服务用MySQL。",
            "我们决定订单服务改用PostgreSQL。",
            "MySQL",
            "PostgreSQL",
        ),
    ],
)
async def test_a_decision_is_made_and_reversed(
    memory: Memory,
    clock: TurnedClock,
    judge: FakeJudge,
    decided: str,
    reversed_: str,
    old: str,
    new: str,
):
    judge.is_sure_of_all = "update"
    await _talk(memory, "monday", decided)
    clock.turn(days=2)
    await _talk(memory, "wednesday", reversed_)

    (record,) = await memory.list(category="project")
    assert new in record.content
    assert record.tier is Tier.SHORT
    history = await memory.history(record.id)
    assert old in history[0].record.content
    assert history[-1].reason


@pytest.mark.parametrize(
    ("said", "confirmation"),
    [
        ("I collect old maps of harbours.", "Remember this."),
        ("我平时收集旧地图。", "记住这个"),
    ],
)
async def test_remember_this_keeps_at_once_what_was_only_buffered(
    memory: Memory, clock: TurnedClock, said: str, confirmation: str
):
    await memory.observe([{"role": "user", "content": said}], session="s")
    (buffered,) = await memory.extract("s")
    assert buffered.status == "buffered"

    clock.turn(minutes=5)
    await memory.observe([{"role": "user", "content": confirmation}], session="s")
    (kept,) = await memory.extract("s")

    assert kept.status == "merged"
    assert kept.record is not None
    assert buffered.record is not None
    assert kept.record.id == buffered.record.id
    assert kept.record.tier is Tier.LONG
    clock.turn(days=60)
    (still,) = await memory.list()
    assert still.id == kept.record.id


async def test_what_is_never_confirmed_is_gone_in_time(memory: Memory, clock: TurnedClock):
    await _talk(memory, "s", "I collect old maps of harbours.")
    assert len(await memory.recall("which maps does the user collect")) >= 1

    clock.turn(days=8)

    assert len(await memory.list()) == 0


async def test_what_one_agent_hears_about_a_user_another_one_knows(memory: Memory):
    coder = memory.scope(agent="coder", user="ann")
    writer = memory.scope(agent="writer", user="ann")
    await _talk(coder, "s", "Remember that I'm allergic to peanuts.")
    await _talk(coder, "t", "We decided to use Redis for the cache.")

    heard = [hit.record.content for hit in await writer.recall("peanuts allergy") if hit.record]

    assert any("peanut" in it for it in heard)
    assert not [hit for hit in await writer.recall("Redis cache") if hit.record]
    assert not await memory.scope(agent="writer", user="bob").list()
