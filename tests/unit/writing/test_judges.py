"""Who judges how statements relate, and what each of them may decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.domain.embedding import JudgeCalibration
from recollect.domain.relation import Verdict
from recollect.errors import ModelError
from recollect.models.language.scripted import Reply, ScriptedModel, Slowly
from recollect.ports.judge import Statement
from recollect.writing.judges import JudgeChain, ModelJudge, ThresholdJudge
from tests.fakes import FakeJudge

_THEN = datetime(2026, 3, 1, 9, tzinfo=UTC)
_OLD, _NEW = "Ann lives in Oslo", "Ann has moved to Rome"


def _said(text: str, days: float = 0) -> Statement:
    return Statement(text=text, said_at=_THEN + timedelta(days=days))


class FakeClassifier:
    """Gives the probabilities that a test says, by the pair in the order it is read."""

    name = "fake-classifier"
    calibration = JudgeCalibration(
        update=0.8,
        surface=0.7,
        margin=0.1,
        replace=0.8,
        replace_near=0.7,
        same=0.7,
        merge=0.95,
    )

    def __init__(self, known: Mapping[tuple[str, str], Sequence[float]]) -> None:
        self.known = known
        self.read: list[tuple[str, str]] = []

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        self.read += pairs
        return np.log([self.known[pair] for pair in pairs])


async def _local(
    forward: Sequence[float],
    backward: Sequence[float] = (),
    *,
    new: str = _NEW,
    old: str = _OLD,
    near: float | None = 0.8,
) -> Verdict:
    """The verdict on two statements with these probabilities, and how near they are."""
    classifier = FakeClassifier({(old, new): forward, (new, old): backward or forward})
    stored = Statement(text=old, said_at=_THEN, near=near)
    judged = await ThresholdJudge(classifier).judge(_said(new, 3), [stored])
    return judged.verdicts[0]


# --- What is certain -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("ann lives in  Oslo.", "Ann lives in Oslo"),
        ("安妮住在奥斯陆。", "安妮住在奥斯陆"),
        ("Ann, like Bob, cycles!", "ann like bob cycles"),
    ],
)
async def test_equal_words_are_the_same_without_a_model(new: str, old: str):
    (verdict,) = (await JudgeChain().judge(_said(new), [_said(old)])).verdicts

    assert (verdict.relation, verdict.is_sure, verdict.decided_by) == ("same", True, "rules")


@pytest.mark.parametrize(
    ("new", "old"),
    [("It costs 3.5 euros", "It costs 35 euros"), ("We write C++", "We write C"), (_NEW, _OLD)],
)
async def test_without_a_model_nothing_else_is_decided(new: str, old: str):
    (verdict,) = (await JudgeChain().judge(_said(new), [_said(old)])).verdicts

    assert verdict.relation == "different"


async def test_a_long_text_is_the_same_only_word_for_word():
    note, judge = "Ann likes tea. " * 50, FakeJudge()
    judge.knows(note, note + "Often.", "same", is_sure=True)

    same, other = (
        await JudgeChain([judge]).judge(_said(note), [_said(note), _said(note + "Often.")])
    ).verdicts

    assert (same.relation, other.relation, judge.asked) == ("same", "different", [])


# --- The local model -----------------------------------------------------------------------------


_UPDATE, _BACK = [0.05, 0.85, 0.05, 0.05], [0.05, 0.05, 0.85, 0.05]


@pytest.mark.parametrize(
    ("backward", "near", "relation", "is_sure"),
    [
        (_BACK, 0.8, "update", True),
        ([0.05, 0.05, 0.05, 0.85], 0.8, "update", False),
        (_BACK, 0.6, "update", False),
        (_BACK, None, "update", False),
    ],
)
async def test_a_record_is_changed_only_by_what_is_near_and_seen_both_ways(
    backward: list[float], near: float | None, relation: str, is_sure: bool
):
    verdict = await _local(_UPDATE, backward, near=near)

    assert (verdict.relation, verdict.is_sure) == (relation, is_sure)


@pytest.mark.parametrize("text", ["Ann moved to Porto last month{}", "安上个月{}搬到了波尔图"])
async def test_dates_that_were_put_behind_times_are_not_read(text: str):
    said, dated = text.format(""), text.format(" (2026-10)" if text.isascii() else "（2026-10）")
    classifier = FakeClassifier({(_OLD, said): _UPDATE, (said, _OLD): _BACK})
    stored = Statement(text=_OLD, said_at=_THEN)

    judged = await ThresholdJudge(classifier).judge(_said(dated, 3), [stored])

    assert judged.verdicts[0].relation == "update"


@pytest.mark.parametrize("text", ["The lease runs out ({})", "租约到期（{}）"])
async def test_dates_that_were_said_are_read(text: str):
    old, new = text.format("2026-05-01"), text.format("2027-05-01")
    classifier = FakeClassifier({(old, new): _UPDATE, (new, old): _BACK})
    stored = Statement(text=old, said_at=_THEN)

    judged = await ThresholdJudge(classifier).judge(_said(new, 3), [stored])

    assert judged.verdicts[0].relation == "update"


async def test_vectors_of_another_model_are_not_trusted():
    classifier = FakeClassifier({(_OLD, _NEW): _UPDATE, (_NEW, _OLD): _BACK})
    stored = Statement(text=_OLD, said_at=_THEN, near=0.99)

    judged = await ThresholdJudge(classifier, trusts_near=False).judge(_said(_NEW, 3), [stored])

    assert (judged.verdicts[0].relation, judged.verdicts[0].is_sure) == ("update", False)


async def test_of_several_that_would_change_only_the_nearest_does():
    others = {"Bob lives in Oslo": 0.5, _OLD: 0.7, "Ann's flat is in Oslo": 0.65}
    classifier = FakeClassifier(
        {pair: _UPDATE for old in others for pair in ((old, _NEW), (_NEW, old))}
    )
    stored = [Statement(text=old, said_at=_THEN, near=near) for old, near in others.items()]

    judged = await ThresholdJudge(classifier).judge(_said(_NEW, 3), stored)

    assert [it.relation for it in judged.verdicts] == ["different", "update", "update"]


@pytest.mark.parametrize(
    ("forward", "backward", "relation"),
    [
        ([0.1, 0.5, 0.3, 0.1], [0.1, 0.3, 0.5, 0.1], "update"),
        ([0.1, 0.3, 0.5, 0.1], [0.1, 0.3, 0.5, 0.1], "conflict"),
        ([0.1, 0.5, 0.3, 0.1], [0.3, 0.1, 0.1, 0.5], "different"),
    ],
)
async def test_less_is_surfaced_only_where_both_directions_agree(
    forward: list[float], backward: list[float], relation: str
):
    verdict = await _local(forward, backward, near=0.6)

    assert (verdict.relation, verdict.is_sure) == (relation, False)


@pytest.mark.parametrize(
    ("likely", "back", "relation", "is_sure"),
    [
        (0.97, 0.96, "same", True),
        (0.97, 0.8, "same", False),
        (0.97, 0.5, "different", False),
    ],
)
async def test_the_same_is_merged_only_above_a_stricter_threshold(
    likely: float, back: float, relation: str, is_sure: bool
):
    verdict = await _local(*([it, 0.005, 0.005, 0.99 - it] for it in (likely, back)))

    assert (verdict.relation, verdict.is_sure) == (relation, is_sure)


@pytest.mark.parametrize(
    ("old", "new"),
    [("The rent is 900 euros", "Rent: 950 euros"), ("房租三千块", "房租是3500元")],
)
async def test_other_numbers_are_never_the_same(old: str, new: str):
    verdict = await _local([0.97, 0.01, 0.01, 0.01], old=old, new=new)

    assert verdict.relation == "different"


@pytest.mark.parametrize(
    ("old", "new"), [("Bob manages Alice", "Alice manages Bob."), ("小李教小王", "小王教小李")]
)
async def test_the_same_words_turned_round_are_not_taken_for_the_same(old: str, new: str):
    verdict = await _local([0.97, 0.01, 0.01, 0.01], old=old, new=new)

    assert verdict.relation == "different"


async def test_another_beginning_turns_nothing_round():
    old, new = "Ann plays table tennis every weekend", "At weekends Ann plays table tennis"
    verdict = await _local([0.97, 0.01, 0.01, 0.01], old=old, new=new)

    assert verdict.relation == "same"


async def test_the_older_statement_is_read_first():
    classifier = FakeClassifier({(_OLD, _NEW): _UPDATE, (_NEW, _OLD): _BACK})

    judged = await ThresholdJudge(classifier).judge(_said(_OLD, -9), [_said(_NEW)])

    assert judged.verdicts[0].relation == "update"
    assert classifier.read[0] == (_OLD, _NEW)


# --- A language model ----------------------------------------------------------------------------


def _told(*relations: str) -> Reply:
    pairs = [
        {"number": at, "relation": it, "probability": 0.8, "reason": "why"}
        for at, it in enumerate(relations, 1)
    ]
    return {"pairs": pairs}


async def test_a_model_is_asked_once_for_all_with_dates_and_sources():
    model = ScriptedModel([_told("update", "different", "conflict")])
    stored = [_said(_OLD), Statement(text="Ann cycles", said_at=_THEN, source="user"), _said("C")]

    judged = await JudgeChain([ModelJudge(model)]).judge(_said(_NEW, 2), stored)

    assert [it.relation for it in judged.verdicts] == ["update", "different", "conflict"]
    assert judged.verdicts[0].decided_by == "scripted:model"
    (prompt,) = model.prompts
    assert prompt.text.splitlines() == [
        f"new (2026-03-03 09:00): {_NEW}",
        f"1 (2026-03-01 09:00): {_OLD}",
        "2 (2026-03-01 09:00, user): Ann cycles",
        "3 (2026-03-01 09:00): C",
    ]


async def test_a_model_that_takes_other_numbers_for_the_same_changes_nothing():
    model = ScriptedModel([_told("same")])

    judged = await ModelJudge(model).judge(_said("It has 3 rooms"), [_said("2 rooms")])

    assert (judged.verdicts[0].relation, judged.verdicts[0].is_sure) == ("update", False)


@pytest.mark.parametrize(
    ("replies", "code"),
    [
        (["no JSON", "none again"], "model_bad_output"),
        ([_told()], "model_bad_output"),
        ([ModelError("I would rather not", code="model_refused")], "model_refused"),
        ([Slowly(seconds=30, reply="{}")], "model_timeout"),
    ],
)
async def test_a_model_that_fails_is_replaced_by_the_next_judge(replies: list[Reply], code: str):
    local = FakeJudge()
    local.knows(_OLD, _NEW, "update", is_sure=True)
    chain = JudgeChain([ModelJudge(ScriptedModel(replies, seconds=0.1)), local])

    judged = await chain.judge(_said(_NEW), [_said(_OLD)])

    assert (judged.degraded, judged.verdicts[0].decided_by) == (code, "fake-judge")


async def test_nothing_is_asked_twice_unless_a_judge_failed():
    local = FakeJudge()
    chain = JudgeChain([local])
    for _ in range(2):
        await chain.judge(_said(_NEW), [_said(_OLD), _said("Ann cycles")])

    assert len(local.asked) == 2
    assert chain.counts == {"different": 2}
