"""The directory of a workspace: its scopes, agents, users, sessions and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args

from recollect.domain.page import Page
from recollect.domain.record import Record
from recollect.domain.scope import Scope

# Used as an agent or a user, it selects the scopes that have none.
NOBODY: Final = "-"
Part = Literal["agent", "user"]
LabelKind = Literal["tag", "category"]
RecordOrder = Literal["newest", "oldest", "surest", "least_sure", "most_used"]
RECORD_ORDERS: Final[tuple[RecordOrder, ...]] = get_args(RecordOrder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """All scopes of a workspace, or those of one agent or user; None means any, `-` means none."""

    org: str
    workspace: str
    agent: str | None = None
    user: str | None = None


# Where to look: in these scopes, or in all of a workspace.
Extent: TypeAlias = Sequence[Scope] | Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """How much a set of scopes holds, and when something was last written there."""

    records: int = 0
    turns: int = 0
    sessions: int = 0
    archives: int = 0
    last_active: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeEntry:
    """A scope that something was written to, and what it holds."""

    scope: Scope
    contents: Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class NameEntry:
    """An agent or a user of a workspace, and what all their scopes hold."""

    name: str
    scopes: int
    contents: Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceEntry:
    """A workspace that something was written to, and how much it holds."""

    org: str
    workspace: str
    users: int
    agents: int
    contents: Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """A session: how long it is, and its first and last time."""

    id: str
    scope: Scope
    turns: int
    archives: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelEntry:
    """A tag or a category, and its number of active records."""

    name: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """Counts of the records that match a filter; only the most frequent tags are listed."""

    kinds: Mapping[str, int] = field(hash=False)
    categories: Mapping[str, int] = field(hash=False)
    facets: Mapping[str, int] = field(hash=False)
    statuses: Mapping[str, int] = field(hash=False)
    tags: Mapping[str, int] = field(hash=False)
    agents: Mapping[str, int] = field(hash=False)
    users: Mapping[str, int] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsFound(Page[Record]):
    """A page of the records of a workspace, with the total and the facets of the filter."""

    items: tuple[Record, ...]
    total: int
    facets: Facets | None = None
