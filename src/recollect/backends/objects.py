"""Blobs in a directory, or in a bucket (S3, GCS, Azure …): which it is, the place says."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from recollect.domain.sections import S3Settings
from recollect.ports.archives import StoredBlob

# What is kept beside the contents and is none: see `BlobNotes`.
NOTES: Final = ".recollect"


class ObjectBlobs(ABC):
    """A `Blobs` in one place; `owner` returns whose contents these are, if others may be beside."""

    def __init__(self, *, name: str, owner: Callable[[], str] | None = None) -> None:
        self._name = name
        self._owner = owner

    @property
    def name(self) -> str:
        return self._name

    async def new_key(self, name: str) -> str:
        return await asyncio.to_thread(self.new_key_here, name)

    def new_key_here(self, name: str) -> str:
        """Return a key for new contents, in the calling thread."""
        return name if self._owner is None else f"{self._owner()}/{name}"

    def notes(self, owner: Callable[[], str]) -> BlobNotes:
        """Return the notes of one owner, such as a database; `stored` does not list them."""
        return BlobNotes(self, owner)

    @abstractmethod
    async def put(self, key: str, content: bytes | BinaryIO) -> None: ...

    @abstractmethod
    async def get(self, key: str) -> bytes | None: ...

    @abstractmethod
    async def get_range(self, key: str, start: int, end: int) -> bytes | None: ...

    @abstractmethod
    async def delete(self, keys: Sequence[str]) -> None: ...

    @abstractmethod
    def stored(self) -> AsyncIterator[StoredBlob]: ...

    @abstractmethod
    def put_here(self, key: str, content: bytes) -> None:
        """Store a small content durably, in the calling thread."""

    @abstractmethod
    def get_here(self, key: str) -> bytes | None:
        """Return a small content, or None, in the calling thread."""

    @abstractmethod
    def keys_here(self, under: str) -> list[str]:
        """Return the keys under a prefix, in the calling thread."""

    @abstractmethod
    def delete_here(self, keys: Sequence[str]) -> None:
        """Delete these keys, in the calling thread; missing ones are ignored."""


@dataclass(frozen=True, slots=True)
class BlobNotes:
    """Small objects beside the contents, which every machine with the same blob store sees.

    Each is written whole and never changed, so that writers on several machines need no lock.
    Whose they are is asked when they are used.
    """

    blobs: ObjectBlobs
    owner: Callable[[], str]

    def write(self, name: str, content: bytes) -> None:
        """Store a note durably."""
        self.blobs.put_here(f"{self._prefix}/{name}", content)

    def read(self, name: str) -> bytes | None:
        """Return a note, or None."""
        return self.blobs.get_here(f"{self._prefix}/{name}")

    def names(self, under: str) -> list[str]:
        """Return the names of the notes in a folder of them."""
        prefix = self._prefix
        keys = self.blobs.keys_here(f"{prefix}/{under}")
        return sorted(key.removeprefix(f"{prefix}/") for key in keys)

    def remove(self, names: Sequence[str]) -> None:
        """Remove notes; missing ones are ignored."""
        prefix = self._prefix
        self.blobs.delete_here([f"{prefix}/{name}" for name in names])

    @property
    def _prefix(self) -> str:
        return f"{NOTES}/{self.owner()}"


def open_blobs(
    where: str | Path, owner: Callable[[], str] | None = None, s3: S3Settings | None = None
) -> ObjectBlobs:
    """Return the blob store in a folder, or at a URL such as `s3://bucket/path`.

    Without an `owner`, everything there belongs to one memory. `s3` says how to reach the bucket of
    an `s3://` place.
    """
    if is_url_of_blobs(where):
        from recollect.backends.bucket_blobs import BucketBlobs

        return BucketBlobs(str(where), s3 or S3Settings(), owner=owner)
    from recollect.backends.folder_blobs import FolderBlobs

    return FolderBlobs(Path(where), owner=owner)


def is_url_of_blobs(where: str | Path) -> bool:
    """Return whether a place is a URL, and no folder."""
    return isinstance(where, str) and "://" in where
