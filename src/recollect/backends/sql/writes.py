"""What writes leave beside records: traces, watermarks, kept results and the log of changes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import past_row, record_from, rows_of, to_json, turn_from
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.domain.change import Change, Committed, Idempotency
from recollect.domain.record import SESSION_EPISODE, Kind, Record
from recollect.domain.scope import Scope
from recollect.domain.times import from_micros, to_micros
from recollect.domain.turn import Act, Turn
from recollect.domain.unit import ACT_TRAITS, OWNER_KINDS
from recollect.domain.write import LostReading, Step, Trace
from recollect.errors import Conflict
from recollect.ports.runtime import Clock


class SqlWrites:
    """Traces of writes, and how far extraction has read sessions. Reads only see given scopes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def trace(self, scopes: Sequence[Scope], write_id: str) -> Trace | None:
        """Return the steps of one write, or None if it is not visible."""

        def read(connection: Connection) -> Trace | None:
            found = find_scopes(connection, scopes)
            table = schema.writes.c
            row = connection.execute(
                select(schema.writes).where(table.id == write_id, table.scope_id.in_(found))
            ).one_or_none()
            if row is None:
                return None
            return Trace(
                id=row.id,
                scope=found[row.scope_id],
                session=row.session,
                created_at=from_micros(row.created_at),
                steps=tuple(Step(**step) for step in json.loads(row.steps)),
            )

        return await self._database.read(read)

    async def watermark(self, scope: Scope, session: str) -> int:
        """Return the ordinal of the last turn that extraction has read; 0 if none."""

        def read(connection: Connection) -> int:
            table = schema.watermarks.c
            found = find_scopes(connection, [scope])
            return (
                connection.scalar(
                    select(table.ordinal).where(table.scope_id.in_(found), table.session == session)
                )
                or 0
            )

        return await self._database.read(read)

    async def made_from(self, scopes: Sequence[Scope], turns: Sequence[Turn]) -> list[Record]:
        """Return every version of every record, deleted ones too, that names one of these turns."""
        records, past = schema.records.c, schema.versions.c
        # No record is older than what it was made from.
        since = min((to_micros(turn.recorded_at) for turn in turns), default=0)

        def names_one(column: ColumnElement[str]) -> ColumnElement[bool]:
            return or_(*(column.contains(turn.id, autoescape=True) for turn in turns))

        def read(connection: Connection) -> list[Record]:
            found = find_scopes(connection, scopes)
            current = select(schema.records).where(
                records.scope_id.in_(found), records.recorded_at >= since
            )
            before = select(past.body, past.scope_id).where(
                past.scope_id.in_(found), past.recorded_at >= since
            )
            rows = [
                *rows_of(connection, current.where(names_one(records.evidence))),
                *(
                    {**past_row(row["body"]), "scope_id": row["scope_id"]}
                    for row in rows_of(connection, before.where(names_one(past.body)))
                ),
            ]
            return [record_from(row, found[row["scope_id"]]) for row in rows]

        return await self._database.read(read) if turns else []

    async def unread_turns(self, scope: Scope, session: str) -> int:
        """Return how many turns of a session extraction has not read."""

        def read(connection: Connection) -> int:
            turns, marks = schema.turns.c, schema.watermarks.c
            found = find_scopes(connection, [scope])
            mark = select(func.max(marks.ordinal)).where(
                marks.scope_id.in_(found), marks.session == session
            )
            unread = select(func.count()).where(
                turns.scope_id.in_(found),
                turns.session == session,
                turns.ordinal > func.coalesce(mark.scalar_subquery(), 0),
            )
            return connection.scalar(unread) or 0

        return await self._database.read(read)

    async def unread_sessions(self, scope: Scope) -> list[str]:
        """Return the sessions with turns that extraction has not read, oldest first."""

        def read(connection: Connection) -> list[str]:
            turns, marks = schema.turns.c, schema.watermarks.c
            found = find_scopes(connection, [scope])
            same = and_(marks.scope_id == turns.scope_id, marks.session == turns.session)
            unread = (
                select(turns.session)
                .select_from(schema.turns.outerjoin(schema.watermarks, same))
                .where(turns.scope_id.in_(found))
                .where(turns.ordinal > func.coalesce(marks.ordinal, 0))
                .group_by(turns.session)
                .order_by(func.min(turns.at), turns.session)
            )
            return [*connection.scalars(unread)]

        return await self._database.read(read)


# --- Requests that happen once: keys that callers gave them, each with what came of it ------------

LIFETIME: Final = timedelta(hours=24)
_RESULTS: Final = schema.idempotency.c


