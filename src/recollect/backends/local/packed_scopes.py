"""The scopes that are packed in this process, each up to date when it is asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from sqlalchemy import Connection

from recollect.backends.local.packed_scope import PackedScope, follow, load
from recollect.backends.local.postings import PackedPostings, most_bytes
from recollect.backends.local.scope_rows import ScopeRow, read_scope
from recollect.domain.stats import IndexStats

# So many terms are packed or followed while a search waits; more is left to the background.
AT_ONCE: Final = 60_000
_LOCKS: Final = 64


class PackedScopes:
    """Packed scopes within a memory budget; those not asked for the longest go first."""

    def __init__(self, budget_bytes: int, at_once: int = AT_ONCE) -> None:
        self._budget = budget_bytes
        self._at_once = at_once
        self._bytes = 0
        self._scopes: OrderedDict[int, PackedScope] = OrderedDict()
        self._lock = threading.Lock()
        # Held while a scope follows its changes, so that no two threads do the same work.
        self._following = [threading.Lock() for _ in range(_LOCKS)]

    def fits(self, row: ScopeRow) -> bool:
        """Whether a scope can be packed at all, were every one of its terms another."""
        return most_bytes(row.units, row.length) <= self._budget

    def postings(self, connection: Connection, row: ScopeRow) -> PackedPostings | None:
        """The scope's postings exactly as this snapshot has it, if they can be had at once."""
        if not self.fits(row):
            return None
        with self._following[row.id % _LOCKS]:
            packed = self._get(row.id)
            if packed is None or packed.version < row.version:
                packed = self._renewed(connection, packed, row)
        # One that another thread brought further may lack units that this snapshot still has.
        return packed.postings if packed is not None and packed.version == row.version else None

    def pack(self, connection: Connection, scope_id: int) -> None:
        """Pack a scope as this snapshot has it, however long that takes; nobody waits for it."""
        row = read_scope(connection, scope_id)
        packed = self._get(scope_id)
        if self.fits(row) and (packed is None or packed.version < row.version):
            self._put(scope_id, load(connection, row))

    def stats(self) -> IndexStats:
        with self._lock:
            return IndexStats(
                scopes=len(self._scopes),
                units=sum(packed.postings.units for packed in self._scopes.values()),
                bytes=self._bytes,
                budget_bytes=self._budget,
            )

    def _renewed(
        self, connection: Connection, packed: PackedScope | None, row: ScopeRow
    ) -> PackedScope | None:
        """The scope as it is now, by following its changes or from all units, if that is quick."""
        fresh = None
        if packed and packed.units_behind(row) * row.length <= self._at_once * row.units:
            fresh = follow(connection, packed, row)
        if fresh is None and row.length <= self._at_once:
            fresh = load(connection, row)
        if fresh is not None:
            self._put(row.id, fresh)
        return fresh

    def _get(self, scope_id: int) -> PackedScope | None:
        with self._lock:
            packed = self._scopes.get(scope_id)
            if packed is not None:
                self._scopes.move_to_end(scope_id)
            return packed

    def _put(self, scope_id: int, packed: PackedScope) -> None:
        """Keep this state of a scope, unless there is a newer one by now."""
        with self._lock:
            known = self._scopes.get(scope_id)
            if known is not None and known.version > packed.version:
                return
            self._bytes += packed.postings.bytes - (known.postings.bytes if known else 0)
            self._scopes[scope_id] = packed
            self._scopes.move_to_end(scope_id)
            while self._bytes > self._budget:
                _, dropped = self._scopes.popitem(last=False)
                self._bytes -= dropped.postings.bytes
