"""What is known of a memory itself bends its score a little, within bounds, and says so."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.fields import new_record
from recollect.domain.hit import Boost, Standing
from recollect.domain.record import Kind, Record
from recollect.domain.scope import Scope
from recollect.domain.sections import RecallSettings
from recollect.domain.turn import Turn, new_turn
from recollect.recall.intent import Intent, IntentFactors, lean_of
from recollect.recall.scoring import CandidateScoring, largest_factor
from tests.unit.recall.found import NOW

_PLAIN = IntentFactors()
_SETTINGS = RecallSettings(kind_boosts={}, use_boost=0.05)
_ANN = Scope(user="ann")
_INTENTS: tuple[Intent, ...] = (
    *("new_task", "follow_up", "bug_fix", "preference", "cross_agent", "question"),
)


def _record(**known: Any) -> Record:
    counted = {name: known.pop(name) for name in ("helped", "rejected") if name in known}
    return new_record("green tea", known, _ANN, NOW).evolve(**counted)  # type: ignore[arg-type]


def _turn() -> Turn:
    return new_turn({"role": "user", "content": "green tea"}, _ANN, "one", NOW, None)


def _standing(item: Record | Turn) -> Standing:
    if isinstance(item, Turn):
        return Standing(observed_at=item.at)
    names = ("observed_at", "kind", "category", "source", "confidence", "helped", "rejected")
    return Standing(**{name: getattr(item, name) for name in names})


class _Weighed(NamedTuple):
    score: float
    boosts: tuple[Boost, ...] = ()


def _weighed(
    item: Record | Turn, settings: RecallSettings = _SETTINGS, lean: IntentFactors = _PLAIN
) -> _Weighed:
    weighing, standing = CandidateScoring(lean, settings, NOW), _standing(item)
    return _Weighed(weighing.scores([standing], [0.5])[0], weighing.boosts(standing))


def test_a_plain_record_keeps_its_score_and_has_nothing_to_explain():
    assert _weighed(_record(confidence=1.0)) == _Weighed(0.5)
    assert _weighed(_turn()) == _Weighed(0.5)


def test_what_helped_rises_and_what_was_rejected_falls_within_bounds():
    record = {"confidence": 1.0}
    often = _weighed(_record(helped=20, **record)).score
    once = _weighed(_record(helped=1, **record)).score
    refused = _weighed(_record(rejected=1, **record)).score
    always_refused = _weighed(_record(rejected=1000, **record)).score
    assert often == pytest.approx(0.5 * 1.05)
    assert always_refused == pytest.approx(0.5 * 0.95)
    assert always_refused < refused < 0.5 < once < often
    assert _weighed(_record(helped=1000, **record)).score == pytest.approx(often)


def test_help_and_rejection_even_out():
    even = _weighed(_record(helped=3, rejected=3, confidence=1.0))
    assert even.score == 0.5
    assert even.boosts == ()


def test_feedback_is_told():
    (boost,) = _weighed(_record(helped=20, confidence=1.0)).boosts
    assert (boost.reason, boost.factor) == ("feedback", pytest.approx(1.05))


def test_what_is_not_trusted_counts_a_little_less():
    doubted = _weighed(_record(confidence=0.0))
    assert doubted.score == pytest.approx(0.5 * 0.95)
    assert [it.reason for it in doubted.boosts] == ["confidence"]


def test_kinds_are_preferred_as_the_settings_say():
    options = replace(_SETTINGS, kind_boosts={Kind.PROCEDURAL: 1.04})
    known_how = _weighed(_record(kind="procedural", confidence=1.0), options)
    assert known_how.score == pytest.approx(0.5 * 1.04)
    assert [it.reason for it in known_how.boosts] == ["kind procedural"]
    assert _weighed(_record(kind="semantic", confidence=1.0), options).score == 0.5


def test_an_intent_leans_to_the_kinds_it_asks_for():
    happened = _record(kind="episodic", confidence=1.0)
    fixed = _weighed(happened, lean=lean_of("bug_fix"))
    assert fixed.score > _weighed(happened).score
    assert [it.reason for it in fixed.boosts] == ["intent"]
    assert _weighed(_turn(), lean=lean_of("follow_up")).score == pytest.approx(0.5 * 1.2)


def test_a_question_to_other_agents_leans_to_what_they_know():
    asked = lean_of("cross_agent")
    own = _standing(_record(confidence=1.0))
    theirs = own._replace(is_of_others=True)
    options = _SETTINGS
    weighing = CandidateScoring(asked, options, NOW)
    assert weighing.scores([own, theirs], [0.5, 0.5]) == pytest.approx([0.5, 0.5 * asked.shared])
    assert weighing.boosts(theirs) == (Boost(reason="known to others", factor=asked.shared),)
    assert CandidateScoring(_PLAIN, options, NOW).boosts(theirs) == ()
    assert largest_factor(asked, options) >= asked.shared > 1


def test_an_old_record_fades_when_decay_counts_but_never_by_more_than_its_share():
    options = replace(_SETTINGS, decay_weight=0.5, decay_lambda=0.01)
    new, old, ancient = (
        _weighed(_record(first_observed=NOW - timedelta(days=days), confidence=1.0), options).score
        for days in (0, 30, 36_500)
    )
    assert new == pytest.approx(0.5)
    assert new > old > ancient == pytest.approx(0.5 / 1.5)


def test_a_preferred_source_is_weighed_by_the_fit():
    options = replace(_SETTINGS, source_weight=0.2, source_boosts={"user": 1.0})
    preferred = _weighed(_record(source="user", confidence=1.0), options).score
    other = _weighed(_record(source="web", confidence=1.0), options).score
    assert preferred == pytest.approx(0.5)
    assert other == pytest.approx(0.5 / 1.2)
    weighing = CandidateScoring(_PLAIN, options, NOW)
    unfit = weighing.scores([_standing(_record(source="user"))], [0.0])
    assert unfit == [0.0], "what does not fit is not lifted"


@given(
    relevance=st.floats(0, 1),
    kind=st.sampled_from(tuple(Kind)),
    helped=st.integers(0, 100),
    rejected=st.integers(0, 100),
    confidence=st.floats(0, 1),
    intent=st.sampled_from(_INTENTS),
    decay=st.floats(0, 1),
    days=st.integers(0, 10_000),
)
def test_no_score_leaves_its_bounds(
    relevance: float,
    kind: Kind,
    helped: int,
    rejected: int,
    confidence: float,
    intent: Intent,
    decay: float,
    days: int,
):
    options = RecallSettings(decay_weight=decay, use_boost=0.05)
    lean = lean_of(intent)
    record = _record(
        kind=kind,
        helped=helped,
        rejected=rejected,
        confidence=confidence,
        first_observed=NOW - timedelta(days=days),
    )
    (score,) = CandidateScoring(lean, options, NOW).scores([_standing(record)], [relevance])
    assert 0 <= score <= 1
    most = relevance * largest_factor(lean, options)
    assert score <= most + 1e-12, "candidates farther back are safe"
