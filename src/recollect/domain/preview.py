"""Previews: what an agent would be told for a message, with every part weighed and explained."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal

from recollect.domain.context import MemoryContext, Reason
from recollect.domain.fields import RecordFields
from recollect.domain.hit import Explanation

PartName = Literal["profile", "recalled", "documents", "guide"]
Fate = Literal["given", "left_out", "near_miss"]


class TriedChange(RecordFields, total=False):
    """A change to try: a new record, or with an `id` other words for a stored one, or its end."""

    id: str
    content: str
    delete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """A part of what an agent is told, and what it costs.

    `budget` is the limit of the part itself; None if it has none. What is recalled shares its limit
    with the profile.
    """

    name: PartName
    text: str
    tokens: int
    budget: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptItem:
    """A line of the profile, a record, a turn or a passage of a document, and what became of it.

    `text` is how it stands in the block, or its own words if it was left out; `reason` says why it
    was. `version` is that of a record, 0 for one that is only tried.
    """

    id: str
    part: PartName
    # A record's kind, `turn` or `document`.
    kind: str
    fate: Fate
    text: str
    tokens: int
    reason: Reason | str = ""
    score: float | None = None
    version: int | None = None
    # The record's own facet, if it has one.
    facet: str = ""
    at: datetime | None = None
    explanation: Explanation | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPreview:
    """What an agent would be told for a message: the block, its parts, and each item's fate.

    `guide` in the parts is what a system prompt with the memory tools gets besides. `tried` are the
    ids of the records that the tried changes made or changed; nothing of them is stored.
    """

    DERIVED: ClassVar = ("tokens",)

    context: MemoryContext
    parts: tuple[PromptPart, ...]
    items: tuple[PromptItem, ...]
    # The tokens that the profile and what is recalled may have together.
    budget: int
    as_of: datetime | None = None
    intent: str = "question"
    intent_reason: str = ""
    tried: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Return what all parts cost."""
        return sum(part.tokens for part in self.parts)
