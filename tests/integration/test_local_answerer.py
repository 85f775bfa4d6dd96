"""The shipped answerer: a memory that answers comes before one that only shares words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recollect import Memory
from recollect.models.local_model import PairModel, open_answerer
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.database_servers import storage_of

_QUESTIONS = Path(__file__).parents[1] / "data" / "answers.jsonl"


async def test_what_answers_a_question_is_told_from_what_shares_its_words():
    answerer = open_answerer(None)
    assert answerer is not None
    questions = [json.loads(line) for line in _QUESTIONS.read_text("utf-8").splitlines()]
    right = 0
    for question in questions:
        logits = await answerer.logits(question["q"], [*question["right"], *question["wrong"]])
        right += int(logits.argmax() == 0)
    # Measured: 11 of 12.
    assert right >= 10


async def test_what_is_too_long_to_be_read_is_not_judged():
    answerer = open_answerer(None)
    assert answerer is not None
    logits = await answerer.logits("who feeds the cat?", ["Ann feeds the cat", "word " * 100])
    assert np.isfinite(logits[0])
    assert np.isnan(logits[1])
    assert np.isnan(await answerer.logits("who feeds the cat, " * 20, ["Ann feeds the cat"])).all()
    assert np.isnan((await answerer.logits("who feeds the cat?", ["Ann feeds the cat"] * 50))[-1])


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (
            [
                "The cat is eleven and deaf",
                "Mrs Lindqvist from downstairs feeds Biscuit when we travel",
                "The cat Biscuit hates to travel",
            ],
            "who looks after the cat when we travel?",
            "Mrs Lindqvist from downstairs feeds Biscuit when we travel",
        ),
        (
            ["妈妈上周换了新的降压药", "妈妈每天早上吃的是氨氯地平", "妈妈讨厌吃药"],
            "妈妈吃什么药？",
            "妈妈每天早上吃的是氨氯地平",
        ),
    ],
)
async def test_the_answer_comes_first(
    tmp_path: Path, clock: TurnedClock, told: list[str], question: str, answer: str
):
    settings = Settings.load({"storage": storage_of(tmp_path / "memory.db")})
    async with Memory.open(settings, clock=clock) as memory:
        for text in told:
            await memory.remember(text)
            clock.turn(days=1)
        recalled = await memory.recall(question)
    assert recalled.hits[0].content == answer


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize("read_hits", [0, 6])
async def test_what_nothing_answers_finds_nothing(tmp_path: Path, read_hits: int):
    settings = {"storage": storage_of(tmp_path / "m.db"), "recall": {"read_hits": read_hits}}
    async with Memory.open(Settings.load(settings)) as memory:
        await memory.remember("Biscuit the cat is eleven and deaf")
        await memory.remember("Mrs Lindqvist feeds the cat when we travel")
        recalled = await memory.recall("how much does the cat weigh?")
    assert bool(recalled.hits) == (read_hits == 0)


@pytest.mark.usefixtures("real_model")
async def test_what_was_read_is_read_again_only_after_something_was_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    read: list[str] = []
    scores = PairModel.scores

    def count(model: PairModel, way: str, *rest: Any) -> Any:
        read.append(way)
        return scores(model, way, *rest)

    monkeypatch.setattr(PairModel, "scores", count)
    settings = {"storage": storage_of(tmp_path / "m.db"), "recall": {"cache_seconds": 0}}
    async with Memory.open(Settings.load(settings)) as memory:
        await memory.remember("Mrs Lindqvist feeds the cat when we travel")
        other = await memory.remember("The bike is green")
        await memory.drain()
        first = await memory.recall("who feeds the cat when we travel?")
        assert read.count("answer") == 1
        assert await memory.recall("who feeds the cat when we travel?") == first
        assert read.count("answer") == 1
        await memory.forget(other.id)
        await memory.recall("who feeds the cat when we travel?")
        assert read.count("answer") == 2
