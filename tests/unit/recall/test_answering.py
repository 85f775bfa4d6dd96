"""The order of hits by what answers; the model is a fake that says what a test tells it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recollect.domain.embedding import MemoryCalibration
from recollect.domain.hit import Standing
from recollect.domain.relation import Link
from recollect.domain.scope import Scope
from recollect.domain.sections import RecallSettings
from recollect.recall.answering import Answers
from recollect.recall.candidates import Candidate
from recollect.recall.fuse import fuse
from tests.unit.recall.found import found, question, row

_FIRST = datetime(2026, 3, 1, tzinfo=UTC)


def _hits(*scores: float) -> list[Candidate]:
    """Hits a, b, c …, each a day newer than the one before."""
    paths = [found("keyword", [(row(1), 0.5)])]
    (candidate,) = fuse(question(), paths, RecallSettings(), MemoryCalibration())
    return [
        candidate._replace(
            owner_id="abc"[place],
            standing=Standing(observed_at=_FIRST + timedelta(days=place)),
            score=score,
        )
        for place, score in enumerate(scores)
    ]


def _answers(**logits: float) -> Answers:
    times = {name: _FIRST + timedelta(days="abc".index(name)) for name in logits}
    return Answers(logits, times, may_miss=False)


def _names(hits: list[Candidate]) -> str:
    return "".join(hit.owner_id for hit in hits)


def test_a_hit_that_answers_takes_the_place_and_the_score_of_one_that_does_not():
    hits = _hits(0.8, 0.7, 0.6)
    ordered = _answers(a=-4.0, b=-4.0, c=5.0).ordered(hits)
    assert _names(ordered)[0] == "c"
    assert [hit.score for hit in ordered] == [0.8, 0.7, 0.6]
    assert ordered[0].boosts[-1].reason == "answers the question"


def test_what_the_model_has_not_read_keeps_its_place():
    assert _names(_answers(a=-4.0, c=5.0).ordered(_hits(0.8, 0.75, 0.7))) == "cba"


@pytest.mark.parametrize(
    ("older", "newer", "order"), [(5.0, 4.5, "ba"), (5.0, -4.0, "ab"), (-1.0, 4.0, "ba")]
)
def test_of_two_that_answer_the_newer_comes_first(older: float, newer: float, order: str):
    assert _names(_answers(a=older, b=newer).ordered(_hits(0.8, 0.7))) == order


def _link(probability: float) -> Link:
    return Link(
        scope=Scope(),
        newer="b",
        older="a",
        relation="update",
        probability=probability,
        reason="",
        decided_by="judge",
        at=_FIRST,
    )


def test_a_newer_hit_that_answers_less_clearly_must_be_about_the_same():
    answers = _answers(a=4.0, b=0.0)
    assert _names(answers.ordered(_hits(0.8, 0.7))) == "ab"
    assert _names(answers.ordered(_hits(0.8, 0.7), [_link(0.7)])) == "ba"


def test_of_two_said_at_once_the_clearer_answer_comes_first():
    answers = Answers({"a": 2.0, "b": 3.0}, {"a": _FIRST, "b": _FIRST}, may_miss=False)
    assert _names(answers.ordered(_hits(0.7, 0.7))) == "ba"
    assert _names(answers.ordered(_hits(0.9, 0.2))) == "ab"


def test_what_was_said_in_a_later_session_is_newer_however_soon_it_followed():
    times = {"a": _FIRST, "b": _FIRST + timedelta(minutes=1)}
    logits = {"a": 4.0, "b": 3.0}
    within = Answers(logits, times, {"a": "monday", "b": "monday"}, may_miss=False)
    after = Answers(logits, times, {"a": "monday", "b": "tuesday"}, may_miss=False)
    assert _names(within.ordered(_hits(0.8, 0.7))) == "ab"
    assert _names(after.ordered(_hits(0.8, 0.7))) == "ba"


@pytest.mark.parametrize(
    ("newer", "probability", "is_believed"),
    [(-2.0, 0.7, False), (-2.0, 0.9, True), (3.5, 0.7, True), (4.5, 0.7, True)],
)
def test_a_follower_that_does_not_answer_needs_a_relation_beyond_doubt(
    newer: float, probability: float, is_believed: bool
):
    link = _link(probability)
    answers = replace(_answers(a=5.0, b=newer), stating=frozenset("a"))
    assert answers.believed([link]) == ([link] if is_believed else [])
    assert Answers().believed([link]) == [link]


def test_a_follower_that_answers_nothing_must_state_what_is_asked_for():
    # "She is a vet no more" follows "Nia is my wife, a vet", but who Nia is the latter tells.
    answers = _answers(a=5.0, b=-4.0)
    assert answers.believed([_link(0.95)]) == []
    assert replace(answers, stating=frozenset("b")).believed([_link(0.95)]) == [_link(0.95)]


def test_what_follows_a_statement_of_several_things_must_answer_too():
    # "I quit the clinic" follows "I'm Ann, I live in Graz and work at the clinic".
    assert _answers(a=5.0, b=-1.0).believed([_link(0.95)]) == []
    assert _answers(a=5.0, b=1.0).believed([_link(0.95)]) == [_link(0.95)]


def test_what_is_too_long_to_be_read_stands_below_a_clear_answer():
    answers = replace(_answers(b=5.0), hits=tuple(_hits(0.8, 0.7)))
    assert _names(answers.ordered(_hits(0.8, 0.7))) == "ba"
    assert _names(replace(answers, logits={"b": -4.0}).ordered(_hits(0.8, 0.7))) == "ab"


@pytest.mark.parametrize(
    ("best", "otherwise", "confidence"),
    [(6.0, 1.0, 1.0), (-5.0, 1.0, 0.32), (6.0, 0.25, 0.5), (-5.0, 0.1, 0.1)],
)
def test_that_nothing_answers_lowers_the_confidence(
    best: float, otherwise: float, confidence: float
):
    assert _answers(a=best, b=-5.0).confidence(otherwise) == pytest.approx(confidence, abs=0.01)


def test_what_was_not_read_may_answer():
    unread = Answers({"a": -5.0}, {"a": _FIRST}, may_miss=True)
    assert unread.confidence(0.8) == 0.8
    assert Answers().confidence(0.8) == 0.8
