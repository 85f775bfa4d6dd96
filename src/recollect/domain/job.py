"""Background work: stored with the write that needs it, run by whoever holds its lease."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

JobState = Literal["waiting", "running", "failed", "done", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """Work to do later. Of two jobs with one key, the one already waiting stands for both."""

    kind: str
    key: str
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    run_after: datetime | None = None
    every: int = 0
    """Only when the place in its session of a turn written with it can be divided by this."""

    def is_wanted(self, turn_ordinals: Iterable[int]) -> bool:
        """Whether it is to be done after these turns were written."""
        return not self.every or any(it % self.every == 0 for it in turn_ordinals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job whose lease somebody holds until `lease_until`."""

    id: str
    kind: str
    key: str
    payload: Mapping[str, Any] = field(hash=False)
    attempts: int
    lease_owner: str
    lease_until: datetime
    run_after: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReport:
    """How a job is doing, or what became of it; finished ones are kept for a day.

    `at` is when it is due, when its lease ends while it runs, or when it was finished. `key` says
    what it is about, and is gone once it is finished. `done` of `total` steps are behind it, where
    that is known.
    """

    id: str
    kind: str
    key: str
    state: JobState
    attempts: int
    at: datetime
    error: str = ""
    done: int | None = None
    total: int | None = None
    result: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    @property
    def is_over(self) -> bool:
        return self.state in ("failed", "done", "cancelled")
