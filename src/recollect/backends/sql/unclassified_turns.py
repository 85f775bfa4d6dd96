"""Turns without an act in a SQL database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, select, update

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import rows_of, turn_from
from recollect.backends.sql.scopes import scopes_by_id
from recollect.domain.turn import Act, Turn
from recollect.domain.unit import ACT_TRAITS

_TURNS: Final = schema.turns.c
_UNITS: Final = schema.units.c


class SqlUndecidedTurns:
    """Implements `UndecidedTurns`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def first(self, *, limit: int) -> Sequence[Turn]:
        def read(connection: Connection) -> Sequence[Turn]:
            undecided = select(schema.turns).where(_TURNS.act.is_(None))
            rows = rows_of(connection, undecided.order_by(_TURNS.id).limit(limit))
            scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
            return [turn_from(row, scopes[row["scope_id"]]) for row in rows]

        return await self._database.read(read)

    async def decide(self, acts: Mapping[str, Act]) -> None:
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
