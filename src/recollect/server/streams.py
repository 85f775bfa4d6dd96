"""Bodies too large to hold: a blocking writer or reader on one side, the network on the other."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import io
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, BinaryIO, Final, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

_CHUNK: Final = 1 << 16
_MOST_WAITING: Final = 8


async def written(write: Callable[[BinaryIO], Awaitable[object]]) -> AsyncGenerator[bytes]:
    """What `write` writes in another thread, in pieces; it waits when nobody takes them.

    A fault before the first piece is raised here, so that it can still be told as a problem.
    """
    pipe = _Outgoing()
    out = io.BufferedWriter(pipe, _CHUNK)
    writing = asyncio.ensure_future(_finished(write, cast("BinaryIO", out)))
    pieces = _pieces(pipe, writing)
    first = await anext(pieces, b"")

    async def all_pieces() -> AsyncGenerator[bytes]:
        async with contextlib.aclosing(pieces):
            yield first
            async for piece in pieces:
                yield piece

    return all_pieces()


def read(pieces: AsyncIterator[bytes]) -> BinaryIO:
    """A file for another thread to read that holds what arrives."""
    return cast("BinaryIO", io.BufferedReader(_Arriving(pieces), _CHUNK))


async def _finished(write: Callable[[BinaryIO], Awaitable[object]], out: BinaryIO) -> None:
    await write(out)
    await asyncio.to_thread(out.flush)


async def _pieces(pipe: _Outgoing, writing: asyncio.Future[None]) -> AsyncGenerator[bytes]:
    try:
        while not (writing.done() and pipe.waiting.empty()):
            taking = asyncio.ensure_future(pipe.waiting.get())
            await asyncio.wait([taking, writing], return_when=asyncio.FIRST_COMPLETED)
            if taking.done():
                yield taking.result()
            else:
                taking.cancel()
        writing.result()
    finally:
        # Whoever stops reading also ends the writing.
        pipe.abandon()
        writing.cancel()
        await asyncio.wait([writing])


class _Outgoing(io.RawIOBase):
    """Hands on what is written in a thread to the loop that it was made in."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[bytes] = asyncio.Queue(_MOST_WAITING)
        self._loop = asyncio.get_running_loop()
        self._is_abandoned = False

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        piece = bytes(data)
        if not self._is_abandoned:
            asyncio.run_coroutine_threadsafe(self.waiting.put(piece), self._loop).result()
        if self._is_abandoned:
            raise BrokenPipeError(errno.EPIPE, "nobody reads any more")
        return len(piece)

    def abandon(self) -> None:
        """Nobody reads any more: whoever waits to write goes on, and fails."""
        self._is_abandoned = True
        while not self.waiting.empty():
            self.waiting.get_nowait()


class _Arriving(io.RawIOBase):
    """Lets a thread wait for what arrives in the loop that it was made in."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._loop = asyncio.get_running_loop()
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        room = memoryview(buffer)
        while not self._rest:
            piece = asyncio.run_coroutine_threadsafe(self._next(), self._loop).result()
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(room), len(self._rest))
        room[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    async def _next(self) -> bytes | None:
        return await anext(self._pieces, None)
