"""What helped and what did not, and how often a record entered a prompt."""

import asyncio
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.change import ChangeSet, Committed, RecordChange
from recollect.domain.record import Procedure, Record
from recollect.errors import InvalidInput, NotFound, RecollectError, StorageBusy
from recollect.records.usage import Usage
from tests.conftest import TurnedClock
from tests.services import store_of

TEA = "Ann prefers green tea over coffee"
QUESTION = "which tea does Ann prefer"


def feedback_of(record: Record) -> tuple[int, int]:
    return record.helped, record.rejected


def uses_of(record: Record) -> tuple[int, float | None]:
    assert isinstance(record.details, Procedure)
    return record.details.usage_count, record.details.success_rate


async def test_use_is_counted_and_makes_no_version(memory: Memory):
    saved = await memory.remember(TEA)
    (hit,) = await memory.recall(QUESTION)
    assert feedback_of(await memory.used(hit)) == (1, 0)
    assert feedback_of(await memory.used(saved.id, success=False)) == (1, 1)
    assert feedback_of(await memory.rejected(saved)) == (1, 2)
    now = await memory.get(saved.id)
    assert now == saved.evolve(helped=1, rejected=2)
    assert [version.number for version in await memory.history(saved.id)] == [1]


async def test_feedback_moves_the_score_within_bounds_and_says_so(memory: Memory):
    saved = await memory.remember(TEA)
    (plain,) = await memory.recall(QUESTION)
    assert "feedback" not in {boost.reason for boost in plain.explanation.boosts}
    for _ in range(30):
        await memory.used(saved.id)
    (raised,) = await memory.recall(QUESTION)
    (boost,) = [it for it in raised.explanation.boosts if it.reason == "feedback"]
    bound = memory.settings.recall.use_boost
    assert boost.factor == pytest.approx(1 + bound)
    assert raised.score > plain.score
    for _ in range(100):
        await memory.rejected(saved.id)
    (lowered,) = await memory.recall(QUESTION)
    (boost,) = [it for it in lowered.explanation.boosts if it.reason == "feedback"]
    assert 1 - bound <= boost.factor < 1
    assert lowered.score < plain.score


async def test_entering_prompts_counts_a_little(memory: Memory):
    saved = await memory.remember(TEA)
    for number in range(5):
        await memory.context(QUESTION, session=f"s{number}")
    await memory.drain()
    await memory.remember("something else")  # what a recall answered is cached until then
    (raised,) = [hit for hit in await memory.recall(QUESTION) if hit.id == saved.id]
    (boost,) = [it for it in raised.explanation.boosts if it.reason == "use"]
    assert 1 < boost.factor < 1 + memory.settings.recall.use_boost / 5
    await memory.used(saved.id)
    (used,) = [hit for hit in await memory.recall(QUESTION) if hit.id == saved.id]
    assert used.score > raised.score


async def test_a_procedure_learns_how_often_it_works(memory: Memory):
    new = await memory.remember("Deploy with make ship", kind="procedural", steps=["make ship"])
    assert uses_of(await memory.used(new.id)) == (1, 1.0)
    assert uses_of(await memory.used(new.id, success=False)) == (2, 0.5)
    # Looking at it and not taking it is no use of it.
    assert uses_of(await memory.rejected(new.id)) == (2, 0.5)
    assert (await memory.get(new.id)).details == Procedure(
        steps=("make ship",), success_rate=0.5, usage_count=2
    )


async def test_a_procedures_stated_rate_is_carried_on(memory: Memory):
    told = await memory.remember("Deploy by hand", kind="procedural", success_rate=0.5)
    assert uses_of(await memory.used(told.id)) == (1, 0.75)
    known = await memory.remember(
        "Deploy at night", kind="procedural", success_rate=0.9, usage_count=9
    )
    assert uses_of(await memory.used(known.id, success=False)) == (10, pytest.approx(0.81))
    unrated = await memory.remember("Deploy at noon", kind="procedural", usage_count=3)
    assert uses_of(await memory.used(unrated.id, success=False)) == (4, 0.75)


async def test_a_turn_cannot_be_used_or_rejected(memory: Memory):
    (turn,) = await memory.observe([{"role": "user", "content": TEA}])
    (hit,) = await memory.recall(QUESTION)
    for judged in (hit, turn.id):
        with pytest.raises(InvalidInput, match="is a turn") as refused:
            await memory.used(judged)
        assert refused.value.code == "not_a_record"
        with pytest.raises(InvalidInput, match="is a turn"):
            await memory.rejected(judged)


async def test_only_what_one_may_see_can_be_judged(memory: Memory):
    ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
    hers = await ann.remember(TEA)
    with pytest.raises(NotFound):
        await bob.used(hers.id)
    await ann.delete(hers.id)
    with pytest.raises(NotFound, match="deleted"):
        await ann.rejected(hers.id)
    with pytest.raises(RecollectError):
        await ann.used(None)  # pyright: ignore[reportArgumentType]


async def test_an_agent_may_say_that_its_users_record_helped(memory: Memory):
    agent, user = memory.scope(agent="chef", user="ann"), memory.scope(agent=None, user="ann")
    record = await user.remember("The kitchen has a gas stove", category="project")
    assert feedback_of(await agent.used(record.id)) == (1, 0)


async def test_many_judgements_at_once_are_all_counted(memory: Memory, database_path: Path):
    saved = await memory.remember("Deploy with make ship", kind="procedural")
    async with Memory.open(database_path) as other:
        await asyncio.gather(
            *(who.used(saved.id) for who in (memory, other) for _ in range(10)),
            *(memory.update(saved.id, f"Deploy with make ship {n}") for n in range(5)),
        )
    record = await memory.get(saved.id)
    assert feedback_of(record) == (20, 0)
    assert uses_of(record) == (20, 1.0)
    assert record.version == 6


