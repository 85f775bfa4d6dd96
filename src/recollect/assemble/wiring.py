"""The parts of an open memory, each made when it is first asked for.

A program that asks one question starts several times faster without the rules that read
conversations, the schema of exports and all else that it never uses. That is why most modules
are imported in here where a part is made, and nowhere else.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from recollect.assemble.recalling import archive_passages, recall_options, recall_paths
from recollect.assemble.reranking import second_look
from recollect.backends.local.byte_vectors import plain_product
from recollect.backends.local.catalogue import Catalogue
from recollect.backends.local.keyword_index import LocalKeywordIndex
from recollect.backends.local.vector_index import LocalVectorIndex
from recollect.backends.sql.database import Database
from recollect.backends.sql.erasers_ledger import ledger_of
from recollect.backends.sql.jobs import SqlJobs
from recollect.backends.sql.store import SqlStore
from recollect.domain.model_tier import ModelUsage
from recollect.domain.stats import CacheStats
from recollect.models.byte_product import quick_product
from recollect.parts import Parts
from recollect.ports.clock import Clock
from recollect.recall.cache import CachedRecaller, CacheOptions
from recollect.recall.late_vectors import LateVectors
from recollect.recall.linked import EntityPath
from recollect.recall.listing import Listing
from recollect.recall.meaning import Meaning
from recollect.recall.pipeline import Recaller
from recollect.recall.scan import Scan
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.assemble.vectors import EmbeddingWork
    from recollect.backends.sql.maintenance import SqlMaintenance
    from recollect.backends.sql.transfer import SqlTransfer
    from recollect.lifecycle.backing_up import BackUp
    from recollect.lifecycle.exporting import Exporter
    from recollect.lifecycle.feedback import FeedbackTaker
    from recollect.lifecycle.figures import Figures
    from recollect.lifecycle.forgetting import Forgetting
    from recollect.lifecycle.importing import Importer
    from recollect.lifecycle.promote import Promoter
    from recollect.lifecycle.reindex import Reindexer
    from recollect.lifecycle.renewing import Renewal
    from recollect.lifecycle.tending import Tending
    from recollect.lifecycle.trail import Trail
    from recollect.lifecycle.usage import Usage
    from recollect.lifecycle.versions import Versions
    from recollect.lifecycle.worker import Worker
    from recollect.lifecycle.working import WorkingMemory
    from recollect.recall.prefetch import Prefetch
    from recollect.sharing.parts import SharingParts
    from recollect.writing.observe import Observer
    from recollect.writing.parts import WritingParts
    from recollect.writing.redaction import Redactor
    from recollect.writing.save import Saver

_MEGABYTE: Final = 1 << 20
# A program that is open for a moment only leaves the work that waits to another.
_WORK_AFTER: Final = 3.0


class Wiring(Parts):
    """The parts, on one database."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        database: Database,
        meaning: Meaning,
        embedding_cache: Callable[[], CacheStats],
        forget_texts: Callable[[], None],
        embedder_usage: Callable[[], tuple[ModelUsage, ...]],
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.database = database
        self.meaning = meaning
        self._embedding_cache = embedding_cache
        self._forget_texts = forget_texts
        self._embedder_usage = embedder_usage
        self._second_look = second_look(settings)
        self._starting: asyncio.Task[None] | None = None
        recall = settings.recall
        self.store = SqlStore(database, clock)
        self.jobs = SqlJobs(database, clock)
        self.late_vectors = LateVectors(meaning, self.store, self.jobs)
        self.listing = Listing(self.store, clock)
        catalogue = Catalogue(recall.index_memory_mb * _MEGABYTE)
        self.units = LocalKeywordIndex(database, catalogue, recall.index_memory_mb * _MEGABYTE)
        self.vectors = LocalVectorIndex(
            database,
            catalogue,
            recall.vector_memory_mb * _MEGABYTE,
            quick_product(plain_product),
        )
        self.recaller = CachedRecaller(
            Recaller(
                self.store,
                self.units,
                recall_paths(settings, self.units, self.vectors, meaning, self.late_vectors),
                EntityPath(self.units),
                Scan(self.store, self.units),
                archive_passages(settings, database),
                clock,
                recall_options(settings),
                self._second_look,
            ),
            self.store,
            meaning,
            clock,
            CacheOptions(seconds=recall.cache_seconds, size=recall.cache_size),
        )

    def try_settings(self) -> None:
        """Make what the settings name for sessions: a fault is told when memory is opened."""
        wanted, usual = self.settings, Settings()
        parts = ("models", "notes", "session", "archive")
        if any(getattr(wanted, it) != getattr(usual, it) for it in parts):
            _ = self.working

    async def hide_forgotten(self) -> None:
        """Hide what an older copy of the database brought back, before anybody sees it."""
        if ledger_of(self.database.path).exists():
            from recollect.assemble.forgetting import hide_forgotten

            await hide_forgotten(self.database, self.clock)

    def start(self) -> None:
        """Begin, in a moment, what goes on beside a memory."""
        self._starting = asyncio.create_task(self._start(), name="recollect-start")

    async def _start(self) -> None:
        await asyncio.sleep(_WORK_AFTER)
        # Importing takes a while, in which whoever asks would wait.
        await asyncio.to_thread(importlib.import_module, "recollect.assemble.background")
        self.worker.start()
        self.working.sweeper.start()
        self.trail.sealer.start()

    async def close(self) -> None:
        """Finish and close what was made."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        await self.late_vectors.settled()
        made = vars(self)
        if "usage" in made:
            await self.usage.close()
        if "worker" in made:
            await self.worker.stop()
        if "working" in made:
            await self.working.close()
        if "trail" in made or self.database.has_written:
            await self.trail.sealer.close()
        await self.recaller.close()
        await self.meaning.close()
        await self.store.close()

    @cached_property
    def maintenance(self) -> SqlMaintenance:
        from recollect.backends.sql.maintenance import SqlMaintenance

        return SqlMaintenance(self.database)

    @cached_property
    def redactor(self) -> Redactor:
        from recollect.writing.redaction import Redactor

        return Redactor(self.settings.writing.redact)

    @cached_property
    def saver(self) -> Saver:
        from recollect.writing.save import Saver

        return Saver(self.store, self.listing, self.meaning, self.clock, self.redactor)

    @cached_property
    def versions(self) -> Versions:
        from recollect.lifecycle.versions import Versions

        return Versions(self.store, self.listing, self.saver, self.clock)

    @cached_property
    def feedback(self) -> FeedbackTaker:
        from recollect.lifecycle.feedback import FeedbackTaker

        return FeedbackTaker(self.store, self.listing)

    @cached_property
    def _counting(self) -> tuple[Usage, Promoter]:
        from recollect.assemble.upkeep import usage_of

        return usage_of(self.settings, self.database, self.store, self.saver, self.clock)

    @cached_property
    def usage(self) -> Usage:
        return self._counting[0]

    @cached_property
    def observer(self) -> Observer:
        from recollect.assemble.writing import schedule_of
        from recollect.writing.observe import Observer

        after_turns = schedule_of(self.settings).after_turns
        return Observer(self.store, self.late_vectors, self.clock, self.redactor, after_turns)

    @cached_property
    def prefetch(self) -> Prefetch:
        from recollect.assemble.prefetching import prefetch_of

        return prefetch_of(self.settings, self.recaller, self.clock, self.usage, self.database)

    @cached_property
    def trail(self) -> Trail:
        from recollect.assemble.auditing import trail_of

        return trail_of(self.database, self.clock, self.store, self.recaller, self.usage)

    @cached_property
    def working(self) -> WorkingMemory:
        from recollect.assemble.sessions import working_memory

        return working_memory(
            self.settings, self.database, self.clock, self.meaning, self.observer, self.prefetch
        )

    @cached_property
    def tending(self) -> Tending:
        from recollect.assemble.upkeep import tending_of

        return tending_of(
            self.settings,
            self.database,
            self.clock,
            self.store,
            self.listing,
            self.saver,
            self.units,
            self.meaning,
            self.redactor,
            *self._counting,
            self.working,
        )

    @cached_property
    def sharing(self) -> SharingParts:
        from recollect.assemble.sharing import sharing_of

        return sharing_of(
            self.settings,
            self.database,
            self.store,
            self.units,
            self.listing,
            self.saver,
            self.meaning,
            self.redactor,
            self.clock,
        )

    @cached_property
    def writing(self) -> WritingParts:
        from recollect.assemble.writing import writing_of

        return writing_of(
            self.settings,
            self.database,
            self.store,
            self.units,
            self.vectors,
            self.meaning,
            self.clock,
            self.redactor,
            self.working.models,
        )

    @cached_property
    def forgetting(self) -> Forgetting:
        from recollect.assemble.forgetting import forgetting_of

        return forgetting_of(
            self.settings,
            self.database,
            self.clock,
            self.store,
            self.listing,
            self.usage,
            self.recaller,
            self.working.sessions,
            self._forget_texts,
        )

    @cached_property
    def embedding(self) -> EmbeddingWork:
        from recollect.assemble.vectors import embedding_work

        return embedding_work(
            self.database,
            self.store,
            self.meaning,
            self.jobs,
            self.late_vectors,
            self.working.indexer,
        )

    @cached_property
    def reindexer(self) -> Reindexer:
        from recollect.backends.sql.renewing import SqlEditions
        from recollect.lifecycle.reindex import Reindexer

        return Reindexer(SqlEditions(self.database), self.working.indexer.units, self.jobs)

    @cached_property
    def renewal(self) -> Renewal:
        from recollect.lifecycle.renewing import Renewal

        return Renewal(
            self.embedding.serving,
            self.working.indexer,
            self.reindexer,
            self.embedding.reembedder,
            self.meaning,
            self.jobs,
            self.worker,
        )

    @cached_property
    def figures(self) -> Figures:
        from recollect.lifecycle.figures import Figures

        return Figures(
            self.store,
            self.jobs,
            self.maintenance,
            self.units,
            self.vectors,
            self.recaller,
            self.meaning,
            self._embedding_cache,
            self.working.sessions.summary_cache,
            self._model_usage,
        )

    def _model_usage(self) -> tuple[ModelUsage, ...]:
        look = self._second_look
        others = (*self._embedder_usage(), *(() if look is None else (look.usage(),)))
        return (*self.working.models.usage(), *others)

    @cached_property
    def _transfer(self) -> SqlTransfer:
        from recollect.backends.sql.transfer import SqlTransfer

        return SqlTransfer(self.database, self.clock)

    @cached_property
    def exporter(self) -> Exporter:
        from recollect.lifecycle.exporting import Exporter

        return Exporter(self._transfer, self.working.blobs, self.clock)

    @cached_property
    def importer(self) -> Importer:
        from recollect.lifecycle.importing import Importer

        working = self.working
        return Importer(
            self._transfer,
            self.embedding.filler,
            working.archives,
            working.blobs,
            self.redactor,
        )

    @cached_property
    def backups(self) -> BackUp:
        from recollect.backends.objects import open_blobs
        from recollect.lifecycle.backing_up import BackUp

        return BackUp(self.maintenance, self.working.blobs, open_blobs)

    @cached_property
    def worker(self) -> Worker:
        from recollect.assemble.background import worker_of

        return worker_of(self)
