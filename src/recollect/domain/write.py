"""Runs of the write pipeline: the trace of the steps, and the result."""

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
    """The decision of one step of the pipeline, readable for people."""

    name: str
    result: Mapping[str, Any] = field(hash=False)


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
