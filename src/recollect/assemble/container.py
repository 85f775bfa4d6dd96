"""The services of an open memory, each created on first use.

A program that asks one question starts several times faster without the extraction rules, the
export schema and everything else that it never uses. That is why most modules are imported here, in
the function that needs them.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from recollect.backends.split import SplitStore
from recollect.backends.sql.jobs import SqlJobs
from recollect.backends.sql.store import SqlStore
from recollect.domain.forgetting import FORGET
from recollect.domain.meter import Meter
from recollect.domain.write import READING, Pending
from recollect.errors import RecollectError, StorageError
from recollect.memory.parts import Parts
from recollect.ports.runtime import work_in_background
from recollect.recall.listing import Listing
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.assemble.background import EmbeddingWork
    from recollect.assemble.moves import AgentMover
    from recollect.assemble.stores import AgentWiring
    from recollect.assemble.understanding import Understanding
    from recollect.backends.local.keyword_index import LocalKeywordIndex
    from recollect.backends.local.unit_metadata import Catalogue
    from recollect.backends.local.vector_index import LocalVectorIndex
    from recollect.backends.objects import ObjectBlobs
    from recollect.backends.sql.archives import SqlArchives
    from recollect.backends.sql.audit_log import SqlAudit
    from recollect.backends.sql.database import Database
    from recollect.backends.sql.directory import SqlDirectory
    from recollect.backends.sql.maintenance import SqlMaintenance
    from recollect.backends.sql.state import SqlState
    from recollect.backends.sql.transfer import SqlTransfer
    from recollect.backends.sql.upkeep import SqlUpkeep
    from recollect.backends.sql.writes import SqlChangeLog, SqlWrites
    from recollect.domain.archive import Archive
    from recollect.domain.document import Document
    from recollect.domain.model_tier import ModelUsage
    from recollect.domain.scope import Caller, Scope
    from recollect.domain.stats import CacheStats
    from recollect.domain.unit import OwnerUnits
    from recollect.embedding.late_vectors import LateVectors
    from recollect.embedding.reindex import Reindexer, ReindexService
    from recollect.embedding.service import EmbeddingService
    from recollect.embedding.several_stores import ReindexPlaces
    from recollect.erasure.forgetting import Forgetting
    from recollect.erasure.several_stores import ForgettingPlaces
    from recollect.knowledge.base import KnowledgeBase
    from recollect.lifecycle.audit import AuditService, Sealer
    from recollect.lifecycle.change_feed import ChangeFeed
    from recollect.lifecycle.idempotency import IdempotentWork
    from recollect.lifecycle.items import ItemKeeper
    from recollect.lifecycle.jobs import JobControl, Worker
    from recollect.lifecycle.keys import KeyService
    from recollect.lifecycle.profile import ProfileKeeper
    from recollect.lifecycle.short_term import Promoter
    from recollect.lifecycle.statistics import MetricsKeeper, StatisticsCollector
    from recollect.lifecycle.usage import FeedbackCounter, Usage
    from recollect.lifecycle.versions import Bulk, Versions
    from recollect.lifecycle.working_memory import WorkingMemory
    from recollect.lifecycle.workspace_directory import WorkspaceDirectory
    from recollect.memory.parts import SharingParts, UpkeepServices
    from recollect.ports.archives import Archives, Blobs
    from recollect.ports.judge import Judge
    from recollect.ports.keys import AgentOverlays
    from recollect.ports.runtime import Clock
    from recollect.ports.state import State
    from recollect.ports.store import Store, Writes
    from recollect.ports.upkeep import UpkeepReader
    from recollect.recall.answer_model import AnswerModel
    from recollect.recall.answering import Answering
    from recollect.recall.cache import CachedRecaller
    from recollect.recall.fresh_links import FreshLinks, LinkAmong
    from recollect.recall.prefetch import Prefetch
    from recollect.recall.profile import ProfileReader
    from recollect.recall.split_recall import SplitRecaller
    from recollect.transfer.backup import Backups
    from recollect.transfer.chat_import import ChatImporter
    from recollect.transfer.exporter import Exporter
    from recollect.transfer.importer import Importer
    from recollect.writing.candidates import Indexes
    from recollect.writing.judges import JudgeChain
    from recollect.writing.observer import Observer
    from recollect.writing.parts import WritingParts
    from recollect.writing.redaction import Redactor
    from recollect.writing.saver import Saver
    from recollect.writing.told import Told

_log = logging.getLogger(__name__)

_MEGABYTE: Final = 1 << 20
# A program that is open only for a moment leaves background work to others.
_START_DELAY_SECONDS: Final = 3.0
# At most so many times as long takes what a busy machine does.
_BUSY_FACTOR: Final = 6.0
# How often closing looks whether another process has read what was told.
_POLL_SECONDS: Final = 0.1
# What background work needs and takes long to import.
_BACKGROUND_MODULES: Final = (
    "recollect.assemble.background",
    "recollect.assemble.recall",
    "recollect.assemble.sessions",
    "recollect.assemble.sharing",
    "recollect.assemble.upkeep",
    "recollect.backends.local.keyword_index",
    "recollect.backends.local.vector_index",
    "recollect.backends.sql.erasure",
    "recollect.backends.sql.items",
    "recollect.context.sessions",
    "recollect.erasure.forgetting",
    "recollect.knowledge.base",
    "recollect.knowledge.ingest",
    "recollect.knowledge.retrieval",
    "recollect.lifecycle.audit",
    "recollect.lifecycle.items",
    "recollect.lifecycle.working_memory",
    "recollect.models.language.tiers",
    "recollect.models.onnx_file",
    "recollect.recall.prefetch",
    "recollect.recall.split_recall",
    "recollect.sharing.proposals",
)


class Wiring(Parts):
    """The services on one database."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        database: Database,
        understanding: Understanding,
        judge: Judge | None = None,
    ) -> None:
        self.settings = settings
        self.declared_agents = settings.agents
        self.clock = clock
        self.database = database
        self.understanding = understanding
        self.own_judge = judge
        # The stores of agents that have one of their own, by kind and place.
        self.stores: dict[tuple[str, str], AgentWiring] = {}
        # Why some of them could not be opened: the memory of all others is there all the same.
        self.unopened: dict[tuple[str, str], StorageError] = {}
        self._starting: asyncio.Task[None] | None = None
        self._catching_up: asyncio.Task[None] | None = None
        self._erasing: asyncio.Task[None] | None = None
        self._loading: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None
        # What is here alone; a scope may be held by another store.
        self.own_store = SqlStore(database, clock)
        self.store: Store = SplitStore(
            home=self.own_store,
            holding=lambda scope: self.holding(scope).own_store,
            follow=self._follow,
        )
        self.jobs = SqlJobs(database, clock)
        self.meter = Meter()
        self.listing = Listing(self.store, clock)

    @property
    def meaning(self) -> EmbeddingService:
        return self.understanding.meaning

    @cached_property
    def late_vectors(self) -> LateVectors:
        from recollect.embedding.late_vectors import LateVectors

        return LateVectors(self.meaning, self.own_store, self.jobs)

    @cached_property
    def fresh_links(self) -> FreshLinks:
        from recollect.recall.fresh_links import FreshLinks

        patience = self.settings.recall.patience
        return FreshLinks(self.jobs, self.clock, self._link_among, patience)

    @cached_property
    def _catalogue(self) -> Catalogue:
        from recollect.backends.local.unit_metadata import Catalogue

        return Catalogue(self.settings.recall.index_memory_mb * _MEGABYTE)

    @cached_property
    def units(self) -> LocalKeywordIndex:
        from recollect.backends.local.keyword_index import LocalKeywordIndex

        budget = self.settings.recall.index_memory_mb * _MEGABYTE
        return LocalKeywordIndex(self.database, self._catalogue, budget)

    @cached_property
    def vectors(self) -> LocalVectorIndex:
        from recollect.backends.local.byte_vectors import plain_product
        from recollect.backends.local.vector_index import LocalVectorIndex
        from recollect.models.onnx_file import quick_product

        budget = self.settings.recall.vector_memory_mb * _MEGABYTE
        return LocalVectorIndex(
            self.database, self._catalogue, budget, quick_product(plain_product)
        )

    @property
    def indexes(self) -> Indexes:
        return self.units, self.vectors

    @cached_property
    def _larger_reader(self) -> AnswerModel | None:
        from recollect.assemble.recall import larger_reader

        return larger_reader(self.settings)

    async def _close_reader(self) -> None:
        if self._larger_reader is not None:
            await self._larger_reader.close()

    @cached_property
    def _answering(self) -> Answering | None:
        from recollect.assemble.recall import answering_of

        return answering_of(self.settings, self._larger_reader)

    @cached_property
    def own_recaller(self) -> CachedRecaller:
        from recollect.assemble.recall import recaller_of
        from recollect.embedding.late_vectors import VectorGaps
        from recollect.recall.intent_model import IntentModel

        has_model = bool(self.settings.tiers.classify)
        return recaller_of(
            self.settings,
            self.database,
            self.own_store,
            self.units,
            self.vectors,
            self.meaning,
            self.late_vectors,
            VectorGaps(self.meaning, self.jobs, self.clock),
            self.fresh_links,
            self._answering,
            lambda: self.understanding.facets,
            self.clock,
            self.meter,
            IntentModel(lambda: self.working.models.of("classify"), self.redactor.note)
            if has_model
            else None,
        )

    @cached_property
    def recaller(self) -> SplitRecaller:
        from recollect.recall.split_recall import SplitRecaller

        recall = self.settings.recall
        return SplitRecaller(
            self.own_recaller,
            lambda scope: self.holding(scope).own_recaller,
            limit=recall.limit,
            gap=recall.gap,
        )

    def try_settings(self) -> None:
        """Create what the settings name for sessions, so that errors show when memory is opened."""
        wanted, default = self.settings, Settings()
        parts = ("models", "notes", "session", "archive")
        if any(getattr(wanted, part) != getattr(default, part) for part in parts):
            _ = self.working
        if wanted.reranker != default.reranker:
            _ = self._larger_reader

    async def hide_forgotten(self) -> None:
        """Hide what an older copy of the database brought back, before anybody sees it."""
        if await asyncio.to_thread(self.database.ledger.ids):
            from recollect.assemble.upkeep import hide_forgotten

            await hide_forgotten(self.database, self.clock)

    async def go_on_forgetting(self) -> None:
        """Finish in the background any forgetting that was interrupted before it was erased."""
        if await self.jobs.has(FORGET):
            self._erasing = asyncio.create_task(self._erase(), name="recollect-erase")

    async def _erase(self) -> None:
        # In a thread, because importing takes a while and callers would wait.
        await asyncio.to_thread(importlib.import_module, "recollect.assemble.background")
        from recollect.assemble.background import eraser_of
        from recollect.backends.sql.erasure import SqlErasure

        await SqlErasure(self.database, self.clock).rouse()
        await eraser_of(self).run_due()

    def start(self) -> None:
        """Read what earlier programs could not, and start the background work after a moment."""
        self._catching_up = asyncio.create_task(self._catch_up(), name="recollect-read")
        self._starting = asyncio.create_task(self._start(), name="recollect-start")
        if self.common is self and not self.settings.is_temporary:
            # Only this process sees a temporary one.
            forever = self.moves.follow_forever()
            self._following = asyncio.create_task(forever, name="recollect-follow")

    async def _catch_up(self) -> None:
        """Read what was told to programs that ended before they had read it."""
        work_in_background()
        try:
            if await self.jobs.rouse(READING, even_given_up=True):
                await asyncio.to_thread(self._prepare_background)
                await self.worker.run_only(READING)
        except RecollectError as problem:
            _log.warning("what was told before is read later: %s", problem)

    async def catch_up(self) -> None:
        """Wait for what was left unread, for as long as closing would have waited.

        These are seconds of this process at work: on a busy machine, where closing was too slow,
        opening would be too. Only a language model is waited for by the clock.
        """
        seconds = self.settings.writing.close_seconds
        most = seconds if self.settings.tiers.extract else seconds * _BUSY_FACTOR
        began, worked = time.monotonic(), time.process_time()
        tasks = [parts._catching_up for parts in self.opened]
        reading = {task for task in tasks if task is not None}
        while reading and time.process_time() - worked < seconds:
            if (left := began + most - time.monotonic()) <= 0:
                break
            _, reading = await asyncio.wait(reading, timeout=min(left, _POLL_SECONDS))

    async def _start(self) -> None:
        await asyncio.sleep(_START_DELAY_SECONDS)
        # In a thread, because importing takes a while and callers would wait.
        await asyncio.to_thread(self._prepare_background)
        self.worker.start()
        self.working.sweeper.start()
        self.sealer.start()
        self.metrics.start()

    def _expect_prompt(self, caller: Caller) -> None:
        """Load what the first prompt of a session needs, unless it may take its time."""
        if self._loading is None and self.settings.session.prepare_seconds:
            self._loading = asyncio.create_task(self._load(caller), name="recollect-load")

    async def _load(self, caller: Caller) -> None:
        try:
            await self.recaller.load(caller.readable)
            # In a thread, because importing takes a while and callers would wait.
            await asyncio.to_thread(self._prepare_background)
            await self.judge.load()
        except RecollectError as problem:
            # Whoever asks is told.
            _log.info("models are loaded when they are needed: %s", problem)

    def _prepare_background(self) -> None:
        for module in _BACKGROUND_MODULES:
            importlib.import_module(module)
        self.understanding.open()

    def of_agent(self, agent: str | None) -> Wiring:
        if not (self.stores or self.unopened):
            return self
        key = self.settings.store_of(agent)
        if key in self.unopened:
            raise self.unopened[key]
        return self.stores.get(key, self)

    async def settle(self) -> None:
        """Write what this process has yet to write here."""
        if "late_vectors" in vars(self):
            await self.late_vectors.settled()
        if "_usage_parts" in vars(self):
            await self.usage.flush()

    def holding(self, scope: Scope) -> Wiring:
        """Return the parts on the store that holds a scope."""
        return self.of_agent(scope.agent)

    def holds(self, scope: Scope) -> bool:
        return self.holding(scope) is self

    @property
    def common(self) -> Wiring:
        """The parts on the common store."""
        return self

    @property
    def opened(self) -> tuple[Wiring, ...]:
        """The parts on every open store, those on the common one first."""
        return self.common, *self.common.stores.values()

    def every(self) -> tuple[Wiring, ...]:
        """Return the same when all stores are open; refuse otherwise."""
        self.require_all_stores()
        return self.opened

    def agents_unopened(self) -> dict[str, StorageError]:
        """Return why the stores of some agents are not open."""
        settings = self.common.settings
        of_agents = {name: settings.store_of(name) for name in settings.agents}
        unopened = self.common.unopened
        return {name: unopened[key] for name, key in of_agents.items() if key in unopened}

    async def has_memory_of(self, agent: str) -> bool:
        from recollect.backends.sql.administration import SqlAgentOverlays

        return await SqlAgentOverlays(self.database).has_memory(agent)

    @cached_property
    def moves(self) -> AgentMover:
        from recollect.assemble.moves import AgentMover

        return AgentMover(self)

    async def _follow(self) -> None:
        await self.moves.follow()

    def require_all_stores(self) -> None:
        for problem in self.common.unopened.values():
            raise StorageError(
                f"An agent's store cannot be opened, so nothing was done: {problem.message}",
                code="store_unopened",
                hint=problem.hint,
            )

    @property
    def all_stores(self) -> tuple[Wiring, ...]:
        return self.opened

    async def close(self) -> Pending:
        """Finish and close everything that was created, and the stores of agents."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        pending = await self._finish_reading()
        for store in self.stores.values():
            await store.close_store()
        await self._close_work()
        await self.understanding.close()
        await self.store.close()
        return pending

    async def _finish_reading(self) -> Pending:
        """Read what was told, for as long as closing may wait; return what is left to read."""
        stores = [parts for parts in self.opened if parts.has_unread]
        if not stores:
            return Pending()
        try:
            for parts in stores:
                await parts.leave_sessions()
            reading = [asyncio.create_task(parts.read_told()) for parts in stores]
            await asyncio.wait(reading, timeout=self.settings.writing.close_seconds)
            for task in reading:
                task.cancel()
            await asyncio.wait(reading)
            pending = sum([await parts.unread() for parts in stores], Pending())
        except RecollectError as problem:
            _log.warning("what was told is read after the next opening: %s", problem)
            return Pending()
        if pending:
            _log.warning(
                "%d turns of %d sessions are still to be read; the next opening goes on with them",
                pending.turns,
                pending.sessions,
            )
        return pending

    @property
    def has_unread(self) -> bool:
        """Whether something was told here that may still have to be read, now or before."""
        is_catching_up = self._catching_up is not None and not self._catching_up.done()
        return is_catching_up or "told" in vars(self)

    async def leave_sessions(self) -> None:
        """Close the open sessions, and have what was told read by whoever comes first."""
        if "working" in vars(self):
            await self.working.sessions.close()
        if "told" in vars(self):
            await self.told.leave_all()

    async def unread(self) -> Pending:
        """Return what was told here and is still to be read."""
        return await self.told.pending() if "told" in vars(self) else Pending()

    async def read_told(self) -> None:
        """Read until nothing is left of what was told here and before."""
        if self._catching_up is not None:
            await asyncio.wait([self._catching_up])
        while await self.unread():
            await self.jobs.rouse(READING)
            if not await self.worker.run_only(READING):
                # Another process reads it, or it failed and is tried again in a moment.
                await asyncio.sleep(_POLL_SECONDS)

    async def _close_work(self) -> None:
        if self._erasing is not None:
            # Opening and closing a memory is enough to finish forgetting.
            await asyncio.wait([self._erasing])
            if not self._erasing.cancelled() and (problem := self._erasing.exception()):
                _log.warning("forgetting goes on when the memory is next opened: %s", problem)
        for task in filter(None, (self._starting, self._catching_up, self._loading)):
            task.cancel()
            await asyncio.wait([task])
        endings: dict[str, Callable[[], Awaitable[object]]] = {
            "late_vectors": lambda: self.late_vectors.settled(),
            "fresh_links": lambda: self.fresh_links.close(),
            "metrics": lambda: self.metrics.close(),
            "keys": lambda: self.keys.close(),
            "usage": lambda: self.usage.close(),
            "worker": lambda: self.worker.stop(),
            "knowledge": lambda: self.knowledge.close(),
            "working": lambda: self.working.close(),
            "recaller": lambda: self.recaller.close(),
            "_larger_reader": lambda: self._close_reader(),
        }
        for name, end in endings.items():
            if name in vars(self):
                await end()
        if "sealer" in vars(self) or self.database.has_written:
            await self.sealer.close()

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
        from recollect.assemble.judge import judging_of
        from recollect.writing.facets import Facets
        from recollect.writing.saver import Saver

        return Saver(
            self.store,
            self.listing,
            self.meaning,
            self.clock,
            self.redactor,
            judging=judging_of(self.settings, self.fresh_links),
            facets=Facets(self.understanding.facets),
        )

    def _link_among(self) -> LinkAmong | None:
        """Return the local judge, if there is one: a language model is too slow for a recall."""
        return self.writing.background.link_among if self.judge.is_local else None

    @cached_property
    def judge(self) -> JudgeChain:
        from recollect.assemble.judge import judge_of

        facets = self.understanding.facets
        return judge_of(self.settings, self.working.models, self.own_judge, facets)

    @cached_property
    def versions(self) -> Versions:
        from recollect.lifecycle.versions import Versions

        return Versions(self.store, self.listing, self.saver, self.clock)

    @cached_property
    def feedback(self) -> FeedbackCounter:
        from recollect.lifecycle.usage import FeedbackCounter

        return FeedbackCounter(self.store, self.listing, self.meter)

    @cached_property
    def _usage_parts(self) -> tuple[Usage, Promoter]:
        from recollect.assemble.upkeep import usage_of

        return usage_of(
            self.settings, self.state, self.upkeep_reader, self.store, self.saver, self.clock
        )

    @cached_property
    def own_state(self) -> SqlState:
        from recollect.backends.sql.state import SqlState

        return SqlState(self.database, self.clock)

    @cached_property
    def state(self) -> State:
        from recollect.backends.split import SplitState

        return SplitState(
            home=self.own_state,
            holding=lambda scope: self.holding(scope).own_state,
            follow=self._follow,
        )

    @cached_property
    def own_upkeep(self) -> SqlUpkeep:
        from recollect.backends.sql.upkeep import SqlUpkeep

        return SqlUpkeep(self.database)

    @cached_property
    def upkeep_reader(self) -> UpkeepReader:
        from recollect.backends.split import SplitUpkeep

        return SplitUpkeep(
            home=self.own_upkeep, holding=lambda scope: self.holding(scope).own_upkeep
        )

    @cached_property
    def own_writes(self) -> SqlWrites:
        from recollect.backends.sql.writes import SqlWrites

        return SqlWrites(self.database)

    @cached_property
    def writes(self) -> Writes:
        from recollect.backends.split import SplitWrites

        return SplitWrites(holding=lambda scope: self.holding(scope).own_writes)

    @cached_property
    def own_archives(self) -> SqlArchives:
        from recollect.backends.sql.archives import SqlArchives

        return SqlArchives(self.database)

    @cached_property
    def archives(self) -> Archives:
        from recollect.backends.split import SplitArchives

        return SplitArchives(
            home=self.own_archives,
            holding=lambda scope: self.holding(scope).own_archives,
        )

    @cached_property
    def own_blobs(self) -> ObjectBlobs:
        from recollect.assemble.stores import contents_of

        return contents_of(self.settings, self.database)

    @cached_property
    def blobs(self) -> Blobs:
        from recollect.backends.split import SplitBlobs

        return SplitBlobs(
            home=self.own_blobs,
            others=lambda: [parts.own_blobs for parts in self.opened if parts is not self],
        )

    @cached_property
    def usage(self) -> Usage:
        return self._usage_parts[0]

    @cached_property
    def observer(self) -> Observer:
        from recollect.assemble.writing import schedule_of
        from recollect.writing.observer import Observer

        schedule = schedule_of(self.settings)
        return Observer(
            self.store, self.late_vectors, self.clock, self.redactor, schedule, self.told
        )

    @cached_property
    def told(self) -> Told:
        from recollect.assemble.writing import schedule_of
        from recollect.writing.told import Told

        return Told(self.jobs, self.writes, schedule_of(self.settings))

    @cached_property
    def profiles(self) -> ProfileReader:
        from recollect.assemble.recall import profiles_of

        return profiles_of(self.settings, self.store, self.clock)

    @cached_property
    def profile_keeper(self) -> ProfileKeeper:
        from recollect.lifecycle.profile import ProfileKeeper

        return ProfileKeeper(self.listing, self.saver, self.profiles, self.clock)

    @cached_property
    def prefetch(self) -> Prefetch:
        from recollect.assemble.recall import prefetch_of

        return prefetch_of(
            self.settings,
            self.recaller,
            self.profiles,
            self.clock,
            self.usage,
            self.upkeep_reader,
            self.meter,
            lambda: self.knowledge,
        )

    @cached_property
    def trail(self) -> AuditService:
        from recollect.assemble.sharing import trail_of

        return trail_of(
            self.settings,
            self.own_audit,
            lambda scope: self.holding(scope).own_audit,
            self.sealer,
            self.database.anchor,
            self.clock,
            self.store,
            self.recaller,
            self.profiles,
            self.usage,
            lambda caller: self.knowledge.scopes(caller),
        )

    @cached_property
    def sealer(self) -> Sealer:
        from recollect.lifecycle.audit import Sealer

        return Sealer(self.own_audit, self.database.anchor, self.jobs)

    @cached_property
    def own_audit(self) -> SqlAudit:
        from recollect.backends.sql.audit_log import SqlAudit

        return SqlAudit(self.database)

    @cached_property
    def working(self) -> WorkingMemory:
        from recollect.assemble.sessions import working_memory

        return working_memory(
            self.settings,
            self.jobs,
            self.state,
            self.store,
            self.archives,
            self.blobs,
            self.clock,
            self.meaning,
            self.observer,
            self.told,
            self.prefetch,
            self.meter,
            self._expect_prompt,
        )

    @cached_property
    def upkeep(self) -> UpkeepServices:
        from recollect.assemble.upkeep import upkeep_services_of

        return upkeep_services_of(
            self.settings,
            self.upkeep_reader,
            self.clock,
            self.store,
            self.listing,
            self.saver,
            lambda scope: self.holding(scope).units,
            self.meaning,
            self.redactor,
            *self._usage_parts,
            self.working,
        )

    @cached_property
    def sharing(self) -> SharingParts:
        from recollect.assemble.sharing import sharing_of

        return sharing_of(
            self.settings,
            self.database,
            # Proposals are in the common store, whoever made them.
            self.own_store,
            self.writing.candidates,
            self.listing,
            self.saver,
            self.meaning,
            self.redactor,
            self.clock,
            self.judge,
        )

    @cached_property
    def writing(self) -> WritingParts:
        from recollect.assemble.judge import judging_of
        from recollect.assemble.writing import writing_of
        from recollect.writing.forget_wishes import ForgetWishes
        from recollect.writing.keep_wishes import KeepWishes

        return writing_of(
            self.settings,
            self.database,
            self.store,
            self.writes,
            lambda scope: self.holding(scope).indexes,
            self.meaning,
            self.clock,
            self.redactor,
            self.working.models,
            self.saver,
            self.judge,
            judging_of(self.settings, self.fresh_links),
            self.fresh_links,
            self.understanding.facets,
            self.meter,
            ForgetWishes(lambda: self.recaller, lambda: self._answering, self.understanding.facets),
            KeepWishes(
                self.store,
                self.writes,
                lambda: self.recaller,
                lambda scopes, session: self.usage.recalled_in(scopes, session),
                self.judge,
                self.clock,
            ),
        )

    @cached_property
    def forgetting(self) -> Forgetting:
        from recollect.assemble.upkeep import forgetting_of

        return forgetting_of(
            self.settings,
            self.database,
            self.clock,
            self.own_store,
            Listing(self.own_store, self.clock),
            self.usage,
            self.own_recaller,
            self.profiles,
            self.working.sessions,
            self.understanding.forget_texts,
            self.knowledge.own_document,
        )

    @cached_property
    def forgetting_places(self) -> ForgettingPlaces:
        from recollect.erasure.several_stores import ForgettingPlaces

        return ForgettingPlaces(
            self.listing,
            lambda scope: self.holding(scope).forgetting,
            self.common.forgetting,
            lambda: [parts.forgetting for parts in self.every()],
            lambda: self.moves.known(),
        )

    @cached_property
    def embedding(self) -> EmbeddingWork:
        from recollect.assemble.background import embedding_work

        return embedding_work(
            self.database,
            self.own_store,
            self.meaning,
            self.jobs,
            self.late_vectors,
            self._stored_units,
        )

    async def _stored_units(self, owner: Archive | Document) -> OwnerUnits | None:
        """Return the units of something whose text is stored outside the database."""
        from recollect.domain.archive import Archive

        if isinstance(owner, Archive):
            return await self.working.indexer.units(owner)
        return await self.knowledge.ingester.units(owner)

    @cached_property
    def knowledge(self) -> KnowledgeBase:
        from recollect.assemble.sessions import knowledge_base

        is_rewriting = self.settings.knowledge.rewrite and self.settings.tiers.classify
        return knowledge_base(
            self.settings,
            self.database,
            self.clock,
            self.units,
            self.vectors,
            self.meaning,
            self.redactor,
            self.working.models.of("classify") if is_rewriting else None,
            self.working.models.of("summarise"),
            self._larger_reader,
        )

    @cached_property
    def reindexer(self) -> Reindexer:
        from recollect.backends.sql.index_rebuild import SqlIndexGenerations
        from recollect.embedding.reindex import Reindexer

        return Reindexer(SqlIndexGenerations(self.database), self._stored_units, self.jobs)

    @cached_property
    def renewal(self) -> ReindexPlaces:
        from recollect.embedding.several_stores import ReindexPlaces

        return ReindexPlaces(lambda: [parts.own_renewal for parts in self.every()])

    @cached_property
    def own_renewal(self) -> ReindexService:
        from recollect.embedding.reindex import ReindexService

        return ReindexService(
            self.embedding.serving,
            self.working.indexer.reindex,
            self.reindexer,
            self.embedding.reembedder,
            self.meaning,
            self.jobs,
            self.worker.run_now,
        )

    @cached_property
    def figures(self) -> StatisticsCollector:
        from recollect.lifecycle.statistics import StatisticsCollector

        return StatisticsCollector(
            self.store,
            self.jobs,
            self.maintenance,
            self.units,
            self.vectors,
            self.recaller,
            self.meaning,
            self.understanding.cache_stats,
            self.working.sessions.summary_cache,
            self._model_usage,
            lambda: self.judge,
            self.metrics,
        )

    def _model_usage(self) -> tuple[ModelUsage, ...]:
        return (*self._own_model_usage(), *self.understanding.usage())

    def _own_model_usage(self) -> tuple[ModelUsage, ...]:
        """Return what models did for this store alone; the embedder serves all stores."""
        reader = self._larger_reader
        return (*self.working.models.usage(), *(() if reader is None else (reader.usage(),)))

    @cached_property
    def own_transfer(self) -> SqlTransfer:
        from recollect.backends.sql.transfer import SqlTransfer

        return SqlTransfer(self.database, self.clock)

    @cached_property
    def exporter(self) -> Exporter:
        from recollect.backends.split import SplitTransfer
        from recollect.transfer.exporter import Exporter

        transfer = SplitTransfer(
            home=self.own_transfer,
            common=self.common.own_transfer,
            holding=lambda scope: self.holding(scope).own_transfer,
            every=lambda: [parts.own_transfer for parts in self.every()],
        )
        return Exporter(transfer, self.working.blobs, self.clock)

    @cached_property
    def importer(self) -> Importer:
        from recollect.transfer.importer import Importer

        return Importer(
            self.own_transfer,
            self.embedding.filler,
            self.own_archives,
            self.own_blobs,
            self.redactor,
            self.holds,
        )

    @cached_property
    def chat_importer(self) -> ChatImporter:
        from recollect.transfer.chat_import import ChatImporter

        return ChatImporter(self.store, self.observer, self.clock)

    @cached_property
    def backups(self) -> Backups:
        from recollect.backends.objects import open_blobs
        from recollect.transfer.backup import Backups

        return Backups(self.maintenance, self.working.blobs, open_blobs, self._agents_elsewhere)

    def _agents_elsewhere(self) -> list[str]:
        """Return the agents whose memory is in another store than this one."""
        settings = self.common.settings
        here = [key for key, parts in self.common.stores.items() if parts is self]
        its = here[0] if here else settings.store_of(None)
        return sorted(it for it in settings.agents if settings.store_of(it) != its)

    @cached_property
    def worker(self) -> Worker:
        from recollect.assemble.background import worker_of

        return worker_of(self)

    @cached_property
    def job_desk(self) -> JobControl:
        from recollect.backends.split import SplitJobReports
        from recollect.lifecycle.jobs import JobControl

        return JobControl(
            SplitJobReports(every=lambda: [parts.jobs for parts in self.every()]),
            self.clock,
            lambda: self.renewal.progress(),
            lambda document: self.knowledge.ingester.progress(document),
            lambda agent: self.moves.progress(agent),
        )

    @cached_property
    def directory(self) -> WorkspaceDirectory:
        from recollect.backends.split_directory import SplitDirectory
        from recollect.lifecycle.workspace_directory import WorkspaceDirectory

        split = SplitDirectory(
            holding=lambda scope: self.holding(scope).own_directory,
            of_agent=lambda agent: self.of_agent(agent).own_directory,
            opened=lambda: [parts.own_directory for parts in self.opened],
            unopened=self.agents_unopened,
        )
        return WorkspaceDirectory(split, self.store, self.clock)

    @cached_property
    def own_directory(self) -> SqlDirectory:
        from recollect.backends.sql.directory import SqlDirectory

        return SqlDirectory(self.database)

    @cached_property
    def items(self) -> ItemKeeper:
        from recollect.backends.sql.items import SqlItems
        from recollect.lifecycle.items import ItemKeeper

        return ItemKeeper(
            SqlItems(self.database), self.units, self.meaning, self.redactor, self.clock
        )

    @cached_property
    def bulk(self) -> Bulk:
        from recollect.lifecycle.versions import Bulk

        return Bulk(self.saver, self.versions, self.clock)

    @cached_property
    def metrics(self) -> MetricsKeeper:
        from recollect.backends.sql.administration import SqlMetricHours
        from recollect.lifecycle.statistics import MetricsKeeper

        hours = SqlMetricHours(self.database)
        return MetricsKeeper(
            self.meter,
            hours,
            self.clock,
            self._collect_totals,
            lambda: [parts.metrics for parts in self.opened],
        )

    def _collect_totals(self, meter: Meter) -> None:
        """Add what other services have counted since they were created."""
        caches: dict[str, CacheStats] = {}
        if "recaller" in vars(self):
            caches["recall_cache"] = self.recaller.stats()
        # All stores have one embedder, which is counted once.
        is_common = self.common is self
        if is_common:
            caches["embedding_cache"] = self.understanding.cache_stats()
        if "working" in vars(self):
            caches["summary_cache"] = self.working.sessions.summary_cache()
            for usage in self._model_usage() if is_common else self._own_model_usage():
                meter.set_total("model_calls", usage.calls, usage.task)
                meter.set_total("model_failures", usage.failures, usage.task)
                tokens = usage.input_tokens + usage.output_tokens
                meter.set_total("model_tokens", tokens, usage.task)
        for name, stats in caches.items():
            meter.set_total(name, stats.hits, "hit")
            meter.set_total(name, stats.misses, "miss")

    @cached_property
    def agent_overlays(self) -> AgentOverlays:
        from recollect.backends.sql.administration import SqlAgentOverlays

        return SqlAgentOverlays(self.database)

    @cached_property
    def keys(self) -> KeyService:
        from recollect.backends.sql.administration import SqlKeys
        from recollect.lifecycle.keys import KeyService

        return KeyService(SqlKeys(self.database), self.clock)

    @cached_property
    def once(self) -> IdempotentWork:
        from recollect.backends.sql.writes import SqlKeptResults
        from recollect.lifecycle.idempotency import IdempotentWork

        return IdempotentWork(SqlKeptResults(self.database, self.clock), self.store)

    @cached_property
    def following(self) -> ChangeFeed:
        from recollect.backends.split import SplitChangeLog
        from recollect.lifecycle.change_feed import ChangeFeed

        log = SplitChangeLog(holding=lambda scope: self.holding(scope).own_changes)
        return ChangeFeed(log, self.store)

    @cached_property
    def own_changes(self) -> SqlChangeLog:
        from recollect.backends.sql.writes import SqlChangeLog

        return SqlChangeLog(self.database)
