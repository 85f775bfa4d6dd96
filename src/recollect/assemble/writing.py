"""Settings → the write pipeline and the services around it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.assemble.judge import judging_of, policy_of
from recollect.context.summariser import SessionEpisodes, Summariser
from recollect.domain.relation import JUDGE
from recollect.domain.scope import Caller
from recollect.domain.write import EXTRACT, EXTRACT_IDLE, WritePolicy
from recollect.jobs.worker import Handler
from recollect.language.token_estimate import EstimatedTokens
from recollect.recall.user_names import UserNames
from recollect.settings import Settings
from recollect.writing.extraction import Extraction
from recollect.writing.facets import Facets
from recollect.writing.forget_wishes import ForgetWishes
from recollect.writing.intake import Intake
from recollect.writing.jobs import READ_AGAIN, REREAD, RereadQueue
from recollect.writing.keep_wishes import KeepWishes
from recollect.writing.model_extraction import ModelExtractor
from recollect.writing.parts import WritingParts
from recollect.writing.pipeline import WritePipeline
from recollect.writing.reader_extraction import ReaderExtractor
from recollect.writing.routing import Router
from recollect.writing.schedule import EPISODE, ExtractionSchedule
from recollect.writing.strategy import Merger
from recollect.writing.user_names import Naming

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


def writing_of(parts: Wiring) -> WritingParts:
    """Return the write pipeline and the services around it."""
    settings, store, writes = parts.settings, parts.store, parts.writes
    clock, redactor, judge = parts.clock, parts.redactor, parts.judge
    facets, models, writing = parts.understanding.facets, parts.models, parts.settings.writing
    policy = policy_of(settings)
    classify = models.of("classify") if writing.route == "auto" else None
    extract = models.of("extract") if writing.extract == "auto" else None
    reader = _reader(settings)
    router = Router(classify, reader if writing.route == "auto" else None)
    merger = Merger(models.of("summarise"), judge)
    pipeline = WritePipeline(
        store,
        writes,
        parts.embedding,
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
        parts.candidates,
        merger,
        judge,
        facets=Facets(facets),
        reconciles=writing.reconcile,
        meter=parts.meter,
        saver=parts.saver,
    )
    return WritingParts(
        pipeline=pipeline,
        extraction=Extraction(
            store,
            writes,
            pipeline,
            policy,
            None if extract is None else ModelExtractor(extract, reader and reader.reader),
            RereadQueue(store, parts.jobs, pipeline, clock),
            ForgetWishes(lambda: parts.recaller, lambda: parts.answering, facets),
            KeepWishes(
                store,
                writes,
                lambda: parts.recaller,
                lambda scopes, session: parts.usage.recalled_in(scopes, session),
                judge,
                clock,
            ),
            judging=judging_of(settings, parts.fresh_links),
            reader=reader,
        ),
        candidates=parts.candidates,
        judge=judge,
        router=router,
        merger=merger,
        redactor=redactor,
        writes=writes,
        policy=policy,
        names=UserNames(store, clock),
        naming=Naming(store, parts.saver, clock),
    )


def _reader(settings: Settings) -> ReaderExtractor | None:
    """Return the extractor with the local reader; None where no model is wanted or there."""
    if settings.writing.extract == "rules" or settings.embedder.model == "none":
        return None
    from recollect.models.local_model import open_reader

    reader = open_reader(settings.embedding.folder)
    return None if reader is None else ReaderExtractor(reader)


def reading_handlers(parts: Wiring) -> Mapping[str, Handler]:
    """Return the handlers of jobs that read conversations, during and after them."""
    settings, extraction = parts.settings, parts.writing.extraction
    summarise = parts.models.of("summarise")
    summariser = Summariser(EstimatedTokens(), settings.compression, summarise)
    after = settings.writing.episode_after
    recap = SessionEpisodes(parts.store, parts.saver, summariser, parts.clock, after=after)
    return {
        EXTRACT: extraction.run,
        EXTRACT_IDLE: extraction.run,
        EPISODE: recap.run,
        REREAD: extraction.run_again,
        READ_AGAIN: extraction.run_lost,
        JUDGE: parts.background_judge.run,
    }


def schedule_of(settings: Settings) -> ExtractionSchedule:
    """Return the schedule of extraction."""
    writing, policy = settings.writing, policy_of(settings)

    def reading(caller: Caller) -> WritePolicy:
        return "off" if writing.extract == "off" else policy(caller)

    idle = timedelta(minutes=writing.idle_minutes)
    return ExtractionSchedule(reading, every=writing.every, idle=idle)
