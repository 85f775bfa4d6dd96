"""Sessions whose claims were taken for known because their episode came first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from sqlalchemy import (
    Connection,
    func,
    select,
)

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.domain.record import SESSION_EPISODE, Kind
from recollect.domain.scope import Scope
from recollect.domain.write import LostReading

_TURNS: Final = schema.turns.c
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
        step["name"] == "extract" and step["result"]["by"] != "caller" for step in json.loads(steps)
    )


def _mark_of(connection: Connection, scope_id: int, session: str) -> int:
    marks = schema.watermarks.c
    mark = select(marks.ordinal).where(marks.scope_id == scope_id, marks.session == session)
    return connection.scalar(mark) or 0
