"""Reading vectors from the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from sqlalchemy import Connection, Row, bindparam, select

from recollect.backends.local.segment import Ids
from recollect.backends.local.unit_rows import numbers_of
from recollect.backends.sql import schema
from recollect.backends.sql.quick import Quick, listed
from recollect.ports.vectors import Vectors

_TABLE: Final = schema.vectors.c
_VECTORS: Final = (
    select(_TABLE.unit_id, _TABLE.vector)
    .where(_TABLE.model_id == bindparam("model"))
    .order_by(_TABLE.unit_id)
)
_BETWEEN: Final = Quick(
    _VECTORS.where(_TABLE.unit_id.between(bindparam("first"), bindparam("last")))
)
_OF: Final = Quick(_VECTORS.where(_TABLE.unit_id.in_(listed("units"))))


def read_scope_vectors(
    connection: Connection, scope_id: int, model: int, dimension: int, *, after: int = 0
) -> tuple[Ids, Vectors]:
    """All units of a scope newer than `after` that have a vector of this model, with it."""
    given = {"model": model, **numbers_of(scope_id, after)}
    return _arrays(_BETWEEN.rows(connection, given), dimension)


def read_vectors(
    connection: Connection, units: Ids, model: int, dimension: int
) -> tuple[Ids, Vectors]:
    """Those of these units that have a vector of this model, with it."""
    given = {"model": model, "units": str(units.tolist())}
    return _arrays(_OF.rows(connection, given), dimension)


def _arrays(rows: Sequence[Row[int, bytes]], dimension: int) -> tuple[Ids, Vectors]:
    units = np.fromiter((unit for unit, _ in rows), np.int64, len(rows))
    packed = np.frombuffer(b"".join(vector for _, vector in rows), "<f2")
    return units, packed.reshape(len(rows), dimension).astype(np.float32)