class SqlKeptResults:
    """Reads what came of requests."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def find(
        self, wanted: Idempotency, principal: str, scope: Scope
    ) -> Mapping[str, Any] | None:
        """Return the earlier result of this request; refuse a key that another request used."""
        now = self._clock.now()

        def read(connection: Connection) -> Mapping[str, Any] | None:
            for scope_id in find_scopes(connection, [scope]):
                found = find_result(connection, wanted, principal, scope_id, now)
                return None if found is None else found.replayed
            return None

        return await self._database.read(read)


def find_result(
    connection: Connection, wanted: Idempotency, principal: str, scope_id: int, now: datetime
) -> Committed | None:
    """Return what came of the request when this key was used before with the same body."""
    row = connection.execute(
        select(_RESULTS.body_hash, _RESULTS.result, _RESULTS.created_at).where(
            _RESULTS.principal == principal,
            _RESULTS.scope_id == scope_id,
            _RESULTS.key == wanted.key,
        )
    ).one_or_none()
    if row is None or row.created_at <= to_micros(now - LIFETIME):
        return None
    if row.body_hash != wanted.body_hash:
        raise Conflict(
            f"The idempotency key {wanted.key!r} was used for another request",
            code="idempotency_mismatch",
            hint="Use a new key for a new request; the first one stands as it was.",
        )
    result: Mapping[str, Any] = json.loads(row.result)
    return Committed(recorded_at=from_micros(row.created_at), versions={}, replayed=result)


def keep_result(
    connection: Connection, given: Idempotency, principal: str, scope_id: int, now: datetime
) -> None:
    """Keep what came of a request for a day."""
    # Whatever has outlived its day goes along, this key's own old entry too.
    too_old = _RESULTS.created_at <= to_micros(now - LIFETIME)
    connection.execute(delete(schema.idempotency).where(too_old))
    connection.execute(
        insert(schema.idempotency),
        {
            "principal": principal,
            "scope_id": scope_id,
            "key": given.key,
            "body_hash": given.body_hash,
            "result": to_json(given.result),
            "created_at": to_micros(now),
        },
    )


# --- What changed in a scope, read from the database ----------------------------------------------

_CHANGES: Final = schema.changes.c
_VERSIONS: Final = (
    select(_CHANGES.version)
    .distinct()
    .where(
        _CHANGES.scope_id == bindparam("scope"),
        _CHANGES.version > bindparam("version"),
        _CHANGES.entity.in_(OWNER_KINDS),
    )
    .order_by(_CHANGES.version)
    .limit(bindparam("most"))
    .subquery()
)
_SINCE: Final = (
    select(_CHANGES.version, _CHANGES.entity, _CHANGES.id, _CHANGES.op)
    .where(
        _CHANGES.scope_id == bindparam("scope"),
        # MySQL limits no subquery that IN looks into, but a table in it.
        _CHANGES.version.in_(select(_VERSIONS)),
        _CHANGES.entity.in_(OWNER_KINDS),
    )
    .order_by(_CHANGES.version, _CHANGES.seq)
)


class SqlChangeLog:
    """Reads the table that every write adds to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def since(
        self, scope: Scope, version: int, *, limit: int
    ) -> Sequence[tuple[int, tuple[Change, ...]]]:
        """Return the changes of a scope after a version, by version, at most `limit` versions.

        A version that only changed the index has no changes.
        """

        def read(connection: Connection) -> list[tuple[int, tuple[Change, ...]]]:
            for number in find_scopes(connection, [scope]):
                given = {"scope": number, "version": version, "most": limit}
                rows = connection.execute(_SINCE, given).all()
                return [
                    (of, tuple(Change(entity=it[1], id=it[2], op=it[3]) for it in several))
                    for of, several in groupby(rows, key=lambda row: row[0])
                ]
            return []

        return await self._database.read(read)


# --- Turns without an act in a SQL database -------------------------------------------------------

_TURNS: Final = schema.turns.c
_UNITS: Final = schema.units.c


class SqlUndecidedTurns:
    """All turns without an act, in all scopes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def first(self, *, limit: int) -> Sequence[Turn]:
        """Return some of them, oldest first; none if all are classified."""

        def read(connection: Connection) -> Sequence[Turn]:
            undecided = select(schema.turns).where(_TURNS.act.is_(None))
            rows = rows_of(connection, undecided.order_by(_TURNS.id).limit(limit))
            scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
            return [turn_from(row, scopes[row["scope_id"]]) for row in rows]

        return await self._database.read(read)

    async def decide(self, acts: Mapping[str, Act]) -> None:
        """Store the acts of these turns, with the traits of their units."""
        alike: dict[Act, list[str]] = defaultdict(list)
        for turn, act in acts.items():
            alike[act].append(turn)

        def write(connection: Connection) -> None:
            for act, turns in alike.items():
                connection.execute(update(schema.turns).where(_TURNS.id.in_(turns)).values(act=act))
                # Whoever has read the units already weighs them as before until it opens anew.
                connection.execute(
                    update(schema.units)
                    .where(_UNITS.owner_id.in_(turns))
                    .values(traits=_UNITS.traits.op("|")(int(ACT_TRAITS[act])))
                )

        await self._database.write(write)


# --- Sessions whose claims were taken for known because their episode came first ------------------

_WRITES: Final = schema.writes.c
_EPISODES: Final = schema.records.c
_PREFIX: Final = "ep_"


class SqlLostReadings:
    """What was read without keeping what it says, in all scopes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[LostReading]:
        """Return the turns of every session that this happened to."""
        return await self._database.read(_lost_readings)


