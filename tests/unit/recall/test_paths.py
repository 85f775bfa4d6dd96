"""A path that waits for a model goes on beside the others; one that need not is asked in turn."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from recollect.domain.filters import Filter
from recollect.domain.scope import Scope
from recollect.embedding.late_vectors import LateVectors, VectorGaps
from recollect.embedding.service import EmbeddingService
from recollect.models.embedding_cache import CachedEmbedder
from recollect.ports.jobs import Jobs
from recollect.ports.runtime import SystemClock
from recollect.ports.units import VectorIndex
from recollect.recall.paths import VectorPath
from recollect.recall.question import Question
from tests.conftest import TurnedClock
from tests.fakes import FakeEmbedder

_HERE = Scope(user="ann")


class _Late(LateVectors):
    """Late vectors of which some are still to be made, or none."""

    def __init__(self, *, is_settled: bool) -> None:
        self._settled = is_settled

    def is_settled(self, scopes: object) -> bool:
        return self._settled


def _question(text: str) -> Question:
    return Question(
        text=text,
        scopes=(_HERE,),
        where=Filter(),
        limit=5,
        min_score=0.0,
        now=datetime(2026, 11, 15, tzinfo=UTC),
    )


def _path(meaning: EmbeddingService, *, is_settled: bool = True) -> VectorPath:
    late = _Late(is_settled=is_settled)
    gaps = VectorGaps(meaning, cast("Jobs", None), SystemClock())
    return VectorPath(meaning, cast("VectorIndex", None), late, gaps, patience=5.0)


async def test_a_question_that_was_read_before_waits_for_nothing(clock: TurnedClock):
    meaning = EmbeddingService(CachedEmbedder(FakeEmbedder(), clock), clock)
    question = _question("Where does Ann live?")
    assert _path(meaning).waits(question)

    await meaning.ask(question.subject, meaning.answering([_HERE]))

    assert not _path(meaning).waits(question)
    assert _path(meaning).waits(_question("What does Ann eat?"))


async def test_but_it_does_when_vectors_are_still_being_made(clock: TurnedClock):
    meaning = EmbeddingService(CachedEmbedder(FakeEmbedder(), clock), clock)
    question = _question("Where does Ann live?")
    await meaning.ask(question.subject, meaning.answering([_HERE]))

    assert _path(meaning, is_settled=False).waits(question)


def test_without_a_model_there_is_nothing_to_wait_for(clock: TurnedClock):
    assert not _path(EmbeddingService(None, clock)).waits(_question("Where does Ann live?"))
