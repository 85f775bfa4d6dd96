"""An in-process cache of the metadata of units: their owners and settings, scope by scope.

A unit never changes and its number is never reused, so what was read once stays valid; removed
units are not requested any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, select

from recollect.backends.local.scope_cache import Shelf
from recollect.backends.sql import schema
from recollect.backends.sql.portable import listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.scopes import UNIT_BITS, ScopeRow
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats
from recollect.domain.unit import UNIT_OWNERS
from recollect.ports.units import COLUMNS, NO_UNITS, Ids, UnitRows

# A scope with more units is not read as a whole.
_MAX_UNITS: Final = 400_000
# A scope is read again when the cache has more than this many times its units.
_MAX_STALE_RATIO: Final = 2
_SMALL: Final = 2_000
# The limit for a scope that must be read from the database before it is searched.
_SMALL_UNREAD: Final = 500
# A unit with more terms takes as long to read as several.
_TERMS_PER_UNIT: Final = 50
_MAX_NOTED_SCOPES: Final = 100_000
_UNKNOWN: Final = (0, False)

_TABLE: Final = schema.units.c
_SELECT: Final = select(
    *(_TABLE.owner_id, _TABLE.id, _TABLE.owner_kind, _TABLE.ordinal, _TABLE.start, _TABLE.end),
    *(_TABLE.observed_at, _TABLE.cluster, _TABLE.place, _TABLE.speaker, _TABLE.traits),
    *(_TABLE.size, _TABLE.variety),
).order_by(_TABLE.id)
_BETWEEN: Final = PreparedStatement(
    _SELECT.where(_TABLE.id.between(bindparam("first"), bindparam("last")))
)
_THESE: Final = PreparedStatement(_SELECT.where(_TABLE.id.in_(listed_numbers("units"))))
_UNIT: Final = COLUMNS.index("unit")
_CODES: Final = {kind: code for code, kind in enumerate(UNIT_OWNERS)}


@dataclass(frozen=True, slots=True)
class _Kept:
    """Units of one scope in ascending order, up to a number, with few bytes for each."""

    version: int
    # Those of `UnitRows`, each in the smallest type.
    columns: tuple[NDArray[Any], ...]
    owners: NDArray[np.bytes_]

    @classmethod
    def of(cls, rows: UnitRows, version: int) -> _Kept:
        owners = np.array([it.encode() for it in rows.owners.tolist()], np.bytes_)
        return cls(version, tuple(map(_narrow, rows.numbers)), owners)

    @property
    def units(self) -> int:
        return len(self.owners)

    @property
    def bytes(self) -> int:
        return self.owners.nbytes + sum(it.nbytes for it in self.columns)

    def places(self, units: Ids) -> Ids:
        return _places(self.columns[_UNIT], units)

    def take(self, places: Ids) -> UnitRows:
        numbers = np.array([it.take(places) for it in self.columns], np.int64)
        owners = [it.decode() for it in self.owners.take(places).tolist()]
        return UnitRows(numbers, np.array(owners, np.object_))

    def joined(self, newer: _Kept) -> _Kept:
        pairs = zip(self.columns, newer.columns, strict=True)
        owners = np.concatenate([self.owners, newer.owners])
        return _Kept(newer.version, tuple(map(np.concatenate, pairs)), owners)


class Catalogue:
    """The metadata of units, within a memory budget. Thread-safe."""

    def __init__(self, budget_bytes: int) -> None:
        self._shelf: Shelf[int, _Kept] = Shelf(budget_bytes)
        # The sizes of scopes, and whether that is small.
        self._sizes: dict[tuple[Scope, ...], tuple[int, bool]] = {}
        self._first_asked: dict[int, datetime] = {}
        self._asked_again: set[int] = set()

    def rows(self, connection: Connection, scopes: Sequence[ScopeRow], units: Ids) -> UnitRows:
        """Return these units in the given order; removed ones are left out."""
        if len(scopes) == 1:
            return self._rows(connection, scopes[0], units)
        parts = [NO_UNITS]
        for scope in scopes:
            mine = units[units >> UNIT_BITS == scope.id]
            if len(mine):
                parts.append(self._rows(connection, scope, mine))
        found = UnitRows.joined(parts)
        order = np.argsort(found["unit"])
        return found.take(order[_places(found["unit"][order], units)])

    def notice(self, scopes: Sequence[Scope], rows: Sequence[ScopeRow], now: datetime) -> None:
        """Remember the sizes of these scopes, and whether large ones are searched again."""
        self._note(scopes, rows, _SMALL)
        for row in rows:
            # One question makes several searches at the same moment.
            if row.units > _SMALL and self._first_asked.setdefault(row.id, now) != now:
                self._asked_again.add(row.id)

    def expect(self, scopes: Sequence[Scope], rows: Sequence[ScopeRow]) -> None:
        """Remember the sizes of scopes that have not been read yet."""
        self._note(scopes, rows, _SMALL_UNREAD)

    def are_known(self, scopes: Sequence[Scope]) -> bool:
        """Return whether the sizes of these scopes are known."""
        return tuple(scopes) in self._sizes

    def are_small(self, scopes: Sequence[Scope]) -> bool:
        """Return whether a search in these scopes is faster than handing it to a thread."""
        return self._sizes.get(tuple(scopes), _UNKNOWN)[1]

    def have_grown(self, scopes: Sequence[Scope], rows: Sequence[ScopeRow]) -> bool:
        """Return whether so much was added to these scopes that reading it takes long."""
        return _size(rows) > self._sizes.get(tuple(scopes), _UNKNOWN)[0] + _SMALL_UNREAD

    def _note(self, scopes: Sequence[Scope], rows: Sequence[ScopeRow], most: int) -> None:
        if len(self._sizes) >= _MAX_NOTED_SCOPES:
            self._sizes.clear()
        size = _size(rows)
        self._sizes[tuple(scopes)] = size, size <= most

    def stats(self) -> IndexStats:
        return self._shelf.stats()

    def _rows(self, connection: Connection, scope: ScopeRow, units: Ids) -> UnitRows:
        if self._is_worth_keeping(scope):
            kept = self._kept(connection, scope)
            places = kept.places(units)
            if len(places) == len(units):
                return kept.take(places)
        # Not cached, or read in a newer snapshot, which lacks what this one has.
        rows = _unit_rows(_THESE.rows(connection, {"units": str(units.tolist())}))
        return rows.take(_places(rows["unit"], units))

    def _is_worth_keeping(self, scope: ScopeRow) -> bool:
        """Return whether to read a scope as a whole: a large one only from the second search on.

        A program that searches once and ends, like the command line, would read it in vain.
        """
        return scope.units <= (_MAX_UNITS if scope.id in self._asked_again else _SMALL)

    def _kept(self, connection: Connection, scope: ScopeRow) -> _Kept:
        """Return all units of a scope, including those added since it was last read."""
        kept = self._shelf.get(scope.id)
        if kept is None or kept.units > _MAX_STALE_RATIO * scope.units:
            kept = _NONE
        if kept.version < scope.last_unit:
            newer = map(_unit_rows, _BETWEEN.slices(connection, scope.numbers(kept.version)))
            kept = kept.joined(_Kept.of(UnitRows.joined([NO_UNITS, *newer]), scope.last_unit))
            self._shelf.put(scope.id, kept)
        return kept


def _narrow(column: Ids) -> NDArray[Any]:
    """Return a column in the smallest signed type that fits."""
    if not len(column):
        return column.astype(np.int8)
    return column.astype(np.min_scalar_type(min(int(column.min()), ~int(column.max()))))


_NONE: Final = _Kept.of(NO_UNITS, 0)


def _places(numbers: Ids, units: Ids) -> Ids:
    """Return the indexes of these units among the ascending numbers, without missing ones."""
    places = numbers.searchsorted(units)
    if not len(numbers):
        return places[:0]
    np.minimum(places, len(numbers) - 1, out=places)
    are_there = numbers[places] == units
    return places if are_there.all() else places[are_there]


def _unit_rows(found: Sequence[Any]) -> UnitRows:
    if not found:
        return NO_UNITS
    owners, units, kinds, *others = zip(*found, strict=True)
    codes = [_CODES[kind] for kind in kinds]
    return UnitRows(np.array([units, codes, *others], np.int64), np.array(owners, np.object_))


def _size(rows: Sequence[ScopeRow]) -> int:
    """Return the size of a scope in units of average length."""
    return sum([max(row.units, row.length // _TERMS_PER_UNIT) for row in rows])
