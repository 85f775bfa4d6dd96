"""An event loop on a thread of its own, on which blocking calls are made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from typing import TypeVar

from recollect.errors import Closed, RecollectError

_T = TypeVar("_T")


class Loop:
    """An event loop on a thread of its own, shared by all views of one opened memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_closed = False
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        # A daemon: a program that is interrupted, or forgets to close, must still come to its end.
        self._thread = threading.Thread(target=self._serve, name="recollect-loop", daemon=True)
        self._thread.start()
        self._loop, self._stopping = self._started.result()

    @property
    def event_loop(self) -> asyncio.AbstractEventLoop:
        """The loop itself, for those who make calls on it from another loop."""
        return self._loop

    def run(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make a call on the loop and wait for its result, from any thread but the loop's own."""
        if threading.current_thread() is self._thread:
            raise RecollectError(
                "A blocking call inside another call of the same memory would wait for itself",
                code="would_deadlock",
                hint="Make a list of the items first, then hand it over.",
            )
        with self._lock:
            if not self._is_running:
                raise Closed("This memory was closed", hint="Open it again with Memory.open().")
            running = self._start(call)
        return _result(running)

    def close(self, last: Callable[[], Awaitable[_T]] | None = None) -> _T | None:
        """Make a last call, then end the loop and its thread; a second time this does nothing."""
        with self._lock:
            if not self._is_running:
                return None
            self._is_closed = True
            running = None if last is None else self._start(last)
        try:
            return None if running is None else _result(running)
        finally:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    @property
    def _is_running(self) -> bool:
        # In a process made by fork() the thread does not exist.
        return not self._is_closed and self._thread.is_alive()

    def _start(self, call: Callable[[], Awaitable[_T]]) -> Future[_T]:
        return asyncio.run_coroutine_threadsafe(_awaited(call), self._loop)

    def _serve(self) -> None:
        asyncio.run(self._until_closed())

    async def _until_closed(self) -> None:
        stopping = asyncio.Event()
        self._started.set_result((asyncio.get_running_loop(), stopping))
        await stopping.wait()


async def _awaited(call: Callable[[], Awaitable[_T]]) -> _T:
    return await call()


def _result(running: Future[_T]) -> _T:
    try:
        return running.result()
    except CancelledError:
        raise Closed("This memory was closed during the call") from None
    finally:
        # Whoever stops waiting, as on Ctrl-C, leaves no call behind.
        running.cancel()
