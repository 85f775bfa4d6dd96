"""Archives and their blobs: large content outside of the database, never changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Protocol

# --- Blobs: large content outside of the database, written once under a key and never changed -----


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBlob:
    """A stored blob: its key, and when it was stored."""

    key: str
    size: int
    stored_at: datetime


class Blobs(Protocol):
    """A directory or a bucket. If it is not reachable, calls raise `StorageError`."""

    @property
    def name(self) -> str:
        """Return what people call the place: a folder, or a URL without a secret."""
        ...

    async def new_key(self, name: str) -> str:
        """Return the key for a new content; other memories in the same place have other keys."""
        ...

    async def put(self, key: str, content: bytes | BinaryIO) -> None:
        """Store bytes or a file; when this returns, they are durable."""
        ...

    async def get(self, key: str) -> bytes | None:
        """Return the bytes under the key, or None."""
        ...

    async def get_range(self, key: str, start: int, end: int) -> bytes | None:
        """Return the bytes from `start` up to `end` of a content, or None."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete these keys; missing ones are ignored."""
        ...

    def stored(self) -> AsyncIterator[StoredBlob]:
        """Return the blobs that this memory stored, in any order."""
        ...
