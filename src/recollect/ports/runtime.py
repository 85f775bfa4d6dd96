"""The running process: the current time, spans around slow work, and giving way to callers."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Protocol


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


# --- Give way: background work pauses while callers use a memory ----------------------------------
# Saves and recalls share the processor with the work that follows them. Work that nobody waits for
# runs in the pauses, and for a small share of the time when there are none.

# Callers are away when they have not used a database for this long.
_QUIET_SECONDS: Final = 0.03
# Beside busy callers, work pauses for this many times as long as it worked.
_PAUSE_FACTOR: Final = 8.0

_in_background: Final[ContextVar[bool]] = ContextVar("recollect_in_background", default=False)
_last_use = float("-inf")


def work_in_background() -> None:
    """Mark the current task as work that nobody waits for."""
    _in_background.set(True)


def note_use() -> None:
    """Note the use of a database, unless background work uses it."""
    global _last_use
    if not _in_background.get():
        _last_use = time.monotonic()


async def give_way(worked_seconds: float) -> None:
    """Pause while callers are busy; return at once where somebody waits for this work."""
    if not _in_background.get():
        return
    latest = time.monotonic() + _PAUSE_FACTOR * worked_seconds
    while True:
        pause = min(latest, _last_use + _QUIET_SECONDS) - time.monotonic()
        if pause <= 0:
            break
        await asyncio.sleep(pause)
