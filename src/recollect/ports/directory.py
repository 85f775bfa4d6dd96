"""Listings of what a database holds, never used for recall."""

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
    """Lists and counts across scopes. The caller decides who may see what."""

    async def scopes(
        self, within: Workspace, *, after: Cursor | None, limit: int
    ) -> Sequence[tuple[Cursor, ScopeEntry]]:
        """Return scopes, newest first, each with its position."""
        ...

    async def scopes_within(self, within: Workspace, *, limit: int) -> Sequence[Scope]:
        """Return only the scopes, oldest first."""
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
        """Return the agents or users of a workspace, or those `among` some, newest first."""
        ...

    async def users(self, workspaces: Sequence[str]) -> frozenset[str]:
        """Return the users of some workspaces, each `org/workspace`, or of all of them."""
        ...

    async def sessions(
        self, extent: Extent, *, after: Cursor | None, limit: int
    ) -> Sequence[tuple[Cursor, SessionEntry]]:
        """Return sessions, most recently active first, each with its position."""
        ...

    async def labels(
        self, extent: Extent, kind: LabelKind, *, offset: int, limit: int | None
    ) -> Sequence[LabelEntry]:
        """Return tags or categories of active records, most frequent first."""
        ...

    async def records(
        self, within: Workspace, where: Filter, *, now: datetime, after: Cursor | None, limit: int
    ) -> Sequence[Record]:
        """Return records that match the filter, latest first."""
        ...

    async def count(self, within: Workspace, where: Filter, *, now: datetime) -> int:
        """Return the number of records that match the filter."""
        ...

    async def facets(self, within: Workspace, where: Filter, *, now: datetime) -> Facets:
        """Return counts of the records that match the filter, by property."""
        ...
