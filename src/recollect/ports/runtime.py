"""The running process: the time, spans, a time limit of answers, and giving way to callers."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
import time
from collections.abc import Coroutine, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeVar


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


# --- OpenTelemetry spans around slow work; no-ops unless the process configured a tracer ----------


def span(name: str, **attributes: str | int) -> AbstractContextManager[Any]:
    """Return a span around the work inside. Attributes never hold content."""
    # If the process configured a tracer, the library is already imported.
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return nullcontext()
    tracer = trace.get_tracer("recollect")
    told = {f"recollect.{key}": value for key, value in attributes.items()}
    return tracer.start_as_current_span(name, attributes=told, record_exception=False)


# --- A time limit of an answer: what is not ready by then is left out -----------------------------

T = TypeVar("T")

IN_TIME: Final = "in time"
"""The end of every note about a part that was left out because it was late."""

_log: Final = logging.getLogger(__name__)
_answer_by: Final[ContextVar[float]] = ContextVar("recollect_answer_by", default=math.inf)
# Held here, because the loop itself keeps no task alive.
_late: Final[set[asyncio.Task[Any]]] = set()


def answer_within(seconds: float) -> None:
    """Let the parts of an answer that the current task can do without take this long together."""
    _answer_by.set(time.monotonic() + seconds)


def seconds_left(most: float = math.inf) -> float:
    """Return how long a part of the current answer may take: at most `most` seconds."""
    return max(0.0, min(most, _answer_by.get() - time.monotonic()))


async def in_time(work: Coroutine[Any, Any, T], seconds: float) -> T | None:
    """Return the result of some work, or None if it takes longer; then it goes on by itself."""
    if seconds == math.inf:
        return await work
    task = asyncio.create_task(work)
    _late.add(task)
    task.add_done_callback(_end_late)
    try:
        done, _ = await asyncio.wait([task], timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    return task.result() if done else None


def _end_late(task: asyncio.Task[Any]) -> None:
    _late.discard(task)
    if not task.cancelled() and (problem := task.exception()) is not None:
        _log.debug("late work failed: %s", problem)


# --- Give way: background work pauses while callers use a memory ----------------------------------
# Saves and recalls share the processor with the work that follows them. Work that nobody waits for
# runs in the pauses, and for a small share of the time when there are none.

# Callers are away when they have not used a database for this long.
_QUIET_SECONDS: Final = 0.03
# Beside busy callers, work pauses for this many times as long as it worked.
_PAUSE_FACTOR: Final = 8.0

_in_background: Final[ContextVar[bool]] = ContextVar("recollect_in_background", default=False)
_last_use = float("-inf")
# One object for each call that is waited for.
_calls: Final[set[object]] = set()


def work_in_background() -> None:
    """Mark the current task as work that nobody waits for."""
    _in_background.set(True)


def is_in_background() -> bool:
    """Return whether nobody waits for the current task."""
    return _in_background.get()


def note_use() -> None:
    """Note the use of a database, unless background work uses it."""
    global _last_use
    if not _in_background.get():
        _last_use = time.monotonic()


@contextmanager
def caller_waits() -> Generator[None]:
    """Let background work pause while a caller waits for the work inside."""
    if _in_background.get():
        yield
        return
    call = object()
    _calls.add(call)
    try:
        yield
    finally:
        _calls.discard(call)
        note_use()


async def give_way(worked_seconds: float) -> None:
    """Pause while callers are busy; return at once where somebody waits for this work."""
    if not _in_background.get():
        return
    latest = time.monotonic() + _PAUSE_FACTOR * worked_seconds
    while (left := latest - time.monotonic()) > 0:
        quiet_at = math.inf if _calls else _last_use + _QUIET_SECONDS
        pause = quiet_at - time.monotonic()
        if pause <= 0:
            break
        await asyncio.sleep(min(pause, left, _QUIET_SECONDS))
