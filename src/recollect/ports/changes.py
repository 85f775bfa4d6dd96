"""Following what changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recollect.domain.event import Change
from recollect.domain.scope import Scope


class ChangeLog(Protocol):
    """What every write changed, kept as long as the scope."""

    async def since(
        self, scope: Scope, version: int, *, limit: int
    ) -> Sequence[tuple[int, tuple[Change, ...]]]:
        """What changed in a scope behind a version, by version, at most so many versions.

        A version that changed nothing of its owners (only how they are found) has no changes.
        """
        ...
