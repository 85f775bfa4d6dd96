"""The working memory: sessions and their background services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.context.archives.indexing import (
    IMPROVE_ARCHIVE,
    INDEX_ARCHIVE,
    ArchiveImprover,
    ArchiveIndexer,
)
from recollect.context.archives.vault import Retention
from recollect.context.sessions import Sessions
from recollect.domain.job import Job
from recollect.jobs.worker import Handler
from recollect.ports.archives import Blobs
from recollect.retention.sweep import SWEEP, Sweeper

if TYPE_CHECKING:
    from recollect.backends.sql.archives import SqlArchives


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """The services that start and stop with a memory."""

    sessions: Sessions
    archives: SqlArchives
    blobs: Blobs
    retention: Retention
    indexer: ArchiveIndexer
    improver: ArchiveImprover
    sweeper: Sweeper

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its jobs."""
        return {
            INDEX_ARCHIVE: self._index,
            IMPROVE_ARCHIVE: self.improver.run,
            SWEEP: self.sweeper.run,
        }

    async def start(self) -> None:
        """Queue outdated archives for indexing and schedule sweeps."""
        await self.indexer.schedule()
        self.sweeper.start()

    async def close(self) -> None:
        """Save the state of open sessions."""
        await self.sweeper.stop()
        await self.sessions.close()

    async def _index(self, job: Job) -> None:
        """Index an archive, then queue a better summary of it."""
        await self.indexer.run(job)
        await self.improver.schedule(job)
