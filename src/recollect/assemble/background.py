"""The background work of a memory: the handler of each job, and embedding what is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.assemble.writing import reading_handlers
from recollect.domain.access import MOVE_AGENT
from recollect.domain.document import INGEST_DOCUMENT
from recollect.domain.embedding_jobs import EMBED, REEMBED
from recollect.domain.forgetting import FORGET
from recollect.domain.relation import JUDGE
from recollect.domain.write import EXTRACT_IDLE, READING
from recollect.embedding.backfill import StoredUnits, VectorBackfill, VectorMaker
from recollect.embedding.model_switch import ModelSwitch
from recollect.embedding.reindex import REINDEX
from recollect.embedding.scope_models import SqlScopeModels
from recollect.jobs.worker import Worker
from recollect.writing.facets import DECIDE_FACETS, FacetDecider
from recollect.writing.jobs import DECIDE_ACTS, RECOVER, REREAD, ActDecider, Recovery
from recollect.writing.lost_readings import SqlLostReadings
from recollect.writing.undecided import SqlUndecidedRecords, SqlUndecidedTurns

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


def eraser_of(parts: Wiring) -> Worker:
    """Return a worker that only finishes forgetting."""
    return Worker(parts.jobs, parts.clock, {FORGET: parts.store_forgetting.run}, tireless=[FORGET])


def worker_of(parts: Wiring) -> Worker:
    """Return a worker for jobs of every kind."""
    working, embedding = parts.working, parts.embedding_work
    # Every sweep covers records, proposals and items, as well as archives.
    working.sweeper.also(parts.upkeep.sweep.everything)
    working.sweeper.also(parts.sharing.proposals.expire_stale)
    working.sweeper.also(parts.items.sweep)
    reindexer = parts.reindexer
    decider = ActDecider(SqlUndecidedTurns(parts.database), parts.jobs)
    facets = FacetDecider(
        SqlUndecidedRecords(parts.database), parts.jobs, parts.understanding.facets
    )
    handlers = {
        REINDEX: reindexer.run,
        EMBED: facets.after(embedding.filler.run),
        REEMBED: facets.after(embedding.reembedder.run),
        FORGET: parts.store_forgetting.run,
        INGEST_DOCUMENT: parts.knowledge.ingester.run,
        DECIDE_ACTS: decider.run,
        RECOVER: Recovery(SqlLostReadings(parts.database), parts.jobs).run,
        DECIDE_FACETS: facets.run,
        **working.handlers,
        **parts.audit.handlers,
        **reading_handlers(parts),
    }

    async def look_for_work() -> None:
        await reindexer.schedule()
        await embedding.reembedder.schedule()
        await embedding.filler.schedule()
        await working.indexer.schedule()
        await decider.schedule()
        await facets.schedule()
        await parts.knowledge.ingester.schedule()

    if parts.router.common is parts:
        handlers[MOVE_AGENT] = parts.moves.run
    unhurried = [EXTRACT_IDLE, REREAD]
    return Worker(
        parts.jobs,
        parts.clock,
        handlers,
        look_for_work,
        unhurried=unhurried,
        lanes=[[INGEST_DOCUMENT], [JUDGE], READING, [MOVE_AGENT]],
        tireless=[FORGET],
    )


# --- Settings → the services that embed what is already stored ------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingWork:
    """The services that embed what is already stored."""

    serving: SqlScopeModels
    filler: VectorBackfill
    reembedder: ModelSwitch


def embedding_work(parts: Wiring, stored_units: StoredUnits) -> EmbeddingWork:
    """Return the services that embed what is already stored."""
    serving, embedding, jobs = SqlScopeModels(parts.database), parts.embedding, parts.jobs
    maker = VectorMaker(parts.here.store, stored_units)
    filler = VectorBackfill(serving, maker, embedding, jobs, parts.late_vectors)
    reembedder = ModelSwitch(serving, maker, filler, embedding, jobs)
    return EmbeddingWork(serving=serving, filler=filler, reembedder=reembedder)
