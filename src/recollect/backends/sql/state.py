"""Session state in the database; the time of the last change is the version."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    insert,
    or_,
    select,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database, OnDatabase, reading, reading_quickly, writing
from recollect.backends.sql.forgotten import begun_since, names_in
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import Row, scope_key
from recollect.backends.sql.scopes import find_scopes, lock_or_make_scope
from recollect.domain.fields import checked_text
from recollect.domain.scope import Scope
from recollect.domain.times import from_micros, to_micros
from recollect.errors import NotFound
from recollect.ports.runtime import Clock
from recollect.ports.state import ABSENT, MAX_STATE, StateEntry, StateKey, require_version

_TABLE: Final = schema.state.c
_PLACE: Final = tuple(
    column == bindparam(f"its_{column.name}")
    for column in (_TABLE.scope_id, _TABLE.session, _TABLE.name)
)
_FIND: Final = PreparedStatement(
    select(_TABLE.value, _TABLE.updated_at, _TABLE.expires_at).where(*_PLACE)
)
_PEEK: Final = PreparedStatement(select(_TABLE.updated_at, _TABLE.expires_at).where(*_PLACE))
_INSERT: Final = PreparedStatement(insert(schema.state))
_REPLACE: Final = PreparedStatement(
    update(schema.state)
    .where(*_PLACE)
    .values({name: bindparam(f"new_{name}") for name in ("value", "updated_at", "expires_at")})
)


class SqlState(OnDatabase):
    """Session state as rows, so it is as durable as everything else."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database)
        self._clock = clock

    @reading
    def get(self, connection: Connection, key: StateKey) -> StateEntry | None:
        now = to_micros(self._clock.now())
        number = _scope_id(connection, key.scope)
        row = None if number is None else _row(connection, key, number)
        return _entry(row) if row is not None and _is_live(row, now) else None

    @reading_quickly
    def peek(self, connection: Connection, key: StateKey) -> StateEntry | None:
        """Return an entry without its value, which is left empty."""
        now = to_micros(self._clock.now())
        number = _scope_id(connection, key.scope)
        if number is None:
            return None
        rows = _PEEK.rows(connection, _place(key, number))
        return next((_entry({**row, "value": ""}) for row in rows if _is_live(row, now)), None)

    async def put(
        self,
        key: StateKey,
        value: str,
        *,
        ttl: timedelta | None = None,
        expected: int | None = None,
        known_since: datetime | None = None,
    ) -> int:
        checked_text(value, "state", MAX_STATE)
        now = self._clock.now()

        def put(connection: Connection) -> int:
            if known_since is not None:
                _require_remembered(connection, key, value, known_since)
            return _put(connection, key, value, now, ttl, expected)

        return await self.database.write(put)

    @writing
    def touch(self, connection: Connection, key: StateKey, ttl: timedelta) -> bool:
        now = self._clock.now()
        later = update(schema.state).values(expires_at=to_micros(now + ttl))
        its = _is_of(connection, key.scope, key.session)
        live = later.where(its, _TABLE.name == key.name, _has_not_expired(to_micros(now)))
        return connection.execute(live).rowcount == 1

    async def delete(self, key: StateKey) -> None:
        await self._remove(key.scope, key.session, _TABLE.name == key.name)

    async def names(self, scope: Scope, session: str) -> list[str]:
        live = _has_not_expired(to_micros(self._clock.now()))

        def look(connection: Connection) -> list[str]:
            its = _is_of(connection, scope, session)
            return list(connection.scalars(select(_TABLE.name).where(its, live)))

        # By code point, whatever order the database knows.
        return sorted(await self.database.read(look))

    async def clear(self, scope: Scope, session: str) -> None:
        await self._remove(scope, session)

    @writing
    def sweep(self, connection: Connection) -> int:
        expired = delete(schema.state).where(_TABLE.expires_at <= to_micros(self._clock.now()))
        return connection.execute(expired).rowcount

    @writing
    def _remove(
        self, connection: Connection, scope: Scope, session: str, *which: ColumnElement[bool]
    ) -> None:
        its = _is_of(connection, scope, session)
        connection.execute(delete(schema.state).where(its, *which))


def _put(
    connection: Connection,
    key: StateKey,
    value: str,
    now: datetime,
    ttl: timedelta | None,
    expected: int | None,
) -> int:
    number = _locked_scope_id(connection, key.scope)
    before = _row(connection, key, number)
    micros = to_micros(now)
    version = ABSENT if before is None or not _is_live(before, micros) else before["updated_at"]
    require_version(key, expected, version)
    # Later than the version before, even if the clock was set back.
    updated_at = max(micros, 0 if before is None else before["updated_at"] + 1)
    values: dict[str, Any] = {
        "value": value,
        "updated_at": updated_at,
        "expires_at": None if ttl is None else to_micros(now + ttl),
    }
    if before is None:
        place = {"scope_id": number, "session": key.session, "name": key.name}
        _INSERT.run(connection, [{**place, **values}])
    else:
        named = {f"new_{column}": it for column, it in values.items()}
        _REPLACE.run(connection, [{**_place(key, number), **named}])
    return updated_at


def _require_remembered(
    connection: Connection, key: StateKey, value: str, known_since: datetime
) -> None:
    begun = begun_since(connection, to_micros(known_since))
    if begun and any(it.tells_of(key.scope, {key.session, *names_in(value)}) for it in begun):
        raise NotFound(
            f"What {key.name!r} of session {key.session!r} says was forgotten meanwhile",
            code="forgotten",
            hint="memory.session(id) starts a new one.",
        )


def _scope_id(connection: Connection, scope: Scope) -> int | None:
    return next(iter(find_scopes(connection, [scope])), None)


def _locked_scope_id(connection: Connection, scope: Scope) -> int:
    """Return the id of the scope, made if missing and locked, so that writers take turns."""
    return lock_or_make_scope(connection, scope_key(scope))["id"]


def _row(connection: Connection, key: StateKey, scope_id: int) -> Row | None:
    return next(iter(_FIND.rows(connection, _place(key, scope_id))), None)


def _place(key: StateKey, scope_id: int) -> dict[str, Any]:
    return {"its_scope_id": scope_id, "its_session": key.session, "its_name": key.name}


def _entry(row: Row) -> StateEntry:
    expires_at = row["expires_at"]
    return StateEntry(
        value=row["value"],
        version=row["updated_at"],
        expires_at=None if expires_at is None else from_micros(expires_at),
    )


def _is_live(row: Row, now: int) -> bool:
    return row["expires_at"] is None or row["expires_at"] > now


def _has_not_expired(now: int) -> ColumnElement[bool]:
    return or_(_TABLE.expires_at.is_(None), _TABLE.expires_at > now)


def _is_of(connection: Connection, scope: Scope, session: str) -> ColumnElement[bool]:
    """Return the condition that a row is of the session; false in a scope never written to."""
    return and_(_TABLE.scope_id == _scope_id(connection, scope), _TABLE.session == session)
