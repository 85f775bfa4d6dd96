"""Background jobs: stored with the write that needs them, run by the holder of their lease."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final, Literal

from recollect.domain.ids import new_id

JobState = Literal["waiting", "running", "failed", "done", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to add. If a job with the same key is already waiting, no second one is added."""

    kind: str
    key: str
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    run_after: datetime | None = None
    every: int = 0
    """If set, add the job only when the ordinal of a turn in the write is a multiple of this."""
    holder: str = ""
    """The process that is going to run it; if that ends, the job is due at once."""

    def is_wanted(self, turn_ordinals: Iterable[int]) -> bool:
        """Return whether to add the job after turns with these ordinals were written."""
        return not self.every or any(ordinal % self.every == 0 for ordinal in turn_ordinals)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """Counts of waiting and failed jobs."""

    waiting: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that is leased until `lease_until`."""

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
    """The state of a job, or its result; finished jobs are kept for a day.

    `at` is when it is due, when its lease ends while it runs, or when it was finished. `key` is its
    subject, which is removed when it is finished. `done` of `total` steps are complete, if that is
    known.
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


# --- Names of lease holders, so that the lease of a dead process is free at once ------------------


_MAX_NAME_CHARACTERS: Final = 20


def new_holder() -> str:
    """Return the name of a new holder: its machine, its process and a number."""
    return f"{_machine()}/{os.getpid()}/{new_id('job')}"


@cache
def this_process() -> str:
    """Return the name under which this process holds what it is going to do later."""
    return new_holder()


def is_gone(holder: str) -> bool:
    """Return whether the process of a holder is known to have ended."""
    machine, _, rest = holder.partition("/")
    process = rest.partition("/")[0]
    # Other machines cannot be asked, and on Windows `os.kill` would end the process.
    if machine != _machine() or not process.isdecimal() or os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _machine() -> str:
    return platform.node()[:_MAX_NAME_CHARACTERS].replace("/", "-")


# --- The callback by which long work reports its progress -----------------------------------------


# Called with the amount done and the total.
Progress = Callable[[int, int], None]
