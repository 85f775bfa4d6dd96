"""What extraction finds in a conversation: claims, each with the words that support it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from recollect.domain.record import Episode, Evidence, Kind, Procedure, Tier

Topic = Literal["identity", "health", "relationship", "instruction"]
"""What is kept for good at once: it stays true for long, or holds from now on."""
BufferClass = Literal["preference", "decision", "follow-up", "sentiment"]

# What is neither to be done nor felt lasts as long as a preference or a decision.
_CLASSES: Final[Mapping[str, BufferClass]] = {
    "preference": "preference",
    "user": "preference",
    "feedback": "preference",
    "follow-up": "follow-up",
    "sentiment": "sentiment",
}


def buffer_class(category: str) -> BufferClass:
    """Whose time to live a short-term record of this category has."""
    return _CLASSES.get(category, "decision")


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferTimes:
    """How long what a conversation says stays before it has proved itself, by its class."""

    preference: timedelta = timedelta(days=7)
    decision: timedelta = timedelta(days=7)
    follow_up: timedelta = timedelta(days=3)
    sentiment: timedelta = timedelta(days=1)

    def of(self, category: str) -> timedelta:
        """The time to live of a short-term record of this category."""
        times = {
            "preference": self.preference,
            "decision": self.decision,
            "follow-up": self.follow_up,
            "sentiment": self.sentiment,
        }
        return times[buffer_class(category)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something a conversation says that may be worth remembering, not yet checked or stored."""

    kind: Kind
    category: str
    content: str
    """A sentence that is understood on its own, in the language of its source."""
    evidence: tuple[Evidence, ...]
    """The first supports the content; others confirm it."""
    confidence: float
    importance: float
    explicit: bool
    """The user said that it shall hold or be remembered."""
    title: str = ""
    """A procedure's name."""
    details: Episode | Procedure | None = None
    topic: Topic | None = None
    """Why it is long-term at once, where whoever found it knows."""
    corrects: bool = False
    """Words before it say that something told earlier was wrong."""
    explained_by: tuple[Evidence, ...] = ()
    """Where it was said before what a correction that only names a value is about."""

    @property
    def tier(self) -> Tier:
        """Where it belongs at first: what is asked for or lasts need not prove itself."""
        return Tier.LONG if self.explicit or self.topic else Tier.SHORT

    @property
    def buffer_class(self) -> BufferClass:
        """Whose time to live it has as long as it is short-term."""
        return buffer_class(self.category)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """Whether words of a source support a claim, and what of the claim they do not support."""

    ok: bool
    missing: tuple[str, ...] = ()
    reason: str = ""
