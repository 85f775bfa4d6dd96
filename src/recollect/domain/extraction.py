"""The results of extraction: claims, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from recollect.domain.record import Episode, Evidence, Kind, Procedure, Tier

Topic = Literal["identity", "health", "relationship", "instruction"]
"""Topics that are long-term at once: they stay true for long, or apply from now on."""
BufferClass = Literal["preference", "decision", "follow-up", "sentiment"]

# Categories that are not listed have the time to live of a decision.
_CLASSES: Final[Mapping[str, BufferClass]] = {
    "preference": "preference",
    "user": "preference",
    "feedback": "preference",
    "follow-up": "follow-up",
    "sentiment": "sentiment",
}


def buffer_class(category: str) -> BufferClass:
    """Return the class that determines the time to live of a short-term record."""
    return _CLASSES.get(category, "decision")


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferTimes:
    """The times to live of short-term records, by class."""

    preference: timedelta = timedelta(days=7)
    decision: timedelta = timedelta(days=7)
    follow_up: timedelta = timedelta(days=3)
    sentiment: timedelta = timedelta(days=1)

    def of(self, category: str) -> timedelta:
        """Return the time to live of a short-term record of this category."""
        times = {
            "preference": self.preference,
            "decision": self.decision,
            "follow-up": self.follow_up,
            "sentiment": self.sentiment,
        }
        return times[buffer_class(category)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something a conversation says that may become a record, not yet checked or stored."""

    kind: Kind
    category: str
    content: str
    """A self-contained sentence in the language of its source."""
    evidence: tuple[Evidence, ...]
    """The first one supports the content; the others confirm it."""
    confidence: float
    importance: float
    explicit: bool
    """Whether the user asked to remember it or to apply it from now on."""
    title: str = ""
    """The name of a procedure."""
    details: Episode | Procedure | None = None
    topic: Topic | None = None
    """The reason to store it as long-term at once, if there is one."""
    corrects: bool = False
    """Whether it is introduced as a correction of an earlier statement."""
    explained_by: tuple[Evidence, ...] = ()
    """Earlier evidence of the subject, for a correction that only gives a value."""

    @property
    def tier(self) -> Tier:
        """Return the initial tier: long-term for explicit requests and lasting topics."""
        return Tier.LONG if self.explicit or self.topic else Tier.SHORT

    @property
    def buffer_class(self) -> BufferClass:
        """Return the class that determines its time to live while it is short-term."""
        return buffer_class(self.category)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """Whether the source supports a claim, and which parts of the claim it does not support."""

    ok: bool
    missing: tuple[str, ...] = ()
    reason: str = ""
