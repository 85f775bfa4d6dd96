"""Blobs in a directory, each a file that only its owner can read."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from recollect.backends.objects import NOTES, ObjectBlobs
from recollect.domain.files import is_full, make_folder, open_new, sync_folder, what_to_free
from recollect.errors import StorageError
from recollect.ports.archives import StoredBlob

# A file while it is written has a number behind its name; one that a killed process left is none,
# and is removed after so long.
_UNFINISHED: Final = re.compile(r"#\d+$")
_UNFINISHED_SECONDS: Final = 86_400.0


class FolderBlobs(ObjectBlobs):
    """A `Blobs` over a folder, which the first content makes."""

    def __init__(self, folder: Path, *, owner: Callable[[], str] | None = None) -> None:
        super().__init__(name=str(folder), owner=owner)
        self._folder = folder
        self._durable_folders: set[Path] = set()

    async def put(self, key: str, content: bytes | BinaryIO) -> None:
        await asyncio.to_thread(self._put, key, content)

    async def get(self, key: str) -> bytes | None:
        return await asyncio.to_thread(self.get_here, key)

    async def get_range(self, key: str, start: int, end: int) -> bytes | None:
        return await asyncio.to_thread(self._get_range, key, start, end)

    async def delete(self, keys: Sequence[str]) -> None:
        await asyncio.to_thread(self.delete_here, keys)

    async def stored(self) -> AsyncIterator[StoredBlob]:
        for found in await asyncio.to_thread(self._stored):
            yield found

    def put_here(self, key: str, content: bytes) -> None:
        self._put(key, content)

    def get_here(self, key: str) -> bytes | None:
        try:
            return self._place(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise self._unusable(fault) from fault

    def keys_here(self, under: str) -> list[str]:
        try:
            return [key for key, _ in self._files(self._place(under))]
        except OSError as fault:
            raise self._unusable(fault) from fault

    def delete_here(self, keys: Sequence[str]) -> None:
        try:
            for key in keys:
                self._place(key).unlink(missing_ok=True)
        except OSError as fault:
            raise self._unusable(fault) from fault

    def _put(self, key: str, content: bytes | BinaryIO) -> None:
        """Write a file whole under another name, so that nobody ever sees a part of it."""
        try:
            place = self._place(key)
            make_folder(place.parent)
            unfinished = place.with_name(f"{place.name}#{secrets.randbelow(10**15)}")
            try:
                with open_new(unfinished, "wb") as file:
                    if isinstance(content, bytes):
                        file.write(content)
                    else:
                        shutil.copyfileobj(content, file)
                    file.flush()
                    os.fsync(file.fileno())
                unfinished.replace(place)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
            self._make_names_durable(place)
        except OSError as fault:
            raise self._unusable(fault) from fault

    def _get_range(self, key: str, start: int, end: int) -> bytes | None:
        try:
            with self._place(key).open("rb") as file:
                file.seek(start)
                found = file.read(end - start)
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise self._unusable(fault) from fault
        if len(found) < end - start:
            raise self._unusable(OSError(errno.EIO, "it ends too early", key))
        return found

    def _stored(self) -> list[StoredBlob]:
        try:
            under = self._folder if self._owner is None else self._place(self._owner())
            return [
                StoredBlob(
                    key=key,
                    size=found.st_size,
                    stored_at=datetime.fromtimestamp(found.st_mtime, UTC),
                )
                for key, found in self._files(under)
                if not key.startswith(f"{NOTES}/")
            ]
        except OSError as fault:
            raise self._unusable(fault) from fault

    def _files(self, under: Path) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the finished files below a folder; what is deleted meanwhile is not told."""
        for folder, _, names in os.walk(under, onerror=_raise_unless_missing):
            for name in names:
                place = Path(folder, name)
                if _UNFINISHED.search(name):
                    _remove_if_left(place)
                    continue
                try:
                    yield place.relative_to(self._folder).as_posix(), place.stat()
                except FileNotFoundError:
                    continue

    def _place(self, key: str) -> Path:
        """Return the file of a key, which never leads out of the folder."""
        if not {"", ".", ".."}.isdisjoint(key.split("/")) or "\\" in key or "\0" in key:
            raise OSError(errno.EINVAL, "it cannot be the name of a content", key)
        return self._folder / key

    def _make_names_durable(self, place: Path) -> None:
        """Wait until the name of a file in its folders would survive a loss of power."""
        if os.name != "posix":
            return
        for folder in place.parents:
            sync_folder(folder)
            # A folder that was synced with its own name before has no other news.
            if folder == self._folder or folder in self._durable_folders:
                break
        self._durable_folders.add(place.parent)

    def _unusable(self, fault: OSError) -> StorageError:
        if is_full(fault):
            return StorageError(
                f"The disk is full: a file could not be stored in {self._name}; everything before "
                "it was",
                code="disk_full",
                hint=what_to_free(self._folder),
            )
        return StorageError(
            f"The blob store {self._name} could not do its work: {fault}",
            code="blobs_unreachable",
            hint="Check that the folder can be made, has room and is writable.",
        )


def _remove_if_left(unfinished: Path) -> None:
    """Remove a file that nobody has gone on writing; nothing else would, not even forgetting."""
    with contextlib.suppress(OSError):
        if unfinished.stat().st_mtime < time.time() - _UNFINISHED_SECONDS:
            unfinished.unlink()


def _raise_unless_missing(fault: OSError) -> None:
    if not isinstance(fault, FileNotFoundError):
        raise fault
