"""Reading archives and the references to their blobs. Writing them is the store's commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.archive import Archive, Blob
from recollect.domain.page import Cursor
from recollect.domain.scope import Scope


class Archives(Protocol):
    """What is known of archived tool results. Reads only ever see the scopes they are given."""

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
        """Archives for which all that is given holds, newest first, from behind `after`."""
        ...

    async def with_blob(
        self, scopes: Sequence[Scope], archive_id: str
    ) -> tuple[Archive, Blob] | None:
        """An archive and where its content lies."""
        ...

    async def blob(self, scope: Scope, content_hash: str) -> Blob | None:
        """The content with this hash, if the scope's workspace holds it."""
        ...

    async def note_load(self, archive: Archive, at: datetime) -> None:
        """Remember that its content was asked for."""
        ...

    async def set_summary(self, archive_id: str, summary: str) -> None:
        """Tell better what it says; everything else of it stays as it is."""
        ...

    async def to_index(self, *, after: str, limit: int) -> list[Archive]:
        """Archives of all scopes, by id from the first behind `after`, that have no units yet."""
        ...

    async def referenced(self, keys: Sequence[str]) -> set[str]:
        """Those of these blob keys that some archive still needs."""
        ...

    async def scopes(self) -> list[Scope]:
        """Every scope that holds archives."""
        ...
