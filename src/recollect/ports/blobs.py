"""Large contents outside the database: bytes under a key, written once and never changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBlob:
    """What lies under a key, and since when."""

    key: str
    size: int
    stored_at: datetime


class Blobs(Protocol):
    """A directory or a bucket. What is not reachable is a `StorageError`."""

    async def put(self, key: str, content: bytes | BinaryIO) -> None:
        """Store it whole, a file piece by piece; when this returns it is durable."""
        ...

    async def get(self, key: str) -> bytes | None:
        """What lies under the key; None when there is nothing."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove these; one that is not there is fine."""
        ...

    def stored(self) -> AsyncIterator[StoredBlob]:
        """Everything there is, in any order."""
        ...
