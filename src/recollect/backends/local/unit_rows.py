"""Reading units from the database: their terms and owners, and which of them a filter accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    func,
    select,
    union_all,
)

from recollect.backends.local.ranking import Ranking
from recollect.backends.local.segment import Ids, Keys
from recollect.backends.sql import schema
from recollect.backends.sql.conditions import archives_where, records_where, turns_where
from recollect.backends.sql.portable import listed, listed_numbers
from recollect.backends.sql.prepared_statement import KEPT_STATEMENTS, PreparedStatement
from recollect.backends.sql.rows import to_json
from recollect.backends.sql.scopes import ScopeRow
from recollect.domain.filters import Filter
from recollect.domain.times import to_micros
from recollect.domain.unit import ARCHIVE, OwnerKind

_TABLE: Final = schema.units.c
_LISTED: Final = _TABLE.id.in_(listed_numbers("units"))
_LATEST: Final = PreparedStatement(
    select(_TABLE.id, _TABLE.observed_at)
    # The first unit of an owner stands for all of it.
    .where(_TABLE.scope_id == bindparam("scope"), _TABLE.ordinal == 0)
    .where(_TABLE.observed_at >= bindparam("since"), _TABLE.observed_at < bindparam("until"))
    .where(_TABLE.id.between(bindparam("first"), bindparam("last")))
    .order_by(_TABLE.observed_at.desc(), _TABLE.id.desc())
    .limit(bindparam("most"))
)
_TERMS: Final = select(_TABLE.id, _TABLE.terms).order_by(_TABLE.id)
_TERMS_BETWEEN: Final = PreparedStatement(
    _TERMS.where(_TABLE.id.between(bindparam("first"), bindparam("last")))
)
_TERMS_OF: Final = PreparedStatement(_TERMS.where(_LISTED))
# Turns never change, so they have only one version.
_KNOWN: Final = PreparedStatement(
    select(_TABLE.owner_id, func.coalesce(schema.records.c.version, 1), _TABLE.terms)
    .join(schema.records, schema.records.c.id == _TABLE.owner_id, isouter=True)
    # Adding zero keeps SQLite from scanning all units of the analyzer.
    .where(_TABLE.owner_id.in_(listed("owners")), _TABLE.analyzer + "" == bindparam("analyzer"))
    .order_by(_TABLE.owner_id, _TABLE.ordinal)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTerms:
    """Units in ascending order, their numbers of terms, and all terms concatenated."""

    units: Ids
    lengths: NDArray[np.int32]
    keys: Keys


def read_scope_terms(
    connection: Connection, scope: ScopeRow, *, after: int = 0
) -> Iterator[UnitTerms]:
    """Return the terms of all units of a scope above `after`, in ascending order."""
    return map(_unit_terms, _TERMS_BETWEEN.slices(connection, scope.numbers(after)))


def read_terms(connection: Connection, units: Ids) -> UnitTerms:
    """Return the terms of these units."""
    return _unit_terms(read_term_rows(connection, units.tolist()))


def read_term_rows(connection: Connection, units: Sequence[int]) -> Sequence[Row[int, bytes]]:
    """Return these units in ascending order, each with its packed terms."""
    return _TERMS_OF.rows(connection, {"units": str([*map(int, units)])})


def read_known_terms(
    connection: Connection, owners: Sequence[str], analyzer: str
) -> dict[tuple[str, int], Keys]:
    """Return the terms of records and turns by version, all units of one together."""
    parts: dict[tuple[str, int], bytes] = {}
    given = {"owners": to_json(list(owners)), "analyzer": analyzer}
    for rows in _KNOWN.slices(connection, given):
        for owner, version, terms in rows:
            place = (owner, version)
            parts[place] = parts[place] + terms if place in parts else terms
    return {place: np.frombuffer(terms, "<u8") for place, terms in parts.items()}


def read_latest(
    connection: Connection, scope: ScopeRow, since: int, until: int, limit: int
) -> Ranking:
    """Return the owners of a scope that were last observed between two moments, with the time."""
    given = {"scope": scope.id, "since": since, "until": until, "most": limit}
    rows = _LATEST.rows(connection, {**given, **scope.numbers()})
    return Ranking(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.float64),
    )


def read_allowed(connection: Connection, scope: ScopeRow, where: Filter, now: datetime) -> Ids:
    """Return the units of a scope whose owners the filter accepts."""
    # From the owners to their units, because indexes of owners cover scope, time and session.
    of_records = _owned_by(schema.records, "record", scope).where(records_where(where))
    of_turns = _owned_by(schema.turns, "turn", scope).where(turns_where(where))
    of_archives = _owned_by(schema.archives, ARCHIVE, scope).where(archives_where(where))
    allowed = of_records.union_all(of_turns, of_archives)
    rows = connection.execute(allowed, {"now": to_micros(now)})
    return np.sort(np.fromiter(rows.scalars(), np.int64))


def read_accepted(connection: Connection, units: Ids, where: Filter, now: datetime) -> Ids:
    """Return those of these units whose owners the filter accepts."""
    given = {"units": str(units.tolist()), "now": to_micros(now)}
    return np.array([row[0] for row in _accepted(where).rows(connection, given)], np.int64)


# Building a statement costs more than running it, so those of common filters are cached.
@lru_cache(maxsize=KEPT_STATEMENTS)
def _accepted(where: Filter) -> PreparedStatement:
    owners: tuple[tuple[Table, OwnerKind, ColumnElement[bool]], ...] = (
        (schema.records, "record", records_where(where)),
        (schema.turns, "turn", turns_where(where)),
        (schema.archives, ARCHIVE, archives_where(where)),
    )
    parts = [
        select(_TABLE.id)
        .join(table, and_(table.c.id == _TABLE.owner_id, _TABLE.owner_kind == kind))
        .where(_LISTED, condition)
        for table, kind, condition in owners
    ]
    return PreparedStatement(union_all(*parts))


def _owned_by(owners: Table, kind: OwnerKind, scope: ScopeRow) -> Select[int]:
    numbers = scope.numbers()
    return (
        select(_TABLE.id)
        .join(owners, and_(owners.c.id == _TABLE.owner_id, _TABLE.owner_kind == kind))
        .where(owners.c.scope_id == scope.id)
        .where(_TABLE.id.between(numbers["first"], numbers["last"]))
    )


def _unit_terms(rows: Sequence[Row[int, bytes]]) -> UnitTerms:
    units = [unit for unit, _ in rows]
    terms = [keys for _, keys in rows]
    return UnitTerms(
        units=np.array(units, np.int64),
        lengths=np.fromiter(map(len, terms), np.int32, len(terms)) // 8,
        keys=np.frombuffer(b"".join(terms), "<u8").astype(np.uint64, copy=False),
    )
