"""One memory for blocking code and for any event loop, as frameworks mix both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.sync import Memory as BlockingMemory

T = TypeVar("T")
AnyMemory: TypeAlias = Memory | BlockingMemory


class Bridge:
    """Makes calls of a memory on the loop it was opened on, from wherever they come.

    With a memory of `recollect.sync` everything works everywhere. With one of `recollect` blocking
    calls must come from another thread than its loop's.
    """

    def __init__(self, memory: AnyMemory) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        if isinstance(memory, BlockingMemory):
            self.memory, self._loop = memory._unwrapped  # pyright: ignore[reportPrivateUsage]
            return
        self.memory = memory
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            # Known from the first call that comes from a loop.
            self._loop = None

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call and wait for it."""
        if self._loop is None or self._loop is _running_loop():
            raise InvalidInput(
                "A blocking call on the memory's own event loop would wait for itself",
                code="would_deadlock",
                hint="Use the framework's async calls, or open the memory with recollect.sync.",
            )
        return asyncio.run_coroutine_threadsafe(_awaited(call), self._loop).result()

    async def arun(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call and await it."""
        here = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = here
        if self._loop is here:
            return await call()
        running = asyncio.run_coroutine_threadsafe(_awaited(call), self._loop)
        return await asyncio.wrap_future(running)


async def _awaited(call: Callable[[], Awaitable[T]]) -> T:
    return await call()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
