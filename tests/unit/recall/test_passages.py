"""What the local answerer reads of a turn: its words, and the context in which they stand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from recollect.recall.passages import in_context


@pytest.mark.parametrize(
    ("hours", "name"),
    [(-1, "today"), (47, "today"), (48, "days"), (200, "weeks"), (2_000, "months")],
)
def test_a_text_says_how_old_it_is(hours: int, name: str):
    assert in_context("We moved.", age=timedelta(hours=hours)) == f"{name}: We moved."


def test_what_an_assistant_said_is_read_as_such():
    said = in_context("Tea has caffeine.", age=timedelta(), role="assistant")
    assert said == "today: assistant: Tea has caffeine."


@pytest.mark.parametrize(
    ("before", "text", "read"),
    [
        ("Sure. How many guests? Let me know.", "60, maybe 62", "How many guests? → 60, maybe 62"),
        ("好的。生日要请多少小朋友？", "七个", "生日要请多少小朋友？ → 七个"),
    ],
)
def test_a_short_answer_is_read_with_what_was_asked(before: str, text: str, read: str):
    assert in_context(text, age=timedelta(), before=before) == f"today: {read}"


@pytest.mark.parametrize("text", ["word " * 13, "字" * 25])
def test_a_longer_text_stands_for_itself(text: str):
    assert in_context(text, age=timedelta(), before="How many?") == f"today: {text}"
