"""Archives and their blobs: large content outside of the database, never changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from recollect.domain.archive import Archive, Blob
    from recollect.domain.page import Cursor
    from recollect.domain.scope import Scope


class Archives(Protocol):
    """The descriptions of archives. Reads only see the given scopes."""

    async def find(
        self,
        scopes: Sequence[Scope],
        *,
        ids: Sequence[str] | None = None,
        session: str | None = None,
        tool: str | None = None,
        input_hash: str | None = None,
        content_hash: str | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Archive]:
        """Return the archives that match all conditions, newest first, starting after `after`."""
        ...

    async def with_blob(
        self, scopes: Sequence[Scope], archive_id: str
    ) -> tuple[Archive, Blob] | None:
        """Return an archive and its blob."""
        ...

    async def blob(self, scope: Scope, content_hash: str) -> Blob | None:
        """Return the blob with this hash, if the scope's workspace has it."""
        ...

    async def note_load(self, archive: Archive, at: datetime) -> None:
        """Remember that its content was asked for."""
        ...

    async def set_summary(self, archive_id: str, summary: str) -> None:
        """Replace the summary of an archive."""
        ...

    async def to_index(self, *, after: str, limit: int) -> list[Archive]:
        """Return archives of all scopes without units, by id, starting after `after`."""
        ...

    async def referenced(self, keys: Sequence[str]) -> set[str]:
        """Return those of the blob keys that an archive still needs."""
        ...

    async def scopes(self) -> list[Scope]:
        """Return every scope that holds archives."""
        ...


# --- Blobs: large content outside of the database, written once under a key and never changed -----


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBlob:
    """A stored blob: its key, and when it was stored."""

    key: str
    size: int
    stored_at: datetime


class Blobs(Protocol):
    """A directory or a bucket. If it is not reachable, calls raise `StorageError`."""

    async def new_key(self, name: str) -> str:
        """Return the key for a new content; other memories in the same place have other keys."""
        ...

    async def put(self, key: str, content: bytes | BinaryIO) -> None:
        """Store bytes or a file; when this returns, they are durable."""
        ...

    async def get(self, key: str) -> bytes | None:
        """Return the bytes under the key, or None."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete these keys; missing ones are ignored."""
        ...

    def stored(self) -> AsyncIterator[StoredBlob]:
        """Return the blobs that this memory stored, in any order."""
        ...
