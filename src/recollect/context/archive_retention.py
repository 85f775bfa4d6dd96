"""How long archives stay: by age, by number and by size, each scope for itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final

from recollect.context.archive_vault import Vault
from recollect.domain.archive import Archive, SweptArchives
from recollect.domain.change import ChangeSet
from recollect.domain.scope import Scope
from recollect.ports.archives import Archives
from recollect.ports.blobs import Blobs
from recollect.ports.clock import Clock
from recollect.ports.store import Store

# Nothing that is being stored waits so long between its blob and its row.
ORPHAN_AGE: Final = timedelta(hours=1)
_RETENTION: Final = "retention"
_BATCH: Final = 50
_KEYS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionLimits:
    """How much of a scope's archives stays: the newest, as many and as large; None is no limit."""

    max_count: int | None = 10_000
    max_bytes: int | None = 5_000_000_000


class Retention:
    """Removes archives that have had their time, and blobs that nothing refers to."""

    def __init__(
        self,
        store: Store,
        archives: Archives,
        blobs: Blobs,
        clock: Clock,
        limits: RetentionLimits | None = None,
    ) -> None:
        self._store = store
        self._archives = archives
        self._blobs = blobs
        self._vault = Vault(blobs)
        self._clock = clock
        self._limits = limits or RetentionLimits()

    async def sweep(self, scope: Scope, *, dry_run: bool = False) -> SweptArchives:
        """Remove what is beyond the limits in one scope."""
        kept_so_far = await self._archives.find([scope])
        going = outdated(kept_so_far, self._clock.now(), self._limits)
        if not dry_run:
            await self.remove(going)
        return SweptArchives(archives=tuple(going), is_dry_run=dry_run)

    async def sweep_all(self) -> int:
        """Remove what is beyond the limits in every scope, and unused blobs; how many archives."""
        swept = [await self.sweep(scope) for scope in await self._archives.scopes()]
        await self.collect_orphans()
        return sum(len(it.archives) for it in swept)

    async def remove(self, archives: Sequence[Archive]) -> None:
        """Remove archives with their units: from the database first, then from the blob store."""
        for start in range(0, len(archives), _BATCH):
            batch = tuple(archives[start : start + _BATCH])
            committed = await self._store.commit(
                ChangeSet(principal=_RETENTION, scope=batch[0].scope, removed_archives=batch)
            )
            await self._vault.drop(committed.unused_blobs)

    async def collect_orphans(self, *, dry_run: bool = False) -> list[str]:
        """Delete blobs that a process left behind when it was killed; their keys."""
        before = self._clock.now() - ORPHAN_AGE
        old = [blob.key async for blob in self._blobs.stored() if blob.stored_at < before]
        orphans: list[str] = []
        for start in range(0, len(old), _KEYS):
            keys = old[start : start + _KEYS]
            used = await self._archives.referenced(keys)
            orphans += [key for key in keys if key not in used]
        if not dry_run:
            await self._vault.drop(orphans)
        return orphans


def outdated(archives: Sequence[Archive], now: datetime, limits: RetentionLimits) -> list[Archive]:
    """Those that go: expired ones, and of the others, newest first, all beyond a limit."""
    expired = [archive for archive in archives if archive.is_expired(now)]
    others = [archive for archive in archives if not archive.is_expired(now)]
    sizes = accumulate(archive.bytes for archive in others)
    beyond = [
        archive
        for number, (archive, size) in enumerate(zip(others, sizes, strict=True), start=1)
        if (limits.max_count is not None and number > limits.max_count)
        or (limits.max_bytes is not None and size > limits.max_bytes)
    ]
    return expired + beyond
