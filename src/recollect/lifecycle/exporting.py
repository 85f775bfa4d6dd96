"""Writing what memory holds to a file, as it was at one moment."""

from __future__ import annotations

import asyncio
import errno
import gzip
import logging
import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from recollect.domain.archive import Archive
from recollect.domain.progress import Progress
from recollect.domain.scope import Scope
from recollect.domain.transfer import ExportCounts
from recollect.errors import Closed, Conflict, StorageError
from recollect.lifecycle.export_archives import ContentWriter
from recollect.lifecycle.export_format import header_line, item_line
from recollect.ports.blobs import Blobs
from recollect.ports.clock import Clock
from recollect.ports.transfer import Extent, Snapshot, Transfer

_TOLD_EVERY: Final = 200

_log: Final = logging.getLogger(__name__)


class Exporter:
    """Streams what is stored as lines; what is held in memory does not grow with it."""

    def __init__(self, transfer: Transfer, blobs: Blobs, clock: Clock) -> None:
        self._transfer = transfer
        self._blobs = blobs
        self._clock = clock

    async def export(
        self,
        scopes: Sequence[Scope] | None,
        target: str | Path | BinaryIO,
        progress: Progress | None = None,
    ) -> ExportCounts:
        """Write to a new file or an open one what a caller may bring back, or with None all.

        `scopes` are those that the caller may read, its own first.
        """
        loop = asyncio.get_running_loop()
        stopped = threading.Event()

        def tell(done: int, total: int) -> None:
            if stopped.is_set():
                raise Closed("The export was stopped")
            if progress is not None:
                loop.call_soon_threadsafe(progress, done, total)

        def fetch(key: str) -> bytes | None:
            return asyncio.run_coroutine_threadsafe(self._blobs.get(key), loop).result()

        def write(snapshot: Snapshot) -> ExportCounts:
            contents = ContentWriter(snapshot.blob, fetch)
            if isinstance(target, str | Path):
                with _new_file(Path(target)) as file:
                    self._write(snapshot, contents, file, tell)
            else:
                with _told_by_us("The output"):
                    self._write(snapshot, contents, target, tell)
                    target.flush()
            return replace(snapshot.counts, lost=tuple(contents.lost))

        try:
            extent = None if scopes is None else _brought_back(scopes)
            counts = await self._transfer.read(extent, write)
        finally:
            # Whoever stops waiting, as on Ctrl-C, also ends the writing in the other thread.
            stopped.set()
        if counts.lost:
            told = (len(counts.lost), counts.lost[:10])
            _log.warning("%d archives were exported without their content: %s", *told)
        return counts

    def _write(
        self,
        snapshot: Snapshot,
        contents: ContentWriter,
        file: BinaryIO,
        tell: Callable[[int, int], None],
    ) -> None:
        total = snapshot.counts.lines
        file.write(header_line(snapshot.schema, self._clock.now(), snapshot.counts))
        for done, item in enumerate(snapshot.items):
            if done % _TOLD_EVERY == 0 or isinstance(item, Archive):
                tell(done, total)
            if isinstance(item, Archive):
                file.writelines(contents.lines(item))
            file.write(item_line(item))
        tell(total, total)


def _brought_back(scopes: Sequence[Scope]) -> Extent:
    """What whoever reads these scopes may import again, see `Caller.require_write`.

    That is nothing of what is shared, and from beside an agent's scope only the user's profile.
    """
    own = scopes[0]
    users = tuple(it for it in scopes if it == own.of_user and it != own)
    whole = tuple(it for it in scopes if it not in users and not it.is_shared)
    return Extent(scopes=whole, profiles=users)


@contextmanager
def _new_file(path: Path) -> Generator[BinaryIO]:
    """A file that has its name only when it is whole; compressed when the name ends with .gz."""
    # First, because a folder such as `.` has no name that anything could be added to.
    with _told_by_us(str(path)):
        _require_absent(path)
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        with _told_by_us(str(path)):
            path.parent.mkdir(parents=True, exist_ok=True)
            with unfinished.open("wb") as file:
                if path.suffix == ".gz":
                    # Without name and time in it, so that equal exports are equal files.
                    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                        yield cast("BinaryIO", packed)
                else:
                    yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink()


def _require_absent(path: Path) -> None:
    if path.exists():
        raise Conflict(
            f"{path} exists already; an export never overwrites a file",
            code="file_exists",
            hint="Give another name.",
        )


@contextmanager
def _told_by_us(what: str) -> Generator[None]:
    try:
        yield
    except BrokenPipeError:
        # The reader of a pipe has seen enough, which is for the one who made the pipe to handle.
        raise
    except OSError as problem:
        is_full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        raise StorageError(
            f"{what} cannot be written: {problem.strerror or problem}; the export is not complete",
            code="disk_full" if is_full else "file_unwritable",
            hint="Free some space, or choose another place."
            if is_full
            else "Choose another place.",
        ) from problem
