"""The change feed of a scope, in the order in which changes were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.domain.owner import OwnerKind
from recollect.domain.scope import Scope

ChangeKind = Literal["put", "use", "purge"]
"""put: new, or a new version. use: feedback was counted. purge: removed for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A record, turn or archive that changed."""

    entity: OwnerKind
    id: str
    op: ChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeChange:
    """What one write changed in one scope; `mark` is the position after it."""

    mark: str
    scope: Scope
    version: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed since a mark, and the mark to continue from."""

    items: tuple[ScopeChange, ...]
    mark: str
