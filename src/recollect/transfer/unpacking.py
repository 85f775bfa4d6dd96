"""Files that others send: unpacked within limits, and read in threads of their own.

A small compressed file may hold more than the memory, and whoever sends one may stop in the middle.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import tempfile
import threading
import zlib
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar, cast

from recollect.errors import InvalidInput, NotFound, StorageError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

T = TypeVar("T")

GZIP: Final = b"\x1f\x8b"
ZIP: Final = b"PK\x03\x04"
# Texts become a tenth, or a twentieth; what becomes a hundredth was made to.
MAX_RATIO: Final = 100
_ALWAYS_ALLOWED_BYTES: Final = 10 * 2**20
_IN_MEMORY_BYTES: Final = 2**20
_CHUNK: Final = 2**16


async def in_thread(work: Callable[[], T]) -> T:
    """Run what may wait for whoever sends a file, in a thread that nobody else needs.

    It is a daemon thread, which does not keep the program from exiting.
    """
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as problem:  # noqa: BLE001  (it belongs to the one who waits)
            done.set_exception(problem)

    threading.Thread(target=run, name="recollect-import", daemon=True).start()
    return await asyncio.wrap_future(done)


def unpacked(file: BinaryIO, packed_bytes: int, most_bytes: int) -> BinaryIO:
    """Return a file that unpacks gzip as it is read, and fails beyond the limits."""
    packed = cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb"))
    return limited(packed, allowed_bytes(packed_bytes, most_bytes))


def allowed_bytes(packed_bytes: int, most_bytes: int) -> int:
    """Return how many bytes a file of so many packed ones may hold."""
    return min(most_bytes, max(_ALWAYS_ALLOWED_BYTES, MAX_RATIO * packed_bytes))


def limited(file: BinaryIO, most_bytes: int) -> BinaryIO:
    """Return a file that fails when more than so many bytes are read from it."""
    return cast("BinaryIO", io.BufferedReader(_Limited(file, most_bytes), _CHUNK))


@contextmanager
def opened(source: str | Path | BinaryIO, most_bytes: int) -> Generator[tuple[BinaryIO, int]]:
    """Open a file that can be read from any place, and give its size.

    What arrives as a stream is kept in a file without a name while it is read. A file on this
    machine may be of any size.
    """
    if isinstance(source, str | Path):
        try:
            with Path(source).open("rb") as file:
                size = file.seek(0, io.SEEK_END)
                file.seek(0)
                yield file, size
        except FileNotFoundError:
            raise NotFound(f"There is no file {source}", code="file_missing") from None
        except OSError as problem:
            raise StorageError(
                f"{source} cannot be read: {problem}", code="unreadable_file"
            ) from None
        return
    with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as kept:
        size = 0
        arriving = limited(source, most_bytes)
        while piece := arriving.read(_CHUNK):
            size += kept.write(piece)
        kept.seek(0)
        yield cast("BinaryIO", kept), size


class _Limited(io.RawIOBase):
    """Reads another file up to a limit."""

    def __init__(self, file: BinaryIO, most_bytes: int) -> None:
        self._file = file
        self._most = most_bytes
        self._read = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        room = memoryview(buffer)
        try:
            piece = self._file.read(min(len(room), self._most + 1 - self._read))
        except (EOFError, gzip.BadGzipFile, zlib.error) as damage:
            raise damaged(damage) from None
        self._read += len(piece)
        if self._read > self._most:
            raise InvalidInput(
                f"Unpacked, the file has more than {self._most:,} bytes",
                code="unpacked_too_large",
                hint="Split the file; what is compressed must not be a hundred times as long.",
            )
        room[: len(piece)] = piece
        return len(piece)


def damaged(damage: Exception) -> InvalidInput:
    """Return the problem of a compressed file that cannot be unpacked."""
    return InvalidInput(
        f"The compressed file is damaged: {damage}",
        code="file_damaged",
        hint="Get an undamaged copy.",
    )
