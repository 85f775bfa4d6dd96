"""Care of the whole database, across all scopes. Never reachable from a caller's scope."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from recollect.domain.archive import Blob
from recollect.domain.diagnosis import DatabaseCondition, IndexFigures


class Maintenance(Protocol):
    """What an operator or a background job needs."""

    async def condition(self) -> DatabaseCondition:
        """What the database says about itself; every page of it is looked at."""
        ...

    async def figures(self, analyzer: str) -> IndexFigures:
        """How much there is; for a database of the newest revision only."""
        ...

    async def size(self) -> int:
        """Bytes the database takes on disk."""
        ...

    async def backup(self, target: Path) -> list[Blob]:
        """A consistent copy while others go on writing; the contents that it refers to."""
        ...
