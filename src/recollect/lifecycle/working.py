"""The working memory as a whole: the sessions, and what goes on beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.context.archive_index import INDEX_ARCHIVE, ArchiveIndexer
from recollect.context.sessions import Sessions
from recollect.lifecycle.sweeping import SWEEP, Sweeper
from recollect.lifecycle.worker import Handler
from recollect.ports.language_model import LanguageModels


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """What is started and stopped together with a memory."""

    sessions: Sessions
    indexer: ArchiveIndexer
    sweeper: Sweeper
    models: LanguageModels

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Who does which of its jobs."""
        return {INDEX_ARCHIVE: self.indexer.run, SWEEP: self.sweeper.run}

    async def start(self) -> None:
        """Queue what an older analyzer indexed, and sweep from time to time."""
        await self.indexer.schedule()
        self.sweeper.start()

    async def close(self) -> None:
        """Keep the state of open sessions and let go of the models."""
        await self.sweeper.stop()
        await self.sessions.close()
        await self.models.close()
