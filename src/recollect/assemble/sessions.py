"""Settings → the working memory (sessions, archives, notes, models) and the knowledge base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from recollect.assemble.recall import token_counter
from recollect.assemble.stores import contents_of
from recollect.domain.model_tier import LANGUAGE_TASKS, ModelChoice, ProviderAccess
from recollect.errors import InvalidInput, SettingsError

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.assemble.working_memory import WorkingMemory
    from recollect.context.notes import NotesRule
    from recollect.domain.scope import Caller
    from recollect.domain.sections import NotesRuleSettings
    from recollect.domain.write import Pending
    from recollect.knowledge.base import KnowledgeBase
    from recollect.knowledge.retrieval import PassageReader
    from recollect.ports.state import State
    from recollect.settings import Settings


def working_memory(wiring: Wiring) -> WorkingMemory:
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

    settings, clock, told = wiring.settings, wiring.clock, wiring.told
    store, archives, blobs = wiring.store, wiring.archives, wiring.blobs
    jobs, embedding, summarise = wiring.jobs, wiring.embedding, wiring.models.of("summarise")
    redactor = Redactor(settings.writing.redact)
    state: State = RedactedState(wiring.state, redactor)
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
            meter=wiring.meter,
            embedding=embedding,
        ),
        observer=wiring.observer,
        prefetch=wiring.prefetch,
        state=state,
        summariser=Summariser(tokens, settings.compression, summarise),
        opened=wiring.lifetime.expect_prompt,
        ready=wiring.lifetime.ready,
        ended=ended,
        left=told.leave,
        settings=settings.session,
        compression=settings.compression,
        archiving=settings.archive,
        notes=settings.notes,
        notes_rules=_notes_rules(settings.notes.rules),
    )
    summary_tokens = settings.archive.summary_tokens
    return WorkingMemory(
        sessions=Sessions(parts),
        archives=archives,
        blobs=blobs,
        retention=retention,
        indexer=ArchiveIndexer(store, archives, vault, embedding, jobs),
        improver=ArchiveImprover(archives, vault, jobs, summarise, summary_tokens),
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


def knowledge_base(parts: Wiring, reader: PassageReader | None) -> KnowledgeBase:
    """Return the knowledge base on this database."""
    from recollect.backends.sql.store import SqlStore
    from recollect.context.summariser import grounded_answer
    from recollect.knowledge.base import KnowledgeBase
    from recollect.knowledge.ingest import Ingester, Originals
    from recollect.knowledge.parser import Parser
    from recollect.knowledge.retrieval import Retriever
    from recollect.knowledge.rewriting import Rewriter
    from recollect.knowledge.summaries import ModelSummaries

    wanted, clock, embedding = parts.settings.knowledge, parts.clock, parts.embedding
    documents, redactor = parts.documents, parts.redactor
    summarise = parts.models.of("summarise")
    classify = parts.models.of("classify") if wanted.rewrite else None
    originals = Originals(contents_of(parts.settings, parts.database), documents)
    ingester = Ingester(
        SqlStore(parts.database, clock),
        documents,
        originals,
        embedding,
        parts.jobs,
        clock,
        Parser(wanted),
        None if redactor.mode == "off" else lambda text: redactor.counting().text(text),
        wanted.max_file_bytes,
        None if summarise is None else ModelSummaries(partial(grounded_answer, summarise)),
    )
    retriever = Retriever(
        documents,
        parts.here.units,
        parts.vectors,
        embedding,
        token_counter(parts.settings),
        clock,
        wanted,
        Rewriter(classify),
        reader,
    )
    return KnowledgeBase(documents, parts.collections, originals, ingester, retriever, wanted)
