"""Settings → the write pipeline and what feeds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from recollect.backends.sql.database import Database
from recollect.backends.sql.writes import SqlWrites
from recollect.context.compression import CompressionOptions
from recollect.context.recap import Recap
from recollect.context.summarise import Summariser
from recollect.domain.extraction import BufferTimes
from recollect.domain.route import WritePolicy
from recollect.domain.scope import Caller
from recollect.lifecycle.worker import Handler
from recollect.ports.clock import Clock
from recollect.ports.language_model import LanguageModels
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex
from recollect.ports.vectors import VectorIndex
from recollect.recall.meaning import Meaning
from recollect.settings import Settings
from recollect.text.tokens import EstimatedTokens
from recollect.writing.candidates import Candidates
from recollect.writing.extract_model import ModelExtractor
from recollect.writing.extraction import Extraction
from recollect.writing.intake import Intake
from recollect.writing.parts import WritingParts
from recollect.writing.pipeline import ReconcileOptions, WritePipeline
from recollect.writing.redaction import Redactor
from recollect.writing.routing import Router
from recollect.writing.save import Saver
from recollect.writing.schedule import EPISODE, EXTRACT, ExtractionSchedule
from recollect.writing.strategy import Merger


def writing_of(
    settings: Settings,
    database: Database,
    store: Store,
    units: UnitIndex,
    vectors: VectorIndex,
    meaning: Meaning,
    clock: Clock,
    redactor: Redactor,
    models: LanguageModels,
) -> WritingParts:
    """Everything that turns words into records."""
    writing, timeout = settings.writing, settings.models.timeout
    writes, policy = SqlWrites(database), policy_of(settings)
    classify = models.of("classify") if writing.route == "auto" else None
    extract = models.of("extract") if writing.extract == "auto" else None
    router = Router(classify, timeout=timeout)
    pipeline = WritePipeline(
        store,
        writes,
        meaning,
        clock,
        Intake(router, redactor, clock, policy, buffer_times(settings), grounds=writing.ground),
        Candidates(store, units, vectors, each=writing.candidates),
        Merger(models.of("summarise"), timeout=timeout),
        ReconcileOptions(is_on=writing.reconcile, threshold=writing.duplicate_threshold),
    )
    extractor = None if extract is None else ModelExtractor(extract, timeout=timeout)
    return WritingParts(
        pipeline=pipeline,
        extraction=Extraction(store, writes, pipeline, policy, extractor),
        router=router,
        redactor=redactor,
        writes=writes,
        policy=policy,
    )


def reading_handlers(
    settings: Settings,
    store: Store,
    saver: Saver,
    clock: Clock,
    writing: WritingParts,
    models: LanguageModels,
) -> Mapping[str, Handler]:
    """Who reads conversations, while they go on and when they are over."""
    summariser = Summariser(
        EstimatedTokens(),
        CompressionOptions(**settings.compression.model_dump()),
        models.of("summarise"),
        timeout=settings.models.timeout,
    )
    recap = Recap(store, saver, summariser, clock, after=settings.writing.episode_after)
    return {EXTRACT: writing.extraction.run, EPISODE: recap.run}


def schedule_of(settings: Settings) -> ExtractionSchedule:
    """When conversations are read."""
    writing, policy = settings.writing, policy_of(settings)

    def reading(caller: Caller) -> WritePolicy:
        return "off" if writing.extract == "off" else policy(caller)

    return ExtractionSchedule(reading, every=writing.every)


def policy_of(settings: Settings) -> Callable[[Caller], WritePolicy]:
    """What of a conversation becomes memory, agent by agent."""

    def policy(caller: Caller) -> WritePolicy:
        agent = settings.agents.get(caller.scope.agent or "")
        if agent is None:
            return settings.writing.policy
        return (agent.write_policy or settings.writing.policy) if agent.enabled else "off"

    return policy


def buffer_times(settings: Settings) -> BufferTimes:
    """How long what was not asked to be kept stays."""
    buffer = settings.buffer
    return BufferTimes(
        preference=timedelta(days=buffer.preference_days),
        decision=timedelta(days=buffer.decision_days),
        follow_up=timedelta(days=buffer.follow_up_days),
        sentiment=timedelta(days=buffer.sentiment_days),
    )
