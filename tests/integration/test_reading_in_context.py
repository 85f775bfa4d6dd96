"""The local answerer reads turns in their context, and records as they stand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from recollect import Memory
from recollect.models import local_model
from tests.conftest import TurnedClock


class Listener:
    """An answerer that notes what it is given, and finds that nothing answers."""

    name = "listener"

    def __init__(self) -> None:
        self.heard: dict[str, list[str]] = {}

    async def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        self.heard.setdefault(question, []).extend(texts)
        return [-5.0] * len(texts)

    def forget(self) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Listener:
    found = Listener()
    monkeypatch.setattr(local_model, "open_answerer", lambda folder: found)
    return found


async def _asked(path: Path, clock: TurnedClock, question: str) -> None:
    async with Memory.open(path, clock=clock) as memory:
        await memory.remember("The guests sleep at the inn")
        await memory.observe(
            [
                {"role": "assistant", "content": "Gladly. How many guests should I plan for?"},
                {"role": "user", "content": "60 guests, maybe 62"},
                {"role": "assistant", "content": "Good, guests like a buffet."},
            ],
            session="s",
        )
        clock.turn(days=20)
        await memory.recall(question, min_score=0)


async def test_a_turn_is_read_with_its_age_its_role_and_the_question_before_it(
    database_path: Path, clock: TurnedClock, listener: Listener
):
    await _asked(database_path, clock, "how many guests are coming?")
    read = listener.heard["how many guests are coming?"]
    assert "weeks: How many guests should I plan for? → 60 guests, maybe 62" in read
    assert any(it.startswith("weeks: assistant: ") and "buffet" in it for it in read)
    assert "The guests sleep at the inn" in read


@pytest.mark.parametrize(
    ("asked", "is_read"),
    [
        ("Plan a menu for the guests", True),
        ("周六客人来,帮我列个菜单 guests", True),
        ("The guests arrived. All was well.", False),
        ("what did the guests of room 17 say?", False),
        ("who were the guests last week?", False),
        ("who were the guests before that?", False),
    ],
)
async def test_requests_are_read_and_what_times_and_numbers_decide_is_not(
    database_path: Path, clock: TurnedClock, listener: Listener, asked: str, is_read: bool
):
    await _asked(database_path, clock, asked)
    assert bool(listener.heard) is is_read
