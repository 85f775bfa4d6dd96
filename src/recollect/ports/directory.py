"""Who and what is in a database: for listings, never for recall."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.directory import (
    Extent,
    Facets,
    LabelEntry,
    LabelKind,
    NameEntry,
    Part,
    ScopeEntry,
    SessionEntry,
    Workspace,
)
from recollect.domain.filters import Filter
from recollect.domain.page import Cursor
from recollect.domain.record import Record
from recollect.domain.scope import Scope


class Directory(Protocol):
    """Lists and counts across scopes. Who may look where is decided by whoever asks."""

    async def scopes(
        self, within: Workspace, *, after: Cursor | None, limit: int
    ) -> Sequence[tuple[Cursor, ScopeEntry]]:
        """Scopes, the newest first, each with its place."""
        ...

    async def scopes_within(self, within: Workspace, *, limit: int) -> Sequence[Scope]:
        """The scopes alone, the oldest first."""
        ...

    async def names(
        self,
        within: Workspace,
        part: Part,
        *,
        after: Cursor | None,
        limit: int,
        among: Sequence[str] | None = None,
    ) -> Sequence[tuple[Cursor, NameEntry]]:
        """The agents or users of a workspace, or those `among` some, newest first, with places."""
        ...

    async def sessions(
        self, extent: Extent, *, after: Cursor | None, limit: int
    ) -> Sequence[tuple[Cursor, SessionEntry]]:
        """Conversations, the one that went on last first, each with its place."""
        ...

    async def labels(
        self, extent: Extent, kind: LabelKind, *, offset: int, limit: int | None
    ) -> Sequence[LabelEntry]:
        """Tags or categories of active records, the most frequent first."""
        ...

    async def records(
        self, within: Workspace, where: Filter, *, now: datetime, after: Cursor | None, limit: int
    ) -> Sequence[Record]:
        """Records that pass the filter, those that happened last first."""
        ...

    async def count(self, within: Workspace, where: Filter, *, now: datetime) -> int:
        """How many records pass the filter."""
        ...

    async def facets(self, within: Workspace, where: Filter, *, now: datetime) -> Facets:
        """How many records of each sort pass the filter."""
        ...
