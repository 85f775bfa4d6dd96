"""Memory is pruned by rules that people can read, and never behind their backs."""

import logging
from datetime import timedelta
from pathlib import Path

import pytest

from recollect import Memory, Status
from recollect.errors import Conflict, NotFound
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.services import services
from tests.upkeep import dispute, quarantine


def _settings(database: Path, **given: object) -> Settings:
    return Settings.load({"storage": {"path": database}, "data_dir": database.parent, **given})


# --- Quarantine ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "question"),
    [("Ann is allergic to nuts", "allergic to nuts"), ("小安对坚果过敏", "谁对坚果过敏")],
)
async def test_a_doubtful_record_is_heard_of_only_after_somebody_accepted_it(
    memory: Memory, content: str, question: str
):
    held = await quarantine(memory, await memory.remember(content, tier="short"))
    assert not (await memory.recall(question, min_score=0)).hits
    assert not (await memory.context(question)).text
    assert [it.id for it in await memory.upkeep.quarantined()] == [held.id]

    accepted = await memory.upkeep.accept(held.id)
    assert (accepted.status, accepted.tier, accepted.expires_at) == ("active", "long", None)
    assert (await memory.recall(question))[0].id == held.id
    assert not (await memory.upkeep.quarantined()).items


async def test_a_doubtful_record_is_corrected_while_it_is_accepted(memory: Memory):
    held = await quarantine(memory, await memory.remember("Ann pays 900 euro"))
    accepted = await memory.upkeep.accept(held.id, "Ann pays 90 euro", reason="a typing mistake")
    assert accepted.content == "Ann pays 90 euro"
    assert (await memory.recall("what does Ann pay"))[0].content == "Ann pays 90 euro"
    assert (await memory.history(held.id))[-1].reason == "a typing mistake"


async def test_a_wrong_record_is_rejected_and_can_be_looked_at_again(memory: Memory):
    held = await quarantine(memory, await memory.remember("Ann is a spy"))
    await memory.upkeep.reject(held.id, "nonsense")
    with pytest.raises(NotFound):
        await memory.get(held.id)
    await memory.undo(held.id)
    assert [it.id for it in await memory.upkeep.quarantined()] == [held.id]


async def test_only_what_is_in_quarantine_is_reviewed(memory: Memory):
    record = await memory.remember("Certain")
    for review in (memory.upkeep.accept, memory.upkeep.reject):
        with pytest.raises(Conflict) as refused:
            await review(record.id)
        assert refused.value.code == "not_quarantined"


# --- Expiry -------------------------------------------------------------------------------------


async def test_what_was_true_once_is_no_matter_of_expiry(memory: Memory, clock: TurnedClock):
    over = await memory.remember("The office was in Rome", valid_to=clock.turn(days=1))
    clock.turn(days=400)
    assert (await memory.upkeep.expire()).records == 0
    assert (await memory.get(over.id)).status is Status.ACTIVE


async def test_a_dry_run_tells_what_would_go_and_nothing_goes(memory: Memory, clock: TurnedClock):
    tomorrow = clock.now() + timedelta(days=1)
    short = await memory.remember(
        "尽快回复", tier="short", category="follow-up", expires_at=tomorrow
    )
    long = await memory.remember("Sale ends soon", category="project", expires_at=tomorrow)
    clock.turn(days=2)
    told = await memory.upkeep.expire(dry_run=True)
    assert (told.is_dry_run, told.purged, told.expired) == (True, 1, 1)
    assert told.ids == {"purge": (short.id,), "expire": (long.id,)}
    assert told.by_category == {"follow-up": {"purge": 1}, "project": {"expire": 1}}
    assert (await memory.get(short.id)).version == (await memory.get(long.id)).version == 1
    assert (await memory.upkeep.health()).expired == 2

    done = await memory.upkeep.expire()
    assert (done.is_dry_run, done.ids) == (False, told.ids)
    assert (await memory.upkeep.expire()).records == 0
    assert (await memory.upkeep.health()).expired_by == {"time": 1}


async def test_a_sweep_of_ones_own_leaves_others_alone(memory: Memory, clock: TurnedClock):
    soon = clock.now() + timedelta(days=1)
    bob = memory.scope(user="bob")
    his = await bob.remember("Bob's secret", tier="short", expires_at=soon)
    clock.turn(days=2)
    assert (await memory.upkeep.sweep()).records == 0
    assert (await bob.get(his.id)).version == 1
    swept = await memory.upkeep.sweep(all_scopes=True)
    assert swept.ids == {"purge": (his.id,)}


async def test_the_background_sweeps_for_everybody(memory: Memory, clock: TurnedClock):
    bob = memory.scope(user="bob")
    his = await bob.remember("gone soon", tier="short", expires_at=clock.turn(days=1))
    clock.turn(days=1)
    await services(memory).working.sweeper.schedule()
    await memory.drain()
    with pytest.raises(NotFound):
        await bob.get(his.id)


