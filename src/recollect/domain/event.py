"""What changed in a scope, in the order in which it was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.domain.owner import OwnerKind
from recollect.domain.scope import Scope

ChangeKind = Literal["put", "use", "purge"]
"""put: new, or another version. use: how it helped was counted. purge: gone for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that changed."""

    entity: OwnerKind
    id: str
    op: ChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeChange:
    """What one write changed in one scope; `mark` is the place behind it."""

    mark: str
    scope: Scope
    version: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed since a mark, and the mark from which to go on."""

    items: tuple[ScopeChange, ...]
    mark: str
