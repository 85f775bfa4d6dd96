"""The services of an open memory, each created on first use.

A program that asks one question starts several times faster without the extraction rules, the
export schema and everything else that it never uses. That is why most modules are imported here, in
the function that needs them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from recollect.assemble.backend import Backend
from recollect.assemble.lifetime import Lifetime
from recollect.assemble.router import Router
from recollect.assemble.several_stores import STORE
from recollect.domain.meter import Meter
from recollect.recall.listing import Listing
from recollect.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.agents.overlays import SqlAgentOverlays
    from recollect.assemble.background import EmbeddingWork
    from recollect.assemble.moves import AgentMover
    from recollect.assemble.previews import Previews
    from recollect.assemble.redis import Redis
    from recollect.assemble.sharing import SharingParts
    from recollect.assemble.understanding import Understanding
    from recollect.assemble.upkeep import UpkeepServices
    from recollect.assemble.working_memory import WorkingMemory
    from recollect.audit.service import AuditService, Sealer
    from recollect.backends.redis.mirror import RedisMirror
    from recollect.backends.sql.archives import SqlArchives
    from recollect.backends.sql.database import Database
    from recollect.directory.service import WorkspaceDirectory
    from recollect.domain.archive import Archive
    from recollect.domain.caches import CacheStats
    from recollect.domain.document import Document
    from recollect.domain.model_tier import ModelUsage
    from recollect.domain.record import Record
    from recollect.domain.scope import Scope
    from recollect.domain.turn import Turn
    from recollect.domain.unit import OwnerUnits
    from recollect.embedding.late_vectors import LateVectors, VectorGaps
    from recollect.embedding.reindex import Reindexer, ReindexService
    from recollect.embedding.service import EmbeddingService
    from recollect.erasure.forgetting import Forgetting
    from recollect.followers.following import Following
    from recollect.followers.vectors import VectorStore
    from recollect.health.figures import SqlHealth
    from recollect.health.statistics import MetricsKeeper, StatisticsCollector
    from recollect.items.service import ItemKeeper
    from recollect.jobs.worker import JobControl, Worker
    from recollect.keys.service import KeyService
    from recollect.knowledge.base import KnowledgeBase
    from recollect.knowledge.collections import ReadableCollections
    from recollect.knowledge.rows import SqlDocuments
    from recollect.models.language.tiers import Tiers
    from recollect.ports.archives import Blobs
    from recollect.ports.copies import Copies
    from recollect.ports.judge import Judge
    from recollect.ports.runtime import Clock
    from recollect.ports.state import State
    from recollect.ports.store import Store
    from recollect.ports.units import VectorIndex
    from recollect.recall.answer_model import AnswerModel
    from recollect.recall.answering import Answering
    from recollect.recall.cache import CachedRecaller
    from recollect.recall.conflicts import SqlConflicts
    from recollect.recall.fresh_links import FreshLinks, LinkAmong
    from recollect.recall.prefetch import Prefetch
    from recollect.recall.profile import ProfileReader
    from recollect.records.change_feed import ChangeFeed
    from recollect.records.graph import NamesOfRecords
    from recollect.records.profile import ProfileKeeper
    from recollect.records.usage import FeedbackCounter, Usage
    from recollect.records.versions import Bulk, Versions
    from recollect.retention.rows import SqlRetention
    from recollect.retention.short_term import Promoter
    from recollect.spool.service import Spool
    from recollect.transfer.backup import Backups
    from recollect.transfer.chat_import import ChatImporter
    from recollect.transfer.exporter import Exporter
    from recollect.transfer.importer import Importer
    from recollect.transfer.migration import Migration
    from recollect.writing.background_judge import BackgroundJudge
    from recollect.writing.candidates import Candidates, Indexes
    from recollect.writing.idempotency import IdempotentWork
    from recollect.writing.judges import JudgeChain
    from recollect.writing.observer import Observer
    from recollect.writing.parts import WritingParts
    from recollect.writing.redaction import Redactor
    from recollect.writing.rows import SqlWrites
    from recollect.writing.saver import Saver
    from recollect.writing.told import Told


class Wiring:
    """The services on one database."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        database: Database,
        understanding: Understanding,
        judge: Judge | None = None,
        router: Router[Wiring] | None = None,
        redis: Redis | None = None,
    ) -> None:
        self.redis = redis
        self.settings = settings
        self.declared_agents = settings.agents
        self.clock = clock
        self.database = database
        self.understanding = understanding
        self.own_judge = judge
        self.router = router or Router(self, settings, lambda: self.moves.follow())
        # What is in this store alone; a scope may be held by another one.
        self.here = Backend(settings, clock, database, redis)
        self.store: Store = self.router.route(self, lambda parts: parts.here.store, STORE)
        self.jobs = self.here.jobs
        self.meter = Meter()
        self.listing = Listing(self.store, clock, self._waiting)
        self.lifetime = Lifetime(self)
        if redis is not None:
            redis.belong_to(self.router.common.database)
            self.here.store.on_commit = lambda committed: redis.tell_written(committed.versions)

    @property
    def embedding(self) -> EmbeddingService:
        return self.understanding.embedding

    @cached_property
    def spool(self) -> Spool | None:
        """Where writes wait while the database server is away; one for all stores."""
        common = self.router.common
        if common is not self:
            return common.spool
        if self.database.outage is None or self.settings.storage.spool is False:
            return None
        from recollect.assemble.spool import spool_of

        return spool_of(self)

    def _waiting(self, scopes: Sequence[Scope]) -> Sequence[Record | Turn]:
        return () if self.spool is None else self.spool.items(scopes)

    @cached_property
    def mirror(self) -> RedisMirror | None:
        """Return the mirror of this store in Redis, if there is a server."""
        if self.redis is None:
            return None
        return self.redis.mirror(self.database, lambda it: self.router.holding(it) is self)

    @cached_property
    def mirroring(self) -> Following | None:
        """Return what keeps it equal to this store."""
        if self.redis is None or self.mirror is None:
            return None
        return self.redis.following(self.mirror, self.database, self.jobs)

    @cached_property
    def late_vectors(self) -> LateVectors:
        from recollect.embedding.late_vectors import LateVectors

        return LateVectors(self.embedding, self.here.store, self.jobs)

    @cached_property
    def fresh_links(self) -> FreshLinks:
        from recollect.recall.fresh_links import FreshLinks

        patience = self.settings.recall.patience
        return FreshLinks(self.jobs, self.clock, self._link_among, patience)

    @property
    def indexes(self) -> Indexes:
        return self.here.units, self.vectors

    @cached_property
    def vector_stores(self) -> tuple[VectorStore, ...]:
        """Return the vector stores of large scopes that the settings name."""
        if not self.settings.vector_stores:
            return ()
        from recollect.assemble.vectors import vector_stores_of

        return vector_stores_of(self.settings, self.database, self.jobs, self.clock)

    @cached_property
    def vectors(self) -> VectorIndex:
        """Return the index of vectors: of this process, or with the vector stores."""
        if not self.vector_stores:
            return self.here.vectors
        from recollect.followers.vector_index import FollowedVectorIndex

        return FollowedVectorIndex(
            self.here.vectors,
            self.vector_stores,
            fewest_units=self.settings.storage.vectors_from,
            most_exact=self.settings.storage.vectors_exact,
        )

    @property
    def followings(self) -> tuple[Following, ...]:
        """Return what keeps the derived stores of this database up to date."""
        vectors = (it.following for it in self.vector_stores)
        return tuple(filter(None, (*vectors, self.mirroring)))

    @property
    def copies(self) -> list[Copies]:
        """Return what forgetting has to erase beside the database."""
        vectors = (it.copies for it in self.vector_stores)
        return [it for it in (*vectors, self.mirror) if it is not None]

    @cached_property
    def _larger_reader(self) -> AnswerModel | None:
        from recollect.assemble.recall import larger_reader

        return larger_reader(self.settings)

    async def close_reader(self) -> None:
        if self._larger_reader is not None:
            await self._larger_reader.close()

    @cached_property
    def answering(self) -> Answering | None:
        from recollect.assemble.recall import answering_of

        return answering_of(self.settings, self._larger_reader)

    @cached_property
    def vector_gaps(self) -> VectorGaps:
        from recollect.embedding.late_vectors import VectorGaps

        return VectorGaps(self.embedding, self.jobs, self.clock)

    @cached_property
    def store_recaller(self) -> CachedRecaller:
        from recollect.assemble.recall import answer_mark, recaller_of
        from recollect.recall.intent_model import IntentModel

        here, redis, intents = self.here, self.redis, None
        if self.settings.tiers.classify:
            intents = IntentModel(lambda: self.models.of("classify"), self.redactor.note)
        shared = None if redis is None else redis.answers(here.store, lambda: answer_mark(self))
        return recaller_of(
            self, here.store, here.units, self.vectors, self.meter, intents, shared, self.spool
        )

    @cached_property
    def recaller(self) -> CachedRecaller:
        from recollect.assemble.several_stores import recalling

        verbs = recalling(self.settings.recall.limit, self.settings.recall.gap)
        return self.router.route(self, lambda parts: parts.store_recaller, verbs)

    @property
    def every_following(self) -> list[Following]:
        """Return what keeps the derived stores of all open databases up to date."""
        return [following for parts in self.router.opened for following in parts.followings]

    async def close_mirroring(self) -> None:
        if self.mirroring is not None:
            await self.mirroring.close()

    def let_go_of_caches(self) -> None:
        """Drop what is kept beside the database, because something of it may be forgotten."""
        if "store_recaller" in vars(self):
            self.store_recaller.clear()
        if "profiles" in vars(self):
            self.profiles.clear()
        self.understanding.forget_texts()

    def try_settings(self) -> None:
        """Create what the settings name for sessions, so that errors show when memory is opened."""
        _ = self.settings.vector_stores
        wanted, default = self.settings, Settings()
        parts = ("models", "notes", "session", "archive")
        if any(getattr(wanted, part) != getattr(default, part) for part in parts):
            _ = self.working
        if wanted.reranker != default.reranker:
            _ = self._larger_reader

    async def settle(self) -> None:
        """Write what this process has yet to write here."""
        if "late_vectors" in vars(self):
            await self.late_vectors.settled()
        if "_usage_parts" in vars(self):
            await self.usage.flush()

    async def has_memory_of(self, agent: str) -> bool:
        from recollect.agents.overlays import SqlAgentOverlays

        return await SqlAgentOverlays(self.database).has_memory(agent)

    def on_store_of_agents(self, settings: Settings, database: Database) -> Wiring:
        """Return the services on a store that holds the memory of some agents."""
        return AgentWiring(settings, database, self)

    @cached_property
    def moves(self) -> AgentMover:
        from recollect.assemble.moves import AgentMover

        return AgentMover(self)

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
            self.embedding,
            self.clock,
            self.redactor,
            judging=judging_of(self.settings, self.fresh_links),
            facets=Facets(self.understanding.facets),
            spool=self.spool,
        )

    def _link_among(self) -> LinkAmong | None:
        """Return the local judge, if there is one: a language model is too slow for a recall."""
        return self.background_judge.link_among if self.judge.is_local else None

    @cached_property
    def candidates(self) -> Candidates:
        from recollect.writing.candidates import Candidates

        each = self.settings.writing.candidates
        return Candidates(self.store, lambda scope: self.router.holding(scope).indexes, each=each)

    @cached_property
    def background_judge(self) -> BackgroundJudge:
        from recollect.writing.background_judge import BackgroundJudge

        return BackgroundJudge(
            self.store,
            self.embedding,
            self.candidates,
            self.judge,
            self.clock,
            self.fresh_links,
            self.understanding.facets,
        )

    @cached_property
    def judge(self) -> JudgeChain:
        from recollect.assemble.judge import judge_of

        return judge_of(self)

    @cached_property
    def versions(self) -> Versions:
        from recollect.assemble.sharing import parties_of
        from recollect.records.versions import Versions

        parties = parties_of(self.settings)
        return Versions(self.store, self.listing, self.saver, parties, self.clock)

    @cached_property
    def feedback(self) -> FeedbackCounter:
        from recollect.records.usage import FeedbackCounter

        return FeedbackCounter(self.store, self.listing, self.meter)

    @cached_property
    def _usage_parts(self) -> tuple[Usage, Promoter]:
        from recollect.assemble.upkeep import usage_of

        return usage_of(self)

    @cached_property
    def state(self) -> State:
        return self.router.route(self, lambda parts: parts.here.state)

    @cached_property
    def retention_rows(self) -> SqlRetention:
        from recollect.assemble.several_stores import RETENTION

        return self.router.route(self, lambda parts: parts.here.retention, RETENTION)

    @cached_property
    def conflict_rows(self) -> SqlConflicts:
        from recollect.assemble.several_stores import CONFLICTS

        return self.router.route(self, lambda parts: parts.here.conflicts, CONFLICTS)

    @cached_property
    def health_rows(self) -> SqlHealth:
        from recollect.assemble.several_stores import HEALTH

        return self.router.route(self, lambda parts: parts.here.health, HEALTH)

    @cached_property
    def writes(self) -> SqlWrites:
        from recollect.assemble.several_stores import WRITES

        return self.router.route(self, lambda parts: parts.here.writes, WRITES)

    @cached_property
    def archives(self) -> SqlArchives:
        from recollect.assemble.several_stores import ARCHIVES

        return self.router.route(self, lambda parts: parts.here.archives, ARCHIVES)

    @cached_property
    def blobs(self) -> Blobs:
        from recollect.assemble.several_stores import BLOBS

        return self.router.route(self, lambda parts: parts.here.blobs, BLOBS)

    @cached_property
    def usage(self) -> Usage:
        return self._usage_parts[0]

    @cached_property
    def observer(self) -> Observer:
        from recollect.assemble.writing import schedule_of
        from recollect.writing.observer import Observer

        schedule = schedule_of(self.settings)
        return Observer(
            self.store,
            self.late_vectors,
            self.clock,
            self.redactor,
            schedule,
            self.told,
            self.spool,
        )

    @cached_property
    def told(self) -> Told:
        from recollect.assemble.writing import schedule_of
        from recollect.writing.told import Told

        return Told(self.jobs, self.writes, schedule_of(self.settings))

    @cached_property
    def profiles(self) -> ProfileReader:
        from recollect.assemble.recall import profiles_of

        return profiles_of(self, self.store)

    @cached_property
    def profile_keeper(self) -> ProfileKeeper:
        from recollect.records.profile import ProfileKeeper

        return ProfileKeeper(self.listing, self.saver, self.profiles, self.clock)

    @cached_property
    def prefetch(self) -> Prefetch:
        from recollect.assemble.recall import prefetch_of

        return prefetch_of(self, self.recaller, self.profiles, self.meter)

    @cached_property
    def names(self) -> NamesOfRecords:
        from recollect.records.graph import NamesOfRecords

        return NamesOfRecords(self.store, self.clock)

    @cached_property
    def previews(self) -> Previews:
        from recollect.assemble.previews import Previews

        return Previews(self)

    @cached_property
    def audit(self) -> AuditService:
        from recollect.assemble.sharing import trail_of

        return trail_of(self)

    @cached_property
    def sealer(self) -> Sealer:
        from recollect.audit.service import Sealer

        return Sealer(self.here.audit, self.database.anchor, self.jobs)

    @cached_property
    def models(self) -> Tiers:
        from recollect.assemble.sessions import model_choice
        from recollect.models.language.tiers import Tiers

        return Tiers(model_choice(self.settings), self.clock)

    @cached_property
    def working(self) -> WorkingMemory:
        from recollect.assemble.sessions import working_memory

        return working_memory(self)

    @cached_property
    def upkeep(self) -> UpkeepServices:
        from recollect.assemble.upkeep import upkeep_services_of

        return upkeep_services_of(self, *self._usage_parts)

    @cached_property
    def sharing(self) -> SharingParts:
        from recollect.assemble.sharing import sharing_of

        return sharing_of(self)

    @cached_property
    def writing(self) -> WritingParts:
        from recollect.assemble.writing import writing_of

        return writing_of(self)

    @cached_property
    def store_forgetting(self) -> Forgetting:
        from recollect.assemble.upkeep import forgetting_of

        return forgetting_of(self)

    @cached_property
    def forgetting(self) -> Forgetting:
        from recollect.assemble.several_stores import forgetting

        verbs = forgetting(self.listing)
        return self.router.route(self, lambda parts: parts.store_forgetting, verbs)

    @cached_property
    def embedding_work(self) -> EmbeddingWork:
        from recollect.assemble.background import embedding_work

        return embedding_work(self, self._stored_units)

    async def _stored_units(self, owner: Archive | Document) -> OwnerUnits | None:
        """Return the units of something whose text is stored outside the database."""
        from recollect.domain.archive import Archive

        if isinstance(owner, Archive):
            return await self.working.indexer.units(owner)
        return await self.knowledge.ingester.units(owner)

    @cached_property
    def documents(self) -> SqlDocuments:
        from recollect.knowledge.rows import SqlDocuments

        return SqlDocuments(self.router.common.database)

    @cached_property
    def collections(self) -> ReadableCollections:
        from recollect.knowledge.collections import ReadableCollections

        return ReadableCollections(self.documents)

    @cached_property
    def knowledge(self) -> KnowledgeBase:
        from recollect.assemble.sessions import knowledge_base

        return knowledge_base(self, self._larger_reader)

    @cached_property
    def reindexer(self) -> Reindexer:
        from recollect.embedding.index_rebuild import SqlIndexGenerations
        from recollect.embedding.reindex import Reindexer

        return Reindexer(SqlIndexGenerations(self.database), self._stored_units, self.jobs)

    @cached_property
    def reindex(self) -> ReindexService:
        from recollect.assemble.several_stores import REINDEX

        return self.router.route(self, lambda parts: parts.store_reindex, REINDEX)

    @cached_property
    def store_reindex(self) -> ReindexService:
        from recollect.embedding.reindex import ReindexService

        return ReindexService(
            self.embedding_work.serving,
            self.working.indexer.reindex,
            self.reindexer,
            self.embedding_work.reembedder,
            self.embedding,
            self.jobs,
            self.worker.run_now,
        )

    @cached_property
    def statistics(self) -> StatisticsCollector:
        from recollect.health.statistics import StatisticsCollector

        return StatisticsCollector(
            self.store,
            self.jobs,
            self.here.maintenance,
            self.here.units,
            self.vectors,
            self.recaller,
            self.embedding,
            self.understanding.cache_stats,
            self.working.sessions.summary_cache,
            self._model_usage,
            lambda: self.judge,
            self.metrics,
            lambda: None if self.redis is None else self.redis.stats(),
            lambda: self.every_following,
            self.spool,
        )

    def _model_usage(self) -> tuple[ModelUsage, ...]:
        return (*self._own_model_usage(), *self.understanding.usage())

    def _own_model_usage(self) -> tuple[ModelUsage, ...]:
        """Return what models did for this store alone; the embedder serves all stores."""
        reader = self._larger_reader
        return (*self.models.usage(), *(() if reader is None else (reader.usage(),)))

    @cached_property
    def exporter(self) -> Exporter:
        from recollect.assemble.several_stores import TRANSFER
        from recollect.transfer.exporter import Exporter

        transfer = self.router.route(self, lambda parts: parts.here.transfer, TRANSFER)
        return Exporter(transfer, self.working.blobs, self.clock)

    @cached_property
    def importer(self) -> Importer:
        from recollect.transfer.importer import Importer

        return Importer(
            self.here.transfer,
            self.embedding_work.filler,
            self.here.archives,
            self.here.blobs,
            self.redactor,
            lambda scope: self.router.holding(scope) is self,
        )

    @cached_property
    def chat_importer(self) -> ChatImporter:
        from recollect.transfer.chat_import import ChatImporter

        return ChatImporter(self.store, self.observer, self.clock)

    @cached_property
    def migration(self) -> Migration:
        from recollect.transfer.migration import Migration

        def holding(scope: Scope) -> tuple[Importer, ChatImporter]:
            parts = self.router.holding(scope)
            return parts.importer, parts.chat_importer

        return Migration(holding, self.clock)

    @cached_property
    def backups(self) -> Backups:
        from recollect.backends.objects import open_blobs
        from recollect.transfer.backup import Backups

        return Backups(
            self.here.maintenance, self.working.blobs, open_blobs, self._agents_elsewhere
        )

    def _agents_elsewhere(self) -> list[str]:
        """Return the agents whose memory is in another store than this one."""
        settings = self.router.common.settings
        here = [key for key, parts in self.router.stores.items() if parts is self]
        its = here[0] if here else settings.store_of(None)
        return sorted(agent for agent in settings.agents if settings.store_of(agent) != its)

    @cached_property
    def worker(self) -> Worker:
        from recollect.assemble.background import worker_of

        return worker_of(self)

    @cached_property
    def job_control(self) -> JobControl:
        from recollect.assemble.several_stores import JOBS
        from recollect.jobs.worker import JobControl

        return JobControl(
            self.router.route(self, lambda parts: parts.jobs, JOBS),
            self.clock,
            lambda: self.reindex.progress(),
            lambda document: self.knowledge.ingester.progress(document),
            lambda agent: self.moves.progress(agent),
        )

    @cached_property
    def directory(self) -> WorkspaceDirectory:
        from recollect.assemble.directories import DIRECTORY
        from recollect.directory.service import WorkspaceDirectory

        directory = self.router.route(self, lambda parts: parts.here.directory, DIRECTORY)
        return WorkspaceDirectory(directory, self.store, self.clock)

    @cached_property
    def items(self) -> ItemKeeper:
        from recollect.items.rows import SqlItems
        from recollect.items.service import ItemKeeper

        return ItemKeeper(
            SqlItems(self.database), self.here.units, self.embedding, self.redactor, self.clock
        )

    @cached_property
    def bulk(self) -> Bulk:
        from recollect.records.versions import Bulk

        return Bulk(self.saver, self.versions, self.clock)

    @cached_property
    def metrics(self) -> MetricsKeeper:
        from recollect.health.metric_hours import SqlMetricHours
        from recollect.health.statistics import MetricsKeeper

        hours = SqlMetricHours(self.database)
        return MetricsKeeper(
            self.meter,
            hours,
            self.clock,
            self._collect_totals,
            lambda: [parts.metrics for parts in self.router.opened],
        )

    def _collect_totals(self, meter: Meter) -> None:
        """Add what other services have counted since they were created."""
        caches: dict[str, CacheStats] = {}
        if "store_recaller" in vars(self):
            caches["recall_cache"] = self.store_recaller.stats()
        # All stores have one embedder, which is counted once.
        is_common = self.router.common is self
        if is_common:
            caches["embedding_cache"] = self.understanding.cache_stats()
        if "working" in vars(self):
            caches["summary_cache"] = self.working.sessions.summary_cache()
            for usage in self._model_usage() if is_common else self._own_model_usage():
                meter.set_total("model_calls", usage.calls, usage.task)
                meter.set_total("model_failures", usage.failures, usage.task)
                tokens = usage.input_tokens + usage.output_tokens
                meter.set_total("model_tokens", tokens, usage.task)
        if self.redis is not None and is_common:
            redis = self.redis.stats()
            caches["shared_recall_cache"] = redis.recall_cache
            caches["shared_embedding_cache"] = redis.embedding_cache
            caches["mirrored_state"] = redis.state
            meter.set_total("redis_calls", redis.calls)
            meter.set_total("redis_failures", redis.failures)
            meter.set_total("redis_away_seconds", redis.away_seconds)
        for name, stats in caches.items():
            meter.set_total(name, stats.hits, "hit")
            meter.set_total(name, stats.misses, "miss")

    @cached_property
    def agent_overlays(self) -> SqlAgentOverlays:
        from recollect.agents.overlays import SqlAgentOverlays

        return SqlAgentOverlays(self.database)

    @cached_property
    def keys(self) -> KeyService:
        from recollect.keys.rows import SqlKeys
        from recollect.keys.service import KeyService

        return KeyService(SqlKeys(self.database), self.clock)

    @cached_property
    def once(self) -> IdempotentWork:
        from recollect.writing.idempotency import IdempotentWork, SqlKeptResults

        return IdempotentWork(SqlKeptResults(self.database, self.clock), self.store)

    @cached_property
    def following(self) -> ChangeFeed:
        from recollect.records.change_feed import ChangeFeed

        return ChangeFeed(self.router.route(self, lambda parts: parts.here.changes), self.store)


class AgentWiring(Wiring):
    """The services on the store of one or several agents.

    It holds only the memory of these agents. The records of users, shared records, documents, keys
    and the settings of agents are in the common store, and are read from there.
    """

    def __init__(self, settings: Settings, database: Database, common: Wiring) -> None:
        super().__init__(
            settings,
            common.clock,
            database,
            common.understanding,
            common.own_judge,
            router=common.router,
            redis=common.redis,
        )
        self.declared_agents = common.declared_agents

    @cached_property
    def moves(self) -> AgentMover:
        return self.router.common.moves

    @cached_property
    def sharing(self) -> SharingParts:
        return self.router.common.sharing

    @cached_property
    def knowledge(self) -> KnowledgeBase:
        return self.router.common.knowledge

    @cached_property
    def keys(self) -> KeyService:
        return self.router.common.keys

    @cached_property
    def agent_overlays(self) -> SqlAgentOverlays:
        return self.router.common.agent_overlays
