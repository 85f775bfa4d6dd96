"""A packed scope: loaded from SQL, and updated from the list of changes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from recollect.backends.local.postings import PackedPostings
from recollect.backends.local.scope_changes import Changes
from recollect.backends.local.segment import join, pack
from recollect.backends.local.unit_rows import read_scope_terms
from recollect.backends.sql.scopes import ScopeRow


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedScope:
    """The postings of a scope at one version."""

    version: int
    next_unit: int
    last_unit: int
    postings: PackedPostings

    @property
    def units(self) -> int:
        return self.postings.units

    @property
    def bytes(self) -> int:
        return self.postings.bytes

    def units_behind(self, row: ScopeRow) -> int:
        """Return how many units were added and removed since."""
        added = row.next_unit - self.next_unit
        removed = self.postings.units + added - row.units
        return added + removed


def load(connection: Connection, row: ScopeRow) -> PackedScope:
    """Pack a scope from all its units."""
    return _with_newer_units(connection, PackedPostings(), row, after=0)


def follow(connection: Connection, packed: PackedScope, row: ScopeRow) -> PackedScope | None:
    """Return the scope at the version of `row`; None if the changes do not lead there."""
    changes = Changes(connection, packed.version, row)
    if not changes.are_listed:
        return None
    left = packed.postings.removed(changes.removed_units)
    fresh = _with_newer_units(connection, left, row, after=packed.last_unit)
    is_whole = (fresh.postings.units, fresh.postings.length) == (row.units, row.length)
    return fresh if is_whole else None


def _with_newer_units(
    connection: Connection, postings: PackedPostings, row: ScopeRow, *, after: int
) -> PackedScope:
    # Numbers only increase, so units added since are above the last one seen.
    newer = [
        pack(new.units, new.lengths, new.keys)
        for new in read_scope_terms(connection, row, after=after)
    ]
    return PackedScope(
        version=row.version,
        next_unit=row.next_unit,
        last_unit=int(newer[-1].units[-1]) if newer else after,
        postings=postings.added(join(newer)) if newer else postings,
    )
