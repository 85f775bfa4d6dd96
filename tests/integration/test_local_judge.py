"""The shipped judge on labelled pairs, and on stories: nothing true is lost, the newer one first.

The pairs are those that the former rules were written on, one sentence at a time; the judge was
not trained on them. The floors are what was measured, less a little.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Memory
from recollect.models.local_model import open_judge
from recollect.ports.judge import Statement
from recollect.writing.judges import ThresholdJudge
from tests.conftest import TurnedClock

_PAIRS = Path(__file__).parents[1] / "data" / "judge_pairs.jsonl"
_THEN = datetime(2026, 3, 1, 9, tzinfo=UTC)


async def test_labelled_pairs_are_judged_as_well_as_measured():
    classifier = open_judge(None)
    assert classifier is not None
    judge = ThresholdJudge(classifier)
    pairs = [json.loads(line) for line in _PAIRS.read_text(encoding="utf-8").splitlines()]
    counts: Counter[tuple[str, str]] = Counter()
    for pair in pairs[::4]:
        new = Statement(text=pair["new"], said_at=_THEN + timedelta(days=3))
        (verdict,) = (await judge.judge(new, [Statement(text=pair["old"], said_at=_THEN)])).verdicts
        counts[pair["label"], verdict.relation] += 1
        assert not verdict.is_sure, "without knowing how near they are nothing is changed"

    def share(label: str, *relations: str) -> float:
        of = sum(number for (given, _), number in counts.items() if given == label)
        return sum(counts[label, it] for it in relations) / of

    assert share("same", "same") >= 0.75
    assert share("update", "update", "conflict") >= 0.75
    assert share("conflict", "update", "conflict") >= 0.85
    assert share("different", "different") >= 0.75


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "The billing service runs on port 8080",
            "The billing service now runs on port 9090",
            "Which port does the billing service run on?",
        ),
        ("Ann lives in Berlin", "Ann moved to Munich", "Where does Ann live?"),
        ("季度评审在 12 月 5 日", "季度评审改到 12 月 12 日了", "季度评审在哪天？"),
        ("我住在柏林", "I moved to Munich last week", "我住在哪里？"),
    ],
)
async def test_what_holds_now_comes_first_and_the_past_is_kept(
    judged: Memory, clock: TurnedClock, old: str, new: str, question: str
):
    await judged.write(old)
    clock.turn(days=9)
    written = await judged.write(new)

    hits = await judged.recall(question)

    assert hits[0].content == new
    assert written.record is not None
    kept = [it.content for it in await judged.list()]
    history = [it.record.content for it in await judged.history(written.record.id)]
    assert old in kept + history


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The billing service runs on port 8080",
            "The billing service has 4 replicas",
            "The billing service is written in Go",
            "The billing service is owned by Priya",
        ),
        ("季度评审在 12 月 5 日", "公司年会定在 1 月 18 日", "用户对花生过敏", "用户对花生不过敏"),
        ("My sister lives in Bonn", "I live in Kiel", "My cat is called Pixel", "Fado is my dog"),
    ],
)
async def test_nothing_true_is_lost(
    judged: Memory, clock: TurnedClock, statements: tuple[str, ...]
):
    for statement in statements:
        await judged.write(statement)
        clock.turn(seconds=1)

    assert {it.content for it in await judged.list()} == set(statements)


async def test_a_duplicate_is_shown_once(judged: Memory, clock: TurnedClock):
    await judged.write("The user is allergic to peanuts")
    clock.turn(days=2)
    await judged.write("用户对花生过敏")
    clock.turn(days=2)
    await judged.write("I have a peanut allergy")

    hits = await judged.recall("What is the user allergic to?")

    assert len([it for it in hits if "peanut" in it.content or "花生" in it.content]) == 1
