"""Archived contents in the blob store: compressed, and checked when read."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Sequence
from typing import Final

from recollect.context.archives.description import hash_of
from recollect.domain.archive import Archive, Blob, Content, content_from
from recollect.domain.scope import Scope
from recollect.errors import StorageError
from recollect.ports.archives import Blobs

_COMPRESSION_LEVEL: Final = 3

_log = logging.getLogger(__name__)


class Vault:
    """The blob store of archives, which returns contents byte for byte or raises an error."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def put(self, content: Content, archive: Archive) -> Blob:
        """Store the content of an archive under its own key; nothing refers to it yet."""
        stored = await asyncio.to_thread(compressed, content.data)
        return await self.put_compressed(
            archive.scope, archive.content_hash, len(content.data), stored
        )

    async def put_compressed(
        self, scope: Scope, content_hash: str, size: int, stored: bytes
    ) -> Blob:
        """Store a content that is already compressed."""
        # The name of a scope may contain anything; its digest is safe in a path.
        workspace = hash_of(f"{scope.org}/{scope.workspace}".encode())[:16]
        blob = Blob(
            hash=content_hash,
            key=f"{workspace}/{content_hash}-{uuid.uuid4().hex[:12]}.zst",
            size=size,
            stored_size=len(stored),
            stored_hash=await asyncio.to_thread(hash_of, stored),
        )
        await self._blobs.put(blob.key, stored)
        return blob

    async def read(self, archive: Archive, blob: Blob) -> Content:
        """Return the content of an archive; raise an error that describes damage."""
        stored = await self._blobs.get(blob.key)
        if stored is None:
            raise _damaged(archive, blob, "there is no file")
        return await asyncio.to_thread(_open, archive, blob, stored)

    async def drop(self, keys: Sequence[str]) -> None:
        """Delete unreferenced contents; what cannot be deleted now is collected later."""
        if not keys:
            return
        try:
            await self._blobs.delete(keys)
        except StorageError as problem:
            _log.warning("%d unused blobs stay for now: %s", len(keys), problem)


def compressed(data: bytes) -> bytes:
    """Return data compressed for the blob store."""
    import zstandard

    return zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL).compress(data)


def decompressed(stored: bytes, size: int) -> bytes:
    """Return the original data of a known size."""
    import zstandard

    return zstandard.ZstdDecompressor().decompress(stored, max_output_size=size)


def _open(archive: Archive, blob: Blob, stored: bytes) -> Content:
    found = hash_of(stored)
    if found != blob.stored_hash:
        raise _damaged(archive, blob, f"found {found}")
    return content_from(archive.form, decompressed(stored, blob.size))


def _damaged(archive: Archive, blob: Blob, found: str) -> StorageError:
    return StorageError(
        f"The content of {archive.id} is damaged: expected checksum {blob.stored_hash}, {found}",
        code="archive_damaged",
        hint=f"Put {blob.key} back from a backup, or call the tool {archive.tool} again.",
    )
