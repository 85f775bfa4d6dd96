"""Syncing of a folder into a collection: added, updated, unchanged, archived and failed files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from recollect.domain.document import (
    MAX_FILE_BYTES,
    Document,
    FileOutcome,
    SyncedFolder,
    collection_name,
)
from recollect.domain.job import Progress
from recollect.domain.page import Page
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, NotFound, RecollectError, StorageError
from recollect.knowledge.ingest import explain, hash_of_file
from recollect.knowledge.parsing import is_readable

_PAGE_DOCUMENTS = 200


class Library(Protocol):
    """The target of a sync, in this process or on a server."""

    async def add(
        self,
        content: BinaryIO,
        source: str,
        *,
        collection: str,
        tags: tuple[str, ...],
        progress: Progress | None,
    ) -> Document:
        """Add a document or its next version."""
        ...

    async def list(
        self, *, collection: str | None, limit: int, cursor: str | None
    ) -> Page[Document]:
        """Return a page of the documents of a collection."""
        ...

    async def archive(self, document_id: str) -> Document:
        """Archive a document, so that no search finds it."""
        ...


class FolderSync:
    """One run that syncs a folder into a collection; if interrupted, the next run continues.

    Progress is reported in thousandths of files, so that a long file shows progress too.
    """

    def __init__(
        self, library: Library, collection: Scope, tags: tuple[str, ...], progress: Progress | None
    ) -> None:
        self._library = library
        self._scope = collection
        self._collection = collection_name(collection)
        self._tags = tags
        self._progress = progress
        self._outcomes: list[FileOutcome] = []
        self._total = 0

    async def run(self, place: str | Path, *, archive: bool) -> SyncedFolder:
        """Add new files, update changed ones, and archive the documents of deleted ones."""
        folder = Path(place)
        files = await asyncio.to_thread(files_of, folder)
        known = await self._known()
        self._total = 1_000 * len(files)
        for path in files:
            self._report(0, 1)
            if path == folder or is_readable(path.name):
                outcome = await self._sync_file(path, known.get(source_of(path)))
            else:
                outcome = FileOutcome(source=source_of(path), outcome="skipped", document=None)
            self._outcomes.append(outcome)
        self._report(0, 1)
        gone: list[Document] = []
        if archive and files != [folder]:
            gone = _find_missing(folder, files, known)
        for document in gone:
            await self._library.archive(document.id)
        return SyncedFolder(
            files=tuple(self._outcomes), archived=tuple(document.source for document in gone)
        )

    async def _known(self) -> dict[str, Document]:
        """Return the documents of the collection by source.

        One of the same name that belongs to somebody else is not what this caller can change.
        """
        known: dict[str, Document] = {}
        cursor: str | None = None
        while True:
            try:
                page = await self._library.list(
                    collection=self._collection, limit=_PAGE_DOCUMENTS, cursor=cursor
                )
            except NotFound:
                return known
            known |= {
                document.source: document for document in page if document.scope == self._scope
            }
            cursor = page.next_cursor
            if cursor is None:
                return known

    async def _sync_file(self, path: Path, before: Document | None) -> FileOutcome:
        """Sync one file; a problem with it is reported and does not stop the others."""
        source = source_of(path)
        try:
            with opened(path) as file:
                content_hash = await asyncio.to_thread(hash_of_file, file)
                if before is not None and _is_current(before, content_hash) and not self._tags:
                    return FileOutcome(source=source, outcome="unchanged", document=before.id)
                document = await self._library.add(
                    file,
                    source,
                    collection=self._collection,
                    tags=self._tags,
                    progress=self._report,
                )
        except RecollectError as problem:
            return FileOutcome(
                source=source, outcome="failed", document=None, error=explain(problem)
            )
        if document.error:
            return FileOutcome(
                source=source, outcome="failed", document=document.id, error=document.error
            )
        if before is None:
            return FileOutcome(source=source, outcome="added", document=document.id)
        is_same = document.version == before.version
        return FileOutcome(
            source=source, outcome="unchanged" if is_same else "updated", document=document.id
        )

    def _report(self, done: int, total: int) -> None:
        if self._progress is not None:
            finished = 1_000 * len(self._outcomes)
            self._progress(finished + 1_000 * done // max(total, 1), self._total)


def _is_current(document: Document, content_hash: str) -> bool:
    """Return whether exactly this content is what a search finds."""
    is_ready = document.status == "ready" and not document.error and not document.pending_hash
    return is_ready and document.content_hash == content_hash


def _find_missing(folder: Path, files: list[Path], known: dict[str, Document]) -> list[Document]:
    """Return the documents whose files have been deleted from the folder."""
    beneath = f"{source_of(folder).rstrip('/')}/"
    present = {source_of(path) for path in files}
    return [
        document
        for source, document in known.items()
        if source.startswith(beneath) and source not in present and document.status != "archived"
    ]


# --- The files in a folder ------------------------------------------------------------------------


def files_of(place: str | Path) -> list[Path]:
    """Return a file itself, or the files of a folder in order.

    Hidden files and folders are left out, and links are not followed.
    """
    path = Path(place)
    if path.is_dir():
        return list(_walk(path))
    if not path.exists():
        raise NotFound(
            f"There is no file or folder {path}", code="no_such_file", hint="Check the path."
        )
    return [path]


def source_of(path: Path) -> str:
    """Return the source of a local file: its absolute path."""
    return path.resolve().as_posix()


@contextmanager
def opened(path: Path) -> Generator[BinaryIO]:
    """Open a file for reading; raise an error that says why it cannot be read."""
    try:
        if not path.is_file():
            raise InvalidInput("It is not a file", code="not_a_file")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidInput(
                f"The file has {path.stat().st_size:,} bytes; {MAX_FILE_BYTES:,} are allowed. "
                "Nothing was stored",
                code="file_too_large",
                hint="Split the file.",
            )
        with path.open("rb") as file:
            yield file
    except OSError as problem:
        raise StorageError(
            f"The file cannot be read: {problem.strerror or problem}",
            code="file_unreadable",
            hint="Check its permissions.",
        ) from problem


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and not path.is_symlink():
                yield path
