"""Turns without an act and records without a facet, in all scopes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, and_, bindparam, select, update

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import record_from, rows_of, turn_from
from recollect.backends.sql.scopes import scopes_by_id
from recollect.domain.record import Record
from recollect.domain.turn import Act, Turn
from recollect.domain.unit import ACT_TRAITS

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
