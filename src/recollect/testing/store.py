"""The contract of `recollect.ports.store.Store`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from recollect.domain.change import ChangeSet, Idempotency, RecordChange
from recollect.domain.fields import RecordFields, new_record
from recollect.domain.filters import Filter
from recollect.domain.record import Record, Status
from recollect.domain.relation import Link
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn, new_turn
from recollect.errors import Conflict, StaleVersion
from recollect.ports.store import Store

_NOW: Final = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
_ANN: Final = Scope(user="ann")
_BOB: Final = Scope(user="bob")
_ANY: Final = Filter()


class StoreContract:
    """Provide the fixture `store`: an empty store."""

    async def test_a_record_is_read_as_it_was_written(self, store: Store) -> None:
        fields: RecordFields = {"category": "preference", "tags": ["tea", "茶"], "importance": 0.9}
        record = new_record("Ann likes 绿茶", fields, _ANN, _NOW)
        done = await _write(store, record)
        assert await _read(store) == [replace(record, recorded_at=done)]

    async def test_reads_see_the_given_scopes_only(self, store: Store) -> None:
        mine, theirs = _record("mine"), _record("theirs", _BOB)
        await _write(store, mine, theirs)
        assert await _ids(store) == [mine.id]
        assert await _ids(store, _BOB) == [theirs.id]
        assert set(await _ids(store, _ANN, _BOB)) == {mine.id, theirs.id}
        foreign = await store.records([_ANN], _ANY, now=_NOW, ids=[theirs.id])
        assert foreign == []
        assert await store.history([_ANN], theirs.id) == []

    async def test_a_new_version_replaces_the_record_and_keeps_its_history(
        self, store: Store
    ) -> None:
        first = _record("first")
        await _write(store, first)
        await _write(store, first.evolve(content="second", version=2))
        (current,) = await _read(store)
        assert (current.content, current.version) == ("second", 2)
        history = await store.history([_ANN], first.id)
        assert [version.record.content for version in history] == ["first", "second"]

    async def test_a_version_that_does_not_follow_is_refused(self, store: Store) -> None:
        record = _record("first")
        await _write(store, record)
        await _write(store, record.evolve(content="second", version=2))
        with pytest.raises(StaleVersion):
            await _write(store, record.evolve(content="lost", version=2))
        assert [it.content for it in await _read(store)] == ["second"]

    async def test_a_refused_change_set_writes_nothing(self, store: Store) -> None:
        record = _record("first")
        await _write(store, record)
        before = await store.versions([_ANN])
        with pytest.raises(StaleVersion):
            await _write(store, _record("new"), record.evolve(content="late", version=5))
        assert await _ids(store) == [record.id]
        assert await store.versions([_ANN]) == before

    async def test_one_of_several_concurrent_versions_is_written(self, store: Store) -> None:
        record = _record("first")
        await _write(store, record)
        outcomes = await asyncio.gather(
            *(
                _write(store, record.evolve(content=f"version {number}", version=2))
                for number in range(6)
            ),
            return_exceptions=True,
        )
        assert sum(isinstance(outcome, StaleVersion) for outcome in outcomes) == 5
        assert len(await store.history([_ANN], record.id)) == 2

    async def test_deleted_records_are_found_by_their_status(self, store: Store) -> None:
        record = _record("first")
        await _write(store, record)
        await _write(store, record.evolve(status=Status.DELETED, version=2))
        assert await _ids(store) == []
        deleted = Filter(statuses=frozenset({Status.DELETED}))
        assert [it.id for it in await store.records([_ANN], deleted, now=_NOW)] == [record.id]

    async def test_only_a_deleted_record_is_purged(self, store: Store) -> None:
        record = _record("first")
        await _write(store, record)
        with pytest.raises(Conflict):
            await store.commit(ChangeSet(principal="test", scope=_ANN, purged=(record,)))
        deleted = record.evolve(status=Status.DELETED, version=2)
        await _write(store, deleted)
        await store.commit(ChangeSet(principal="test", scope=_ANN, purged=(deleted,)))
        assert await store.history([_ANN], record.id) == []

    async def test_records_come_latest_first_up_to_the_limit(self, store: Store) -> None:
        records = [
            new_record(f"note {number}", {}, _ANN, _NOW + timedelta(minutes=number))
            for number in range(5)
        ]
        await _write(store, *records)
        latest = [record.id for record in reversed(records)]
        assert await _ids(store) == latest
        page = await store.records([_ANN], _ANY, now=_NOW, limit=2)
        assert [record.id for record in page] == latest[:2]
        chosen = await store.records([_ANN], _ANY, now=_NOW, ids=[latest[3]])
        assert [record.id for record in chosen] == [latest[3]]

    async def test_turns_are_numbered_in_their_session(self, store: Store) -> None:
        turns = (_turn("one"), _turn("two"), _turn("elsewhere", session="t"))
        done = await store.commit(ChangeSet(principal="test", scope=_ANN, turns=turns))
        assert done.turn_ordinals == (1, 2, 1)
        said = await store.turns([_ANN], Filter(session="s"))
        assert [(turn.ordinal, turn.content) for turn in said] == [(1, "one"), (2, "two")]
        assert await store.turns([_BOB], _ANY) == []

    async def test_links_are_found_from_either_end(self, store: Store) -> None:
        old, new = _record("old"), _record("new")
        await _write(store, old, new)
        link = Link(
            scope=_ANN,
            newer=new.id,
            older=old.id,
            relation="update",
            probability=0.9,
            reason="",
            decided_by="test",
            at=_NOW,
        )
        await store.commit(ChangeSet(principal="test", scope=_ANN, links=(link,)))
        assert await store.links([_ANN], [old.id]) == [link]
        assert await store.links([_ANN], [new.id]) == [link]
        assert await store.links([_BOB], [new.id]) == []

    async def test_the_version_of_a_scope_rises_with_each_write(self, store: Store) -> None:
        assert await store.versions([_ANN, _BOB]) == (0, 0)
        await _write(store, _record("first"))
        first, untouched = await store.versions([_ANN, _BOB])
        await _write(store, _record("second"))
        second, _ = await store.versions([_ANN, _BOB])
        assert second > first > untouched == 0

    async def test_a_write_that_expects_another_scope_version_is_refused(
        self, store: Store
    ) -> None:
        await _write(store, _record("first"))
        (version,) = await store.versions([_ANN])
        change = (RecordChange(record=_record("second")),)
        stale = ChangeSet(
            principal="test", scope=_ANN, records=change, expected={_ANN: version - 1}
        )
        with pytest.raises(StaleVersion):
            await store.commit(stale)
        await store.commit(replace(stale, expected={_ANN: version}))
        assert len(await _ids(store)) == 2

    async def test_an_idempotent_write_happens_once(self, store: Store) -> None:
        def changes(body: str) -> ChangeSet:
            return ChangeSet(
                principal="test",
                scope=_ANN,
                records=(RecordChange(record=_record("once")),),
                idempotency=(Idempotency(key="k", body_hash=body, result={"n": 1}),),
            )

        assert (await store.commit(changes("a"))).replayed is None
        assert (await store.commit(changes("a"))).replayed == {"n": 1}
        with pytest.raises(Conflict):
            await store.commit(changes("b"))
        assert len(await _ids(store)) == 1

    async def test_counts_are_of_the_given_scopes(self, store: Store) -> None:
        await _write(store, _record("mine"), _record("mine too"), _record("theirs", _BOB))
        await store.commit(ChangeSet(principal="test", scope=_ANN, turns=(_turn("one"),)))
        counts = await store.counts([_ANN])
        assert (counts.records, counts.turns, counts.sessions) == (2, 1, 1)
        assert counts.by_status == {"active": 2}


def _record(content: str, scope: Scope = _ANN) -> Record:
    return new_record(content, {}, scope, _NOW)


def _turn(content: str, session: str = "s") -> Turn:
    return new_turn({"role": "user", "content": content}, _ANN, session, _NOW, None)


async def _write(store: Store, *records: Record) -> datetime:
    changes = tuple(RecordChange(record=record) for record in records)
    done = await store.commit(ChangeSet(principal="test", scope=_ANN, records=changes))
    return done.recorded_at


async def _read(store: Store, *scopes: Scope) -> list[Record]:
    return await store.records(scopes or (_ANN,), _ANY, now=_NOW)


async def _ids(store: Store, *scopes: Scope) -> list[str]:
    return [record.id for record in await _read(store, *scopes)]
