"""Reads for upkeep, and maintenance of the whole database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from recollect.domain.archive import Blob
from recollect.domain.record import Record
from recollect.domain.relation import Conflict
from recollect.domain.scope import Scope
from recollect.domain.stats import DatabaseCondition, HealthFigures, IndexFigures
from recollect.domain.upkeep import Selection, Worth


class UpkeepReader(Protocol):
    """Read-only access. A selection without scopes covers all scopes, for sweeps only."""

    async def select(
        self, selection: Selection, *, after: str = "", limit: int | None = None
    ) -> list[Record]:
        """Return records by id, starting after `after`."""
        ...

    async def crowded(
        self, scopes: Sequence[Scope] | None, more_than: int, *, now: datetime
    ) -> Mapping[Scope, int]:
        """Return the scopes with more active records than this, and how many they have."""
        ...

    async def worths(self, scope: Scope, *, now: datetime) -> list[Worth]:
        """Return the properties that determine the value of each active record of a scope."""
        ...

    async def conflicts(
        self, scopes: Sequence[Scope], *, ids: Sequence[str] | None = None
    ) -> list[Conflict]:
        """Return open conflicts between active records, latest first; or those with these ids."""
        ...

    async def figures(self, scopes: Sequence[Scope], *, now: datetime) -> HealthFigures:
        """Return the health figures of these scopes."""
        ...


# --------------------------------------------------------------------------------------------------
# Maintenance of the whole database, across all scopes. Never reachable from a caller's scope.


class Maintenance(Protocol):
    """Operations for an operator or a background job."""

    async def condition(self) -> DatabaseCondition:
        """Return the condition of the database after checking every page."""
        ...

    async def figures(self, analyzer: str) -> IndexFigures:
        """Return the size of the index and the queue, for a database of the newest revision."""
        ...

    async def size(self) -> int:
        """Return the size of the database on disk, in bytes."""
        ...

    async def backup(self, target: Path) -> list[Blob]:
        """Copy the database consistently while others write; return the blobs that it refers to."""
        ...
