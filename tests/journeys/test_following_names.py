"""One hop by a name, and what an answer tells about itself: paths, intent, what was left out."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect import Memory
from recollect.ports.embedder import Progress, Purpose
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.fakes import FakeEmbedder


def _settings(path: Path, **recall: Any) -> Settings:
    return Settings.load({"storage": {"path": path}, "recall": recall})


class SlowEmbedder(FakeEmbedder):
    """Answers at once when something is saved, and far too late when something is asked."""

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        if purpose == "query":
            await asyncio.sleep(60)
        return await super().embed(texts, purpose, progress)


@pytest.mark.parametrize(
    ("first", "second", "question"),
    [
        (
            "The Falcon project is led by Marta Kowalski",
            "Marta Kowalski sits in the Gdansk office",
            "who leads the Falcon project",
        ),
        ("猎鹰项目由王建国负责", "王建国在杭州办公室上班", "猎鹰项目谁负责"),
    ],
)
async def test_a_name_in_the_best_hit_leads_to_a_second_record(
    database_path: Path, clock: TurnedClock, first: str, second: str, question: str
):
    async with Memory.open(_settings(database_path, gap=0), clock=clock) as memory:
        for content in (first, second, "The garden gate needs oil", "花园的门要上油"):
            await memory.remember(content)
            clock.turn(days=30)
        recalled = await memory.recall(question, min_score=0.0)
        assert [hit.content for hit in recalled][:2] == [first, second]
        assert [it.path for it in recalled[1].explanation.paths] == ["entity"]
        assert not {"The garden gate needs oil", "花园的门要上油"} & {it.content for it in recalled}


async def test_without_a_weight_there_is_no_hop(database_path: Path, clock: TurnedClock):
    chosen = _settings(database_path, gap=0, entity_weight=0)
    async with Memory.open(chosen, clock=clock) as memory:
        await memory.remember("The Falcon project is led by Marta Kowalski")
        await memory.remember("Marta Kowalski sits in the Gdansk office")
        recalled = await memory.recall("who leads the Falcon project", min_score=0.0)
        assert len(recalled) == 1


async def test_a_model_that_fails_is_left_out_and_that_is_said(
    database_path: Path, clock: TurnedClock
):
    embedder = FakeEmbedder()
    async with Memory.open(database_path, clock=clock, embedder=embedder) as memory:
        saved = await memory.remember("the harbour master keeps the keys")
        embedder.is_broken = True
        recalled = await memory.recall("who has the harbour keys")
        assert [hit.id for hit in recalled] == [saved.id]
        assert any("told to fail" in note for note in recalled.degraded)


async def test_a_model_that_is_slow_is_left_out_and_that_is_said(
    database_path: Path, clock: TurnedClock
):
    chosen = _settings(database_path, patience=0.05)
    async with Memory.open(chosen, clock=clock, embedder=SlowEmbedder()) as memory:
        saved = await memory.remember("the harbour master keeps the keys")
        async with asyncio.timeout(10):
            recalled = await memory.recall("who has the harbour keys")
        assert [hit.id for hit in recalled] == [saved.id]
        assert recalled.degraded == ("the vector path did not answer within 0.05 s",)
        assert {it.path for it in recalled[0].explanation.paths} == {"keyword"}


async def test_a_high_bar_may_leave_nothing_to_say(memory: Memory):
    saved = await memory.remember("the harbour master keeps the keys of the old storehouse")
    recalled = await memory.recall("harbour opening hours in winter", min_score=0.9)
    assert len(recalled) == 0
    lower = await memory.recall("harbour opening hours in winter", min_score=0.01)
    assert [hit.id for hit in lower] == [saved.id]


async def test_the_far_weaker_are_cut_and_a_near_miss_names_the_reason(
    database_path: Path, clock: TurnedClock
):
    contents = ["the harbour master keeps the brass keys", "a harbour somewhere in the north"]
    question = "who keeps the brass keys of the harbour master"
    async with Memory.open(_settings(database_path, gap=0.5), clock=clock) as memory:
        best, weak = [await memory.remember(content) for content in contents]
        recalled = await memory.recall(question, min_score=0.0)
        assert [hit.id for hit in recalled] == [best.id]
        assert [(it.id, it.reason) for it in recalled.near_misses] == [
            (weak.id, "far below the best")
        ]
        assert 0 < recalled.near_misses[0].score < 0.5 * recalled[0].score
    async with Memory.open(_settings(database_path, gap=0), clock=clock) as memory:
        assert len(await memory.recall(question, min_score=0.0)) == 2
        short = await memory.recall(question, min_score=0.0, limit=1)
        assert [it.reason for it in short.near_misses] == ["beyond the limit"]
        # A bar between the two.
        bar = (recalled[0].score + recalled.near_misses[0].score) / 2
        high = await memory.recall(question, min_score=bar)
        assert [hit.id for hit in high] == [best.id]


async def test_the_intent_is_shown_and_can_be_forced(database_path: Path, clock: TurnedClock):
    failed = "The build failed since the disk was full"
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.remember(failed, kind="episodic")
        judged = await memory.recall("fix the build, the disk is full")
        assert judged.intent == "bug_fix"
        assert judged.intent_reason
        assert "intent" in {it.reason for it in judged[0].explanation.boosts}
        plain = await memory.recall("which disk was full")
        assert plain.intent == "question"
    forced = _settings(database_path, intent="bug_fix")
    async with Memory.open(forced, clock=clock) as memory:
        recalled = await memory.recall("which disk was full")
        assert (recalled.intent, recalled.intent_reason) == ("bug_fix", "set")
        assert recalled[0].score > plain[0].score


@pytest.mark.parametrize("follow_up", ["go on", "继续"])
async def test_a_follow_up_without_a_word_in_common_is_answered_by_what_is_recent(
    memory: Memory, clock: TurnedClock, follow_up: str
):
    await memory.remember("The attic has a leak")
    clock.turn(days=40)
    latest = await memory.remember("Half of the fence is painted")
    clock.turn(hours=1)
    recalled = await memory.recall(follow_up, min_score=0.1)
    assert recalled.intent == "follow_up"
    assert [hit.id for hit in recalled] == [latest.id]
    assert [it.path for it in recalled[0].explanation.paths] == ["recent"]
    asked_then = clock.now() - timedelta(days=30)
    assert latest.id not in {
        hit.id for hit in await memory.recall(follow_up, min_score=0.0, asked_at=asked_then)
    }


async def test_a_plain_question_is_not_answered_by_what_is_merely_recent(memory: Memory):
    await memory.remember("Half of the fence is painted")
    assert len(await memory.recall("where does the aunt live", min_score=0.0)) == 0
