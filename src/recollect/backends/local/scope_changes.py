"""The changes of a scope between two versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from sqlalchemy import Connection, and_, bindparam, distinct, func, select

from recollect.backends.local.segment import Ids
from recollect.backends.sql import schema
from recollect.backends.sql.portable import count_where
from recollect.backends.sql.scopes import ScopeRow

_TABLE: Final = schema.changes.c
_BETWEEN: Final = and_(
    _TABLE.scope_id == bindparam("scope"),
    _TABLE.version > bindparam("seen"),
    _TABLE.version <= bindparam("now"),
)
_VERSIONS: Final = select(
    func.count(distinct(_TABLE.version)),
    count_where(_TABLE.entity == "model"),
    count_where(_TABLE.entity == "edition"),
).where(_BETWEEN)
_COUNT: Final = select(func.count()).select_from(schema.changes).where(_BETWEEN)
_IDS: Final = select(_TABLE.id).where(
    _BETWEEN, _TABLE.entity == bindparam("entity"), _TABLE.op == bindparam("op")
)


@dataclass(frozen=True, slots=True)
class Changes:
    """The list of changes after the version `seen`, up to the version of `row`."""

    connection: Connection
    seen: int
    row: ScopeRow

    @property
    def are_listed(self) -> bool:
        """Return whether every version in between is on the list.

        If another generation of units is in use now, no list leads to it.
        """
        versions, _, editions = self.connection.execute(_VERSIONS, self._given).one()
        return versions == self.row.version - self.seen and not editions

    @property
    def are_of_one_model(self) -> bool:
        """Return whether they are listed and the same model served the scope all the time."""
        versions, models, editions = self.connection.execute(_VERSIONS, self._given).one()
        return versions == self.row.version - self.seen and not models and not editions

    @property
    def count(self) -> int:
        """Return how many changes there are on the list."""
        return self.connection.scalar(_COUNT, self._given) or 0

    @property
    def added_units(self) -> Ids:
        return self._ids("unit", "add")

    @property
    def removed_units(self) -> Ids:
        return self._ids("unit", "remove")

    @property
    def filled_in_units(self) -> Ids:
        """Return the units that got a vector after they were written."""
        return self._ids("vector", "put")

    @property
    def _given(self) -> dict[str, int]:
        return {"scope": self.row.id, "seen": self.seen, "now": self.row.version}

    def _ids(self, entity: str, op: str) -> Ids:
        found = self.connection.scalars(_IDS, {**self._given, "entity": entity, "op": op})
        return np.fromiter(map(int, found), np.int64)
