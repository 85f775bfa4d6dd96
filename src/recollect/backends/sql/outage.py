"""Whether a database server answers: the circuit breaker of a `ServerDatabase`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Final

from recollect.errors import RecollectError, StorageBusy, StorageError

UNREACHABLE: Final = "database_unreachable"
OUTCOME_UNKNOWN: Final = "outcome_unknown"
"""The connection was lost while a change was being committed."""
LOST: Final = frozenset({UNREACHABLE, OUTCOME_UNKNOWN})
"""The codes of errors that mean that the server may be away."""
OF_SERVER: Final = LOST | {
    "database_login",
    "database_permission",
    "database_read_only",
    "disk_full",
    "no_such_database",
}
"""The codes of errors that tell of the server, whatever is asked of it."""

_FIRST_PAUSE_SECONDS: Final = 0.25
_LONGEST_PAUSE_SECONDS: Final = 5.0
# A call that comes while the server is away asks it again, together with others, for so long.
_ASKED_FOR_SECONDS: Final = 0.5

# Set for what must be done before anybody else is served again.
_prepares: ContextVar[bool] = ContextVar("prepares", default=False)

_log: Final = logging.getLogger(__name__)


class Outage:
    """Whether the server is away, since when, and what is done when it returns.

    `probe` connects and returns, or raises; it runs in a thread. While the server is away, calls
    fail at once instead of waiting for it one after another.
    """

    def __init__(self, name: str, probe: Callable[[], None]) -> None:
        self._name = name
        self._probe = probe
        self._problem: StorageError | None = None
        self._began = 0.0
        self._trying: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._first: list[Callable[[], Awaitable[None]]] = []
        self._then: list[Callable[[], None]] = []
        self.count = 0

    @property
    def is_away(self) -> bool:
        return self._problem is not None

    @property
    def seconds(self) -> float:
        """Return for how long it has been away."""
        return time.monotonic() - self._began if self.is_away else 0.0

    def before_serving(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do this once when the server returns, before anybody is served."""
        self._first.append(work)

    def on_return(self, tell: Callable[[], None]) -> None:
        """Tell this whenever the server has returned."""
        self._then.append(tell)

    def note(self, problem: StorageError) -> None:
        """Take the server to be away because of an error, until it answers again."""
        if self._problem is None:
            self._problem = problem
            self._began = time.monotonic()
            self.count += 1
            _log.warning("%s is away: %s", self._name, problem)

    def watch(self) -> None:
        """Ask in the background until the server answers."""
        if self.is_away and (self._watching is None or self._watching.done()):
            self._watching = asyncio.create_task(self._watch(), name="recollect-outage")

    async def require(self) -> None:
        """Fail at once while the server is away, unless it answers just now."""
        if self._problem is None or _prepares.get():
            return
        self.watch()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ASKED_FOR_SECONDS):
                if self._trying is not None:
                    # It may have begun just before the server was back.
                    await asyncio.wait([self._trying])
                if self.is_away:
                    await asyncio.wait([self._try()])
        self._refuse()

    def _refuse(self) -> None:
        if (problem := self._problem) is not None:
            raise StorageError(problem.message, code=UNREACHABLE, hint=problem.hint)

    async def answers(self) -> bool:
        """Return whether the server answers now."""
        try:
            await self._ask()
        except StorageError as problem:
            self.note(problem)
            return False
        return True

    async def _ask(self) -> None:
        # A server without a free connection is busy, but there.
        with contextlib.suppress(StorageBusy):
            await asyncio.to_thread(self._probe)

    async def close(self) -> None:
        for task in (self._watching, self._trying):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])

    def _try(self) -> asyncio.Task[None]:
        """Return the attempt that is going on, or a new one."""
        if self._trying is None or self._trying.done():
            self._trying = asyncio.create_task(self._return(), name="recollect-outage-try")
            # Whoever waits for it is told; perhaps nobody does.
            self._trying.add_done_callback(lambda it: it.cancelled() or it.exception())
        return self._trying

    async def _return(self) -> None:
        _prepares.set(True)
        await self._ask()
        while self._first:
            await self._first[0]()
            self._first.pop(0)
        _log.warning("%s is back after %.1f seconds", self._name, self.seconds)
        self._problem = None
        for tell in self._then:
            tell()

    async def _watch(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while self.is_away:
            try:
                await asyncio.shield(self._try())
            except RecollectError as problem:
                _log.info("%s is still away: %s", self._name, problem)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
