"""The log of changes that change feeds read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recollect.domain.change import Change
from recollect.domain.scope import Scope


class ChangeLog(Protocol):
    """The changes of every write, kept as long as the scope."""

    async def since(
        self, scope: Scope, version: int, *, limit: int
    ) -> Sequence[tuple[int, tuple[Change, ...]]]:
        """Return the changes of a scope after a version, by version, at most `limit` versions.

        A version that only changed the index has no changes.
        """
        ...
