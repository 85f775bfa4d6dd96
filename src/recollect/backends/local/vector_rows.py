"""Reading vectors from the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, bindparam, select

from recollect.backends.local.byte_vectors import ByteVectors
from recollect.backends.local.segment import Ids
from recollect.backends.sql import schema
from recollect.backends.sql.portable import listed_numbers
from recollect.backends.sql.prepared_statement import Quick
from recollect.backends.sql.scopes import ScopeRow

_TABLE: Final = schema.vectors.c
_VECTORS: Final = (
    select(_TABLE.unit_id, _TABLE.vector)
    .where(_TABLE.model_id == bindparam("model"))
    .order_by(_TABLE.unit_id)
)
_BETWEEN: Final = Quick(
    _VECTORS.where(_TABLE.unit_id.between(bindparam("first"), bindparam("last")))
)
_OF: Final = Quick(_VECTORS.where(_TABLE.unit_id.in_(listed_numbers("units"))))


def read_scope_vectors(
    connection: Connection, row: ScopeRow, model: int, dimension: int, *, after: int = 0
) -> tuple[Ids, ByteVectors]:
    """Return the units of a scope above `after` with a vector of this model, and the vectors."""
    given = {"model": model, **row.numbers(after)}
    most = min(row.units, row.last_unit - after)
    return _arrays(_BETWEEN.slices(connection, given), most, dimension)


def read_vectors(
    connection: Connection, units: Ids, model: int, dimension: int
) -> tuple[Ids, ByteVectors]:
    """Return those of these units that have a vector of this model, and the vectors."""
    given = {"model": model, "units": str(units.tolist())}
    return _arrays(_OF.slices(connection, given), len(units), dimension)


def _arrays(slices: Iterable[Sequence[Any]], most: int, dimension: int) -> tuple[Ids, ByteVectors]:
    """Return units and their vectors, rounded while reading, to save memory."""
    units = np.empty(most, np.int64)
    vectors = ByteVectors.room_for(most, dimension)
    end = 0
    for rows in slices:
        start, end = end, end + len(rows)
        units[start:end] = [unit for unit, _ in rows]
        read = np.frombuffer(b"".join([vector for _, vector in rows]), "<f2")
        vectors.put(start, read.reshape(len(rows), dimension).astype(np.float32))
    return units[:end], vectors.take(slice(0, end))
