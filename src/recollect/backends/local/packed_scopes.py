"""The scopes that are packed in this process, each updated before it is searched."""

from __future__ import annotations

import threading
from typing import Final

from sqlalchemy import Connection

from recollect.backends.local.packed_scope import PackedScope, follow, load
from recollect.backends.local.postings import PackedPostings, most_bytes
from recollect.backends.local.scope_cache import Shelf
from recollect.backends.sql.scopes import ScopeRow, read_scope
from recollect.domain.stats import IndexStats

# The maximum number of terms to pack while a search waits; more is left to the background.
AT_ONCE: Final = 60_000
_LOCKS: Final = 64


class PackedScopes:
    """Packed scopes within a memory budget, updated before they are searched."""

    def __init__(self, budget_bytes: int, at_once: int = AT_ONCE) -> None:
        self._shelf: Shelf[int, PackedScope] = Shelf(budget_bytes)
        self._at_once = at_once
        # Held while a scope is updated, so that no two threads do the same work.
        self._following = [threading.Lock() for _ in range(_LOCKS)]

    def fits(self, row: ScopeRow) -> bool:
        """Return whether a scope fits into the budget, even if all its terms are distinct."""
        return most_bytes(row.units, row.length) <= self._shelf.budget

    def postings(self, connection: Connection, row: ScopeRow) -> PackedPostings | None:
        """Return the postings exactly as of this snapshot, if they are available at once."""
        if not self.fits(row):
            return None
        with self._following[row.id % _LOCKS]:
            packed = self._shelf.get(row.id)
            if packed is None or packed.version < row.version:
                packed = self._renewed(connection, packed, row)
        # A newer state by another thread may lack units that this snapshot still has.
        return packed.postings if packed is not None and packed.version == row.version else None

    def pack(self, connection: Connection, scope_id: int) -> None:
        """Pack a scope as of this snapshot in the background, however long it takes."""
        row = read_scope(connection, scope_id)
        packed = self._shelf.get(scope_id)
        if self.fits(row) and (packed is None or packed.version < row.version):
            self._shelf.put(scope_id, load(connection, row))

    def stats(self) -> IndexStats:
        return self._shelf.stats()

    def _renewed(
        self, connection: Connection, packed: PackedScope | None, row: ScopeRow
    ) -> PackedScope | None:
        """Return the current scope by applying changes, or from all units, if that is quick."""
        fresh = None
        if packed and packed.units_behind(row) * row.length <= self._at_once * row.units:
            fresh = follow(connection, packed, row)
        if fresh is None and row.length <= self._at_once:
            fresh = load(connection, row)
        if fresh is not None:
            self._shelf.put(row.id, fresh)
        return fresh
