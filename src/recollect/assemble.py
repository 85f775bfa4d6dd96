"""Settings → a wired Memory. The only place where the parts meet."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from recollect.assemble_sessions import token_counter, working_memory
from recollect.backends.local.catalogue import Catalogue
from recollect.backends.local.keyword_index import LocalKeywordIndex
from recollect.backends.local.vector_index import LocalVectorIndex
from recollect.backends.sql import backup
from recollect.backends.sql.database import Database
from recollect.backends.sql.jobs import SqlJobs
from recollect.backends.sql.maintenance import SqlMaintenance
from recollect.backends.sql.migrate import bring_up_to_date
from recollect.backends.sql.store import SqlStore
from recollect.backends.sql.transfer import SqlTransfer
from recollect.domain.context import ContextOptions
from recollect.domain.diagnosis import Diagnosis
from recollect.domain.embedder import EmbedderCheck, EmbedderChoice, EmbedderState
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.scope import Caller, Scope
from recollect.domain.stats import CacheStats
from recollect.errors import NotAvailable, RecollectError, SettingsError, StorageError
from recollect.lifecycle.doctor import Doctor, IndexBudgets, nothing_stored
from recollect.lifecycle.embedding import VectorFiller
from recollect.lifecycle.exporting import Exporter
from recollect.lifecycle.feedback import FeedbackTaker
from recollect.lifecycle.figures import Figures
from recollect.lifecycle.importing import Importer
from recollect.lifecycle.reindex import REINDEX, Reindexer
from recollect.lifecycle.surroundings import (
    Places,
    embedder_finding,
    look_around,
    unusable_settings,
)
from recollect.lifecycle.usage import Usage
from recollect.lifecycle.versions import Versions
from recollect.lifecycle.worker import Worker
from recollect.memory import Memory
from recollect.models import catalogue, minilm
from recollect.models.embedding_cache import CachedEmbedder
from recollect.parts import Parts
from recollect.ports.clock import Clock, SystemClock
from recollect.ports.embedder import Embedder
from recollect.ports.units import UnitIndex
from recollect.ports.vectors import VectorIndex
from recollect.recall.cache import CachedRecaller, CacheOptions
from recollect.recall.fuse import Weights
from recollect.recall.linked import EntityPath
from recollect.recall.listing import Listing
from recollect.recall.meaning import EMBED, Meaning
from recollect.recall.paths import KeywordPath, RecentPath, VectorPath
from recollect.recall.paths import Path as RecallPath
from recollect.recall.pipeline import Recaller, RecallOptions
from recollect.recall.prefetch import Prefetch, PrefetchOptions
from recollect.recall.rerank import RerankOptions
from recollect.recall.scan import Scan
from recollect.recall.surroundings import SurroundingsOptions
from recollect.recall.timely import TimePath
from recollect.settings import Settings, settings_file
from recollect.settings.sections import RecallSettings
from recollect.writing.observe import Observer
from recollect.writing.save import Saver

_MEGABYTE = 1 << 20


async def assemble(
    where: str | Path | Settings | None = None,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
) -> Memory:
    """Open the database, bring it up to date and put everything together."""
    settings = _settings(where)
    clock = clock or SystemClock()
    database = await asyncio.to_thread(_open_database, settings)
    store = SqlStore(database, clock)
    jobs = SqlJobs(database, clock)
    catalogue = Catalogue(settings.recall.index_memory_mb * _MEGABYTE)
    units = LocalKeywordIndex(database, catalogue, settings.recall.index_memory_mb * _MEGABYTE)
    vectors = LocalVectorIndex(database, catalogue, settings.recall.vector_memory_mb * _MEGABYTE)
    meaning, embedding_cache = await asyncio.to_thread(_meaning, settings, clock, embedder)
    listing = Listing(store, clock)
    saver = Saver(store, listing, meaning, clock)
    maintenance = SqlMaintenance(database)
    transfer = SqlTransfer(database, clock)
    reindexer = Reindexer(store, maintenance, meaning, jobs)
    filler = VectorFiller(store, maintenance, meaning, jobs)
    paths = _paths(settings, units, vectors, meaning)
    recaller = CachedRecaller(
        Recaller(
            store,
            units,
            paths,
            EntityPath(units),
            Scan(store, units),
            clock,
            _recall_options(settings),
        ),
        store,
        meaning,
        clock,
        CacheOptions(seconds=settings.recall.cache_seconds, size=settings.recall.cache_size),
    )
    usage = Usage(store, clock)
    observer = Observer(store, meaning, clock)
    tokens = token_counter(settings)
    prefetch = Prefetch(recaller, tokens, clock, _prefetch_options(settings), usage.entered)
    try:
        working = working_memory(settings, database, clock, meaning, observer, prefetch)
    except RecollectError:
        await database.close()
        raise
    handlers = {REINDEX: reindexer.run, EMBED: filler.run, **working.handlers}
    worker = Worker(jobs, clock, handlers)
    parts = Parts(
        settings=settings,
        store=store,
        maintenance=maintenance,
        jobs=jobs,
        units=units,
        vectors=vectors,
        meaning=meaning,
        filler=filler,
        saver=saver,
        observer=observer,
        recaller=recaller,
        prefetch=prefetch,
        usage=usage,
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
        exporter=Exporter(transfer, clock),
        importer=Importer(transfer, filler),
        worker=worker,
        working=working,
    )
    await reindexer.schedule()
    await filler.schedule()
    await working.start()
    worker.start()
    return Memory(parts, _caller(settings))


def _paths(
    settings: Settings, units: UnitIndex, vectors: VectorIndex, meaning: Meaning
) -> list[RecallPath]:
    """The paths that count for anything."""
    recall = settings.recall
    paths: list[RecallPath] = [KeywordPath(units), VectorPath(meaning, vectors)]
    paths.append(TimePath(units))
    if recall.recent:
        paths.append(_recent_path(recall, units))
    return paths


def _recent_path(recall: RecallSettings, units: UnitIndex) -> RecentPath:
    return RecentPath(
        units, days=recall.recent_days, limit=recall.recent, weight=recall.recent_weight
    )


def _recall_options(settings: Settings) -> RecallOptions:
    recall = settings.recall
    return RecallOptions(
        limit=recall.limit,
        min_score=recall.min_score,
        candidates=recall.candidates,
        gap=recall.gap,
        patience=recall.patience,
        intent=None if recall.intent == "auto" else recall.intent,
        weights=Weights(
            keyword=recall.keyword_weight,
            vector=recall.vector_weight,
            recent=recall.recent_weight,
            time=recall.time_boost,
            entity=recall.entity_weight,
            speaker=recall.speaker_boost,
            assistant=recall.assistant_discount,
            terse=recall.terse_discount,
            surroundings=SurroundingsOptions(
                neighbour=recall.neighbour_weight,
                session=recall.session_weight,
                day=recall.day_weight,
                answer=recall.answer_weight,
            ),
        ),
        rerank=RerankOptions(
            relevance=recall.relevance_weight,
            decay=recall.decay_weight,
            decay_lambda=recall.decay_lambda,
            source=recall.source_weight,
            sources=recall.source_boosts,
            kinds=recall.kind_boosts,
            confidence=recall.confidence_boost,
            use=recall.use_boost,
        ),
    )


def _prefetch_options(settings: Settings) -> PrefetchOptions:
    recall = settings.recall
    return PrefetchOptions(
        limit=recall.prefetch_limit,
        context=ContextOptions(
            form=recall.context_form,
            max_tokens=recall.max_context_tokens,
            place=recall.context_place,
        ),
    )


def _meaning(
    settings: Settings, clock: Clock, embedder: Embedder | None
) -> tuple[Meaning, Callable[[], CacheStats]]:
    """The embedder that is wanted, and how its cache does.

    When it cannot be had, memory goes on without and says so.
    """
    absence = "no embedding model is wanted: recall is by words"
    # An embedder that the caller brought is the caller's to close.
    closing: Embedder | None = None
    if embedder is None:
        try:
            embedder = wanted_embedder(settings)
        except NotAvailable as problem:
            absence = f"no embedding model: {problem.message}. {problem.hint}"
        else:
            closing = embedder
    if embedder is None:
        return Meaning(None, clock, absence=absence), CacheStats
    cached = CachedEmbedder(embedder, clock)
    return Meaning(cached, clock, closing=closing), cached.stats


def wanted_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name, opened, or None when they want none."""
    return catalogue.open_embedder(embedder_choice(settings))


