"""Maintenance of the whole database, across all scopes. Never reachable from a caller's scope."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from recollect.domain.archive import Blob
from recollect.domain.stats import DatabaseCondition, IndexFigures


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
