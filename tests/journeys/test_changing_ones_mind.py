"""A preference changes, a record is corrected, hidden, brought back and removed."""

import pytest

from recollect import Memory, Status
from recollect.errors import Conflict, NotAllowed, NotFound, StaleVersion
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
    assert all("green tea" not in hit.content for hit in await memory.recall("green", min_score=0))

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


async def test_undoing_again_goes_further_back(memory: Memory):
    record = await memory.remember("Monday")
    await memory.update(record.id, "Tuesday")
    await memory.update(record.id, "Wednesday")
    assert (await memory.undo(record.id, reason="too late")).content == "Tuesday"
    assert (await memory.undo(record.id)).content == "Monday"
    with pytest.raises(Conflict) as refused:
        await memory.undo(record.id)
    assert refused.value.code == "nothing_to_undo"

    await memory.update(record.id, "Thursday")
    await memory.delete(record.id)
    assert (await memory.undo(record.id)).content == "Thursday"
    assert (await memory.undo(record.id)).content == "Monday"
    with pytest.raises(Conflict):
        await memory.undo(record.id)
    assert [version.reason for version in await memory.history(record.id)] == [
        *("", "", ""),
        *("undo of version 3: too late", "undo of version 2"),
        *("", "", "undo of version 7", "undo of version 6"),
    ]


async def test_going_back_by_hand_is_a_change_that_can_be_undone(memory: Memory):
    record = await memory.remember("Monday")
    await memory.update(record.id, "Tuesday")
    await memory.update(record.id, "Monday", reason="undo of version 99")
    assert (await memory.undo(record.id)).content == "Tuesday"


async def test_a_change_of_nothing_leaves_the_record_as_it_is(memory: Memory, clock: TurnedClock):
    record = await memory.remember("The meeting is on Monday", tags=["team"])
    clock.turn(hours=1)
    assert await memory.update(record.id) == record
    assert await memory.update(record.id, record.content, tags=["team"]) == record
    assert len(await memory.history(record.id)) == 1


async def test_a_corrected_time_moves_the_record_to_its_place(memory: Memory, clock: TurnedClock):
    record = await memory.remember("The office moved")
    then = clock.now().replace(year=2020)
    moved = await memory.update(record.id, created_at=then)
    assert moved.observed_at == then
    assert [it.id for it in await memory.list(until=then.replace(year=2021))] == [record.id]


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_forgetting_removes_a_record_at_once(memory: Memory, is_deleted: bool):
    record = await memory.remember("A secret about whales")
    await memory.update(record.id, "A secret about whales and ships")
    if is_deleted:
        await memory.delete(record.id)
    await memory.forget(record.id)
    with pytest.raises(NotFound) as gone:
        await memory.history(record.id)
    assert gone.value.code == "not_found"
    assert len(await memory.recall("secret whales", status=list(Status), min_score=0)) == 0
    assert (await memory.stats()).store.units == 0


async def test_forgetting_that_is_refused_leaves_everything(memory: Memory):
    record = await memory.remember("Ann's own note")
    with pytest.raises(NotAllowed):
        await memory.scope(agent="sql").forget(record.id)
    assert await memory.get(record.id) == record


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

    restored = await memory.undo(record.id, expected_version=2)
    assert (await memory.recall("code of the safe"))[0].id == record.id
    # Nobody said anew that it holds; and the same call again does not go further back.
    assert restored.last_confirmed == record.last_confirmed
    with pytest.raises(StaleVersion) as twice:
        await memory.undo(record.id, expected_version=2)
    assert (twice.value.code, twice.value.current) == ("stale_version", 3)

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