async def test_a_record_that_is_edited_during_a_sweep_stays(
    memory: Memory, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    soon = clock.now() + timedelta(days=1)
    saved = await memory.remember_many(
        [{"content": f"note {number}", "expires_at": soon} for number in range(3)]
    )
    clock.turn(days=2)
    reader = services(memory).here.retention
    select = reader.select

    async def edited_meanwhile(*arguments: object, **named: object):
        found = await select(*arguments, **named)  # pyright: ignore[reportArgumentType]
        if found and (await memory.get(saved[1].id)).version == 1:
            await memory.update(saved[1].id, expires_at=None)
        return found

    monkeypatch.setattr(reader, "select", edited_meanwhile)
    assert (await memory.upkeep.expire()).expired == 2
    assert [it.id for it in await memory.list()] == [saved[1].id]


# --- Retention ----------------------------------------------------------------------------------


async def test_rules_say_how_long_things_stay(database_path: Path, clock: TurnedClock):
    rules = [
        {"category": "sentiment", "older_than_days": 10, "action": "purge"},
        {"kind": "episodic", "older_than_days": 10, "action": "delete"},
        {"user": "bob", "older_than_days": 10, "action": "expire"},
    ]
    settings = _settings(database_path, retention=rules)
    async with Memory.open(settings, clock=clock) as memory:
        bob = memory.scope(user="bob")
        mood = await memory.remember("心情不好", category="sentiment")
        event = await memory.remember("The launch", kind="episodic")
        kept = await memory.remember("Ann's own")
        his = await bob.remember("Bob's own")
        clock.turn(days=9)
        assert (await memory.upkeep.sweep(all_scopes=True)).records == 0
        clock.turn(days=2)
        fresh = await memory.remember("心情很好", category="sentiment")

        told = await memory.upkeep.retain(dry_run=True)
        assert told.ids == {"purge": (mood.id,), "delete": (event.id,)}, "only of one's own"
        done = await memory.upkeep.sweep(all_scopes=True)
        assert done.ids == {**told.ids, "expire": (his.id,)}
        assert {it.id for it in await memory.list()} == {kept.id, fresh.id}
        assert (await bob.get(his.id)).status is Status.EXPIRED
        assert (await bob.history(his.id))[
            -1
        ].reason == "retention: untouched for 10 days, user bob"
        assert (await memory.undo(event.id)).status is Status.ACTIVE
        with pytest.raises(NotFound):
            await memory.history(mood.id)
        assert (await memory.upkeep.sweep(all_scopes=True)).records == 0, "undone, so it is young"


async def test_a_rule_for_no_agent_in_a_workspace(database_path: Path, clock: TurnedClock):
    rule = {"agent": "-", "workspace": "old", "older_than_days": 1, "action": "delete"}
    async with Memory.open(_settings(database_path, retention=[rule]), clock=clock) as memory:
        places = {
            "wanted": memory.scope(workspace="old"),
            "of an agent": memory.scope(workspace="old", agent="sql"),
            "elsewhere": memory,
        }
        for name, place in places.items():
            await place.remember(name)
        clock.turn(days=2)
        assert (await memory.upkeep.sweep(all_scopes=True)).deleted == 1
        assert not (await places["wanted"].list()).items


# --- Capacity -----------------------------------------------------------------------------------


async def test_too_many_records_are_never_dropped_silently(
    database_path: Path, clock: TurnedClock, caplog: pytest.LogCaptureFixture
):
    settings = _settings(database_path, lifecycle={"capacity": 3})
    async with Memory.open(settings, clock=clock) as memory:
        dull = await memory.remember("old and dull", importance=0.1)
        used = await memory.remember("an old thing in use", importance=0.1)
        await memory.used(used.id)
        await memory.used(used.id)
        clock.turn(days=200)
        doubtful = await memory.remember("用处不大", importance=0.5, confidence=0.05)
        good = [await memory.remember(text, importance=0.8) for text in ("重要的事", "important")]
        bobs = await memory.scope(user="bob").remember("Bob has room", importance=0.0)

        told = await memory.upkeep.sweep(dry_run=True)
        assert (told.expired, told.by_reason) == (2, {"capacity": 2})
        with caplog.at_level(logging.WARNING, "recollect"):
            done = await memory.upkeep.sweep()
        assert set(done.ids["expire"]) == {doubtful.id, dull.id}
        assert "over its capacity of 3 records" in caplog.text
        health = await memory.upkeep.health()
        assert (health.capacity, health.fullest, health.total) == (3, 3, 3)
        assert (health.expired, health.expired_by) == (2, {"capacity": 2})
        assert {it.id for it in await memory.list()} == {used.id, *(it.id for it in good)}
        assert (await memory.scope(user="bob").get(bobs.id)).status is Status.ACTIVE

        await memory.undo(dull.id)
        assert (await memory.recall("old and dull"))[0].id == dull.id


# --- Health -------------------------------------------------------------------------------------


async def test_health_tells_what_somebody_should_look_at(memory: Memory, clock: TurnedClock):
    assert (await memory.upkeep.health()).mean_confidence is None
    first = await memory.remember("Ann lives in Berlin", confidence=0.9)
    second = await memory.remember("Ann lives in Porto", confidence=0.5)
    await dispute(memory, first, second)
    await memory.remember("The launch went well", kind="episodic", confidence=0.7)
    driver = await memory.remember("李雷在邮局当司机。", confidence=0.7)
    the_same = await memory.remember("李雷在邮局当司机", confidence=0.7)
    tea = await memory.remember("My favourite drink is tea.", confidence=0.7)
    again = await memory.remember("my favourite drink is tea", confidence=0.7)
    await memory.remember("not for long", tier="short", expires_at=clock.now() + timedelta(days=1))
    await quarantine(memory, await memory.remember("who knows"))
    await memory.remember("over", expires_at=clock.turn(seconds=1))
    await memory.scope(user="bob").remember("none of Ann's business")

    found = await memory.upkeep.health()
    assert found.total == 8
    assert found.by_kind == {"semantic": 7, "episodic": 1}
    assert found.mean_confidence == pytest.approx((0.9 + 0.5 + 5 * 0.7 + 1.0) / 8)
    assert (found.conflicts, found.quarantined, found.buffered) == (1, 1, 1)
    assert (found.expired, found.compared) == (1, 8)
    assert found.suspected_duplicates == 2
    alike = [{it.first, it.second} for it in found.duplicates]
    assert {tea.id, again.id} in alike
    assert {driver.id, the_same.id} in alike
