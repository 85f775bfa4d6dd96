"""The short-term buffer and the procedures that are used most, as they are in the database.

A follower of the database's changes: whenever records of a scope were changed, its mirror is made
anew as a whole, for it is small.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final

from sqlalchemy import Connection, select

from recollect.backends.redis.keys import Keys, scope_in, tag
from recollect.backends.redis.link import RedisLink
from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import record_from, rows_of
from recollect.backends.sql.scopes import find_scopes, read_scope, scopes_by_id
from recollect.domain.followers import Place
from recollect.domain.record import Kind, Procedure, Record, Status, Tier
from recollect.domain.scope import Scope
from recollect.domain.times import to_micros
from recollect.domain.upkeep import buffer_score
from recollect.ports.runtime import Clock

_MOST_PROCEDURES: Final = 100
_MOST_ENTRIES: Final = 1_000
_SCOPES_AT_ONCE: Final = 200
_RECORD: Final = "record"
# How each kind of value is read.
_READ: Final = {"string": "GET", "hash": "HGETALL", "zset": "ZRANGE"}
_RANGE: Final = {"zset": (0, -1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mirrored:
    """What is mirrored of a scope at one version of it."""

    scope: Scope
    version: int
    records: tuple[Record, ...]
    has_changed: bool


@dataclass(eq=False)
class RedisMirror:
    """The mirror of the scopes that one database holds, as a `Follower`.

    `holds` says which scopes these are: agents may have databases of their own.
    """

    _database: Database
    _link: RedisLink
    _keys: Keys
    _clock: Clock
    _holds: Callable[[Scope], bool]

    @property
    def kind(self) -> str:
        return "redis"

    @property
    def name(self) -> str:
        return self._link.name

    @property
    def fewest_units(self) -> int:
        return 0

    async def check(self) -> None:
        await self._link.ask("PING")

    async def advance(self, place: Place) -> Place:
        """Mirror a scope as it is now; from the beginning, whatever Redis has of it goes first."""
        mirrored = await self._database.read(lambda it: self._read(it, place))
        if mirrored is None:
            return place
        if not place.version:
            await self._begin(place.scope, mirrored.scope)
        if mirrored.has_changed or not place.version:
            await self._write(mirrored)
        return Place(scope=place.scope, version=mirrored.version)

    async def drop(self, scope: int) -> None:
        """Erase what Redis has of a scope that lost its names."""
        await self._remove_scopes({scope: None})

    async def erase(self, scopes: Mapping[int, Scope | None]) -> None:
        """Erase everything of scopes, and all caches; mirror anew what some of them still hold."""
        await self._remove_scopes(scopes, with_caches=True)
        numbers = [number for number, scope in scopes.items() if scope is not None]
        there = await self._database.read(lambda it: scopes_by_id(it, numbers))
        for number, scope in scopes.items():
            if scope is not None and there.get(number) == scope:
                await self.advance(Place(scope=number))

    async def strays(self) -> int:
        """Return 0: everything that is there is searched for what was forgotten."""
        return 0

    async def contents(self) -> AsyncGenerator[tuple[str, bytes]]:
        """Return every key and its value."""
        async with aclosing(self._link.keys(self._keys.every())) as batches:
            async for keys in batches:
                kinds = await self._link.ask_all([("TYPE", key) for key in keys])
                readable = [
                    (key, (_READ[kind.decode()], key, *_RANGE.get(kind.decode(), ())))
                    for key, kind in zip(keys, kinds, strict=True)
                    if kind.decode() in _READ
                ]
                values = await self._link.ask_all([command for _, command in readable])
                for (key, _), value in zip(readable, values, strict=True):
                    yield key, key.encode() + b"\n" + _joined(value)

    async def _remove_scopes(
        self, scopes: Mapping[int, Scope | None], *, with_caches: bool = False
    ) -> None:
        """Delete the keys of scopes.

        Redis knows the names of those that are given without. If it does not know them any more,
        everything is compared with the database, which has no scope of these names now.
        """
        indexes = {number: await self._number(number) for number in scopes}
        told = await self._link.ask_all([("GET", key) for key in indexes.values()])
        known = {None if it is None else scope_in(it.decode()) for it in told}
        nameless = [
            scope is None and it is None for scope, it in zip(scopes.values(), told, strict=True)
        ]
        erased = {*scopes.values(), *known} - {None}
        if any(nameless):
            erased |= set(await self.unknown_scopes())
        if erased or with_caches:
            await self._link.remove(
                self._keys.every(),
                lambda key: scope_in(key) in erased or (with_caches and self._keys.is_cached(key)),
            )
        await self._link.ask_all([("UNLINK", key) for key in indexes.values()])

    async def unknown_scopes(self) -> list[Scope]:
        """Return the scopes that Redis has something of and the database does not know."""
        unknown: list[Scope] = []
        seen: set[Scope] = set()
        async with aclosing(self._link.keys(self._keys.every())) as batches:
            async for keys in batches:
                found = {it for it in map(scope_in, keys) if it is not None and self._holds(it)}
                for some in _in_parts(sorted(found - seen, key=lambda it: it.key)):
                    known = await self._database.read(
                        lambda it, some=some: set(find_scopes(it, some).values())
                    )
                    unknown += [scope for scope in some if scope not in known]
                seen |= found
        return unknown

    async def _begin(self, number: int, scope: Scope) -> None:
        """Erase what Redis has of a scope if it was mirrored before, and remember its names."""
        known = await self._number(number)
        if await self._link.ask("SET", known, tag(scope), "NX") is None:
            await self._remove_scopes({number: scope})
            await self._link.ask("SET", known, tag(scope))

    async def _number(self, scope: int) -> str:
        identity = await asyncio.to_thread(lambda: self._database.identity)
        return self._keys.number(identity, scope)

    def _read(self, connection: Connection, place: Place) -> _Mirrored | None:
        scope = scopes_by_id(connection, [place.scope]).get(place.scope)
        if scope is None:
            return None
        records, changes = schema.records.c, schema.changes.c
        since = select(changes.version).where(
            changes.scope_id == place.scope,
            changes.version > place.version,
            changes.entity == _RECORD,
        )
        has_changed = connection.execute(since.limit(1)).first() is not None
        found: list[Record] = []
        if has_changed or not place.version:
            its = (records.scope_id == place.scope, records.status == Status.ACTIVE.value)
            short = (
                records.tier == Tier.SHORT.value,
                records.expires_at > to_micros(self._clock.now()),
            )
            for which in (short, (records.kind == Kind.PROCEDURAL.value,)):
                wanted = select(schema.records).where(*its, *which)
                newest = wanted.order_by(records.observed_at.desc()).limit(_MOST_ENTRIES)
                found += [record_from(row, scope) for row in rows_of(connection, newest)]
        return _Mirrored(
            scope=scope,
            version=read_scope(connection, place.scope).version,
            records=tuple(found),
            has_changed=has_changed,
        )

    async def _write(self, mirrored: _Mirrored) -> None:
        keys, scope, now = self._keys, mirrored.scope, self._clock.now()
        buffer, hot = keys.short(scope), keys.procedures(scope)
        commands: list[tuple[Any, ...]] = []
        for record in mirrored.records:
            if record.tier is Tier.SHORT:
                key = keys.short_entry(scope, record.id)
                commands += _entry(key, _short_fields(record), record.expires_at, now)
                commands.append(("ZADD", buffer, buffer_score(record), record.id))
        for record in _most_used(mirrored.records):
            key = keys.procedure(scope, record.id)
            commands += _entry(key, _procedure_fields(record), record.expires_at, now)
            commands.append(("ZADD", hot, _procedure(record).usage_count, record.id))
        held = await self._link.ask_all([("ZRANGE", key, 0, -1) for key in (buffer, hot)])
        gone = {keys.short_entry(scope, ident.decode()) for ident in held[0]}
        gone |= {keys.procedure(scope, ident.decode()) for ident in held[1]}
        leaving = [("UNLINK", key) for key in (buffer, hot, *sorted(gone))]
        await self._link.ask_all([*leaving, *commands], together=True)


def _in_parts(scopes: Sequence[Scope]) -> list[Sequence[Scope]]:
    starts = range(0, len(scopes), _SCOPES_AT_ONCE)
    return [scopes[start : start + _SCOPES_AT_ONCE] for start in starts]


def _most_used(records: Sequence[Record]) -> list[Record]:
    procedures = {it.id: it for it in records if it.kind is Kind.PROCEDURAL}
    by_use = sorted(procedures.values(), key=lambda it: -_procedure(it).usage_count)
    return by_use[:_MOST_PROCEDURES]


def _entry(
    key: str, fields: Mapping[str, Any], until: datetime | None, now: datetime
) -> list[tuple[Any, ...]]:
    """Return the commands that put a hash; it goes by itself when the record expires."""
    put = [("HSET", key, *(part for field in fields.items() for part in field))]
    if until is None:
        return put
    return [*put, ("PEXPIRE", key, max(1, (until - now) // timedelta(milliseconds=1)))]


def _short_fields(record: Record) -> Mapping[str, Any]:
    return {
        "id": record.id,
        "type": record.category,
        "content": record.content,
        "source": record.source,
        "importance": record.importance,
        "created": record.created_at.isoformat(),
        "expires": "" if record.expires_at is None else record.expires_at.isoformat(),
    }


def _procedure_fields(record: Record) -> Mapping[str, Any]:
    procedure = _procedure(record)
    return {
        "id": record.id,
        "type": record.kind.value,
        "name": record.title or record.content,
        "trigger": procedure.trigger,
        "steps": json.dumps(procedure.steps, ensure_ascii=False),
        "success_rate": "" if procedure.success_rate is None else procedure.success_rate,
        "usage_count": procedure.usage_count,
        "last_updated": record.updated_at.isoformat(),
    }


def _procedure(record: Record) -> Procedure:
    return record.details if isinstance(record.details, Procedure) else Procedure()


def _joined(value: bytes | dict[bytes, bytes] | list[bytes] | None) -> bytes:
    if isinstance(value, bytes):
        return value
    parts = chain(*value.items()) if isinstance(value, dict) else value or ()
    return b"\n".join(parts)
