"""Settings → the write pipeline and the services around it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.assemble.judge import policy_of
from recollect.backends.sql.database import Database
from recollect.context.summariser import SessionEpisodes, Summariser
from recollect.domain.meter import Meter
from recollect.domain.relation import JUDGE
from recollect.domain.scope import Caller
from recollect.domain.write import EXTRACT, EXTRACT_IDLE, WritePolicy
from recollect.embedding.service import EmbeddingService
from recollect.jobs.queue import SqlJobs
from recollect.jobs.worker import Handler
from recollect.language.token_estimate import EstimatedTokens
from recollect.ports.facets import FacetReader
from recollect.ports.language_model import LanguageModels
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.recall.user_names import UserNames
from recollect.settings import Settings
from recollect.writing.background_judge import BackgroundJudge
from recollect.writing.candidates import Candidates
from recollect.writing.extraction import Extraction
from recollect.writing.facets import Facets
from recollect.writing.forget_wishes import ForgetWishes
from recollect.writing.intake import Intake
from recollect.writing.jobs import READ_AGAIN, REREAD, RereadQueue
from recollect.writing.judges import JudgeChain
from recollect.writing.keep_wishes import KeepWishes
from recollect.writing.model_extraction import ModelExtractor
from recollect.writing.parts import WritingParts
from recollect.writing.pipeline import WritePipeline
from recollect.writing.reader_extraction import ReaderExtractor
from recollect.writing.redaction import Redactor
from recollect.writing.routing import Router
from recollect.writing.saver import Saver
from recollect.writing.schedule import EPISODE, ExtractionSchedule, Judging
from recollect.writing.strategy import Merger
from recollect.writing.user_names import Naming

if TYPE_CHECKING:
    from recollect.writing.rows import SqlWrites


def writing_of(
    settings: Settings,
    database: Database,
    store: Store,
    writes: SqlWrites,
    candidates: Candidates,
    embedding: EmbeddingService,
    clock: Clock,
    redactor: Redactor,
    models: LanguageModels,
    saver: Saver,
    judge: JudgeChain,
    judging: Judging | None,
    facets: FacetReader | None,
    meter: Meter,
    forgetting: ForgetWishes,
    keeping: KeepWishes,
) -> WritingParts:
    """Return the write pipeline and the services around it."""
    writing = settings.writing
    policy = policy_of(settings)
    classify = models.of("classify") if writing.route == "auto" else None
    extract = models.of("extract") if writing.extract == "auto" else None
    reader = _reader(settings)
    router = Router(classify, reader if writing.route == "auto" else None)
    merger = Merger(models.of("summarise"), judge)
    pipeline = WritePipeline(
        store,
        writes,
        embedding,
        clock,
        Intake(
            router,
            redactor,
            clock,
            policy,
            settings.buffer,
            grounds=writing.ground,
            zone=settings.scope.zone,
        ),
        candidates,
        merger,
        judge,
        facets=Facets(facets),
        reconciles=writing.reconcile,
        meter=meter,
        saver=saver,
    )
    extractor = None if extract is None else ModelExtractor(extract, reader and reader.reader)
    rereading = RereadQueue(store, SqlJobs(database, clock), pipeline, clock)
    return WritingParts(
        pipeline=pipeline,
        extraction=Extraction(
            store,
            writes,
            pipeline,
            policy,
            extractor,
            rereading,
            forgetting,
            keeping,
            judging=judging,
            reader=reader,
        ),
        candidates=candidates,
        judge=judge,
        router=router,
        merger=merger,
        redactor=redactor,
        writes=writes,
        policy=policy,
        names=UserNames(store, clock),
        naming=Naming(store, saver, clock),
    )


def _reader(settings: Settings) -> ReaderExtractor | None:
    """Return the extractor with the local reader; None where no model is wanted or there."""
    if settings.writing.extract == "rules" or settings.embedder.model == "none":
        return None
    from recollect.models.local_model import open_reader

    reader = open_reader(settings.embedding.folder)
    return None if reader is None else ReaderExtractor(reader)


def reading_handlers(
    settings: Settings,
    store: Store,
    saver: Saver,
    clock: Clock,
    writing: WritingParts,
    models: LanguageModels,
    judging: BackgroundJudge,
) -> Mapping[str, Handler]:
    """Return the handlers of jobs that read conversations, during and after them."""
    summariser = Summariser(EstimatedTokens(), settings.compression, models.of("summarise"))
    recap = SessionEpisodes(store, saver, summariser, clock, after=settings.writing.episode_after)
    extraction = writing.extraction
    return {
        EXTRACT: extraction.run,
        EXTRACT_IDLE: extraction.run,
        EPISODE: recap.run,
        REREAD: extraction.run_again,
        READ_AGAIN: extraction.run_lost,
        JUDGE: judging.run,
    }


def schedule_of(settings: Settings) -> ExtractionSchedule:
    """Return the schedule of extraction."""
    writing, policy = settings.writing, policy_of(settings)

    def reading(caller: Caller) -> WritePolicy:
        return "off" if writing.extract == "off" else policy(caller)

    idle = timedelta(minutes=writing.idle_minutes)
    return ExtractionSchedule(reading, every=writing.every, idle=idle)
