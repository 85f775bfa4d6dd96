"""The directory of a workspace: who and what is in it, and how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

from recollect.domain.page import Page
from recollect.domain.record import Record
from recollect.domain.scope import Scope

# In place of an agent or a user: those scopes that have none.
NOBODY: Final = "-"
Part = Literal["agent", "user"]
LabelKind = Literal["tag", "category"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """All scopes of a workspace, or those of an agent or a user; None is any, `-` is none."""

    org: str
    workspace: str
    agent: str | None = None
    user: str | None = None


# Where to look: in these scopes, or in all of a workspace.
Extent: TypeAlias = Sequence[Scope] | Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """How much somebody's scopes hold, and when something was last said or kept there."""

    records: int = 0
    turns: int = 0
    sessions: int = 0
    archives: int = 0
    last_active: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeEntry:
    """A scope in which something was ever kept."""

    scope: Scope
    contents: Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class NameEntry:
    """An agent or a user of a workspace, with how much all their scopes hold."""

    name: str
    scopes: int
    contents: Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """A conversation: how long it is and when it went on."""

    id: str
    scope: Scope
    turns: int
    archives: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelEntry:
    """A tag or a category, and how many active records have it."""

    name: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """How many records of each sort pass a filter; of tags only the most frequent ones."""

    kinds: Mapping[str, int] = field(hash=False)
    categories: Mapping[str, int] = field(hash=False)
    statuses: Mapping[str, int] = field(hash=False)
    tags: Mapping[str, int] = field(hash=False)
    agents: Mapping[str, int] = field(hash=False)
    users: Mapping[str, int] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsFound(Page[Record]):
    """A page of the records of a workspace, how many pass the filter, and of which sorts."""

    total: int
    facets: Facets | None = None
