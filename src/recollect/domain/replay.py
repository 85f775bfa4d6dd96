"""Replays of past recalls: what was given then, and what the same question gives now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from recollect.domain.scope import Scope

# The state of an item now; a `not_recalled` one is unchanged, but others answer better.
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
    """A record or turn that was given then, or that is found now.

    `score` is its score then, None if it was not given. `score_then` is its score for the question
    over what was known then, by words only. `score_now` is None if the question no longer finds
    it.
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
    """Its content then, or now if it is new; empty if it was forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A replayed recall: the items that were given, in their order, then the new ones."""

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
        """Return whether the same items would be given now."""
        return all(item.fate == "same" for item in self.items)
