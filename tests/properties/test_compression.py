"""Whatever is said, compressing keeps calls with their results, and everything within reach."""

import asyncio

from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.context.background_compression import BackgroundCompression
from recollect.context.compression import Compression
from recollect.context.conversation import grouped
from recollect.context.edits import Drop, apply
from recollect.context.summariser import Summariser
from recollect.domain.message import ImagePart, Message, TextPart, ToolCall
from recollect.domain.sections import CompressionSettings
from recollect.language.token_estimate import EstimatedTokens
from recollect.ports.language_model import message_tokens
from tests.examples import examples
from tests.provider_rules import (
    valid_for_anthropic,
    valid_for_openai,
)

_COUNTER = EstimatedTokens()
# Small numbers, so that short conversations meet every border.
_OPTIONS = CompressionSettings(
    segment=4, kept_by_summaries=4, kept_by_digest=2, result_tokens=40,
    summary_tokens=60, digest_tokens=120,
)  # fmt: skip

_texts = st.sampled_from(
    (
        *("ok", "hello there", "好的", "[summary] decided nothing", "…", "? ! .", "x" * 300),
        *("We decided to use Redis. Ann Lee owns it. The budget is $48,500.", "a\n\nb: c;"),
        *("预算是 48 万元，王晓蕾周五前要把合同发出去。" * 3, "line one\nerror: 7 rows\n" * 20),
        *(
            "I am not sure who pays?",
            "```python\nx = 1\n```",
            "- **Plan**: go\n- stay",
            "\ud83d lost half",
        ),
    )
)


@st.composite
def _exchanges(draw: st.DrawFn) -> list[Message]:
    """One step of a conversation, valid for any provider."""
    number = draw(st.integers(0, 10_000_000))
    user = Message(role="user", parts=(TextPart(text=draw(_texts)),), id=f"u{number}")
    answer = Message(role="assistant", parts=(TextPart(text=draw(_texts)),), id=f"a{number}")
    match draw(st.integers(0, 4)):
        case 0:
            picture = ImagePart(source={"url": "https://example.com/a.png"})
            return [Message(role="user", parts=(*user.parts, picture)), answer]
        case 1 | 2:
            count = draw(st.integers(1, 3))
            calls = tuple(
                ToolCall(id=f"{number}_{n}", name="read", arguments="{}") for n in range(count)
            )
            results = [
                Message(role="tool", parts=(TextPart(text=draw(_texts)),), answers=call.id)
                for call in calls
            ]
            return [user, Message(role="assistant", tool_calls=calls), *results, answer]
        case _:
            return [user, answer]


@st.composite
def _conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    system = Message(role="system", parts=(TextPart(text="You are helpful."),))
    steps = draw(st.lists(_exchanges(), min_size=1, max_size=14))
    said = [message for step in steps for message in step]
    ids = [call.id for message in said for call in message.tool_calls]
    if len(set(ids)) < len(ids):
        said = said[:2] if not said[1].tool_calls else said[:1]
    ending = draw(st.integers(0, 2))
    if ending == 1:
        said.append(Message(role="user", parts=(TextPart(text=draw(_texts)),)))
    if ending == 2:
        said.append(Message(role="user", parts=(TextPart(text="go"),)))
        pending = ToolCall(id="pending", name="start", arguments="{}")
        said.append(Message(role="assistant", tool_calls=(pending,)))
    return (system, *said) if draw(st.booleans()) else tuple(said)


def _compressor(begun: Compression | None = None) -> BackgroundCompression:
    return BackgroundCompression(
        Summariser(_COUNTER, _OPTIONS), _COUNTER, _OPTIONS, begun, most_verbatim=16
    )


_budgets = st.integers(60, 3_000)


@settings(max_examples=examples(60), deadline=None)
@given(_conversations(), _budgets)
def test_a_compressed_window_is_one_that_providers_take(
    messages: tuple[Message, ...], budget: int
) -> None:
    assert not valid_for_openai(messages)
    result = asyncio.run(_compressor().compressed(messages, budget))
    window = apply(messages, result.edits)
    grouped(window)
    assert valid_for_openai(window) == []
    assert valid_for_anthropic(window) == []
    assert result.tokens == sum(message_tokens(it, _COUNTER) for it in window)


@settings(max_examples=examples(60), deadline=None)
@given(_conversations(), _budgets)
def test_everything_that_is_not_sent_is_represented(
    messages: tuple[Message, ...], budget: int
) -> None:
    compressor = _compressor()
    result = asyncio.run(compressor.compressed(messages, budget))
    dropped = {edit.index for edit in result.edits if isinstance(edit, Drop)}
    parts = compressor.compression.parts
    represented = {position for part in parts for position in range(part.start, part.end)}
    assert dropped <= represented
    assert represented == set(range(compressor.compression.covered_to))
    turns = [turn for part in parts for turn in part.turn_ids]
    assert turns == [it.id for it in messages[: len(represented)] if it.id is not None]
    assert messages[-1] in apply(messages, result.edits)


# Two calls of which one result is beyond the digest: both stay, the first one trimmed.
_PARTED_BY_THE_DIGEST = (
    Message(role="user", parts=(TextPart(text="ok"),), id="u0"),
    Message(
        role="assistant",
        tool_calls=tuple(ToolCall(id=it, name="read", arguments="{}") for it in ("one", "two")),
    ),
    Message(role="tool", parts=(TextPart(text="line one\nerror: 7 rows\n" * 20),), answers="one"),
    Message(role="tool", parts=(TextPart(text="ok"),), answers="two"),
    Message(role="assistant", parts=(TextPart(text="ok"),), id="a0"),
)


@example(_PARTED_BY_THE_DIGEST, 60)
@settings(max_examples=examples(40), deadline=None)
@given(_conversations(), _budgets)
def test_compressing_again_changes_nothing(messages: tuple[Message, ...], budget: int) -> None:
    async def twice() -> None:
        compressor = _compressor()
        first = await compressor.compressed(messages, budget)
        assert await compressor.compressed(messages, budget) == first
        stored = Compression.from_json(compressor.compression.as_json())
        assert await _compressor(stored).compressed(messages, budget) == first

    asyncio.run(twice())


@settings(max_examples=examples(40), deadline=None)
@given(_conversations(), _conversations(), _budgets)
def test_what_was_summarised_stays_to_the_letter_when_more_is_said(
    messages: tuple[Message, ...], more: tuple[Message, ...], budget: int
) -> None:
    later = tuple(message for message in more if message.role in ("user", "assistant"))
    later = tuple(message for message in later if not message.tool_calls)

    async def grow() -> None:
        compressor = _compressor()
        await compressor.compressed(messages, budget)
        before = compressor.compression
        await compressor.compressed((*messages, *later), budget)
        after = compressor.compression
        assert after.covered_to >= before.covered_to
        if after.digest == before.digest:
            assert after.summaries[: len(before.summaries)] == before.summaries

    asyncio.run(grow())
