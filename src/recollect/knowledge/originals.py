"""The original files of documents in the blob store: compressed, and checked when read."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import tempfile
import uuid
from collections.abc import Sequence
from typing import BinaryIO, Final, cast

from recollect.domain.archive import Blob
from recollect.domain.scope import Scope
from recollect.errors import StorageError
from recollect.ports.archives import Blobs
from recollect.ports.documents import Documents

_COMPRESSION_LEVEL: Final = 3
_PIECE_BYTES: Final = 1 << 20

_log: Final = logging.getLogger(__name__)


class Originals:
    """The store of original files, which returns them byte for byte or raises an error."""

    def __init__(self, blobs: Blobs, documents: Documents) -> None:
        self._blobs = blobs
        self._documents = documents

    async def put(
        self, scope: Scope, content_hash: str, content: BinaryIO, size: int
    ) -> Blob | None:
        """Store an original file unless the workspace has it; nothing refers to it yet."""
        if await self._documents.blob(scope, content_hash) is not None:
            return None
        # A small file stays in memory until it is stored.
        with tempfile.SpooledTemporaryFile(_PIECE_BYTES) as stored:
            stored_size = await asyncio.to_thread(
                _compress, content, size, cast("BinaryIO", stored)
            )
            # The name of a scope may contain anything; its digest is safe in a path.
            workspace = content_hash_of(f"{scope.org}/{scope.workspace}".encode())[:16]
            blob = Blob(
                hash=content_hash,
                key=f"{workspace}/{content_hash}-{uuid.uuid4().hex[:12]}.zst",
                size=size,
                stored_size=stored_size,
                stored_hash=await asyncio.to_thread(hash_of_file, cast("BinaryIO", stored)),
            )
            await self._blobs.put(blob.key, cast("BinaryIO", stored))
        return blob

    async def read(self, scope: Scope, content_hash: str) -> bytes:
        """Return an original file, or raise an error that describes the damage."""
        blob = await self._documents.blob(scope, content_hash)
        stored = None if blob is None else await self._blobs.get(blob.key)
        if blob is None or stored is None:
            raise _damaged(content_hash, "it is not in the blob store")
        if content_hash_of(stored) != blob.stored_hash:
            raise _damaged(content_hash, "its checksum does not match")
        return await asyncio.to_thread(_decompress, stored, blob.size)

    async def drop(self, keys: Sequence[str]) -> None:
        """Delete unreferenced contents; what cannot be deleted now is deleted later."""
        if not keys:
            return
        try:
            await self._blobs.delete(keys)
        except StorageError as problem:
            _log.warning("%d unused blobs stay for now: %s", len(keys), problem)


def content_hash_of(data: bytes) -> str:
    """Return the hash that identifies a content."""
    return hashlib.sha256(data).hexdigest()


def hash_of_file(content: BinaryIO) -> str:
    """Return the hash of a file's content; the file is at its start afterwards."""
    content.seek(0)
    digest = hashlib.sha256()
    while piece := content.read(_PIECE_BYTES):
        digest.update(piece)
    content.seek(0)
    return digest.hexdigest()


def _compress(content: BinaryIO, size: int, stored: BinaryIO) -> int:
    import zstandard

    content.seek(0)
    _, written = zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL).copy_stream(
        content, stored, size=size
    )
    return written


def _decompress(stored: bytes, size: int) -> bytes:
    import zstandard

    return zstandard.ZstdDecompressor().decompress(stored, max_output_size=size)


def _damaged(content_hash: str, why: str) -> StorageError:
    return StorageError(
        f"The original file {content_hash[:12]} cannot be read: {why}",
        code="document_damaged",
        hint="Put the blob back from a backup, or add the file again.",
    )
