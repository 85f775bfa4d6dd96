"""The edges of upkeep: what is read for it, what recalls are counted, what a record is worth."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event

from recollect import Memory
from recollect.backends.sql.database import Database
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.backends.sql.state import SqlState
from recollect.domain.change import ChangeSet, Committed
from recollect.domain.fields import Draft
from recollect.domain.record import Kind, Status, Tier
from recollect.domain.upkeep import Selection, Worth
from recollect.errors import SettingsError, StorageBusy
from recollect.records.usage import Usage
from recollect.retention.rows import SqlRetention
from recollect.retention.sweep import value_of
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.database_servers import open_at
from tests.services import store_of


@pytest.fixture
async def database(memory: Memory, database_path: Path) -> AsyncIterator[Database]:
    """The same database, opened beside the memory."""
    opened = open_at(database_path)
    yield opened
    await opened.close()


# --- Reading ------------------------------------------------------------------------------------


async def test_a_selection_is_read_in_pages(memory: Memory, database: Database):
    saved = await memory.remember_many([f"note {number}" for number in range(5)])
    reader = SqlRetention(database)
    first = await reader.select(Selection(), limit=3)
    rest = await reader.select(Selection(), after=first[-1].id, limit=3)
    assert [it.id for it in (*first, *rest)] == sorted(it.id for it in saved)


async def test_a_selection_finds_what_all_its_conditions_hold_for(
    memory: Memory, database: Database, clock: TurnedClock
):
    soon = clock.now() + timedelta(days=1)
    mood = await memory.remember("心情", tier="short", expires_at=soon, category="sentiment")
    event = await memory.remember("a party", kind="episodic", category="user")
    clock.turn(days=1)
    fresh = await memory.remember("new", category="preference")
    reader = SqlRetention(database)

    async def found(**conditions: object) -> set[str]:
        selection = Selection(**conditions)  # pyright: ignore[reportArgumentType]
        return {it.id for it in await reader.select(selection)}

    assert await found() == {mood.id, event.id, fresh.id}
    assert await found(expires_by=clock.now()) == {mood.id}
    assert await found(expires_after=clock.now()) == {event.id, fresh.id}
    assert await found(tier=Tier.SHORT) == {mood.id}
    assert await found(kind=Kind.EPISODIC) == {event.id}
    assert await found(category="user-profile") == {event.id, fresh.id}, "aliases too"
    assert await found(untouched_since=soon - timedelta(hours=1)) == {mood.id, event.id}
    assert await found(scopes=(memory.scope(user="bob").caller_scope,)) == set()
    assert await found(user="me") == {mood.id, event.id, fresh.id}
    assert await found(user="-") == set()
    assert await found(statuses=frozenset({Status.EXPIRED})) == set()


@pytest.mark.sqlite(reason="it reads SQLite's query plan")
@pytest.mark.parametrize(
    "selection",
    [
        Selection(expires_by=datetime(2026, 1, 1, tzinfo=UTC)),
        Selection(
            statuses=frozenset({Status.EXPIRED}), untouched_since=datetime(2026, 1, 1, tzinfo=UTC)
        ),
    ],
    ids=["outdated", "expired long ago"],
)
async def test_a_sweep_does_not_go_through_every_record(
    memory: Memory, database: Database, selection: Selection
):
    asked: list[tuple[str, Any]] = []

    def listen(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        asked.append((statement, parameters))

    assert isinstance(database, SqliteDatabase)
    engine = database._reading  # pyright: ignore[reportPrivateUsage]
    event.listen(engine, "before_cursor_execute", listen)
    await SqlRetention(database).select(selection, limit=50)
    event.remove(engine, "before_cursor_execute", listen)
    statement, parameters = next(it for it in asked if "FROM records" in it[0])

    def plan(connection: Connection) -> str:
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        return " ".join(row[3] for row in rows)

    assert "USING INDEX ix_records_" in await database.read(plan)


async def test_only_crowded_scopes_are_named(
    memory: Memory, database: Database, clock: TurnedClock
):
    bob = memory.scope(user="bob")
    for number in range(3):
        await bob.remember(f"note {number}")
    gone = await bob.remember("gone")
    await bob.delete(gone.id)
    await memory.remember("alone")
    reader = SqlRetention(database)
    assert await reader.crowded(None, 2, now=clock.now()) == {bob.caller_scope: 3}
    assert await reader.crowded(None, 3, now=clock.now()) == {}, "what is deleted does not count"
    assert await reader.crowded([memory.caller_scope], 2, now=clock.now()) == {}


# --- What a record is worth ---------------------------------------------------------------------

_worths = st.builds(
    Worth,
    id=st.just("mem_1"),
    importance=st.floats(0.0, 1.0),
    confidence=st.floats(0.0, 1.0),
    uses=st.integers(0, 1000),
    rejected=st.integers(0, 1000),
    last_touched=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001
)


@given(_worths, st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)))  # noqa: DTZ001
@settings(deadline=None, max_examples=200)
def test_worth_never_grows_with_age_or_rejection(worth: Worth, now: datetime):
    value = value_of(worth, now, 0.01)
    assert 0 <= value <= 2
    assert value_of(worth, now + timedelta(days=10), 0.01) <= value
    rejected = Worth(**{**_fields(worth), "rejected": worth.rejected + 1})
    assert value_of(rejected, now, 0.01) <= value
    used = Worth(**{**_fields(worth), "uses": worth.uses + 1})
    assert value_of(used, now, 0.01) >= value


def _fields(worth: Worth) -> dict[str, object]:
    return {name: getattr(worth, name) for name in Worth.__dataclass_fields__}


# --- Counting recalls ---------------------------------------------------------------------------


async def test_a_session_counts_once_however_many_processes_serve_it(
    memory: Memory, database: Database, clock: TurnedClock
):
    saved = await memory.remember_many(["tea", "茶"])
    for _ in range(2):
        usage = Usage(store_of(memory), clock, state=SqlState(database, clock), pause=3600)
        usage.entered("s1", saved)
        usage.entered("s1", saved[:1])
        await usage.close()
    assert [(await memory.get(it.id)).access_count for it in saved] == [1, 1]
    usage = Usage(store_of(memory), clock, state=SqlState(database, clock), pause=3600)
    usage.entered("s1", saved)
    usage.entered("s2", saved[:1])
    await usage.close()
    assert [(await memory.get(it.id)).access_count for it in saved] == [2, 1]


async def test_a_count_that_failed_is_not_taken_for_one_that_was_made(
    memory: Memory, database: Database, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    saved = await memory.remember("tea")
    usage = Usage(store_of(memory), clock, state=SqlState(database, clock), pause=3600)
    usage.entered("s1", [saved])

    async def busy(_: ChangeSet) -> Committed:
        raise StorageBusy("told to fail")

    with monkeypatch.context() as patched:
        patched.setattr(store_of(memory), "commit", busy)
        with pytest.raises(StorageBusy):
            await usage.flush()
    await usage.close()
    assert (await memory.get(saved.id)).access_count == 1


async def test_looking_at_records_is_no_recall(memory: Memory, clock: TurnedClock):
    saved = await memory.remember("tea", tier="short", expires_at=clock.now() + timedelta(days=1))
    for _ in range(5):
        await memory.recall("tea")
        await memory.list()
        await memory.upkeep.buffer()
    await memory.drain()
    assert (await memory.get(saved.id)).access_count == 0


# --- Many ---------------------------------------------------------------------------------------


async def test_very_many_are_counted_in_full_and_named_in_part(memory: Memory, clock: TurnedClock):
    drafts = [
        Draft(content=f"remark {number}", tier="short", expires_at=clock.now())
        for number in range(1_050)
    ]
    await memory.remember_many(drafts)
    clock.turn(seconds=1)
    told = await memory.upkeep.expire(dry_run=True)
    assert (told.purged, len(told.ids["purge"])) == (1_050, 1_000)
    assert told.by_category == {"general": {"purge": 1_050}}


# --- Settings -----------------------------------------------------------------------------------


def test_rules_and_times_are_settings(tmp_path: Path):
    file = tmp_path / "settings.toml"
    file.write_text(
        "[buffer]\npromote_at = 2\nsentiment_days = 0.5\n"
        "[lifecycle]\ncapacity = 100\npurge_after_days = 0\n"
        '[[retention]]\ncategory = "sentiment"\nolder_than_days = 30\naction = "purge"\n'
    )
    found = Settings.load(file=file)
    assert (found.buffer.promote_at, found.buffer.sentiment_days) == (2, 0.5)
    assert (found.lifecycle.capacity, found.lifecycle.purge_after_days) == (100, 0)
    assert (found.retention[0].category, found.retention[0].action) == ("sentiment", "purge")


@pytest.mark.parametrize(
    "rule",
    [
        {"older_than_days": 0, "action": "purge"},
        {"older_than_days": 1, "action": "burn"},
        {"action": "purge"},
        {"older_than_days": 1, "action": "purge", "colour": "red"},
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(rule: dict[str, object]):
    with pytest.raises(SettingsError):
        Settings.load({"retention": [rule]})
