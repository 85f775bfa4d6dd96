"""What goes on beside a memory: who does which job, and what is looked for before the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.assemble.forgetting import go_on_forgetting
from recollect.assemble.writing import reading_handlers
from recollect.domain.embedding import EMBED, REEMBED
from recollect.lifecycle.forgetting import FORGET
from recollect.lifecycle.reindex import REINDEX
from recollect.lifecycle.worker import Worker

if TYPE_CHECKING:
    from recollect.assemble.wiring import Wiring


def worker_of(parts: Wiring) -> Worker:
    """Who works on jobs of every kind."""
    working, embedding = parts.working, parts.embedding
    # Records and proposals go with every sweep, as archives do.
    working.sweeper.also(parts.tending.sweep.everything)
    working.sweeper.also(parts.sharing.desk.expire_stale)
    reindexer = parts.reindexer
    handlers = {
        REINDEX: reindexer.run,
        EMBED: embedding.filler.run,
        REEMBED: embedding.reembedder.run,
        FORGET: parts.forgetting.run,
        **working.handlers,
        **parts.trail.handlers,
        **reading_handlers(
            parts.settings, parts.store, parts.saver, parts.clock, parts.writing, working.models
        ),
    }

    async def look_for_work() -> None:
        await go_on_forgetting(parts.database, parts.clock)
        await reindexer.schedule()
        await embedding.filler.schedule()
        await working.indexer.schedule()

    return Worker(parts.jobs, parts.clock, handlers, look_for_work)