def _lost_readings(connection: Connection) -> list[LostReading]:
    """Return the sessions in which a write ended in the episode of its session."""
    taken: dict[str, int] = {}
    found = select(_WRITES.steps, _WRITES.created_at).where(_WRITES.steps.contains(_PREFIX))
    for steps, at in connection.execute(found):
        for step in json.loads(steps):
            record = str(step["result"].get("record"))
            if step["name"] == "store" and record.startswith(_PREFIX):
                taken[record] = min(at, taken.get(record, at))
    episodes = select(_EPISODES.id, _EPISODES.scope_id, _EPISODES.session).where(
        _EPISODES.source == SESSION_EPISODE, _EPISODES.kind == Kind.EPISODIC.value
    )
    rows = [row for row in connection.execute(episodes) if row.id in taken and row.session]
    scopes = scopes_by_id(connection, {row.scope_id for row in rows})
    lost = (
        LostReading(
            scope=scopes[row.scope_id],
            session=row.session,
            after=_read_before(connection, scopes[row.scope_id], row.session, taken[row.id]),
            to=_mark_of(connection, row.scope_id, row.session),
        )
        for row in rows
    )
    return [reading for reading in lost if reading.after < reading.to]


def _read_before(connection: Connection, scope: Scope, session: str, moment: int) -> int:
    """Return the last turn that an earlier reading of the session had reached.

    Whatever it found may have been forgotten since, and must not come back.
    """
    found = find_scopes(connection, [scope, scope.of_user])
    earlier = select(_WRITES.steps, _WRITES.created_at).where(
        _WRITES.scope_id.in_(found), _WRITES.session == session, _WRITES.created_at < moment
    )
    read_at = max((at for steps, at in connection.execute(earlier) if _is_read(steps)), default=0)
    last = select(func.max(_TURNS.ordinal)).where(
        _TURNS.scope_id.in_(find_scopes(connection, [scope])),
        _TURNS.session == session,
        _TURNS.recorded_at <= read_at,
    )
    return connection.scalar(last) or 0


def _is_read(steps: str) -> bool:
    """Return whether a write comes from reading, not from a call."""
    return any(
        it["name"] == "extract" and it["result"]["by"] != "caller" for it in json.loads(steps)
    )


def _mark_of(connection: Connection, scope_id: int, session: str) -> int:
    marks = schema.watermarks.c
    mark = select(marks.ordinal).where(marks.scope_id == scope_id, marks.session == session)
    return connection.scalar(mark) or 0


# --- Records without a facet in a SQL database ----------------------------------------------------

_RECORDS: Final = schema.records.c
_VECTORS: Final = schema.vectors.c
_MODELS: Final = schema.embedding_models.c
_UNDECIDED: Final = (
    select(schema.records, _VECTORS.vector)
    .select_from(
        schema.records.outerjoin(
            schema.units, and_(_UNITS.owner_id == _RECORDS.id, _UNITS.ordinal == 0)
        ).outerjoin(
            schema.vectors,
            and_(
                _VECTORS.unit_id == _UNITS.id,
                _VECTORS.model_id
                == select(_MODELS.id).where(_MODELS.name == bindparam("model")).scalar_subquery(),
            ),
        )
    )
    .where(_RECORDS.facet.is_(None), _RECORDS.id > bindparam("after"))
    .order_by(_RECORDS.id)
    .limit(bindparam("most"))
)


class SqlUndecidedRecords:
    """All records without a facet, in all scopes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def first(
        self, model: str, *, after: str, limit: int
    ) -> Sequence[tuple[Record, bytes | None]]:
        """Return some of them by id, each with the vector of its text by this model, if any."""

        def read(connection: Connection) -> Sequence[tuple[Record, bytes | None]]:
            given = {"model": model, "after": after, "most": limit}
            rows = rows_of(connection, _UNDECIDED, given)
            scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
            # While a scope is made anew, a record has its units twice.
            found = {row["id"]: row for row in rows}.values()
            return [(record_from(row, scopes[row["scope_id"]]), row["vector"]) for row in found]

        return await self._database.read(read)

    async def decide(self, records: Sequence[Record]) -> None:
        """Store the facets of these records, unless they were changed since."""

        def write(connection: Connection) -> None:
            for record in records:
                is_as_read = (_RECORDS.version == record.version, _RECORDS.facet.is_(None))
                connection.execute(
                    update(schema.records)
                    .where(_RECORDS.id == record.id, *is_as_read)
                    .values(facet=record.facet, about=record.about)
                )

        await self._database.write(write)
