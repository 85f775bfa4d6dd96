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
from recollect.ports.judge import Judge, Statement
from recollect.writing.candidates import Candidate
from recollect.writing.judges import JudgeChain
from recollect.writing.outcome import Decision, confirmed, decide, outdated, renewed
from recollect.writing.strategy import Merger, statements, strategy_of, wished_strategy
from tests.fakes import FakeJudge

_THEN = datetime(2026, 3, 1, tzinfo=UTC)
_LATER = _THEN + timedelta(days=30)


def _record(content: str, at: datetime = _THEN, **fields: Any) -> Record:
    return new_record(content, RecordFields(**fields), Scope(user="ann"), at)


async def _decide(new: Record, *old: Record, judge: Judge | None = None, **known: Any) -> Decision:
    stored = [Candidate(record=it) for it in old]
    return await decide(new, _LATER, stored, judge or JudgeChain(), **known)


async def test_of_several_the_surest_is_changed_and_the_others_are_linked(judge: FakeJudge):
    new = _record("I live in Oslo.", _LATER)
    same, update, conflict, other = (_record(it) for it in ("A.", "B.", "C.", "D."))
    judge.knows("A.", new.content, "same")
    judge.knows("B.", new.content, "update", is_sure=True)
    judge.knows("C.", new.content, "conflict")

    decision = await _decide(new, other, conflict, update, same, judge=judge)

    assert decision.changed is not None
    assert decision.changed.record == update
    assert [it.record for it in decision.linked] == [same, conflict]


async def test_what_nobody_is_sure_of_changes_nothing(judge: FakeJudge):
    old, new = _record("The user lives in Oslo."), _record("I live in Rome.", _LATER)
    judge.knows(old.content, new.content, "update")

    decision = await _decide(new, old, judge=judge)

    assert (decision.changed, decision.verdict.relation) == (None, "update")


async def test_a_correction_changes_what_it_contradicts(judge: FakeJudge):
    old, new = _record("The user lives in Oslo."), _record("I live in Rome.", _LATER)
    judge.knows(old.content, new.content, "conflict")

    decision = await _decide(new, old, judge=judge, corrects=True)

    assert decision.changed is not None
    assert decision.verdict.relation == "update"


async def test_a_correction_right_after_it_needs_no_judge():
    said = Evidence(turn="turn_1", start=0, end=9)
    old = _record("The user has two cats.", evidence=[said])

    decision = await _decide(_record("The user has three cats."), old, about=[said])

    assert (decision.verdict.relation, decision.verdict.is_sure) == ("update", True)


async def test_a_key_or_a_title_names_what_is_changed():
    by_title = _record("The port is 8080.", title="API port", category="project")
    by_key = _record("端口是8080。", metadata={"key": "port"})
    titled = {"title": "api port", "category": "project"}

    for new, old, relation in (
        (_record("The port is 9090.", **titled), by_title, "update"),
        (_record("the port is 8080", **titled), by_title, "same"),
        (_record("端口是9090。", metadata={"key": "port"}), by_key, "update"),
    ):
        decision = await _decide(new, old)
        assert (decision.verdict.relation, decision.verdict.decided_by) == (relation, "caller")
    apart = await _decide(_record("The port is 9090.", title="Other port"), by_title, by_key)
    assert apart.verdict.relation == "different"


async def test_only_the_first_few_candidates_are_judged(judge: FakeJudge):
    await _decide(_record("New."), *(_record(f"Old {n}.") for n in range(20)), judge=judge)

    assert [old for old, _ in judge.asked] == [f"Old {n}." for n in range(8)]


async def test_events_of_different_days_are_different_events():
    first = _record("We deployed the shop.", kind="episodic", timestamp=_THEN)
    again = _record("We deployed the shop.", kind="episodic", timestamp=_LATER)
    same_day = _record("We deployed the shop.", kind="episodic", timestamp=_THEN)

    assert (await _decide(again, first)).verdict.relation == "different"
    assert (await _decide(same_day, first)).verdict.relation == "same"


async def test_a_fact_is_changed_by_an_event_only_where_its_user_tells_it(judge: FakeJudge):
    fact = _record("The user lives in Oslo.")
    event = _record("The user moved to Rome.", kind="episodic")
    judge.knows(fact.content, event.content, "update", is_sure=True)

    assert (await _decide(event, fact, judge=judge)).changed is None
    assert (await _decide(event, fact, judge=judge, ends_facts=True)).changed is not None


async def test_a_procedure_with_other_steps_is_changed():
    said = "用户要求：每次发布都先跑测试"
    old = _record(said, kind="procedural", steps=["跑测试", "发布"])
    new = _record(said, kind="procedural", steps=["备份", "跑测试", "发布"])

    assert (await _decide(new, old)).verdict.relation == "update"


async def test_words_that_were_taken_before_are_not_counted_again():
    evidence = [Evidence(turn="turn_1", start=0, end=9)]
    old = _record("The user has a cat.", evidence=evidence)

    assert (await _decide(_record("The user has a cat.", evidence=evidence), old)).is_known
    assert not (await _decide(_record("The user has a cat."), old)).is_known


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
    judge: FakeJudge, old: str, new: str, kept: tuple[str, ...], gone: str
):
    changed, _ = statements(old)
    judge.knows(changed, new, "update")
    before, after = (Statement(text=it, said_at=_THEN) for it in (old, new))

    merged = await Merger(judge=judge).merge("summarise", before, after)

    assert all(it in merged.text for it in kept)
    assert gone not in merged.text
