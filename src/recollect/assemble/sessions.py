"""Settings → the working memory (sessions, archives, notes, models) and the knowledge base."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from recollect.assemble.recall import token_counter
from recollect.assemble.stores import contents_of
from recollect.domain.model_tier import LANGUAGE_TASKS, ModelChoice, ProviderAccess
from recollect.errors import InvalidInput, SettingsError

if TYPE_CHECKING:
    from recollect.assemble.working_memory import WorkingMemory
    from recollect.backends.sql.archives import SqlArchives
    from recollect.backends.sql.database import Database
    from recollect.context.notes import NotesRule
    from recollect.domain.meter import Meter
    from recollect.domain.scope import Caller
    from recollect.domain.sections import NotesRuleSettings
    from recollect.domain.write import Pending
    from recollect.embedding.service import EmbeddingService
    from recollect.knowledge.base import KnowledgeBase
    from recollect.knowledge.collections import ReadableCollections
    from recollect.knowledge.retrieval import PassageReader
    from recollect.knowledge.rows import SqlDocuments
    from recollect.ports.archives import Blobs
    from recollect.ports.jobs import Jobs
    from recollect.ports.language_model import LanguageModel, LanguageModels
    from recollect.ports.runtime import Clock
    from recollect.ports.state import State
    from recollect.ports.store import Store
    from recollect.ports.units import UnitIndex, VectorIndex
    from recollect.recall.prefetch import Prefetch
    from recollect.settings import Settings
    from recollect.writing.observer import Observer
    from recollect.writing.redaction import Redactor
    from recollect.writing.told import Told


def working_memory(
    settings: Settings,
    jobs: Jobs,
    stored_state: State,
    store: Store,
    archives: SqlArchives,
    blobs: Blobs,
    clock: Clock,
    embedding: EmbeddingService,
    observer: Observer,
    told: Told,
    prefetch: Prefetch,
    models: LanguageModels,
    meter: Meter,
    opened: Callable[[Caller], None],
    ready: Callable[[], Awaitable[None]],
) -> WorkingMemory:
    """Return everything that sessions need, on top of the long-term memory."""
    from recollect.assemble.working_memory import WorkingMemory
    from recollect.context.archives.indexing import ArchiveImprover, ArchiveIndexer
    from recollect.context.archives.manager import ArchiveParts
    from recollect.context.archives.vault import Retention, Vault
    from recollect.context.session_state import SessionParts
    from recollect.context.sessions import Sessions
    from recollect.context.summariser import Summariser
    from recollect.retention.sweep import Sweeper
    from recollect.writing.redaction import RedactedState, Redactor

    redactor = Redactor(settings.writing.redact)
    state: State = RedactedState(stored_state, redactor)
    vault, tokens = Vault(blobs), token_counter(settings)
    retention = Retention(store, archives, blobs, clock, settings.archive)
    sweeper = Sweeper(retention, state, jobs, clock)

    async def ended(caller: Caller, session: str) -> Pending:
        pending = await told.end(caller, session)
        await sweeper.schedule()
        return pending

    parts = SessionParts(
        archive=ArchiveParts(
            store=store,
            archives=archives,
            vault=vault,
            tokens=tokens,
            clock=clock,
            redactor=redactor,
            meter=meter,
            embedding=embedding,
        ),
        observer=observer,
        prefetch=prefetch,
        state=state,
        summariser=Summariser(tokens, settings.compression, models.of("summarise")),
        opened=opened,
        ready=ready,
        ended=ended,
        left=told.leave,
        settings=settings.session,
        compression=settings.compression,
        archiving=settings.archive,
        notes=settings.notes,
        notes_rules=_notes_rules(settings.notes.rules),
    )
    return WorkingMemory(
        sessions=Sessions(parts),
        archives=archives,
        blobs=blobs,
        retention=retention,
        indexer=ArchiveIndexer(store, archives, vault, embedding, jobs),
        improver=ArchiveImprover(
            archives, vault, jobs, models.of("summarise"), settings.archive.summary_tokens
        ),
        sweeper=sweeper,
    )


def model_choice(settings: Settings) -> ModelChoice:
    """Return the language models that the settings name."""
    models = settings.models
    return ModelChoice(
        tiers=settings.tiers,
        providers={
            name: ProviderAccess(**provider.model_dump())
            for name, provider in models.providers.items()
        },
        seconds={task: getattr(models.seconds, task) for task in LANGUAGE_TASKS},
        retries=models.retries,
        pause_after=models.pause_after,
        pause_seconds=models.pause_seconds,
        daily_tokens=models.daily_tokens,
    )


def _notes_rules(rules: Mapping[str, NotesRuleSettings]) -> dict[str, NotesRule]:
    from recollect.context.notes import NotesRule

    try:
        return {tool: NotesRule(**asdict(rule)) for tool, rule in rules.items()}
    except InvalidInput as problem:
        raise SettingsError(
            f"A rule in notes.rules cannot be used: {problem.message}", hint=problem.hint
        ) from None


# --- Settings → the knowledge base ----------------------------------------------------------------


def knowledge_base(
    settings: Settings,
    database: Database,
    documents: SqlDocuments,
    collections: ReadableCollections,
    clock: Clock,
    units: UnitIndex,
    vectors: VectorIndex,
    embedding: EmbeddingService,
    redactor: Redactor,
    rewrite: LanguageModel | None,
    summarise: LanguageModel | None,
    reader: PassageReader | None,
) -> KnowledgeBase:
    """Return the knowledge base on this database."""
    from recollect.backends.sql.store import SqlStore
    from recollect.context.summariser import grounded_answer
    from recollect.jobs.queue import SqlJobs
    from recollect.knowledge.base import KnowledgeBase
    from recollect.knowledge.ingest import Ingester, Originals
    from recollect.knowledge.parser import Parser
    from recollect.knowledge.retrieval import Retriever
    from recollect.knowledge.rewriting import Rewriter
    from recollect.knowledge.summaries import ModelSummaries

    originals = Originals(contents_of(settings, database), documents)
    ingester = Ingester(
        SqlStore(database, clock),
        documents,
        originals,
        embedding,
        SqlJobs(database, clock),
        clock,
        Parser(settings.knowledge),
        None if redactor.mode == "off" else lambda text: redactor.counting().text(text),
        settings.knowledge.max_file_bytes,
        None if summarise is None else ModelSummaries(partial(grounded_answer, summarise)),
    )
    retriever = Retriever(
        documents,
        units,
        vectors,
        embedding,
        token_counter(settings),
        clock,
        settings.knowledge,
        Rewriter(rewrite),
        reader,
    )
    return KnowledgeBase(documents, collections, originals, ingester, retriever, settings.knowledge)
