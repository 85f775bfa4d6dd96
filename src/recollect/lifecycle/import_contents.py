"""The contents of imported archives on their way into the blob store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.context.archive_description import hash_of
from recollect.context.archive_vault import Vault, compressed, decompressed
from recollect.domain.archive import Archive, Blob
from recollect.lifecycle.export_archives import ContentKey, WholeContent, content_key
from recollect.ports.archives import Archives
from recollect.ports.blobs import Blobs
from recollect.writing.redaction import Redactor


class ImportedContents:
    """Stores each content before the archives that need it; what none needed is removed again."""

    def __init__(self, archives: Archives, blobs: Blobs, redactor: Redactor) -> None:
        self._archives = archives
        self._redactor = redactor
        self._cleaned: dict[ContentKey, bytes] = {}
        self._vault = Vault(blobs)
        self._waiting: dict[ContentKey, Blob] = {}

    async def keep(self, content: WholeContent) -> None:
        """Store a content as it may lie here, unless the workspace has it."""
        content = await asyncio.to_thread(self._as_allowed, content)
        _, _, hashed = content.key
        if content.key in self._waiting or await self._archives.blob(content.place, hashed):
            return
        self._waiting[content.key] = await self._vault.put_compressed(
            content.place, hashed, content.size, content.stored
        )

    def as_kept(self, archive: Archive) -> Archive:
        """The archive of a content that was cleaned describes what is left of it."""
        data = self._cleaned.get(content_key(archive))
        if data is None:
            return archive
        text = data.decode("utf-8", "surrogatepass")
        return replace(
            archive,
            content_hash=hash_of(data),
            chars=len(text),
            lines=text.count("\n") + 1,
            bytes=len(data),
            indexed_chars=min(archive.indexed_chars, len(text)),
        )

    def _as_allowed(self, content: WholeContent) -> WholeContent:
        if self._redactor.mode == "off":
            return content
        data, counts = self._redactor.value(decompressed(content.stored, content.size))
        if not counts:
            return content
        self._cleaned[content.key] = data
        org, workspace, _ = content.key
        return WholeContent(
            key=(org, workspace, hash_of(data)), size=len(data), stored=compressed(data)
        )

    def blob_for(self, archive: Archive) -> Blob | None:
        """Where the content lies that came for an archive and that nothing refers to yet."""
        return self._waiting.get(content_key(archive))

    async def settle(self, added: Iterable[Archive], unused: Sequence[str]) -> None:
        """These archives refer to their contents now; these contents were brought in vain."""
        for archive in added:
            self._waiting.pop(content_key(archive), None)
        await self._vault.drop(unused)

    async def drop_unused(self) -> None:
        """Remove what no archive came to need."""
        await self._vault.drop([blob.key for blob in self._waiting.values()])
        self._waiting.clear()
