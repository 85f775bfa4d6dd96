"""Answers are kept for five minutes, and not a moment longer than they are right."""

import asyncio
import subprocess
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.errors import RecollectError
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.database_servers import environment_of, place_of
from tests.fakes import FakeEmbedder
from tests.nursery import WARM

TEA = "Ann prefers green tea over coffee"
QUESTION = "which tea does Ann prefer"


async def hits_and_misses(memory: Memory) -> tuple[int, int]:
    cache = (await memory.stats()).recall_cache
    return cache.hits, cache.misses


async def test_the_same_question_is_answered_from_the_cache(memory: Memory):
    await memory.remember(TEA)
    first = await memory.recall(QUESTION)
    assert await memory.recall(QUESTION) == first
    assert await hits_and_misses(memory) == (1, 1)
    cache = (await memory.stats()).recall_cache
    assert (cache.entries, cache.hit_rate) == (1, 0.5)


async def test_after_five_minutes_a_question_is_asked_anew(memory: Memory, clock: TurnedClock):
    await memory.remember(TEA)
    await memory.recall(QUESTION)
    clock.turn(seconds=299)
    await memory.recall(QUESTION)
    assert await hits_and_misses(memory) == (1, 1)
    clock.turn(seconds=1)
    await memory.recall(QUESTION)
    assert await hits_and_misses(memory) == (1, 2)


