"""The documents of a remote memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from recollect.client.connection import Connection, at
from recollect.client.values import decoded
from recollect.domain.document import (
    DEFAULT_COLLECTION,
    Chunk,
    Collection,
    Document,
    DocumentStatus,
    Passages,
    Section,
    SyncedFolder,
)
from recollect.domain.page import Page
from recollect.domain.progress import Progress
from recollect.domain.scope import Scope
from recollect.memory.knowledge import KnowledgeDocuments, as_file

_PIECE: Final = 1 << 20


class RemoteKnowledge(KnowledgeDocuments):
    """Documents that an agent can rely on."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

    async def add(
        self,
        content: bytes | str | BinaryIO,
        source: str,
        *,
        collection: str = DEFAULT_COLLECTION,
        title: str = "",
        tags: Iterable[str] = (),
        wait: bool = True,
        progress: Progress | None = None,
    ) -> Document:
        query = {"source": source, "collection": collection, "title": title}
        query |= {"tag": list(tags), "wait": wait}
        answer = await self._connection.upload(
            at("knowledge", "documents"), self._scope, query, _pieces(as_file(content))
        )
        return decoded(Document, answer)

    async def sync(
        self,
        folder: str | Path,
        *,
        collection: str = DEFAULT_COLLECTION,
        tags: Iterable[str] = (),
        archive: bool = True,
        progress: Progress | None = None,
    ) -> SyncedFolder:
        # The files lie here; only those that are new or changed are sent.
        return await super().sync(
            folder, collection=collection, tags=tags, archive=archive, progress=progress
        )

    async def collections(self) -> tuple[Collection, ...]:
        answer = await self._ask("GET", at("knowledge", "collections"))
        return decoded(tuple[Collection, ...], answer["items"])

    async def list(
        self,
        *,
        collection: str | None = None,
        status: DocumentStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Document]:
        query = {"collection": collection, "status": status, "limit": limit, "cursor": cursor}
        return decoded(
            Page[Document], await self._ask("GET", at("knowledge", "documents"), query=query)
        )

    async def get(self, document_id: str) -> Document:
        return decoded(Document, await self._ask("GET", self._at(document_id)))

    async def sections(
        self, document_id: str, *, after: int = -1, limit: int = 100
    ) -> tuple[Section, ...]:
        query = {"after": after, "limit": limit}
        answer = await self._ask("GET", self._at(document_id, "sections"), query=query)
        return decoded(tuple[Section, ...], answer["items"])

    async def chunks(
        self, document_id: str, *, after: int = 0, limit: int = 100
    ) -> tuple[Chunk, ...]:
        query = {"after": after, "limit": limit}
        answer = await self._ask("GET", self._at(document_id, "chunks"), query=query)
        return decoded(tuple[Chunk, ...], answer["items"])

    async def original(self, document_id: str) -> bytes:
        path = self._at(document_id, "original")
        async with self._connection.download(path, self._scope) as response:
            return await response.aread()

    async def search(
        self,
        query: str,
        *,
        collections: str | Iterable[str] | None = None,
        types: str | Iterable[str] | None = None,
        tags: str | Iterable[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 5,
        min_score: float = 0.0,
        max_tokens: int | None = None,
    ) -> Passages:
        body = {
            "query": query,
            "collections": collections,
            "types": types,
            "tags": tags,
            "since": since,
            "until": until,
            "limit": limit,
            "min_score": min_score,
            "max_tokens": max_tokens,
        }
        given = {name: value for name, value in body.items() if value is not None}
        return decoded(Passages, await self._ask("POST", at("knowledge", "search"), body=given))

    async def archive(self, document_id: str) -> Document:
        return decoded(Document, await self._ask("POST", self._at(document_id, "archive")))

    async def delete(self, document_id: str) -> Document:
        return decoded(Document, await self._ask("DELETE", self._at(document_id)))

    async def retry(self, document_id: str) -> Document:
        answer = await self._ask("POST", self._at(document_id, "retry"), patient=True)
        return decoded(Document, answer)

    def _at(self, document_id: str, *parts: str) -> str:
        return at("knowledge", "documents", document_id, *parts)

    async def _ask(self, method: str, path: str, **given: Any) -> Any:
        return await self._connection.ask(method, path, self._scope, **given)


async def _pieces(content: BinaryIO) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(content.read, _PIECE):
        yield piece
