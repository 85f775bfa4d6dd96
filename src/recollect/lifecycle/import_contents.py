"""The contents of imported archives on their way into the blob store."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Iterable, Sequence
from typing import Final

from recollect.domain.archive import Archive, Blob
from recollect.errors import StorageError
from recollect.lifecycle.export_archives import ContentKey, WholeContent, content_key
from recollect.ports.archives import Archives
from recollect.ports.blobs import Blobs

_log: Final = logging.getLogger(__name__)


class ImportedContents:
    """Stores each content before the archives that need it; what none needed is removed again."""

    def __init__(self, archives: Archives, blobs: Blobs) -> None:
        self._archives = archives
        self._blobs = blobs
        self._waiting: dict[ContentKey, Blob] = {}

    async def keep(self, content: WholeContent) -> None:
        """Store a content, unless the workspace has it."""
        _, _, hashed = content.key
        if content.key in self._waiting or await self._archives.blob(content.place, hashed):
            return
        blob = Blob(
            hash=hashed,
            key=_new_key(content),
            size=content.size,
            stored_size=len(content.stored),
            stored_hash=hashlib.sha256(content.stored).hexdigest(),
        )
        await self._blobs.put(blob.key, content.stored)
        self._waiting[content.key] = blob

    def blob_for(self, archive: Archive) -> Blob | None:
        """Where the content lies that came for an archive and that nothing refers to yet."""
        return self._waiting.get(content_key(archive))

    async def settle(self, added: Iterable[Archive], unused: Sequence[str]) -> None:
        """These archives refer to their contents now; these contents were brought in vain."""
        for archive in added:
            self._waiting.pop(content_key(archive), None)
        await self._drop(unused)

    async def drop_unused(self) -> None:
        """Remove what no archive came to need."""
        await self._drop([blob.key for blob in self._waiting.values()])
        self._waiting.clear()

    async def _drop(self, keys: Sequence[str]) -> None:
        if not keys:
            return
        try:
            await self._blobs.delete(keys)
        except StorageError as problem:
            # A sweep collects them later.
            _log.warning("%d unused blobs stay for now: %s", len(keys), problem)


def _new_key(content: WholeContent) -> str:
    """A key that was never used, under the digest of the workspace, whose name may be anything."""
    org, workspace, hashed = content.key
    folder = hashlib.sha256(f"{org}/{workspace}".encode()).hexdigest()[:16]
    return f"{folder}/{hashed}-{uuid.uuid4().hex[:12]}.zst"
