"""Where units stand: whose they are, and among what. Kept in this process, scope by scope.

A unit never changes and its number is never given again, so what was read once stays true; units
that are gone are not asked for any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, bindparam, select

from recollect.backends.local.scope_cache import Shelf
from recollect.backends.sql import schema
from recollect.backends.sql.portable import listed_numbers
from recollect.backends.sql.prepared_statement import Quick
from recollect.backends.sql.scopes import UNIT_BITS, ScopeRow
from recollect.domain.owner import UNIT_OWNERS
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats
from recollect.ports.units import NO_UNITS, Ids, UnitRows

# A scope of more units is not read as a whole for the few that are asked for.
_MOST: Final = 400_000
# A scope is read anew when more than so many times its units are kept of it.
_STALE: Final = 2
_OWNER_BYTES: Final = 90
_SMALL: Final = 2_000
# So small is one that has to be read from the database before it can be searched.
_SMALL_UNREAD: Final = 500
# A unit of more terms is as much to read as several.
_TERMS_A_UNIT: Final = 50
_MOST_NOTED: Final = 100_000

_TABLE: Final = schema.units.c
_SELECT: Final = select(
    *(_TABLE.owner_id, _TABLE.id, _TABLE.owner_kind, _TABLE.ordinal, _TABLE.start, _TABLE.end),
    *(_TABLE.observed_at, _TABLE.cluster, _TABLE.place, _TABLE.speaker, _TABLE.traits),
    *(_TABLE.size, _TABLE.variety),
).order_by(_TABLE.id)
_BETWEEN: Final = Quick(_SELECT.where(_TABLE.id.between(bindparam("first"), bindparam("last"))))
_THESE: Final = Quick(_SELECT.where(_TABLE.id.in_(listed_numbers("units"))))
_CODES: Final = {kind: code for code, kind in enumerate(UNIT_OWNERS)}


@dataclass(frozen=True, slots=True)
class _Kept:
    """Units of one scope in rising order, up to a number."""

    rows: UnitRows
    version: int

    @property
    def units(self) -> int:
        return len(self.rows)

    @property
    def bytes(self) -> int:
        return self.rows.nbytes + _OWNER_BYTES * len(self.rows)


class Catalogue:
    """What is known of units, within a memory budget; safe to use from several threads."""

    def __init__(self, budget_bytes: int) -> None:
        self._shelf: Shelf[int, _Kept] = Shelf(budget_bytes)
        self._small: dict[tuple[Scope, ...], bool] = {}
        self._sizes: dict[tuple[Scope, ...], int] = {}
        self._first_asked: dict[int, datetime] = {}
        self._asked_again: set[int] = set()

    def rows(self, connection: Connection, scopes: Sequence[ScopeRow], units: Ids) -> UnitRows:
        """These units of these scopes, in the order asked for; those that are gone are left out."""
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
        """Remember how large these scopes are, and of large ones whether they are asked again."""
        self._note(scopes, rows, _SMALL)
        for row in rows:
            # One question makes several searches, all of them at the same moment.
            if row.units > _SMALL and self._first_asked.setdefault(row.id, now) != now:
                self._asked_again.add(row.id)

    def expect(self, scopes: Sequence[Scope], rows: Sequence[ScopeRow]) -> None:
        """Remember how large these scopes are, of which nothing else has been read yet."""
        self._note(scopes, rows, _SMALL_UNREAD)

    def are_known(self, scopes: Sequence[Scope]) -> bool:
        """Whether anything was noticed of these scopes."""
        return tuple(scopes) in self._small

    def are_small(self, scopes: Sequence[Scope]) -> bool:
        """Whether a search in these scopes takes less time than handing it to a thread."""
        return self._small.get(tuple(scopes), False)

    def have_grown(self, scopes: Sequence[Scope], rows: Sequence[ScopeRow]) -> bool:
        """Whether so much was added since these were noticed that it takes long to read."""
        return _size(rows) > self._sizes.get(tuple(scopes), 0) + _SMALL_UNREAD

    def _note(self, scopes: Sequence[Scope], rows: Sequence[ScopeRow], most: int) -> None:
        if len(self._small) >= _MOST_NOTED:
            self._small.clear()
            self._sizes.clear()
        noted = tuple(scopes)
        size = self._sizes[noted] = _size(rows)
        self._small[noted] = size <= most

    def stats(self) -> IndexStats:
        return self._shelf.stats()

    def _rows(self, connection: Connection, scope: ScopeRow, units: Ids) -> UnitRows:
        if self._is_worth_keeping(scope):
            kept = self._kept(connection, scope)
            places = _places(kept.rows["unit"], units)
            if len(places) == len(units):
                return kept.rows.take(places)
        # It is not kept, or was read in a newer snapshot, which lacks what this has.
        rows = _unit_rows(_THESE.rows(connection, {"units": str(units.tolist())}))
        return rows.take(_places(rows["unit"], units))

    def _is_worth_keeping(self, scope: ScopeRow) -> bool:
        """Whether a scope is read as a whole: a large one only from the second question on.

        A program that asks once and ends, like the command line, would read it for nothing.
        """
        return scope.units <= (_MOST if scope.id in self._asked_again else _SMALL)

    def _kept(self, connection: Connection, scope: ScopeRow) -> _Kept:
        """All units of a scope, with those that came since it was last asked for."""
        kept = self._shelf.get(scope.id)
        if kept is None or kept.units > _STALE * scope.units:
            kept = _Kept(NO_UNITS, 0)
        if kept.version < scope.last_unit:
            newer = map(_unit_rows, _BETWEEN.slices(connection, scope.numbers(kept.version)))
            kept = _Kept(UnitRows.joined([kept.rows, *newer]), scope.last_unit)
            self._shelf.put(scope.id, kept)
        return kept


def _places(numbers: Ids, units: Ids) -> Ids:
    """Where these units are among the numbers, which rise, without those that are not there."""
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
    """How much there is to search, in units of a usual length."""
    return sum([max(row.units, row.length // _TERMS_A_UNIT) for row in rows])
