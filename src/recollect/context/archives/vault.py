"""Archived contents in the blob store: compressed, checked when read, and expired."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from recollect.context.archives.description import hash_of
from recollect.context.archives.frames import (
    TAIL_BYTES,
    compressed,
    decompressed,
    extract_of,
    index_in,
    text_in,
)
from recollect.domain.archive import (
    Archive,
    Blob,
    Content,
    ContentRange,
    SweptArchives,
    content_from,
    new_blob_name,
)
from recollect.domain.change import ChangeSet
from recollect.domain.scope import Scope
from recollect.domain.sections import ArchiveSettings
from recollect.errors import StorageError
from recollect.ports.archives import Blobs
from recollect.ports.runtime import Clock
from recollect.ports.store import Store

if TYPE_CHECKING:
    from recollect.backends.sql.archives import SqlArchives

_log = logging.getLogger(__name__)


class Vault:
    """The blob store of archives, which returns contents byte for byte or raises an error."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def put(self, content: Content, archive: Archive) -> Blob:
        """Store the content of an archive under its own key; nothing refers to it yet."""
        stored = await asyncio.to_thread(compressed, content.data, is_text=content.text is not None)
        return await self.put_compressed(
            archive.scope, archive.content_hash, len(content.data), stored
        )

    async def put_compressed(
        self, scope: Scope, content_hash: str, size: int, stored: bytes
    ) -> Blob:
        """Store a content that is already compressed."""
        blob = Blob(
            hash=content_hash,
            key=await self._blobs.new_key(new_blob_name(scope, content_hash)),
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

    async def read_range(self, archive: Archive, blob: Blob, wanted: ContentRange) -> str | None:
        """Return a range of a large text without the rest of it.

        None if it has to be read as a whole: it is small, or was stored by an older version.
        """
        if blob.stored_size <= TAIL_BYTES or not archive.is_text:
            return None
        tail = await self._part(archive, blob, blob.stored_size - TAIL_BYTES, blob.stored_size)
        frames = index_in(tail)
        if not frames:
            return None
        extract = extract_of(frames, wanted)
        if extract is None:
            return ""
        stored = await self._part(archive, blob, extract.start, extract.end)
        from recollect.domain.compression import ZstdError

        try:
            return await asyncio.to_thread(text_in, stored, extract, wanted)
        except (ZstdError, ValueError) as damage:
            raise _damaged(archive, blob, str(damage)) from damage

    async def _part(self, archive: Archive, blob: Blob, start: int, end: int) -> bytes:
        found = await self._blobs.get_range(blob.key, start, end)
        if found is None:
            raise _damaged(archive, blob, "there is no file")
        return found

    async def drop(self, keys: Sequence[str]) -> None:
        """Delete unreferenced contents; what cannot be deleted now is collected later."""
        if not keys:
            return
        try:
            await self._blobs.delete(keys)
        except StorageError as problem:
            _log.warning("%d unused blobs stay for now: %s", len(keys), problem)


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


# --- Retention of archives: by age, number and size, separately for each scope --------------------

# A write never takes this long between its blob and its row.
ORPHAN_AGE: Final = timedelta(hours=1)
_RETENTION: Final = "retention"
_BATCH_ARCHIVES: Final = 50
_BATCH_KEYS: Final = 500


class Retention:
    """Deletion of archives past retention and of unreferenced blobs."""

    def __init__(
        self,
        store: Store,
        archives: SqlArchives,
        blobs: Blobs,
        clock: Clock,
        settings: ArchiveSettings | None = None,
    ) -> None:
        self._store = store
        self._archives = archives
        self._blobs = blobs
        self._vault = Vault(blobs)
        self._clock = clock
        self._settings = settings or ArchiveSettings()

    async def sweep(self, scope: Scope, *, dry_run: bool = False) -> SweptArchives:
        """Delete what exceeds the limits in one scope."""
        kept_so_far = await self._archives.find([scope])
        going = outdated(kept_so_far, self._clock.now(), self._settings)
        if not dry_run:
            await self.remove(going)
        return SweptArchives(archives=tuple(going), is_dry_run=dry_run)

    async def sweep_all(self) -> int:
        """Delete what exceeds the limits everywhere, and unused blobs; return how many archives."""
        swept = [await self.sweep(scope) for scope in await self._archives.scopes()]
        await self.collect_orphans()
        return sum(len(scope_sweep.archives) for scope_sweep in swept)

    async def remove(self, archives: Sequence[Archive], *, by: str = _RETENTION) -> None:
        """Delete archives with their units: first in the database, then in the blob store."""
        for start in range(0, len(archives), _BATCH_ARCHIVES):
            batch = tuple(archives[start : start + _BATCH_ARCHIVES])
            committed = await self._store.commit(
                ChangeSet(principal=by, scope=batch[0].scope, removed_archives=batch)
            )
            await self._vault.drop(committed.unused_blobs)

    async def collect_orphans(self, *, dry_run: bool = False) -> list[str]:
        """Delete blobs that a killed process left behind; return their keys."""
        before = self._clock.now() - ORPHAN_AGE
        old = [blob.key async for blob in self._blobs.stored() if blob.stored_at < before]
        orphans: list[str] = []
        for start in range(0, len(old), _BATCH_KEYS):
            keys = old[start : start + _BATCH_KEYS]
            used = await self._archives.referenced(keys)
            orphans += [key for key in keys if key not in used]
        if not dry_run:
            await self._vault.drop(orphans)
        return orphans


def outdated(
    archives: Sequence[Archive], now: datetime, settings: ArchiveSettings
) -> list[Archive]:
    """Return the archives to delete: expired ones, and the oldest ones beyond a limit."""
    expired = [archive for archive in archives if archive.is_expired(now)]
    others = [archive for archive in archives if not archive.is_expired(now)]
    sizes = accumulate(archive.bytes for archive in others)
    beyond = [
        archive
        for number, (archive, size) in enumerate(zip(others, sizes, strict=True), start=1)
        if (settings.max_count is not None and number > settings.max_count)
        or (settings.max_bytes is not None and size > settings.max_bytes)
    ]
    return expired + beyond
