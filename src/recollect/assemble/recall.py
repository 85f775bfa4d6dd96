"""Settings → the paths of recall and their weights, and the prefetch service."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from recollect.backends.sql.archives import SqlArchives
from recollect.models.rerankers import open_reranker
from recollect.recall.answer_model import AnswerModel, AnswerModelOptions
from recollect.recall.answering import Answering, FacetCandidates
from recollect.recall.cache import CachedRecaller
from recollect.recall.paths import KeywordPath, RecentPath, TimePath, VectorPath
from recollect.recall.pipeline import RecallServices

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.backends.sql.database import Database
    from recollect.context.archives.vault import Vault
    from recollect.domain.archive import Archive
    from recollect.domain.meter import Meter
    from recollect.ports.language_model import TokenCounter
    from recollect.ports.store import Store
    from recollect.ports.units import UnitIndex, VectorIndex
    from recollect.recall.candidate_loader import ArchiveText
    from recollect.recall.intent_model import IntentModel
    from recollect.recall.paths import Path as RecallPath
    from recollect.recall.prefetch import Prefetch
    from recollect.recall.profile import ProfileReader
    from recollect.recall.shared_answers import SharedAnswers
    from recollect.settings import Settings
    from recollect.spool.service import Spool


def recaller_of(
    parts: Wiring,
    store: Store,
    units: UnitIndex,
    vectors: VectorIndex,
    meter: Meter,
    intents: IntentModel | None = None,
    shared: SharedAnswers | None = None,
    spool: Spool | None = None,
) -> CachedRecaller:
    """Return the recall of what one store holds."""
    settings, embedding = parts.settings, parts.embedding
    archives = SqlArchives(parts.database)
    services = RecallServices(
        store=store,
        units=units,
        archives=archives,
        archive_text=_archive_text(settings, parts.database, archives),
        paths=_paths(parts, units, vectors),
        settings=settings.effective_recall,
        model=embedding.calibration,
        meter=meter,
        fresh_links=parts.fresh_links,
        facets=FacetCandidates(store, lambda: parts.understanding.facets),
        answering=parts.answering,
    )
    zone = settings.scope.zone
    return CachedRecaller(services, embedding, parts.clock, intents, shared, spool, zone)


def answer_mark(parts: Wiring) -> str:
    """Return a text that differs when the same question may be answered differently."""
    settings = parts.settings
    deciding = (
        version("recollect"),
        parts.database.identity,
        parts.embedding.model,
        settings.effective_recall,
        settings.reranker.model,
        settings.tiers.classify,
    )
    return repr(deciding)


def _paths(parts: Wiring, units: UnitIndex, vectors: VectorIndex) -> list[RecallPath]:
    """Return the paths that have any weight."""
    recall = parts.settings.recall
    late, gaps = parts.late_vectors, parts.vector_gaps
    by_vector = VectorPath(parts.embedding, vectors, late, gaps, recall.patience)
    paths: list[RecallPath] = [KeywordPath(units), by_vector, TimePath(units)]
    if recall.recent:
        days, limit, weight = recall.recent_days, recall.recent, recall.recent_weight
        paths.append(RecentPath(units, days=days, limit=limit, weight=weight))
    return paths


def _archive_text(settings: Settings, database: Database, archives: SqlArchives) -> ArchiveText:
    @cache
    def vault() -> Vault:
        # Imported here: few questions lead to an archive, and reading one takes many modules.
        from recollect.assemble.stores import contents_of
        from recollect.context.archives.vault import Vault

        return Vault(contents_of(settings, database))

    async def text_of(archive: Archive) -> str:
        found = await archives.with_blob([archive.scope], archive.id)
        return "" if found is None else (await vault().read(*found)).text or ""

    return text_of


# --- Settings → the prefetch service --------------------------------------------------------------


def profiles_of(parts: Wiring, store: Store) -> ProfileReader:
    """Return the service that reads profiles."""
    from recollect.recall.profile import ProfileReader

    settings = parts.settings
    form = settings.recall.context_form
    return ProfileReader(store, parts.clock, token_counter(settings), settings.profile, form)


def prefetch_of(
    parts: Wiring, recaller: CachedRecaller, profiles: ProfileReader, meter: Meter
) -> Prefetch:
    """Return the service that makes memory blocks for prompts and counts their use."""
    from recollect.recall.prefetch import Prefetch

    settings = parts.settings

    def limit_of(name: str) -> int:
        # Looked up each time: agents may be changed while memory is open.
        agent = settings.agent(name)
        return (agent.prefetch_limit or settings.recall.prefetch_limit) if agent.enabled else 0

    return Prefetch(
        recaller,
        profiles,
        token_counter(settings),
        parts.clock,
        settings.recall,
        parts.conflict_rows,
        parts.usage.entered,
        parts.usage.injected,
        meter,
        lambda: parts.knowledge,
        limit_of_agent=limit_of,
        document_tokens=settings.knowledge.context_tokens,
        zone=settings.scope.zone,
    )


def token_counter(settings: Settings) -> TokenCounter:
    """Return the token counter: an estimate, or one of OpenAI's encodings."""
    from recollect.language.token_estimate import EstimatedTokens
    from recollect.models.exact_tokens import ExactTokens

    encoding = settings.session.tokens
    return EstimatedTokens() if encoding == "estimate" else ExactTokens(encoding)


# --- Settings → the models that compare hits with the question ------------------------------------


def larger_reader(settings: Settings) -> AnswerModel | None:
    """Return the model that reads instead of the local one; None unless the settings name one."""
    wanted = settings.reranker
    model = open_reranker(wanted)
    if model is None:
        return None
    options = AnswerModelOptions(
        first=wanted.candidates,
        most=wanted.candidates,
        reads_all=True,
        weight=wanted.weight,
        threshold=wanted.threshold,
        patience=settings.recall.patience,
    )
    return AnswerModel(model, options)


def answering_of(settings: Settings, larger: AnswerModel | None) -> Answering | None:
    """Return the step that reads the best hits; None if there is no model for it."""
    from recollect.models.local_model import open_answerer

    models = [] if larger is None else [larger]
    hits = settings.recall.read_hits
    local = open_answerer(settings.embedding.folder) if hits else None
    if local is not None:
        models.append(
            AnswerModel(local, AnswerModelOptions(first=hits, most=2 * hits, in_context=True))
        )
    return Answering(models) if models else None
