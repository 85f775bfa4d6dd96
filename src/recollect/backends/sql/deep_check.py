"""A look at what is made of the stored texts: does it still follow from them?

Nothing protects it as the audit log protects records and turns, and nothing needs to: what is
damaged is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np
from sqlalchemy import Connection, Table, select

from recollect.backends.sql import schema
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.erasure_targets import FORGOTTEN_AGENT
from recollect.backends.sql.rows import Row, record_from, rows_of, turn_from
from recollect.domain.archive import Blob
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits
from recollect.language.analysis import ANALYZER_VERSION
from recollect.language.units import record_units, turn_units

_ROWS: Final = 1_000
# A vector has the length 1; sixteen bits round a little.
_TOLERANCE: Final = 0.02


def index_faults(connection: Connection) -> Iterator[str]:
    """Yield what is wrong with the pages of the database, with terms and with vectors."""
    if fault := dialect_of(connection).look_closely(connection):
        yield f"the pages of the database: {fault}"
        return
    yield from _vector_faults(connection)
    scopes = _live_scopes(connection)
    yield from _term_faults(connection, schema.records, scopes, _of_record)
    yield from _term_faults(connection, schema.turns, scopes, _of_turn)


def stored_blobs(connection: Connection) -> list[Blob]:
    """Return every content that the blob store should have."""
    table = schema.blobs.c
    wanted = select(table.hash, table.key, table.size, table.stored_size, table.stored_hash)
    return [Blob(**row) for row in rows_of(connection, wanted.order_by(table.key))]


def _live_scopes(connection: Connection) -> dict[int, Scope]:
    """Return the scopes by their numbers, but none whose content is being erased."""
    table = schema.scopes
    live = select(table).where(table.c.agent != FORGOTTEN_AGENT)
    return {
        row["id"]: Scope(
            org=row["org"],
            workspace=row["workspace"],
            agent=row["agent"] or None,
            user=row["user"] or None,
        )
        for row in rows_of(connection, live)
    }


def _vector_faults(connection: Connection) -> Iterator[str]:
    vectors, models = schema.vectors.c, schema.embedding_models.c
    last = (-1, -1)
    page = (
        select(vectors.unit_id, vectors.model_id, vectors.vector, models.dimension)
        .join(schema.embedding_models, models.id == vectors.model_id)
        .order_by(vectors.unit_id, vectors.model_id)
        .limit(_ROWS)
    )
    while rows := connection.execute(page.where(vectors.unit_id > last[0])).all():
        for row in rows:
            numbers = np.frombuffer(row.vector, "<f2") if len(row.vector) % 2 == 0 else None
            is_sound = (
                numbers is not None
                and len(numbers) == row.dimension
                and abs(float(np.linalg.norm(numbers.astype(np.float32))) - 1) < _TOLERANCE
            )
            if not is_sound:
                yield f"the vector of unit {row.unit_id}"
        last = (rows[-1].unit_id, rows[-1].model_id)


def _term_faults(
    connection: Connection,
    table: Table,
    scopes: Mapping[int, Scope],
    make: Callable[[Row, Scope], OwnerUnits],
) -> Iterator[str]:
    """Yield the records or turns whose terms in the index are not those of their text."""
    last = ""
    page = select(table).order_by(table.c.id).limit(_ROWS)
    while rows := rows_of(connection, page.where(table.c.id > last)):
        last = rows[-1]["id"]
        stored = _stored_terms(connection, [row["id"] for row in rows])
        for row in rows:
            terms = stored.get(row["id"])
            scope = scopes.get(row["scope_id"])
            if terms is None or scope is None:
                continue
            made = make(row, scope).units
            expected = {it.ordinal: np.array(it.terms, "<u8").tobytes() for it in made}
            if expected and terms != expected:
                yield f"the search terms of {row['id']}"


def _stored_terms(connection: Connection, owners: list[str]) -> dict[str, dict[int, bytes]]:
    units = schema.units.c
    wanted = select(units.owner_id, units.ordinal, units.terms).where(
        units.owner_id.in_(owners), units.analyzer == ANALYZER_VERSION
    )
    stored: dict[str, dict[int, bytes]] = {}
    for row in connection.execute(wanted):
        stored.setdefault(row.owner_id, {})[row.ordinal] = row.terms
    return stored


def _of_record(row: Row, scope: Scope) -> OwnerUnits:
    return record_units(record_from(row, scope))


def _of_turn(row: Row, scope: Scope) -> OwnerUnits:
    return turn_units(turn_from(row, scope))
