"""Archived tool results of several stores, and their contents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import BinaryIO

from recollect.backends.split.reading import read_each
from recollect.domain.archive import Archive, Blob
from recollect.domain.page import Cursor
from recollect.domain.scope import Holding, Scope, split_reachable
from recollect.domain.times import to_micros
from recollect.ports.archives import Archives, Blobs, StoredBlob


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitArchives:
    """Finds archives in the stores that hold their scopes; background work is for those at home."""

    home: Archives
    holding: Holding[Archives]
    opened: Callable[[], Sequence[Archives]]
    are_all_open: Callable[[], bool]

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
        found = await read_each(
            scopes,
            ids,
            self.holding,
            lambda archives, some: archives.find(
                some,
                ids=ids,
                session=session,
                tool=tool,
                input_hash=input_hash,
                content_hash=content_hash,
                after=after,
                limit=limit,
            ),
        )
        if len(found) == 1:
            return found[0]
        return sorted(chain(*found), key=_newest, reverse=True)[:limit]

    async def with_blob(
        self, scopes: Sequence[Scope], archive_id: str
    ) -> tuple[Archive, Blob] | None:
        places, problems = split_reachable(scopes, self.holding)
        for archives, some in places:
            if (found := await archives.with_blob(some, archive_id)) is not None:
                return found
        if problems:
            raise problems[0]
        return None

    async def blob(self, scope: Scope, content_hash: str) -> Blob | None:
        return await self.holding(scope).blob(scope, content_hash)

    async def note_load(self, archive: Archive, at: datetime) -> None:
        await self.holding(archive.scope).note_load(archive, at)

    async def set_summary(self, archive_id: str, summary: str) -> None:
        await self.home.set_summary(archive_id, summary)

    async def to_index(self, *, after: str, limit: int) -> list[Archive]:
        return await self.home.to_index(after=after, limit=limit)

    async def referenced(self, keys: Sequence[str]) -> set[str]:
        # Several stores may have their contents in one folder or bucket.
        if not self.are_all_open():
            return set(keys)
        return set[str]().union(*[await archives.referenced(keys) for archives in self.opened()])

    async def scopes(self) -> list[Scope]:
        return await self.home.scopes()


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitBlobs:
    """Reads contents wherever they are: their keys are unique. New ones are put at home."""

    home: Blobs
    others: Callable[[], Sequence[Blobs]]

    async def put(self, key: str, content: bytes | BinaryIO) -> None:
        await self.home.put(key, content)

    async def get(self, key: str) -> bytes | None:
        for blobs in (self.home, *self.others()):
            if (found := await blobs.get(key)) is not None:
                return found
        return None

    async def delete(self, keys: Sequence[str]) -> None:
        for blobs in (self.home, *self.others()):
            await blobs.delete(keys)

    def stored(self) -> AsyncIterator[StoredBlob]:
        return self.home.stored()


def _newest(archive: Archive) -> tuple[int, str]:
    return to_micros(archive.created_at), archive.id
