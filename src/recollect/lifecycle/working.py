"""The working memory as a whole: the sessions, and what goes on beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.context.archive_improve import IMPROVE_ARCHIVE, ArchiveImprover
from recollect.context.archive_index import INDEX_ARCHIVE, ArchiveIndexer
from recollect.context.archive_retention import Retention
from recollect.context.sessions import Sessions
from recollect.domain.job import Job
from recollect.lifecycle.sweeping import SWEEP, Sweeper
from recollect.lifecycle.worker import Handler
from recollect.ports.archives import Archives
from recollect.ports.blobs import Blobs
from recollect.ports.language_model import LanguageModels


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """What is started and stopped together with a memory."""

    sessions: Sessions
    archives: Archives
    blobs: Blobs
    retention: Retention
    indexer: ArchiveIndexer
    improver: ArchiveImprover
    sweeper: Sweeper
    models: LanguageModels

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Who does which of its jobs."""
        return {
            INDEX_ARCHIVE: self._index,
            IMPROVE_ARCHIVE: self.improver.run,
            SWEEP: self.sweeper.run,
        }

    async def start(self) -> None:
        """Queue what an older analyzer indexed, and sweep from time to time."""
        await self.indexer.schedule()
        self.sweeper.start()

    async def close(self) -> None:
        """Keep the state of open sessions and let go of the models."""
        await self.sweeper.stop()
        await self.sessions.close()
        await self.models.close()

    async def _index(self, job: Job) -> None:
        """Make an archive searchable, then have it told better."""
        await self.indexer.run(job)
        await self.improver.schedule(job)
