"""The values of the write pipeline: routes, extracted claims, the trace, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from recollect.domain.record import Episode, Evidence, Kind, Procedure, Record, Tier
from recollect.domain.scope import Scope

WriteStatus = Literal[
    "created",
    "same",
    "merged",
    "versioned",
    "quarantined",
    "buffered",
    "skipped",
    "deleted",
    "proposed",
    "spooled",
]
"""same: it seems to say what a stored record says; both stay, linked, and one of them is shown.
merged: it certainly does, and the stored record is confirmed. deleted: the user asked to forget it;
undo restores it. proposed: the same, but a person decides it first as a conflict. spooled: it waits
on this machine until the database server is back; it is then saved as it is, and compared
afterwards."""

FORGET_WISH: Final = "forget-wish"
"""The tag of a record that says what the user asked to forget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The decision of one step of the pipeline, readable for people.

    `ms` is how many milliseconds it took, for all that was written at once; None if it was not
    measured.
    """

    name: str
    result: Mapping[str, Any] = field(hash=False)
    ms: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The steps of a write in their order; stored until it is forgotten."""

    id: str
    scope: Scope
    session: str | None
    created_at: datetime
    steps: tuple[Step, ...]

    def step(self, name: str) -> Mapping[str, Any]:
        """Return the decision of a step; empty if the step was not reached."""
        results = (step.result for step in self.steps if step.name == name)
        return next(results, dict[str, Any]())


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The result of writing one record.

    `record` is the new record, or the stored one that it was merged into, as this write left it.
    `conflict` is the id of the open conflict with a stored record that it contradicts.
    `degraded` is the error code for which rules decided instead of the configured model.
    """

    write_id: str
    status: WriteStatus
    record: Record | None
    reason: str = ""
    conflict: str | None = None
    degraded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """How far extraction has read the turns of a session.

    It is raised only from `before`: if two processes read the same turns at the same time, one of
    them fails, and what both found is written once.
    """

    scope: Scope
    session: str
    ordinal: int
    before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LostReading:
    """Turns of a session that were read without keeping what they say.

    They come after the ordinal `after`, up to and including `to`.
    """

    scope: Scope
    session: str
    after: int
    to: int


EXTRACT: Final = "extract"
"""The job that reads a session."""
EXTRACT_IDLE: Final = "extract_idle"
"""The job that reads the rest of a session after a pause."""
READING: Final = (EXTRACT, EXTRACT_IDLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """The turns that are stored but not read yet; they are read later, at the latest after the
    memory is opened again.
    """

    turns: int = 0
    sessions: int = 0

    def __bool__(self) -> bool:
        return self.turns > 0

    def __add__(self, other: Pending) -> Pending:
        return Pending(turns=self.turns + other.turns, sessions=self.sessions + other.sessions)


# --- Routes: whether to recall memory for a message, and whether and where to store it ------------


WritePolicy = Literal["auto", "explicit", "off"]
Namespace = Literal["user-profile", "domain-facts", "task-traces", "tool-effects"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The namespaces to read and write for one message, and the words that decided it."""

    should_read: bool
    should_write: bool
    namespaces: tuple[Namespace, ...]
    """Where to write; if nothing is written, where to look first."""
    reason: str
    degraded: str = ""
    """Why the configured model did not decide."""
    by: str = "rules"
    """Who decided: `reader` (the local model), `rules`, or the name of a language model."""


# --- Modes of redaction of personal data and secrets in texts to store ----------------------------


RedactMode = Literal["off", "mask", "drop"]
"""Keep them, mask them, or do not store the text."""


# --- The results of extraction: claims, each with its evidence ------------------------------------


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


Lasts = Literal["days", "weeks", "long"]
"""How long something matters that was said."""


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
    """Earlier evidence of the subject, for a correction or an answer that only gives a value."""
    facet: str = ""
    """Which attribute it states, if the extractor tells."""
    about: str = ""
    """Whom it is about, if the extractor tells."""
    lasts: Lasts | None = None
    """How long it matters, if the extractor tells."""

    @property
    def tier(self) -> Tier:
        """Return the initial tier: long-term for explicit requests and for what lasts."""
        is_kept = self.explicit or self.topic or self.lasts == "long"
        return Tier.LONG if is_kept else Tier.SHORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """Whether the source supports a claim, and which parts of the claim it does not support."""

    ok: bool
    missing: tuple[str, ...] = ()
    reason: str = ""
