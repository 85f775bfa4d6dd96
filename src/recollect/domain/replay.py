"""A past recall asked again: what was given then, and what the same question gives now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from recollect.domain.scope import Scope

# What became of an item; `not_recalled` is there as it was, and others answer better now.
Fate = Literal[
    "same",
    "changed",
    "deleted",
    "expired",
    "superseded",
    "quarantined",
    "forgotten",
    "not_recalled",
    "new",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedItem:
    """Something that was given then, or that would be found now.

    `score` is what it had then, None when it was not given. `score_then` is what the question
    gives it in what was known then, where only words count. `score_now` is None when the question
    no longer finds it.
    """

    id: str
    # A record's kind, or `turn`; turns have no versions.
    kind: str
    fate: Fate
    version: int | None
    version_now: int | None
    score: float | None
    score_then: float | None
    score_now: float | None
    content: str
    """What it said then, or says now when it is new; empty when it was forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The items that were given, in their order, then those that are new."""

    recall_id: str
    at: datetime
    actor: str
    scope: Scope
    question: str
    form: str
    session: str
    run: str | None
    items: tuple[ReplayedItem, ...]
    degraded: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether the same would be given now."""
        return all(item.fate == "same" for item in self.items)
