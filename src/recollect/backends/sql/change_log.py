"""What changed in a scope, read from the database."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from sqlalchemy import Connection, bindparam, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.scopes import find_scopes
from recollect.domain.change import Change
from recollect.domain.scope import Scope
from recollect.domain.unit import OWNER_KINDS

_TABLE: Final = schema.changes.c
_VERSIONS: Final = (
    select(_TABLE.version)
    .distinct()
    .where(
        _TABLE.scope_id == bindparam("scope"),
        _TABLE.version > bindparam("version"),
        _TABLE.entity.in_(OWNER_KINDS),
    )
    .order_by(_TABLE.version)
    .limit(bindparam("most"))
    .subquery()
)
_SINCE: Final = (
    select(_TABLE.version, _TABLE.entity, _TABLE.id, _TABLE.op)
    .where(
        _TABLE.scope_id == bindparam("scope"),
        # MySQL limits no subquery that IN looks into, but a table in it.
        _TABLE.version.in_(select(_VERSIONS)),
        _TABLE.entity.in_(OWNER_KINDS),
    )
    .order_by(_TABLE.version, _TABLE.seq)
)


class SqlChangeLog:
    """Reads the table that every write adds to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def since(
        self, scope: Scope, version: int, *, limit: int
    ) -> Sequence[tuple[int, tuple[Change, ...]]]:
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
