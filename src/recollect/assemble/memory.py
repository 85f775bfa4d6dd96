"""Settings → a wired Memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

from recollect.assemble.auditing import trail_of
from recollect.assemble.database import first_caller, open_database, settings_at
from recollect.assemble.embedding import embedding_work, meaning_of
from recollect.assemble.forgetting import forgetting_of
from recollect.assemble.recalling import (
    archive_passages,
    prefetch_options,
    recall_options,
    recall_paths,
)
from recollect.assemble.reranking import second_look
from recollect.assemble.sessions import token_counter, working_memory
from recollect.assemble.sharing import sharing_of
from recollect.assemble.upkeep import tending_of, usage_of
from recollect.assemble.writing import reading_handlers, schedule_of, writing_of
from recollect.backends.local.catalogue import Catalogue
from recollect.backends.local.keyword_index import LocalKeywordIndex
from recollect.backends.local.vector_index import LocalVectorIndex
from recollect.backends.objects import open_blobs
from recollect.backends.sql.jobs import SqlJobs
from recollect.backends.sql.maintenance import SqlMaintenance
from recollect.backends.sql.store import SqlStore
from recollect.backends.sql.transfer import SqlTransfer
from recollect.domain.embedding import EMBED
from recollect.errors import RecollectError
from recollect.lifecycle.backing_up import BackUp
from recollect.lifecycle.exporting import Exporter
from recollect.lifecycle.feedback import FeedbackTaker
from recollect.lifecycle.figures import Figures
from recollect.lifecycle.forgetting import FORGET
from recollect.lifecycle.importing import Importer
from recollect.lifecycle.reembedding import REEMBED
from recollect.lifecycle.reindex import REINDEX, Reindexer
from recollect.lifecycle.renewing import Renewal
from recollect.lifecycle.versions import Versions
from recollect.lifecycle.worker import Worker
from recollect.memory import Memory
from recollect.parts import Parts
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.embedder import Embedder
from recollect.recall.cache import CachedRecaller, CacheOptions
from recollect.recall.linked import EntityPath
from recollect.recall.listing import Listing
from recollect.recall.pipeline import Recaller
from recollect.recall.prefetch import Prefetch
from recollect.recall.scan import Scan
from recollect.settings import Settings
from recollect.writing.observe import Observer
from recollect.writing.redaction import Redactor
from recollect.writing.save import Saver

_MEGABYTE = 1 << 20


async def assemble(
    where: str | Path | Settings | None = None,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
) -> Memory:
    """Open the database, bring it up to date and put everything together."""
    settings = settings_at(where)
    clock = clock or SystemClock()
    look = second_look(settings)
    database = await asyncio.to_thread(open_database, settings)
    store = SqlStore(database, clock)
    jobs = SqlJobs(database, clock)
    catalogue = Catalogue(settings.recall.index_memory_mb * _MEGABYTE)
    units = LocalKeywordIndex(database, catalogue, settings.recall.index_memory_mb * _MEGABYTE)
    vectors = LocalVectorIndex(database, catalogue, settings.recall.vector_memory_mb * _MEGABYTE)
    meaning, embedding_cache, forget_texts = await asyncio.to_thread(
        meaning_of, settings, clock, embedder
    )
    listing = Listing(store, clock)
    redactor = Redactor(settings.writing.redact)
    saver = Saver(store, listing, meaning, clock, redactor)
    maintenance = SqlMaintenance(database)
    transfer = SqlTransfer(database, clock)
    reindexer = Reindexer(store, maintenance, meaning, jobs)
    paths = recall_paths(settings, units, vectors, meaning)
    recaller = CachedRecaller(
        Recaller(
            store,
            units,
            paths,
            EntityPath(units),
            Scan(store, units),
            archive_passages(settings, database),
            clock,
            recall_options(settings),
            look,
        ),
        store,
        meaning,
        clock,
        CacheOptions(seconds=settings.recall.cache_seconds, size=settings.recall.cache_size),
    )
    usage, promoter = usage_of(settings, database, store, saver, clock)
    observer = Observer(store, meaning, clock, redactor, schedule_of(settings).after_turns)
    tokens = token_counter(settings)
    prefetch = Prefetch(
        recaller, tokens, clock, prefetch_options(settings), usage.entered, usage.injected
    )
    trail = trail_of(database, clock, store, recaller, usage)
    try:
        working = working_memory(settings, database, clock, meaning, observer, prefetch)
    except RecollectError:
        await database.close()
        raise
    tending = tending_of(
        settings,
        database,
        clock,
        store,
        listing,
        saver,
        units,
        meaning,
        redactor,
        usage,
        promoter,
        working,
    )
    sharing = sharing_of(
        settings, database, store, units, listing, saver, meaning, redactor, clock, working.sweeper
    )
    writing = writing_of(
        settings, database, store, units, vectors, meaning, clock, redactor, working.models
    )
    reading = reading_handlers(settings, store, saver, clock, writing, working.models)
    embedding = embedding_work(database, store, meaning, jobs, working.indexer)
    filler, reembedder = embedding.filler, embedding.reembedder
    handlers = {REINDEX: reindexer.run, EMBED: filler.run, REEMBED: reembedder.run}
    handlers |= {**working.handlers, **trail.handlers}
    forgetting = await forgetting_of(
        settings,
        database,
        clock,
        store,
        listing,
        usage,
        recaller,
        working.sessions,
        forget_texts,
    )
    handlers |= {**reading, FORGET: forgetting.run}
    worker = Worker(jobs, clock, handlers)
    parts = Parts(
        settings=settings,
        clock=clock,
        store=store,
        maintenance=maintenance,
        jobs=jobs,
        units=units,
        vectors=vectors,
        meaning=meaning,
        renewal=Renewal(embedding.serving, working.indexer, reembedder, meaning, jobs, worker),
        saver=saver,
        observer=observer,
        recaller=recaller,
        prefetch=prefetch,
        usage=usage,
        trail=trail,
        feedback=FeedbackTaker(store, listing),
        figures=Figures(
            store,
            jobs,
            maintenance,
            units,
            vectors,
            recaller,
            meaning,
            embedding_cache,
            working.models,
        ),
        listing=listing,
        versions=Versions(store, listing, saver, clock),
        exporter=Exporter(transfer, working.blobs, clock),
        importer=Importer(transfer, filler, working.archives, working.blobs),
        backups=BackUp(maintenance, working.blobs, open_blobs),
        worker=worker,
        working=working,
        writing=writing,
        sharing=sharing,
        tending=tending,
        forgetting=forgetting,
    )
    await reindexer.schedule()
    await filler.schedule()
    await working.start()
    trail.sealer.start()
    worker.start()
    return Memory(parts, first_caller(settings))