def embedder_choice(settings: Settings) -> EmbedderChoice:
    """The embedder that the settings name."""
    return EmbedderChoice(**settings.embedding.model_dump())


def list_embedders(settings: Settings) -> list[EmbedderState]:
    """The embedders that can be had, and what each still needs."""
    return catalogue.list_embedders(embedder_choice(settings))


def embedder_in_use(settings: Settings) -> EmbedderState | None:
    """Of the embedders that can be had the one that the settings name; None when they name none."""
    model = settings.embedding.model
    kind = "local" if model in {"", minilm.NAME} else model.partition(":")[0]
    if model.startswith("text-embedding-"):
        kind = "openai"
    return next((it for it in list_embedders(settings) if it.name.partition(":")[0] == kind), None)


def fetch_model(settings: Settings, step: Callable[[str], None]) -> Path:
    """Get the default model from the network; where it is then."""
    return catalogue.fetch(embedder_choice(settings), step)


async def check_embedder(settings: Settings, model: str | None = None) -> EmbedderCheck:
    """Try the embedder that the settings name, or another one with the same settings."""
    choice = embedder_choice(settings)
    return await catalogue.check(choice if model is None else replace(choice, model=model))


async def diagnose(settings: Settings) -> Diagnosis:
    """How every part is doing. Nothing is changed, and what cannot be opened is a finding too."""
    places = Places(
        settings_file=settings_file(),
        changed_settings=settings.changed(),
        data_dir=settings.data_dir,
        database=settings.database,
        log_file=settings.log_file,
    )
    tried = await check_embedder(settings)
    findings = await asyncio.to_thread(look_around, places)
    findings.append(embedder_finding(tried, embedder_in_use(settings)))
    is_temporary = settings.storage.backend == "in_memory"
    if is_temporary or not settings.database.exists():
        missing = nothing_stored(settings.database, is_temporary=is_temporary)
        return Diagnosis.of([*findings, missing])
    recall = settings.recall
    database = _database(settings, settings.database)
    try:
        doctor = Doctor(
            SqlMaintenance(database),
            settings.database,
            EmbeddingModel(name=tried.model, dimension=tried.dimension) if tried.model else None,
            IndexBudgets(keyword_mb=recall.index_memory_mb, vector_mb=recall.vector_memory_mb),
        )
        return Diagnosis.of([*findings, *await doctor.examine()])
    finally:
        await database.close()


