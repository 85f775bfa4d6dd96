"""Whatever is said in a session, what it sends is valid and fits, and all of it stays in reach."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from recollect import Memory
from recollect.context.message_formats import messages_of
from recollect.context.session import Session
from recollect.context.window import TOO_SMALL
from recollect.domain.message import Message
from recollect.errors import InvalidInput
from recollect.language.token_estimate import EstimatedTokens
from recollect.ports.language_model import message_tokens
from recollect.settings import Settings
from tests.examples import examples
from tests.properties.test_windows import conversations
from tests.provider_rules import (
    valid_for_anthropic,
    valid_for_openai,
)
from tests.reports import write_report

Story = tuple[list[Message], int, list[int]]

_COUNTER = EstimatedTokens()
_SMALL = {
    "compression": {"segment": 4, "kept_by_summaries": 4, "kept_by_digest": 2},
    "session": {"messages": 20},
    "archive": {"threshold": 600, "passage_tokens": 60},
    # What is sent and what is stored has nothing to do with vectors and with what is learned.
    "embedding": {"model": "none"},
    "writing": {"extract": "off", "every": 0},
}

_contexts = st.integers(1_500, 12_000)
# How many messages are handed over at once, again and again.
_batches = st.lists(st.integers(1, 4), min_size=1, max_size=5)
# In lots, each in a memory of its own.
_LOTS, _LOT = 40, 250
_large_batches = st.lists(st.integers(10, 60), min_size=1, max_size=3)
_some = settings(
    max_examples=examples(5), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@asynccontextmanager
async def _opened() -> AsyncIterator[Memory]:
    with tempfile.TemporaryDirectory() as folder:
        storage = {"synchronous": "off"}
        async with Memory.open(
            Settings.load({"data_dir": folder, "storage": storage, **_SMALL})
        ) as memory:
            yield memory


@_some
@given(conversations(), _contexts, _batches)
def test_every_prepared_window_is_valid_within_budget_and_loses_nothing(messages, context, sizes):
    asyncio.run(_told([(messages, context, sizes)]))


@pytest.mark.soak
def test_ten_thousand_random_conversations():
    """Many in one memory, in a few steps each: opening and storing take most of the time."""
    figures: Counter[str] = Counter()
    for lot in range(_LOTS):
        stories = _drawn(lot)
        figures += asyncio.run(_told(stories))
        write_report("conversations", {**figures, "of": _LOTS * _LOT})
    assert figures["conversations"] == _LOTS * _LOT


def _drawn(lot: int) -> list[Story]:
    """Some random conversations, the same each time; they are lived through outside of the draw,
    so that a failure is told as it is."""
    drawn: list[Story] = []

    @seed(lot)
    @settings(_some, max_examples=_LOT, phases=[Phase.generate], database=None)
    @given(conversations(), _contexts, _large_batches)
    def draw(messages, context, sizes):
        drawn.append((messages, context, sizes))

    draw()
    return drawn


async def _told(stories: Sequence[Story]) -> Counter[str]:
    """Live through each story and check it all the way; how much was checked."""
    checked: Counter[str] = Counter()
    async with _opened() as memory:
        for number, (messages, context, sizes) in enumerate(stories):
            name = f"story {number}"
            session = memory.session(name, context_tokens=context)
            windows = await _live_through(session, messages, sizes)
            await _check_all_in_reach(memory, session, messages)
            # Opened again, it is the same.
            again = memory.session(name, context_tokens=context)
            await _check_all_in_reach(memory, again, messages)
            windows += await _check_sent(again)
            checked.update(conversations=1, messages=len(messages), windows=windows)
            checked.update({f"at level {again.usage.level}": 1})
    return checked


async def _live_through(session: Session, messages: Sequence[Message], sizes: list[int]) -> int:
    """Say everything and look at each window; how many there were."""
    at = turn = windows = 0
    while at < len(messages):
        size = sizes[turn % len(sizes)]
        await session.observe(messages[at : at + size])
        at, turn = at + size, turn + 1
        windows += await _check_sent(session)
        if turn % 3 == 0 or at >= len(messages):
            await session.settle()
            windows += await _check_sent(session)
    return windows


async def _check_sent(session: Session) -> bool:
    """Whether there was a window; one that cannot hold what must stay is refused."""
    try:
        sent = await session.prepare(format="neutral")
    except InvalidInput as problem:
        if problem.code != TOO_SMALL:
            raise
        return False
    usage = session.usage
    counted = sum(message_tokens(message, _COUNTER) for message in sent)
    assert counted == usage.window_tokens <= usage.budget_tokens
    assert len(sent) <= 20
    assert valid_for_openai(sent) == []
    assert valid_for_anthropic(sent) == []
    return True


async def _check_all_in_reach(memory: Memory, session: Session, messages: Sequence[Message]):
    """Every message is stored as it was, in order, and summaries bring theirs back."""
    name = (await session).id
    turns = [*await memory.turns(session=name, limit=1_000)]
    stored = [message for turn in turns for message in messages_of(turn)]
    assert len(stored) == len(messages)
    for kept, said in zip(stored, messages, strict=True):
        if kept.text != said.text:
            placeholder = kept.text.partition("\n")[0].rpartition(": ")[2].rstrip("]")
            assert await session.archive.load_tool_result(placeholder) == said.text
        else:
            assert (kept.parts, kept.tool_calls) == (said.parts, said.tool_calls)
        assert (kept.role, kept.answers, kept.name) == (said.role, said.answers, said.name)
    at = 0
    for summary in session.summaries:
        expanded = await session.expand(summary)
        assert [it.id for it in expanded] == [it.id for it in turns[at : at + len(expanded)]]
        at += len(expanded)