async def test_an_edit_of_what_was_read_before_loses_no_use(memory: Memory):
    read = await memory.remember("Deploy with make ship", kind="procedural")
    await memory.used(read.id)
    await memory.context("deploy, ship")
    await memory.drain()
    edited = read.evolve(content="Deploy with make release", version=2)
    store = store_of(memory)
    await store.commit(
        ChangeSet(principal="x", scope=read.scope, records=(RecordChange(record=edited),))
    )
    now = await memory.get(read.id)
    assert (now.content, now.version) == ("Deploy with make release", 2)
    assert (now.access_count, feedback_of(now), uses_of(now)) == (1, (1, 0), (1, 1.0))


async def test_undoing_a_change_takes_back_no_use(memory: Memory):
    saved = await memory.remember("Deploy with make ship", kind="procedural")
    await memory.update(saved.id, "Deploy with make release")
    await memory.used(saved.id)
    undone = await memory.undo(saved.id)
    assert undone.content == "Deploy with make ship"
    assert (feedback_of(undone), uses_of(undone)) == ((1, 0), (1, 1.0))
    await memory.update(saved.id, success_rate=0.2)
    assert uses_of(await memory.undo(saved.id)) == (1, 1.0)


async def test_what_was_used_is_still_the_same_as_its_export(memory: Memory, tmp_path: Path):
    saved = await memory.remember("Deploy with make ship", kind="procedural")
    await memory.export_to(tmp_path / "all.jsonl")
    await memory.used(saved.id)
    imported = await memory.import_from(tmp_path / "all.jsonl")
    assert (imported.unchanged, imported.conflicting) == (1, 0)


async def test_entering_a_prompt_is_counted_once_a_session(memory: Memory, clock: TurnedClock):
    saved = await memory.remember(TEA)
    for message in (QUESTION, "Ann and her green tea", QUESTION):
        assert (await memory.context(message, session="s1")).ids == (saved.id,)
    await memory.drain()
    counted = await memory.get(saved.id)
    assert (counted.access_count, counted.last_accessed) == (1, clock.now())
    later = clock.turn(days=1)
    await memory.context(QUESTION, session="s2")
    await memory.drain()
    counted = await memory.get(saved.id)
    assert (counted.access_count, counted.last_accessed) == (2, later)
    assert counted.version == 1


async def test_without_a_session_each_memory_is_one(memory: Memory):
    saved = await memory.remember(TEA)
    again = memory.scope()
    for asker in (memory, memory, again):
        await asker.context(QUESTION)
    await memory.drain()
    assert (await memory.get(saved.id)).access_count == 2


async def test_what_does_not_enter_a_prompt_does_not_count(memory: Memory):
    saved = await memory.remember(TEA)
    await memory.recall(QUESTION)
    await memory.list()
    await memory.context(QUESTION, window=[TEA])
    await memory.context(QUESTION, max_tokens=1)
    await memory.drain()
    assert (await memory.get(saved.id)).access_count == 0


async def test_closing_writes_what_was_counted(database_path: Path):
    async with Memory.open(database_path) as memory:
        saved = await memory.remember(TEA)
        await memory.context(QUESTION)
        assert (await memory.get(saved.id)).access_count == 0
    async with Memory.open(database_path) as memory:
        assert (await memory.get(saved.id)).access_count == 1


async def _counted_in_the_end(memory: Memory, record: Record) -> int:
    """How often it was counted, as soon as it was."""
    for _ in range(250):
        if count := (await memory.get(record.id)).access_count:
            return count
        await asyncio.sleep(0.02)
    return 0


async def test_counts_are_written_in_the_background(memory: Memory, clock: TurnedClock):
    saved = await memory.remember(TEA)
    usage = Usage(store_of(memory), clock, pause=0.01)
    usage.entered("s1", [saved])
    assert await _counted_in_the_end(memory, saved) == 1
    usage.entered("s2", [saved])
    await usage.close()
    assert (await memory.get(saved.id)).access_count == 2


async def test_many_counts_do_not_wait(memory: Memory, clock: TurnedClock):
    saved = await memory.remember_many([f"note {number}" for number in range(101)])
    usage = Usage(store_of(memory), clock, pause=3600)
    usage.entered("s1", saved[:100])
    await asyncio.sleep(0.05)
    assert (await memory.get(saved[0].id)).access_count == 0
    usage.entered("s1", saved[100:])
    assert await _counted_in_the_end(memory, saved[0]) == 1


async def test_counts_that_could_not_be_written_are_written_later(
    memory: Memory, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    saved = await memory.remember(TEA)
    usage = Usage(store_of(memory), clock, pause=3600)
    usage.entered("s1", [saved])

    async def busy(_: ChangeSet) -> Committed:
        raise StorageBusy("told to fail")

    with monkeypatch.context() as patched:
        patched.setattr(store_of(memory), "commit", busy)
        with pytest.raises(StorageBusy):
            await usage.flush()
    usage.entered("s2", [saved])
    await usage.close()
    assert (await memory.get(saved.id)).access_count == 2


async def test_a_record_that_is_gone_by_then_needs_no_count(memory: Memory):
    gone, kept = await memory.remember_many([TEA, "Ann drinks her tea at four"])
    await memory.context("Ann and her tea")
    await memory.forget(gone.id)
    await memory.drain()
    assert (await memory.get(kept.id)).access_count == 1
