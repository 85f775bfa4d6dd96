"""What becomes of a new record beside the stored ones."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.fields import RecordFields, new_record
from recollect.domain.record import Evidence, Record, Status, Tier
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput
from recollect.writing.candidates import Candidate
from recollect.writing.outcome import Decision, confirmed, decide, outdated, renewed
from recollect.writing.strategy import Merger, strategy_of, wished_strategy

_THEN = datetime(2026, 3, 1, tzinfo=UTC)
_LATER = _THEN + timedelta(days=30)


def _record(content: str, at: datetime = _THEN, **fields: Any) -> Record:
    return new_record(content, RecordFields(**fields), Scope(user="ann"), at)


def _decide(new: Record, *old: Record, at: datetime = _LATER, threshold: float = 0.5) -> Decision:
    return decide(new, at, [Candidate(record=it) for it in old], threshold)


def test_of_several_the_one_that_says_the_same_counts():
    known = _record("The user lives in Oslo.")
    other = _record("The user lives in Bergen.")

    decision = _decide(_record("I live in Oslo.", _LATER), other, known)

    assert (decision.relation, decision.old) == ("same", known)


def test_below_the_threshold_nothing_is_a_duplicate():
    new = _record("I'm allergic to peanuts, thanks.")
    old = [Candidate(record=_record("The user has a peanut allergy."), cosine=0.6)]

    assert decide(new, _LATER, old, 0.5).relation == "same"
    assert decide(new, _LATER, old, 0.9).relation == "different"


def test_events_of_different_days_are_different_events():
    first = _record("We deployed the shop.", kind="episodic", timestamp=_THEN)
    again = _record("We deployed the shop.", kind="episodic", timestamp=_LATER)
    same_day = _record("We deployed the shop.", kind="episodic", timestamp=_THEN)

    assert _decide(again, first).relation == "different"
    assert _decide(same_day, first, at=_THEN).relation == "same"


def test_a_procedure_with_other_steps_is_changed():
    old = _record("用户要求：每次发布都先跑测试", kind="procedural", steps=["跑测试", "发布"])
    new = _record(
        "用户要求：每次发布都先跑测试", kind="procedural", steps=["备份", "跑测试", "发布"]
    )

    assert _decide(new, old).relation == "update"


def test_words_that_were_taken_before_are_not_counted_again():
    evidence = [Evidence(turn="turn_1", start=0, end=9)]
    old = _record("The user has a cat.", evidence=evidence)

    assert _decide(_record("The user has a cat.", evidence=evidence), old).is_known
    assert not _decide(_record("The user has a cat."), old).is_known


@settings(deadline=None, max_examples=60)
@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 30))
def test_saying_it_again_makes_surer_and_never_certain(first: float, again: float, times: int):
    record = _record("The user has a cat.", confidence=first)

    for number in range(times):
        before = record
        said = _record("The user has a cat.", evidence=[Evidence(turn=f"turn_{number}")])
        record = confirmed(before, said.evolve(confidence=again), _LATER, _LATER)
        assert before.confidence <= record.confidence <= max(0.99, first)

    assert record.evidence_count == 1 + times
    assert len(record.evidence) == times
    assert record.last_confirmed == _LATER
    assert record.first_observed == _THEN


def test_what_is_explicit_stays_for_good():
    buffered = _record("The user has a cat.", tier=Tier.SHORT, expires_at=_LATER)
    said_again = buffered.evolve(expires_at=_LATER + timedelta(days=3))

    assert confirmed(buffered, _record("I have a cat."), _LATER, _LATER).tier is Tier.LONG
    assert confirmed(buffered, _record("I have a cat."), _LATER, _LATER).expires_at is None
    assert confirmed(buffered, said_again, _LATER, _LATER).expires_at == said_again.expires_at
    lasting = _record("The user has a cat.")
    assert confirmed(lasting, said_again, _LATER, _LATER).expires_at is None


def test_overwriting_leaves_the_evidence_of_the_old_value_in_its_history():
    old = _record("The user likes tea.", evidence=[Evidence(turn="turn_1")], evidence_count=9)
    new = _record("The user likes coffee.", evidence=[Evidence(turn="turn_2")])

    over = renewed(old, new, new.content, "overwrite", _LATER, _LATER)
    both = renewed(old, new, "The user likes tea. …", "append", _LATER, _LATER)

    assert (over.id, over.version, over.evidence_count) == (old.id, 2, 1)
    assert over.evidence == new.evidence
    assert over.valid_from == _LATER
    assert (both.evidence_count, len(both.evidence)) == (10, 2)
    assert both.valid_from is None


def test_what_was_true_before_the_stored_one_points_to_it():
    stored = _record("The user lives in Oslo.", _LATER)
    told_late = _record("The user lives in Rome.")

    past = outdated(told_late, stored, _THEN)

    assert past.status is Status.SUPERSEDED
    assert past.related == (stored.id,)
    assert (past.valid_from, past.valid_to) == (_THEN, _LATER)


@pytest.mark.parametrize(
    ("category", "strategy"),
    [
        ("preference", "overwrite"),
        ("user-profile", "overwrite"),
        ("feedback", "overwrite"),
        ("decision", "overwrite"),
        ("task-traces", "append"),
        ("tool-effects", "append"),
        ("domain-facts", "summarise"),
        ("project", "summarise"),
        ("something of their own", "summarise"),
    ],
)
def test_the_category_says_how_a_change_is_taken_in(category: str, strategy: str):
    old, new = _record("a", category=category), _record("b", category=category)

    assert strategy_of(new, old) == strategy
    wished = new.evolve(metadata={"strategy": "append"})
    assert strategy_of(wished, old) == "append"


def test_a_strategy_that_does_not_exist_is_refused():
    with pytest.raises(InvalidInput, match="overwrite, append, summarise"):
        wished_strategy({"strategy": "guess"})


@pytest.mark.parametrize(
    ("old", "new", "kept", "gone"),
    [
        (
            "The limit is 100 requests. It resets at noon.",
            "The limit is 200 requests.",
            ("200", "noon"),
            "100",
        ),
        ("缓存保留10分钟。负责人是张伟。", "缓存保留30分钟。", ("30", "张伟"), "10"),
    ],
)
async def test_a_fact_has_one_value_and_keeps_the_rest(
    old: str, new: str, kept: tuple[str, ...], gone: str
):
    merged = await Merger().merge("summarise", old, new)

    assert all(it in merged.text for it in kept)
    assert gone not in merged.text
