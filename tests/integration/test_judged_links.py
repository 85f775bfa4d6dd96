"""Links between what was judged: written, shown, moved, undone and forgotten."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.record import Record, Status
from recollect.domain.relation import Link
from recollect.errors import Conflict
from recollect.models.language.scripted import Reply, ScriptedModel
from recollect.ports.judge import Judged, Statement
from recollect.settings import Settings
from recollect.writing.judges import JudgeChain, ModelJudge
from tests.conftest import TurnedClock
from tests.fakes import FakeJudge

_OLD, _NEW = "Ann lives in Oslo, in a flat by the river", "Ann moved to Rome"
_PAIRS = [(_OLD, _NEW), ("安妮住在奥斯陆的河边", "安妮搬到罗马了")]
_ASKED = {_OLD: "Where does Ann live?", "安妮住在奥斯陆的河边": "安妮住在哪里？"}


@pytest.fixture
async def working(
    database_path: Path, clock: TurnedClock, judge: FakeJudge
) -> AsyncIterator[Memory]:
    """A memory in which what is remembered and observed is judged in the background."""
    settings = Settings.load({"storage": {"path": database_path}, "writing": {"judge": "local"}})
    async with Memory.open(settings, clock=clock, judge=judge) as opened:
        yield opened


async def _both(memory: Memory, clock: TurnedClock, old: str, new: str) -> tuple[Record, Record]:
    """Two records, days apart, as they are afterwards."""
    first = await memory.write(old)
    clock.turn(days=3)
    second = await memory.write(new)
    assert first.record is not None
    assert second.record is not None
    return await memory.get(first.record.id), await memory.get(second.record.id)


async def _contents(memory: Memory) -> list[str]:
    return [it.content for it in await memory.list()]


# --- Deciding ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), _PAIRS)
async def test_a_guess_keeps_both_and_links_them(
    memory: Memory, clock: TurnedClock, judge: FakeJudge, old: str, new: str
):
    judge.knows(old, new, "update", likely=0.75)

    older, newer = await _both(memory, clock, old, new)

    (link,) = older.links
    assert newer.links == (link,)
    assert link == Link(
        scope=newer.scope,
        newer=newer.id,
        older=older.id,
        relation="update",
        probability=0.75,
        reason="as the test says",
        decided_by="fake-judge",
        at=clock.now(),
    )
    assert sorted(await _contents(memory)) == sorted([old, new])
    assert (await memory.stats()).store.links == {"update": 1}


@pytest.mark.parametrize(("old", "new"), _PAIRS)
async def test_a_sure_change_makes_a_version_that_can_be_undone(
    memory: Memory, clock: TurnedClock, judge: FakeJudge, old: str, new: str
):
    judge.knows(old, new, "update", is_sure=True)
    await memory.write(old)
    clock.turn(days=3)

    written = await memory.write(new)

    assert written.status == "versioned"
    assert written.record is not None
    assert await _contents(memory) == [new]
    told = (await memory.trace(written.write_id)).step("reconcile")
    assert (told["relation"], told["decided_by"]) == ("update", "fake-judge")
    await memory.undo(written.record.id)
    assert await _contents(memory) == [old]


async def test_the_trace_tells_every_link(memory: Memory, clock: TurnedClock, judge: FakeJudge):
    judge.knows("Ann lives in Oslo", "Ann lives in Rome", "conflict")
    first = await memory.write("Ann lives in Oslo")
    written = await memory.write("Ann lives in Rome")

    told = (await memory.trace(written.write_id)).step("reconcile")

    assert first.record is not None
    assert told["links"] == [
        {
            "with": first.record.id,
            "relation": "conflict",
            "probability": 0.9,
            "decided_by": "fake-judge",
        }
    ]
    assert (await memory.stats()).judged == {"conflict": 1}


async def test_a_model_decides_and_a_failing_one_is_told(
    database_path: Path, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    replies: list[Reply] = [
        {"pairs": [{"number": 1, "relation": "update", "probability": 0.9, "reason": "moved"}]},
        *["no JSON"] * 2,
    ]
    chain = JudgeChain([ModelJudge(ScriptedModel(replies))])
    monkeypatch.setattr("recollect.assemble.judge.judge_of", lambda *_: chain)
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.write(_OLD)
        changed = await memory.write(_NEW)
        kept = await memory.write("Ann lives in Rome by now")
        told = (await memory.trace(kept.write_id)).step("reconcile")

        assert (changed.status, changed.reason) == ("versioned", "moved")
        assert (kept.status, told["judge_degraded"]) == ("created", "model_bad_output")
        assert await _contents(memory) == ["Ann lives in Rome by now", _NEW]


# --- Recalling -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), _PAIRS)
@pytest.mark.parametrize("relation", ["update", "conflict"])
async def test_the_newer_one_comes_first_and_the_older_one_is_marked(
    memory: Memory, clock: TurnedClock, judge: FakeJudge, old: str, new: str, relation: str
):
    judge.knows(old, new, relation)  # pyright: ignore[reportArgumentType]
    older, newer = await _both(memory, clock, old, new)

    hits = await memory.recall(_ASKED[old])
    block = await memory.context(_ASKED[old])

    assert [(it.id, it.followed_by) for it in hits] == [(newer.id, None), (older.id, newer.id)]
    assert hits[0].score >= hits[1].score
    assert hits[0].span == (0, len(new))
    lines = block.text.splitlines()
    (marked,) = [it for it in lines if old in it]
    assert "earlier" in marked or "较早的说法" in marked
    assert any(new in it for it in lines)


async def test_a_question_about_the_past_leaves_the_order(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows(_OLD, _NEW, "update")
    older, newer = await _both(memory, clock, _OLD, _NEW)

    (first, *_) = await memory.recall("Where did Ann live before, in which flat by the river?")

    assert (first.id, first.followed_by) == (older.id, None)
    assert newer.id != first.id


async def test_what_says_the_same_is_shown_once_and_counted(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows("Ann cycles to work", "Ann goes to work by bike", "same")

    older, newer = await _both(memory, clock, "Ann cycles to work", "Ann goes to work by bike")

    recalled = await memory.recall("How does Ann get to work?")
    assert [it.id for it in recalled] == [newer.id]
    assert recalled[0].record is not None
    assert recalled[0].record.evidence_count == 2
    assert any("says the same" in it.reason for it in recalled.near_misses)
    assert len(await _contents(memory)) == 2
    health = await memory.upkeep.health()
    assert [{it.first, it.second} for it in health.duplicates] == [{older.id, newer.id}]


async def test_a_deleted_successor_counts_no_longer(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows(_OLD, _NEW, "update")
    older, newer = await _both(memory, clock, _OLD, _NEW)

    await memory.delete(newer.id)

    (hit,) = await memory.recall("Where does Ann live?")
    assert (hit.id, hit.followed_by) == (older.id, None)


# --- Undoing, deciding, removing -----------------------------------------------------------------


@pytest.mark.parametrize("end", [0, 1])
async def test_a_link_is_undone_at_either_end(
    memory: Memory, clock: TurnedClock, judge: FakeJudge, end: int
):
    judge.knows(_OLD, _NEW, "update")
    records = await _both(memory, clock, _OLD, _NEW)

    undone = await memory.undo(records[end].id)

    assert undone.links == ()
    assert sorted(await _contents(memory)) == sorted([_OLD, _NEW])
    with pytest.raises(Conflict, match="nothing to undo"):
        await memory.undo(records[end].id)


async def test_a_change_after_a_link_is_undone_first(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows(_OLD, _NEW, "update")
    older, _ = await _both(memory, clock, _OLD, _NEW)
    clock.turn(hours=1)
    await memory.update(older.id, "Ann lived in Oslo")

    assert (await memory.undo(older.id)).content == _OLD
    assert len((await memory.get(older.id)).links) == 1


async def test_a_decided_conflict_has_no_link_or_one_that_says_which_is_later(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows(_OLD, _NEW, "conflict")
    older, newer = await _both(memory, clock, _OLD, _NEW)
    (dispute,) = await memory.upkeep.conflicts()

    await memory.upkeep.resolve(dispute.id, "both_at_different_times")

    (link,) = (await memory.get(older.id)).links
    assert (link.newer, link.relation, link.probability) == (newer.id, "update", 1.0)


async def test_purging_a_record_removes_its_links(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows(_OLD, _NEW, "update")
    older, newer = await _both(memory, clock, _OLD, _NEW)
    await memory.delete(newer.id)

    await memory.purge(newer.id)

    assert (await memory.get(older.id)).links == ()


async def test_forgetting_one_end_erases_the_link(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows(_OLD, _NEW, "update")
    older, newer = await _both(memory, clock, _OLD, _NEW)

    await memory.forget(newer.id)
    await memory.drain()

    assert (await memory.get(older.id)).links == ()
    assert (await memory.stats()).store.links == {}


async def test_links_move_with_an_export_and_are_added_once(
    memory: Memory, clock: TurnedClock, judge: FakeJudge, tmp_path: Path
):
    judge.knows(_OLD, _NEW, "update")
    older, _ = await _both(memory, clock, _OLD, _NEW)
    file = io.BytesIO()

    counts = await memory.export_to(file)

    assert counts.links == 1
    async with Memory.open(tmp_path / "other.db", clock=clock) as other:
        for added in (counts.lines, 0):
            file.seek(0)
            assert (await other.import_from(file)).added == added
        assert (await other.get(older.id)).links == older.links


# --- In the background ---------------------------------------------------------------------------


async def test_what_is_remembered_is_judged_afterwards_and_never_changed(
    working: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows("Ann lives in Oslo", "Ann lives in Rome", "update", is_sure=True)
    first = await working.remember("Ann lives in Oslo")
    clock.turn(days=3)
    second = await working.remember("Ann lives in Rome")
    assert judge.asked == []

    await working.drain()

    assert [it.status for it in await working.list()] == [Status.ACTIVE] * 2
    (link,) = (await working.get(first.id)).links
    assert (link.newer, link.relation) == (second.id, "update")
    assert [it.id for it in await working.recall("Where does Ann live?")] == [second.id, first.id]


async def test_what_was_observed_is_linked_with_what_was_said_before(
    working: Memory, clock: TurnedClock, judge: FakeJudge
):
    old, new = "the hen do is on the third of July", "hen do moves to the tenth of July"
    judge.knows(old, new, "update")
    (first,) = await working.observe({"role": "user", "content": old}, session="a")
    clock.turn(days=3)
    (second, _) = await working.observe(
        [{"role": "user", "content": new}, {"role": "user", "content": "when is the hen do?"}],
        session="b",
    )
    await working.extract()
    await working.drain()

    hits = [it for it in await working.recall("hen do July third") if it.turn is not None]

    assert [it.id for it in hits][:2] == [second.id, first.id]
    assert hits[1].followed_by == second.id
    assert not any("?" in text for pair in judge.asked for text in pair)


async def test_a_forgotten_record_is_not_linked_again(
    working: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows("Ann lives in Oslo", "Ann lives in Rome", "update")
    await working.remember("Ann lives in Oslo")
    clock.turn(days=3)
    second = await working.remember("Ann lives in Rome")

    await working.forget(second.id)
    await working.drain()

    assert (await working.stats()).store.links == {}


# --- At recall, before the job has run -----------------------------------------------------------


async def test_what_was_stored_a_moment_ago_is_compared_when_it_is_found(
    working: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows("Ann lives in Oslo", "Ann lives in Rome", "update")
    first = await working.remember("Ann lives in Oslo")
    clock.turn(days=3)
    second = await working.remember("Ann lives in Rome")

    for _ in range(2):
        hits = await working.recall("Where does Ann live, in Oslo?")
        assert [(it.id, it.followed_by) for it in hits] == [
            (second.id, None),
            (first.id, second.id),
        ]

    assert judge.asked == [("Ann lives in Oslo", "Ann lives in Rome")]
    (link,) = (await working.get(first.id)).links
    assert link.newer == second.id


async def test_what_another_program_stored_is_compared_too(
    database_path: Path, clock: TurnedClock, judge: FakeJudge
):
    judge.knows("Ann lives in Oslo", "Ann lives in Rome", "update")
    settings = Settings.load({"storage": {"path": database_path}, "writing": {"judge": "local"}})
    async with Memory.open(settings, clock=clock, judge=judge) as memory:
        first = await memory.remember("Ann lives in Oslo")
        clock.turn(days=3)
        second = await memory.remember("Ann lives in Rome")
    async with Memory.open(settings, clock=clock, judge=judge) as memory:
        hits = await memory.recall("Where does Ann live, in Oslo?")
    assert [(it.id, it.followed_by) for it in hits] == [(second.id, None), (first.id, second.id)]


async def test_a_slow_judge_delays_no_recall_and_its_verdict_counts_for_the_next(
    working: Memory, clock: TurnedClock, judge: FakeJudge, monkeypatch: pytest.MonkeyPatch
):
    judge.knows("Ann lives in Oslo", "Ann lives in Rome", "update")
    await working.remember("Ann has a dog")
    await working.remember("Ann has a cat")
    # The judge is loaded from here on.
    await working.recall("What animals does Ann have?")
    first = await working.remember("Ann lives in Oslo")
    clock.turn(days=3)
    second = await working.remember("Ann lives in Rome")
    may_answer = asyncio.Event()
    answer = judge.judge

    async def answer_later(new: Statement, stored: Sequence[Statement]) -> Judged:
        await may_answer.wait()
        return await answer(new, stored)

    monkeypatch.setattr(judge, "judge", answer_later)
    hits = await working.recall("Where does Ann live, in Oslo?")
    assert {it.id for it in hits} >= {first.id, second.id}
    assert not any(it.followed_by for it in hits)

    may_answer.set()
    await working.drain()
    hits = await working.recall("Where does Ann live, in Oslo?")
    assert next(it for it in hits if it.id == first.id).followed_by == second.id