Write = Callable[[Memory, str], Awaitable[object]]
WRITES: dict[str, Write] = {
    "remember": lambda memory, _: memory.remember("Ann prefers black tea in winter"),
    "update": lambda memory, record: memory.update(record, "Ann prefers white tea"),
    "delete": lambda memory, record: memory.delete(record),
    "forget": lambda memory, record: memory.forget(record),
    "used": lambda memory, record: memory.used(record),
    "rejected": lambda memory, record: memory.rejected(record),
    "observe": lambda memory, _: memory.observe(
        [{"role": "user", "content": "which tea does Ann prefer"}], session="s"
    ),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
async def test_any_write_in_the_scope_drops_its_answers(memory: Memory, write: Write):
    record = await memory.remember(TEA)
    before = await memory.recall(QUESTION)
    await write(memory, record.id)
    after = await memory.recall(QUESTION)
    assert await hits_and_misses(memory) == (0, 2)
    assert after != before


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
async def test_a_write_of_another_program_is_noticed_at_once(
    memory: Memory, database_path: Path, clock: TurnedClock, write: Write
):
    async with Memory.open(database_path, clock=clock) as other:
        record = await memory.remember(TEA)
        before = await memory.recall(QUESTION)
        await write(other, record.id)
        assert await memory.recall(QUESTION) != before


async def test_a_write_of_another_process_is_noticed_at_once(memory: Memory, database_path: Path):
    await memory.remember(TEA)
    assert len(await memory.recall(QUESTION)) == 1
    text = "Ann prefers jasmine tea on Sundays"
    command = [WARM, "-m", "recollect", "remember", text]
    await asyncio.to_thread(
        subprocess.run,
        [*command, "--data", place_of(database_path)],
        check=True,
        capture_output=True,
        env=environment_of(database_path),
    )
    assert text in [hit.content for hit in await memory.recall(QUESTION)]


async def test_a_write_elsewhere_leaves_the_answers_alone(memory: Memory):
    ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
    await ann.remember(TEA)
    await ann.recall(QUESTION)
    await bob.remember("Bob prefers coffee")
    await ann.recall(QUESTION)
    assert await hits_and_misses(memory) == (1, 1)


async def test_an_agent_notices_what_is_written_for_its_user(memory: Memory):
    agent, user = memory.scope(agent="chef", user="ann"), memory.scope(agent=None, user="ann")
    assert not await agent.recall(QUESTION)
    await user.remember(TEA)
    assert [hit.content for hit in await agent.recall(QUESTION)] == [TEA]


async def test_users_are_never_answered_with_the_answers_of_others(memory: Memory):
    await memory.scope(user="ann").remember(TEA)
    assert await memory.scope(user="ann").recall(QUESTION)
    assert not await memory.scope(user="bob").recall(QUESTION)


@pytest.mark.parametrize(
    "otherwise",
    [
        {"limit": 1},
        {"min_score": 0.1},
        {"kind": "episodic"},
        {"tags": ["x"]},
        {"namespace": "user_profile/me"},
        {"asked_at": datetime(2025, 1, 1, tzinfo=UTC)},
    ],
    ids=str,
)
async def test_a_question_put_otherwise_is_another_one(memory: Memory, otherwise: dict[str, Any]):
    agent = memory.scope(agent="chef")
    await agent.recall(QUESTION)
    await agent.recall(QUESTION, **otherwise)
    assert await hits_and_misses(memory) == (0, 2)


async def test_the_same_moment_on_other_clocks_is_another_question(memory: Memory):
    moment = datetime(2025, 1, 1, 20, tzinfo=UTC)
    elsewhere = moment.astimezone(timezone(timedelta(hours=9)))
    await memory.recall(QUESTION, asked_at=moment)
    await memory.recall(QUESTION, asked_at=elsewhere)
    assert await hits_and_misses(memory) == (0, 2)


async def test_yesterday_is_another_day_after_midnight(memory: Memory, clock: TurnedClock):
    clock.time = datetime(2026, 3, 1, 23, 58, tzinfo=UTC)
    await memory.recall("what did Ann drink yesterday")
    clock.turn(minutes=3)
    await memory.recall("what did Ann drink yesterday")
    assert await hits_and_misses(memory) == (0, 2)


async def test_a_record_is_not_answered_past_its_time(memory: Memory, clock: TurnedClock):
    await memory.remember(TEA, expires_at=clock.now() + timedelta(seconds=60))
    assert await memory.recall(QUESTION)
    clock.turn(seconds=61)
    assert not await memory.recall(QUESTION)


async def test_counting_what_entered_a_prompt_keeps_the_answers(memory: Memory):
    record = await memory.remember(TEA)
    await memory.context(QUESTION)
    await memory.drain()
    assert (await memory.get(record.id)).access_count == 1
    await memory.context(QUESTION)
    assert await hits_and_misses(memory) == (1, 1)


async def test_an_answer_found_without_the_model_does_not_outlive_its_absence(
    database_path: Path, clock: TurnedClock
):
    model = FakeEmbedder()
    async with Memory.open(database_path, clock=clock, embedder=model) as memory:
        await memory.remember(TEA)
        model.is_broken = True
        assert (await memory.recall(QUESTION)).degraded
        model.is_broken = False
        clock.turn(seconds=31)
        assert not (await memory.recall(QUESTION)).degraded
        await memory.recall(QUESTION)
        assert await hits_and_misses(memory) == (1, 2)
        assert (await memory.stats()).embedding_cache.misses > 0


async def test_the_cache_is_bounded_and_forgets_what_was_not_asked_for_longest(
    database_path: Path,
):
    own = Settings.load({"storage": {"path": database_path}, "recall": {"cache_size": 2}})
    async with Memory.open(own) as memory:
        for question in ("one", "two", "one", "three", "one", "two"):
            await memory.recall(question)
        assert await hits_and_misses(memory) == (2, 4)
        assert (await memory.stats()).recall_cache.entries == 2


@pytest.mark.parametrize("off", [{"cache_seconds": 0}, {"cache_size": 0}], ids=str)
async def test_the_cache_can_be_switched_off(database_path: Path, off: dict[str, int]):
    own = Settings.load({"storage": {"path": database_path}, "recall": off})
    async with Memory.open(own) as memory:
        await memory.remember(TEA)
        for _ in range(3):
            await memory.recall(QUESTION)
        assert await hits_and_misses(memory) == (0, 3)


async def test_an_answer_with_very_long_texts_is_not_kept(memory: Memory):
    await memory.remember(f"{TEA} " * 2_000)
    for _ in range(2):
        assert await memory.recall(QUESTION)
    assert await hits_and_misses(memory) == (0, 2)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [([TEA], {}), ("tea", {"limit": [5]}), ("tea", {"limit": 1.0}), ("tea", {"min_score": "1"})],
    ids=str,
)
async def test_bad_questions_are_refused_as_ever(memory: Memory, query: Any, wanted: Any):
    await memory.recall("tea", limit=1)
    with pytest.raises(RecollectError):
        await memory.recall(query, **wanted)
