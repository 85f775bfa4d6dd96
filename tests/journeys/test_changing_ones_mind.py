"""A preference changes, a record is corrected, hidden, brought back and removed."""

import pytest

from recollect import Memory, Status
from recollect.errors import Conflict, NotFound, StaleVersion
from tests.conftest import TurnedClock


async def test_a_changed_preference_answers_anew_and_its_past_stays(
    memory: Memory, clock: TurnedClock
):
    tea = await memory.remember("Ann drinks green tea in the morning", category="preference")
    in_march = clock.turn(days=1)
    clock.turn(weeks=6)
    coffee = await memory.update(tea.id, "Ann drinks coffee in the morning", reason="she said so")
    clock.turn(days=1)

    assert coffee.version == 2
    assert (await memory.recall("what does Ann drink in the morning"))[0].content == coffee.content
    assert await memory.recall("green tea", min_score=0) == await memory.recall("xyzzy")

    assert (await memory.get(tea.id, as_of=in_march)).content == tea.content
    past = await memory.recall("what does Ann drink", as_of=in_march)
    assert [hit.content for hit in past] == [tea.content]
    assert [record.content for record in await memory.list(as_of=in_march)] == [tea.content]

    versions = await memory.history(tea.id)
    assert [version.number for version in versions] == [1, 2]
    assert versions[1].reason == "she said so"
    assert versions[0].replaced_at == versions[1].record.recorded_at


async def test_any_change_can_be_undone(memory: Memory):
    record = await memory.remember("The meeting is on Monday", tags=["team"])
    await memory.update(record.id, "The meeting is on Tuesday", tags=["team", "moved"])

    undone = await memory.undo(record.id)
    assert (undone.content, undone.tags, undone.version) == (record.content, record.tags, 3)
    assert (await memory.recall("when is the meeting"))[0].content == record.content
    assert len(await memory.list(tags="moved")) == 0

    redone = await memory.undo(record.id)
    assert redone.content == "The meeting is on Tuesday"


async def test_what_was_never_changed_cannot_be_undone(memory: Memory):
    record = await memory.remember("Nothing happened here")
    with pytest.raises(Conflict) as refused:
        await memory.undo(record.id)
    assert refused.value.code == "nothing_to_undo"


async def test_delete_hides_undo_brings_back_purge_removes(memory: Memory):
    record = await memory.remember("The safe's code is in the red book")
    await memory.delete(record.id, reason="not needed")

    assert len(await memory.recall("code of the safe")) == 0
    assert len(await memory.list()) == 0
    with pytest.raises(NotFound) as hidden:
        await memory.get(record.id)
    assert hidden.value.code == "deleted"
    assert [it.id for it in await memory.list(status="deleted")] == [record.id]
    assert (await memory.recall("code of the safe", status=Status.DELETED))[0].id == record.id

    await memory.undo(record.id)
    assert (await memory.recall("code of the safe"))[0].id == record.id

    with pytest.raises(Conflict) as kept:
        await memory.purge(record.id)
    assert kept.value.code == "not_deleted"
    await memory.delete(record.id)
    await memory.purge(record.id)
    with pytest.raises(NotFound) as gone:
        await memory.history(record.id)
    assert gone.value.code == "not_found"
    assert len(await memory.list(status=list(Status))) == 0


async def test_what_was_true_then_is_told_from_what_is_true_now(memory: Memory, clock: TurnedClock):
    moved = clock.turn(days=10)
    await memory.remember("Li lives in Berlin", valid_to=moved)
    await memory.remember("Li lives in 上海", valid_from=moved)

    before = await memory.recall("where does Li live", valid_at=moved.replace(year=2025))
    after = await memory.recall("where does Li live", valid_at=moved)
    assert [hit.content for hit in before] == ["Li lives in Berlin"]
    assert [hit.content for hit in after] == ["Li lives in 上海"]


async def test_an_expired_record_is_no_longer_recalled(memory: Memory, clock: TurnedClock):
    await memory.remember("Call the plumber", expires_at=clock.now().replace(day=4))
    assert len(await memory.recall("plumber")) == 1
    clock.turn(days=5)
    assert len(await memory.recall("plumber")) == 0
    assert len(await memory.list()) == 0


async def test_a_change_made_on_an_old_reading_is_refused(memory: Memory):
    record = await memory.remember("The budget is 10,000")
    await memory.update(record.id, "The budget is 12,000")
    with pytest.raises(StaleVersion):
        await memory.update(record.id, "The budget is 9,000", expected_version=1)
    assert (await memory.get(record.id)).content == "The budget is 12,000"
