"""Whatever is said in a session, what it sends is valid and fits, and all of it stays in reach."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Memory
from recollect.context.anthropic_messages import valid_for_anthropic
from recollect.context.openai_messages import valid_for_openai
from recollect.context.session import Session
from recollect.context.stored_messages import messages_of
from recollect.context.window import TOO_SMALL
from recollect.domain.message import Message
from recollect.errors import InvalidInput
from recollect.ports.tokens import message_tokens
from recollect.settings import Settings
from recollect.text.tokens import EstimatedTokens
from tests.properties.test_windows import conversations

_COUNTER = EstimatedTokens()
_SMALL = {
    "compression": {"segment": 4, "kept_by_summaries": 4, "kept_by_digest": 2},
    "session": {"messages": 20},
    "archive": {"threshold": 600, "passage_tokens": 60},
}

_contexts = st.integers(1_500, 12_000)
# How many messages are handed over at once, again and again.
_batches = st.lists(st.integers(1, 4), min_size=1, max_size=5)
_large_batches = st.lists(st.integers(10, 60), min_size=1, max_size=3)
_some = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])


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
def test_ten_thousand_random_sessions():
    """Many in one memory, in a few steps each: opening and storing take most of the time."""
    told: list[tuple[list[Message], int, list[int]]] = []

    @settings(_some, max_examples=10_000)
    @given(conversations(), _contexts, _large_batches)
    def draw(messages, context, sizes):
        told.append((messages, context, sizes))
        if len(told) == 250:
            asyncio.run(_told(told))
            told.clear()

    draw()
    asyncio.run(_told(told))


async def _told(stories: Sequence[tuple[list[Message], int, list[int]]]) -> None:
    async with _opened() as memory:
        for number, (messages, context, sizes) in enumerate(stories):
            name = f"story {number}"
            session = memory.session(name, context_tokens=context)
            await _live_through(session, messages, sizes)
            await _check_all_in_reach(memory, session, messages)
            # Opened again, it is the same.
            again = memory.session(name, context_tokens=context)
            await _check_all_in_reach(memory, again, messages)
            await _check_sent(again)


async def _live_through(session: Session, messages: Sequence[Message], sizes: list[int]) -> None:
    at = turn = 0
    while at < len(messages):
        size = sizes[turn % len(sizes)]
        await session.observe(messages[at : at + size])
        at, turn = at + size, turn + 1
        await _check_sent(session)
        if turn % 3 == 0 or at >= len(messages):
            await session.settle()
            await _check_sent(session)


async def _check_sent(session: Session) -> None:
    try:
        sent = await session.prepare(format="neutral")
    except InvalidInput as problem:
        if problem.code != TOO_SMALL:
            raise
        return
    usage = session.usage
    counted = sum(message_tokens(message, _COUNTER) for message in sent)
    assert counted == usage.window_tokens <= usage.budget_tokens
    assert len(sent) <= 20
    assert valid_for_openai(sent) == []
    assert valid_for_anthropic(sent) == []


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
