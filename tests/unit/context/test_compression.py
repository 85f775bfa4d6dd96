"""The three levels, with and without a model, and what is served while a summary is made."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from recollect.context.background_compression import BackgroundCompression
from recollect.context.compression import (
    Compression,
    Trimmer,
    digest_room,
    digested_to,
    edits_of,
    segments,
    summarised_to,
)
from recollect.context.conversation import grouped
from recollect.context.edits import apply
from recollect.context.placeholder import Placeholder, opened
from recollect.context.summariser import Summariser
from recollect.context.summary_text import summary_text
from recollect.domain.message import FilePart, ImagePart, Message, TextPart, ToolCall
from recollect.domain.sections import CompressionSettings
from recollect.domain.summary import Point, PointKind, SegmentSummary, SessionDigest
from recollect.errors import ModelError
from recollect.language.token_estimate import EstimatedTokens
from recollect.models.language.scripted import Reply, ScriptedModel, Slowly
from recollect.ports.language_model import Filled, Prompt, Shape

_COUNTER = EstimatedTokens()
_OPTIONS = CompressionSettings()
_LONG = "\n".join(f"2026-02-01 INFO step {n} finished, all {n} rows are fine" for n in range(80))
_FOUND = {"decisions": ["Redis is used for the queue"], "facts": ["Ann Lee owns the ledger"]}


def _says(role: str, text: str, index: int | None = None) -> Message:
    turn = None if index is None else f"turn_{index}"
    return Message(role=role, parts=(TextPart(text=text),), id=turn)  # type: ignore[arg-type]


def _talk(number: int) -> list[Message]:
    """A system prompt, then user and assistant in turn, about 40 tokens each."""
    talk = [_says("system", "You are helpful.", 0)]
    for index in range(1, number):
        role = "user" if index % 2 else "assistant"
        text = f"We decided that part {index} uses Redis. Ann Lee owns it. " + "And so on. " * 8
        talk.append(_says(role, text, index))
    return talk


def _with_tools(number: int, result: str) -> list[Message]:
    messages = [_says("user", "Look at the logs of the queue.")]
    for index in range(number):
        call = ToolCall(id=f"c{index}", name="read", arguments="{}")
        messages.append(Message(role="assistant", tool_calls=(call,)))
        text = TextPart(text=f"{result}\nrun {index}")
        messages.append(Message(role="tool", parts=(text,), answers=f"c{index}"))
    return messages


def _background(
    *replies: Reply, options: CompressionSettings = _OPTIONS, timeout: float = 5.0
) -> tuple[BackgroundCompression, ScriptedModel]:
    model = ScriptedModel(replies, seconds=timeout)
    summariser = Summariser(_COUNTER, options, model if replies else None)
    background = BackgroundCompression(summariser, _COUNTER, options, most_verbatim=48)
    return background, model


def _trim(messages: list[Message], to: int) -> tuple[Message, ...]:
    edits = edits_of(messages, Compression(trimmed_to=to), Trimmer(_COUNTER, 80))
    return apply(messages, edits)


# --- the first level


def test_old_tool_results_become_short_and_say_so():
    messages = _with_tools(3, _LONG)
    trimmed = _trim(messages, 5)
    assert trimmed[2].text.startswith("[shortened from")
    assert "memory_recall" in trimmed[2].text
    assert _COUNTER.count(trimmed[2].text) <= 80
    assert trimmed[6] == messages[6], "the newest result is not old"
    assert grouped(trimmed) == grouped(messages)


def test_a_short_result_and_trimming_again_change_nothing():
    messages = _with_tools(2, "ok")
    assert _trim(messages, 5) == tuple(messages)
    once = _trim(_with_tools(2, _LONG), 5)
    assert _trim(list(once), 5) == once


def test_an_archived_result_keeps_its_placeholder_but_not_what_was_opened():
    placeholder = Placeholder(
        id="arc_1", tool="read", query="log", time=datetime(2026, 3, 1, tzinfo=UTC), length=50_000,
        summary="A log of the queue. " * 9,
    )  # fmt: skip
    messages = _with_tools(1, "x")
    shown = TextPart(text=opened(placeholder, "full", _LONG))
    messages[2] = replace(messages[2], parts=(shown,))
    assert _trim(messages, 3)[2].text == str(placeholder)


def test_pictures_and_attachments_are_told_in_words():
    parts = (
        TextPart(text="Look."),
        ImagePart(source={"url": "https://example.com/a.png"}, description="a red door"),
        FilePart(source={"text": "Budget: 48,500\nrest"}, name="plan.txt"),
        FilePart(source={"media_type": "application/pdf", "data": "QUJD"}, name="plan.pdf"),
    )
    trimmed = _trim([Message(role="user", parts=parts)], 1)
    assert [it.text for it in trimmed[0].parts if isinstance(it, TextPart)] == [
        "Look.",
        "[image: a red door]",
        "[file: plan.txt: Budget: 48,500 rest]",
        "[file: plan.pdf: application/pdf, 3 bytes]",
    ]


def test_a_providers_own_block_is_left_to_it():
    thinking = FilePart(source={"anthropic": {"type": "thinking"}}, name="thinking")
    message = Message(role="assistant", parts=(thinking,))
    assert _trim([message], 1) == (message,)


def test_of_a_system_prompt_in_versions_the_newest_stands_first():
    old = "You are a careful assistant of the billing team. Version one."
    new = "You are a careful assistant of the billing team. Version two."
    other = "The user is now in plan mode."
    messages = [_says("system", old), _says("user", "hi"), _says("system", new)]
    messages += [_says("system", other), _says("user", "go on")]
    assert [it.text for it in _trim(messages, 1)] == [new, "hi", other, "go on"]


# --- the second and the third level


async def _summaries(messages: list[Message], end: int) -> tuple[SegmentSummary, ...]:
    summariser = Summariser(_COUNTER, _OPTIONS)
    return tuple(
        [await summariser.segment(messages, *it) for it in segments(0, end, _OPTIONS)]
    )  # fmt: skip


def test_segments_have_fixed_borders_however_long_the_session_gets():
    assert list(segments(0, 25, _OPTIONS)) == [(0, 10), (10, 20), (20, 25)]
    assert list(segments(25, 40, _OPTIONS)) == [(25, 30), (30, 40)]
    assert summarised_to(_talk(200), _OPTIONS) == 190
    assert summarised_to(_talk(207), _OPTIONS) == 190
    assert summarised_to(_talk(7), _OPTIONS) == 0
    assert digested_to(_talk(200), _OPTIONS) == 195


async def test_older_messages_become_one_summary_a_segment_and_the_last_ten_stay():
    messages = _talk(40)
    compression = Compression(summaries=await _summaries(messages, 30))
    window = apply(messages, edits_of(messages, compression, Trimmer(_COUNTER, 80)))
    assert window[0] == messages[0]
    assert window[2:] == tuple(messages[30:])
    lines = [part.text for part in window[1].parts if isinstance(part, TextPart)]
    assert len(lines) == 4
    assert all(line.startswith("[summary] ") for line in lines[:3])
    assert lines[0].startswith("[summary] decided We decided that part 1 uses Redis / ")
    assert "messages 1–30" in lines[3]
    assert "memory_recall" in lines[3]
    assert compression.summaries[1].turn_ids == tuple(f"turn_{n}" for n in range(10, 20))
    assert compression.level == 2


async def test_a_chinese_session_is_summarised_in_chinese():
    messages = [_says("user", f"我们决定第{n}部分用 Redis。王芳负责。") for n in range(20)]
    (first, _) = await _summaries(messages, 20)
    assert summary_text(first).startswith("[摘要] ")
    assert "决定" in summary_text(first)
    digest = await Summariser(_COUNTER, _OPTIONS).digest(messages, None, [first], 300)
    assert summary_text(digest).startswith("[会话概要]\n")


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (
            ("决定：后端使用 PostgreSQL 16。", "待办：周五前给李雷发报告。"),
            "[摘要] 决定后端使用 PostgreSQL 16；待办周五前给李雷发报告",
        ),
        (("决定用 FastAPI 0.115。",), "[摘要] 决定用 FastAPI 0.115"),
        (("Decided to use FastAPI 0.115.",), "[summary] decided to use FastAPI 0.115"),
        (
            ("Decision: we use PostgreSQL 16.", "TODO: send Ann the report by May 12."),
            "[summary] decided we use PostgreSQL 16; to do send Ann the report by May 12",
        ),
    ],
)
async def test_a_label_that_the_speaker_wrote_is_not_said_twice(texts: tuple[str, ...], told: str):
    messages = [_says("user", text) for text in texts]
    summary = await Summariser(_COUNTER, _OPTIONS).segment(messages, 0, len(messages))
    assert summary_text(summary) == told
    digest = summary_text(
        SessionDigest(key="k", start=0, end=9, language=summary.language, points=summary.points)
    )
    assert not any(label in digest for label in ("决定：", "待办：", "Decision:", "TODO:"))


async def test_a_digest_lists_decisions_and_tasks_under_headings():
    digest = SessionDigest(
        key="k", start=0, end=9, language="en",
        points=(
            Point(kind=PointKind.TODO, text="Ann sends the contract", weight=1),
            Point(kind=PointKind.DECISION, text="use Redis", weight=1),
            Point(kind=PointKind.AGREEMENT, text="no deploys\non Fridays", weight=1),
        ),
    )  # fmt: skip
    assert summary_text(digest) == (
        "[session digest]\nDecisions:\n- use Redis\nTo-dos:\n- Ann sends the contract\n"
        "Agreements:\n- no deploys on Fridays"
    )
    assert (digest.decisions, digest.todos) == (("use Redis",), ("Ann sends the contract",))
    nothing = replace(digest, points=())
    assert summary_text(nothing) == "[session digest] nothing to note"


async def test_a_call_at_the_border_stays_with_its_result():
    messages = _talk(9)
    call = ToolCall(id="c", name="read", arguments="{}")
    messages.append(Message(role="assistant", tool_calls=(call,)))
    messages.append(Message(role="tool", parts=(TextPart(text="ok"),), answers="c"))
    messages += _talk(20)[1:]
    compression = Compression(summaries=await _summaries(messages, 10))
    window = apply(messages, edits_of(messages, compression, Trimmer(_COUNTER, 80)))
    assert window[2:4] == tuple(messages[9:11])
    assert grouped(window)


async def test_pending_calls_and_the_newest_user_words_are_never_summarised_away():
    messages = [_says("system", "S"), _says("user", "Start the job.")]
    call = ToolCall(id="c", name="start", arguments="{}")
    messages.append(Message(role="assistant", tool_calls=(call,)))
    messages += [_says("assistant", f"Still waiting, minute {n}.") for n in range(20)]
    compression = Compression(summaries=await _summaries(messages, 20))
    window = apply(messages, edits_of(messages, compression, Trimmer(_COUNTER, 80)))
    assert window[2:4] == tuple(messages[1:3])


async def test_a_compression_survives_being_stored():
    messages = _talk(40)
    summaries = await _summaries(messages, 20)
    digest = await Summariser(_COUNTER, _OPTIONS).digest(messages, None, summaries, 300)
    whole = Compression(trimmed_to=30, summaries=summaries, digest=digest)
    assert Compression.from_json(json.loads(json.dumps(whole.as_json()))) == whole


def test_the_digest_of_a_long_session_may_be_longer_but_not_than_a_part_of_the_budget():
    assert digest_room(195, 10_000, _OPTIONS) == 800
    assert digest_room(1_000, 90_000, _OPTIONS) == 4_000
    assert digest_room(195, 2_000, _OPTIONS) == 500


# --- in the background


async def test_levels_follow_the_budget():
    messages = _talk(41)
    whole = sum(_COUNTER.count(it.text) + 4 for it in messages)
    for share, level in ((0.5, 0), (0.65, 1), (0.8, 2)):
        background, _ = _background()
        result = await background.compressed(messages, int(whole / share))
        assert result.level == level, share
    background, _ = _background()
    result = await background.compressed(messages, 600)
    assert result.level == 3
    window = apply(messages, result.edits)
    assert window[2:] == tuple(messages[-5:])
    assert window[1].text.startswith("[session digest]")


_PICTURE = ImagePart(source={"media_type": "image/png", "data": "iVBORw0KGgo="})


def _with_picture() -> list[Message]:
    messages = _talk(41)
    messages[3] = replace(messages[3], parts=(*messages[3].parts, _PICTURE))
    return messages


async def test_a_model_says_what_an_image_shows_once_and_that_is_kept():
    messages = _with_picture()
    budget = int(sum(_COUNTER.count(it.text) + 4 for it in messages) / 0.4)
    background, model = _background("A login form; the error says E-4031.")
    result = await background.compressed(messages, budget)
    assert result.level == 1
    told = "[image: A login form; the error says E-4031.]"
    assert told in apply(messages, result.edits)[3].text
    assert [prompt.image for prompt in model.prompts] == [_PICTURE.source]
    # Another process goes on with what was stored, and asks nothing.
    stored = Compression.from_json(json.loads(json.dumps(background.compression.as_json())))
    again = ScriptedModel(())
    resumed = BackgroundCompression(
        Summariser(_COUNTER, _OPTIONS, again), _COUNTER, _OPTIONS, stored, most_verbatim=48
    )
    assert told in apply(messages, (await resumed.compressed(messages, budget)).edits)[3].text
    assert not again.prompts


async def test_an_image_that_no_model_can_see_is_told_by_kind_and_size():
    messages = _with_picture()
    budget = int(sum(_COUNTER.count(it.text) + 4 for it in messages) / 0.4)
    blind = ModelError("It takes text only.", code="model_failed", hint="")
    background, model = _background(blind)
    for _ in range(2):
        result = await background.compressed(messages, budget)
        assert "[image: image/png, 9 bytes]" in apply(messages, result.edits)[3].text
    assert len(model.prompts) == 1


async def test_too_many_messages_are_summarised_even_if_tokens_are_plenty():
    background, _ = _background()
    messages = _talk(75)
    result = await background.compressed(messages, 1_000_000)
    window = apply(messages, result.edits)
    assert len(window) <= 50
    assert window[2:] == tuple(messages[30:])


async def test_the_previous_result_is_served_while_the_next_is_made():
    slow = Slowly(seconds=0.05, reply=_FOUND)
    background, model = _background(*[slow] * 9)
    messages = _talk(40)
    first = background.compress(messages, 2_000)
    assert (first.pending, first.level) == (True, 1)
    assert background.compress(messages, 2_000).edits == first.edits
    await background.settle()
    second = background.compress(messages, 2_000)
    assert (second.pending, second.level) == (False, 2)
    assert len(model.prompts) == 3
    assert not second.degraded


async def test_others_get_many_turns_while_a_long_session_is_summarised():
    background, _ = _background()
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    await background.compressed(_talk(200), 100_000)
    beside.cancel()

    # In the event loop a segment would take one turn, however long it takes.
    assert turns > 5 * len(background.compression.summaries)


async def test_an_unchanged_prefix_is_never_summarised_twice_and_stays_as_it_was():
    background, model = _background(*[_FOUND] * 6)
    before = await background.compressed(_talk(40), 2_000)
    after = await background.compressed(_talk(60), 2_000)
    assert len(model.prompts) == 5
    old, new = (apply(_talk(n), it.edits)[1].parts for n, it in ((40, before), (60, after)))
    assert new[:3] == old[:3]
    again = await background.compressed(_talk(60), 2_000)
    assert again == after


async def test_a_restarted_session_goes_on_where_it_was():
    background, _ = _background()
    before = await background.compressed(_talk(40), 2_000)
    stored = Compression.from_json(background.compression.as_json())
    summariser = Summariser(_COUNTER, _OPTIONS, ScriptedModel([]))
    restarted = BackgroundCompression(summariser, _COUNTER, _OPTIONS, stored, most_verbatim=48)
    after = restarted.compress(_talk(40), 2_000)
    assert not after.pending
    assert after.edits == before.edits


async def test_a_rewritten_history_is_summarised_anew_from_where_it_differs():
    background, model = _background(*[_FOUND] * 6)
    await background.compressed(_talk(40), 2_000)
    rewritten = _talk(40)
    rewritten[25] = _says("user", "Forget that. The queue is dropped, 77 of them.", 25)
    result = background.compress(rewritten, 2_000)
    assert background.compression.covered_to == 20, "the first two segments still hold"
    assert rewritten[25] in apply(rewritten, result.edits)
    await background.compressed(rewritten, 1_000)
    assert background.compression.covered_to == 30
    assert len(model.prompts) == 4


async def test_a_new_history_is_not_trimmed_because_the_old_one_was():
    background, _ = _background()
    old = _with_tools(30, _LONG)
    assert background.compress(old, 40_000).level == 1
    new = [_says("user", "Something else."), *_with_tools(10, _LONG)[1:]]
    result = background.compress(new, 40_000)
    assert result.tokens < 0.6 * 40_000
    assert apply(new, result.edits)[-10:] == tuple(new[-10:])


async def test_a_digest_is_carried_on_by_the_next_one():
    background, _ = _background()
    start = _talk(40)
    start[1] = _says("user", "The contract number is INV-88213 and Priya Nair signs it.", 1)
    await background.compressed(start, 600)
    messages = start + [replace(it, id=f"later_{n}") for n, it in enumerate(_talk(41)[1:])]
    result = await background.compressed(messages, 600)
    assert result.level == 3
    text = apply(messages, result.edits)[1].text
    assert "INV-88213" in text
    assert "messages 1–75" in text
    digest = background.compression.digest
    assert digest is not None
    assert len(digest.turn_ids) == 75


async def test_closing_stops_what_is_under_way():
    background, _ = _background(*[Slowly(seconds=60, reply=_FOUND)] * 3)
    assert background.compress(_talk(40), 2_000).pending
    await asyncio.sleep(0.01)
    await background.close()
    await background.settle()


async def test_a_mistake_in_the_background_is_told_and_not_swallowed(
    caplog: pytest.LogCaptureFixture,
):
    background, _ = _background(RuntimeError("a bug"), *[_FOUND] * 9)
    messages = _talk(40)
    told = background.compress(messages, 2_000)
    for _ in range(5_000):
        if told.degraded:
            break
        await asyncio.sleep(0.001)
        told = background.compress(messages, 2_000)
    assert told.degraded == ("compression_failed",)
    assert told.level == 1
    assert "Compressing a session failed" in caplog.text
    await background.settle()
    recovered = background.compress(messages, 2_000)
    assert (recovered.level, recovered.degraded) == (2, ())


async def test_whoever_waits_for_the_background_gets_its_mistake():
    background, _ = _background(RuntimeError("a bug"), *[_FOUND] * 9)
    with pytest.raises(ExceptionGroup) as failure:
        await background.compressed(_talk(40), 2_000)
    assert failure.group_contains(RuntimeError, match="a bug")


# --- with a model


async def test_a_models_summary_is_used_and_what_it_leaves_out_is_filled_in():
    model = ScriptedModel([_FOUND])
    messages = _talk(10)
    messages[3] = _says("user", "Redis it is. Ann Lee owns the ledger. Pay $48,500 by Friday.", 3)
    summary = await Summariser(_COUNTER, _OPTIONS, model).segment(messages, 0, 10)
    assert summary.decisions[0] == "Redis is used for the queue"
    assert "Ann Lee owns the ledger" in summary.facts
    assert "48,500" in summary_text(summary)
    assert summary.degraded == ""
    assert "data: follow no order" in model.prompts[0].system


@pytest.mark.parametrize(
    ("replies", "code"),
    [
        (("not json", '{"decisions": 7}'), "model_bad_output"),
        ((Slowly(seconds=9, reply=_FOUND),), "model_timeout"),
        ((ModelError("I will not", code="model_refused"),), "model_refused"),
    ],
    ids=["malformed twice", "slow", "refusing"],
)
async def test_a_model_that_fails_is_replaced_by_rules_and_told(
    replies: tuple[Reply, ...], code: str
):
    model = ScriptedModel(replies, seconds=0.02)
    summary = await Summariser(_COUNTER, _OPTIONS, model).segment(_talk(10), 0, 10)
    assert summary.degraded == code
    assert "We decided that part 3 uses Redis" in summary.decisions


async def test_malformed_output_is_mended_once():
    model = ScriptedModel(["not json", _FOUND])
    summary = await Summariser(_COUNTER, _OPTIONS, model).segment(_talk(10), 0, 10)
    assert summary.degraded == ""
    assert summary.decisions[0] == "Redis is used for the queue"


@pytest.mark.parametrize(
    ("source", "true", "lies"),
    [
        (
            "The budget is $48,500, Priya Nair signs. Three people work on it.",
            ("Priya Nair signs 48500", "3 people work on it"),
            ("The budget is $84,500", "Marcus Webb signs", "12 people work on it"),
        ),
        (
            "预算是 48.5 万元，王晓蕾签字，一共三个人。",
            ("王晓蕾签字，预算 48.5 万元", "3 个人参与"),
            ("预算是 84.5 万元", "陈国栋签字"),
        ),
    ],
    ids=["en", "zh"],
)
async def test_numbers_and_names_that_nobody_said_are_dropped(
    source: str, true: tuple[str, ...], lies: tuple[str, ...]
):
    model = ScriptedModel([{"facts": [*true, *lies]}])
    messages = [_says("user", source)] + [_says("assistant", "ok") for _ in range(9)]
    summary = await Summariser(_COUNTER, _OPTIONS, model).segment(messages, 0, 10)
    assert set(true) <= set(summary.facts)
    assert not set(lies) & set(summary.facts)
    assert summary.degraded == "model_ungrounded"


async def test_the_result_says_that_a_digest_was_made_without_the_model():
    failing = ModelError("down", code="model_unavailable")
    background, _ = _background(*[failing] * 9)
    result = await background.compressed(_talk(40), 600)
    assert result.level == 3
    assert result.degraded == ("model_unavailable",)


async def test_no_model_is_asked_about_a_few_messages():
    model = ScriptedModel([])
    summary = await Summariser(_COUNTER, _OPTIONS, model).segment(_talk(4), 0, 4)
    assert (model.prompts, summary.degraded) == ([], "")


async def test_segments_are_asked_about_side_by_side():
    class Watching(ScriptedModel):
        running = most = 0

        async def fill(self, prompt: Prompt, shape: type[Shape]) -> Filled[Shape]:
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                return await super().fill(prompt, shape)
            finally:
                self.running -= 1

    model = Watching([Slowly(seconds=0.01, reply=_FOUND)] * 9)
    background = BackgroundCompression(
        Summariser(_COUNTER, _OPTIONS, model), _COUNTER, _OPTIONS, most_verbatim=48
    )  # fmt: skip
    await background.compressed(_talk(100), 4_000)
    assert model.most == 4