def diagnose_settings(problem: SettingsError) -> Diagnosis:
    """What can be said when the settings themselves cannot be used."""
    return Diagnosis.of(unusable_settings(problem.message, problem.hint))


async def restore(copy: Path, where: str | Path | Settings | None = None) -> Path:
    """Put a backup in the place of a database that nobody has open; where it is now."""
    database = _settings(where).database
    await asyncio.to_thread(backup.restore, copy, database)
    return database


def _settings(where: str | Path | Settings | None) -> Settings:
    if isinstance(where, Settings):
        return where
    return Settings.load() if where is None else Settings.at(where)


def _caller(settings: Settings) -> Caller:
    scope = settings.scope
    agent = settings.agents.get(scope.agent or "")
    here = Scope(org=scope.org, workspace=scope.workspace, agent=scope.agent, user=scope.user)
    return Caller(
        scope=here, children=agent.children if agent is not None else (), principal=here.actor
    )


def _open_database(settings: Settings) -> Database:
    is_temporary = settings.storage.backend == "in_memory"
    path = _temporary_path() if is_temporary else settings.database
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise StorageError(
            f"The folder {path.parent} cannot be made: {problem.strerror}",
            code="database_unreachable",
            hint="Choose another place with RECOLLECT_DATA_DIR or Memory.open(path).",
        ) from None
    database = _database(settings, path, is_temporary=is_temporary)
    try:
        bring_up_to_date(database)
    except RecollectError:
        database.close_here()
        raise
    return database


def _database(settings: Settings, path: Path, *, is_temporary: bool = False) -> Database:
    return Database(
        path,
        synchronous="off" if is_temporary else settings.storage.synchronous,
        busy_timeout=settings.storage.busy_timeout,
        is_temporary=is_temporary,
    )


def _temporary_path() -> Path:
    """Memory that ends with the process is an ordinary database in a folder that goes with it."""
    return Path(tempfile.mkdtemp(prefix="recollect-")) / "memory.db"
