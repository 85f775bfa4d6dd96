"""A long text takes its time to be read; whoever asks for something else does not wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime

import pytest

from recollect import Memory
from recollect.domain.unit import OwnerUnits
from recollect.language import units as searchable
from recollect.recall import question
from recollect.writing import observer as observe
from recollect.writing import saver as save

_LONG = "The harbour was full of small boats. " * 400


def _held(make: Callable[..., OwnerUnits], go_on: threading.Event) -> Callable[..., OwnerUnits]:
    """Reads a text when it is told to go on, which only somebody else can do."""

    def held(item: object) -> OwnerUnits:
        assert go_on.wait(20), "nobody else had a turn"
        return make(item)

    return held


async def test_a_question_is_answered_while_a_long_record_is_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
):
    await memory.remember("Marta keeps bees.")
    go_on = threading.Event()
    monkeypatch.setattr(save, "record_units", _held(searchable.record_units, go_on))

    saving = asyncio.create_task(memory.remember(_LONG))
    await asyncio.sleep(0)
    found = await memory.recall("Who keeps bees?")
    go_on.set()
    saved = await saving

    assert found[0].content == "Marta keeps bees."
    assert (await memory.recall("small boats in the harbour"))[0].id == saved.id


async def test_and_while_many_messages_are(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    await memory.remember("Marta keeps bees.")
    go_on = threading.Event()
    monkeypatch.setattr(observe, "turn_units", _held(searchable.turn_units, go_on))
    said = [{"role": "user", "content": f"The boat number {it} has left."} for it in range(300)]

    observing = asyncio.create_task(memory.observe(said, session="harbour"))
    await asyncio.sleep(0)
    found = await memory.recall("Who keeps bees?")
    go_on.set()

    assert found[0].content == "Marta keeps bees."
    assert len(await observing) == 300


async def test_and_while_a_long_question_is(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    await memory.remember("Marta keeps bees.")
    begun, go_on = threading.Event(), threading.Event()
    find_times = question.find_times

    def held(text: str, now: datetime) -> object:
        if len(text) > 1_000:
            begun.set()
            assert go_on.wait(20), "nobody else had a turn"
        return find_times(text, now)

    monkeypatch.setattr(question, "find_times", held)

    asking = asyncio.create_task(memory.recall(_LONG))
    assert await asyncio.to_thread(begun.wait, 20)
    found = await memory.recall("Who keeps bees?")
    go_on.set()

    assert found[0].content == "Marta keeps bees."
    await asking
