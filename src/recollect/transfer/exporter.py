"""Export of memory to a file, as it was at one moment."""

from __future__ import annotations

import asyncio
import gzip
import logging
import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.files import is_full, make_file, make_folder
from recollect.domain.job import Progress
from recollect.domain.scope import Scope
from recollect.domain.transfer import ExportCounts
from recollect.errors import Closed, Conflict, StorageError
from recollect.ports.archives import Blobs
from recollect.ports.runtime import Clock
from recollect.ports.transfer import Extent, Snapshot
from recollect.transfer.archive_format import ContentWriter
from recollect.transfer.format import header_line, item_line

if TYPE_CHECKING:
    from recollect.transfer.rows import SqlTransfer

_PROGRESS_EVERY_LINES: Final = 200

_log: Final = logging.getLogger(__name__)


class Exporter:
    """The export of memory as a stream of lines, with constant memory use."""

    def __init__(self, transfer: SqlTransfer, blobs: Blobs, clock: Clock) -> None:
        self._transfer = transfer
        self._blobs = blobs
        self._clock = clock

    async def export(
        self,
        scopes: Sequence[Scope] | None,
        target: str | Path | BinaryIO,
        progress: Progress | None = None,
    ) -> ExportCounts:
        """Write what a caller may import again, or everything if `scopes` is None.

        `scopes` are those that the caller may read, its own first. The target is a new file or an
        open one.
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
                with _storage_errors("The output"):
                    self._write(snapshot, contents, target, tell)
                    target.flush()
            return replace(snapshot.counts, lost=tuple(contents.lost))

        try:
            extent = None if scopes is None else _importable(scopes)
            counts = await self._transfer.read(extent, write)
        finally:
            # If the caller stops waiting, as on Ctrl-C, the thread that writes ends too.
            stopped.set()
        if counts.lost:
            missing = (len(counts.lost), counts.lost[:10])
            _log.warning(
                "%d archives and documents were exported without their content: %s", *missing
            )
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
            if done % _PROGRESS_EVERY_LINES == 0 or isinstance(item, Archive | Document):
                tell(done, total)
            if isinstance(item, Archive | Document):
                file.writelines(contents.lines(item))
            file.write(item_line(item))
        tell(total, total)


def _importable(scopes: Sequence[Scope]) -> Extent:
    """Return what a reader of these scopes may import again; see `Caller.require_write`.

    That excludes shared records and, beside an agent's own scope, includes only the user's profile.
    """
    own = scopes[0]
    users = tuple(scope for scope in scopes if scope == own.of_user and scope != own)
    whole = tuple(scope for scope in scopes if scope not in users and not scope.is_shared)
    return Extent(scopes=whole, profiles=users)


@contextmanager
def _new_file(path: Path) -> Generator[BinaryIO]:
    """Open a file that appears only when it is complete; compress it if the name ends in .gz."""
    # Checked first, because a folder such as `.` has no name to add a suffix to.
    with _storage_errors(str(path)):
        _require_absent(path)
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        with _storage_errors(str(path)):
            make_folder(path.parent)
            make_file(unfinished)
            with unfinished.open("wb") as file:
                if path.suffix == ".gz":
                    # Without a name and a time, so that equal exports are equal files.
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
def _storage_errors(what: str) -> Generator[None]:
    """Raise a StorageError for any error of the file system."""
    try:
        yield
    except BrokenPipeError:
        # The reader of a pipe has stopped reading; the caller that made the pipe handles that.
        raise
    except OSError as problem:
        raise StorageError(
            f"{what} cannot be written: {problem.strerror or problem}; the export is not complete",
            code="disk_full" if is_full(problem) else "file_unwritable",
            hint="Free some space, or choose another place."
            if is_full(problem)
            else "Choose another place.",
        ) from problem
