"""One run of the write pipeline: what each step made of it, and what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from recollect.domain.record import Record
from recollect.domain.scope import Scope

WriteStatus = Literal["created", "merged", "versioned", "quarantined", "buffered", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step of the pipeline decided, in words that a person can read."""

    name: str
    result: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The steps of a write in their order; kept until it is forgotten."""

    id: str
    scope: Scope
    session: str | None
    created_at: datetime
    steps: tuple[Step, ...]

    def step(self, name: str) -> Mapping[str, Any]:
        """What a step decided; empty for one that was not reached."""
        results = (it.result for it in self.steps if it.name == name)
        return next(results, dict[str, Any]())


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of one thing that was to be remembered.

    `record` is the one that holds it, as this write left it: the new one, or the stored one it was
    merged into.
    `conflict` is the id of the open question between it and a stored one that it contradicts.
    `degraded` is the code of what kept a configured model from deciding; rules did.
    """

    write_id: str
    status: WriteStatus
    record: Record | None
    reason: str = ""
    conflict: str | None = None
    degraded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """How far the turns of a session were read for what is worth remembering.

    It is raised only from `before`: whoever read the same turns at the same time is told so, and
    what both found is written once.
    """

    scope: Scope
    session: str
    ordinal: int
    before: int = 0
