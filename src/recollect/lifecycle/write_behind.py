"""Delayed writes in batches, for data that no caller waits for."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from recollect.errors import RecollectError

_log = logging.getLogger(__name__)


class WriteBehind:
    """Calls `write` some time after something was queued, and again if it failed."""

    def __init__(
        self, write: Callable[[], Awaitable[None]], *, waits: Callable[[], bool], pause: float
    ) -> None:
        self._write = write
        self._waits = waits
        self._pause = pause
        self._is_due = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self._one_by_one = asyncio.Lock()

    def soon(self, *, at_once: bool = False) -> None:
        """Note that something waits to be written, `at_once` if it is too much to wait."""
        if at_once:
            self._is_due.set()
        if self._waits() and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write_later(), name="recollect-behind")

    async def flush(self) -> None:
        """Write what waits, including what is being written already."""
        async with self._one_by_one:
            self._is_due.clear()
            if self._waits():
                await self._write()

    async def close(self) -> None:
        """Write what waits and stop."""
        if self._writing is not None:
            # Do not cancel in the middle of a write, or it would be unknown whether it happened.
            async with self._one_by_one:
                self._writing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._writing
        await self._flush_or_tell()

    async def _write_later(self) -> None:
        while self._waits():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_due.wait(), self._pause)
            await self._flush_or_tell()

    async def _flush_or_tell(self) -> None:
        try:
            await self.flush()
        except RecollectError as problem:
            _log.warning("recalls are not recorded yet: %s", problem)
