"""A least-recently-used cache of packed scopes within a memory budget."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Generic, Protocol, TypeVar

from recollect.domain.free_memory import give_back
from recollect.domain.stats import IndexStats

# Reading a scope of so many bytes takes several times as much for a moment.
_LARGE: Final = 1 << 20


class Packed(Protocol):
    """A packed scope at one version."""

    @property
    def version(self) -> int: ...
    @property
    def units(self) -> int: ...
    @property
    def bytes(self) -> int: ...


K = TypeVar("K", bound=Hashable)
P = TypeVar("P", bound=Packed)


class Shelf(Generic[K, P]):
    """The newest state of each scope that fits into the budget. Thread-safe."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget = budget_bytes
        self._bytes = 0
        self._packed: OrderedDict[K, P] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> P | None:
        with self._lock:
            packed = self._packed.get(key)
            if packed is not None:
                self._packed.move_to_end(key)
            return packed

    def put(self, key: K, packed: P) -> None:
        """Keep this state of a scope, unless there is a newer one by now."""
        with self._lock:
            known = self._packed.get(key)
            if known is not None and known.version > packed.version:
                return
            self._bytes += packed.bytes - (known.bytes if known else 0)
            self._packed[key] = packed
            self._packed.move_to_end(key)
            while self._bytes > self.budget:
                _, dropped = self._packed.popitem(last=False)
                self._bytes -= dropped.bytes
        if known is None and packed.bytes >= _LARGE:
            give_back()

    def stats(self) -> IndexStats:
        with self._lock:
            return IndexStats(
                scopes=len(self._packed),
                units=sum(packed.units for packed in self._packed.values()),
                bytes=self._bytes,
                budget_bytes=self.budget,
            )
