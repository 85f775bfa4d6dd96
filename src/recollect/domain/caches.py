"""The figures of a cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """Hits and misses of a cache since the memory was opened."""

    IN_JSON: ClassVar = ("hits", "misses", "entries", "hit_rate")

    hits: int = 0
    misses: int = 0
    entries: int = 0

    @property
    def hit_rate(self) -> float:
        return round(self.hits / max(1, self.hits + self.misses), 3)
