"""The window: what stays, what leaves, and what is said about it."""

from itertools import pairwise

import pytest

from recollect.context.edits import Drop, Insert, apply
from recollect.context.window import Budget, RememberedCounts, plan_window
from recollect.domain.message import FilePart, ImagePart, Message, TextPart, ToolCall
from recollect.errors import InvalidInput
from recollect.language.token_estimate import EstimatedTokens
from recollect.ports.language_model import message_tokens


class _Characters:
    """A token is a character: easy to reckon with."""

    def __init__(self) -> None:
        self.counted = 0

    def count(self, text: str) -> int:
        self.counted += 1
        return len(text)


def _said(role, text, **more) -> Message:
    return Message(role=role, parts=(TextPart(text=text),), **more)


def _tool_round(number: int, result: str) -> list[Message]:
    call = ToolCall(id=f"call_{number}", name="search", arguments="{}")
    return [
        Message(role="assistant", tool_calls=(call,)),
        _said("tool", result, answers=call.id),
    ]


def _window(messages, tokens: int, **more) -> tuple[Message, ...]:
    budget = Budget(context_tokens=tokens, share=1.0, **more)
    return apply(messages, plan_window(messages, budget, _Characters()).edits)


def _chat(turns: int, length: int = 20) -> list[Message]:
    return [
        _said(role, f"{role} {turn} ".ljust(length, "."))
        for turn in range(turns)
        for role in ("user", "assistant")
    ]


def test_a_conversation_within_its_budget_is_left_alone():
    messages = [_said("system", "Be kind."), *_chat(5)]
    plan = plan_window(messages, Budget(context_tokens=10_000), _Characters())

    assert apply(messages, plan.edits) == tuple(messages)
    assert plan.outside == 0
    assert plan.tokens == sum(message_tokens(m, _Characters()) for m in messages)


def test_the_budget_is_seventy_per_cent_and_fifty_messages_unless_said_otherwise():
    budget = Budget(context_tokens=100_000)

    assert (budget.tokens, budget.messages) == (70_000, 50)


def test_of_many_messages_the_newest_stay_and_the_system_prompt():
    messages = [_said("system", "Be kind."), *_chat(100)]
    window = _window(messages, 1_000_000)

    assert 40 <= len(window) <= 50
    assert window[0] == messages[0]
    assert window[2:] == tuple(messages[-(len(window) - 2) :])


def test_one_line_says_in_the_conversations_language_what_lies_outside_and_how_to_get_it():
    english = _window([_said("system", "Be kind."), *_chat(100)], 1_000_000)
    chinese = _window([_said("user", "帮我看一下登录页面"), *_chat(2)] * 20, 1_000_000)

    outside = 201 - (len(english) - 1)
    assert f"{outside} earlier messages" in english[1].text
    assert "memory_recall" in english[1].text
    assert chinese[0].text.startswith(f"[窗口之外：更早的 {100 - (len(chinese) - 1)} 条消息")
    assert "memory_recall" in chinese[0].text
    assert english[1].role == chinese[0].role == "user"


def test_short_of_tokens_history_leaves_before_tool_results():
    old_round = _tool_round(1, "the schema of the table")
    messages = [_said("user", "look it up"), *old_round, *_chat(20), _said("user", "and now?")]
    window = _window(messages, 600)

    assert set(old_round) <= {*window}
    assert messages[-1] == window[-1]
    assert messages[3] not in window


def test_short_of_tokens_the_oldest_tool_results_leave_before_newer_ones():
    rounds = [message for n in range(10) for message in _tool_round(n, f"{n}" * 100)]
    window = _window([_said("user", "go"), *rounds], 800)

    sent = [message.text[0] for message in window if message.role == "tool"]
    assert sent == sorted(sent)
    assert sent[-1] == "9"
    assert "0" not in sent


def test_a_result_larger_than_the_window_does_not_push_everything_else_out():
    huge = _tool_round(1, "x" * 5_000)
    messages = [*_chat(5), *huge, _said("assistant", "done"), _said("user", "thanks")]
    window = _window(messages, 1_000)

    assert not set(huge) & {*window}
    assert {*_chat(5)} <= {*window}


def test_a_pending_call_stays_however_old_and_large_the_rest_is():
    call = ToolCall(id="open", name="deploy", arguments='{"to": "production"}')
    pending = Message(role="assistant", tool_calls=(call,))
    messages = [*_chat(60), _said("user", "deploy"), pending]
    window = _window(messages, 500)

    assert window[-2:] == (messages[-2], pending)


def test_a_late_system_message_outlives_history_and_tools():
    late = _said("system", "From now on answer in French.")
    messages = [*_chat(10), late, *_tool_round(1, "r" * 100), *_chat(10)]

    assert late in _window(messages, 300)


def test_a_window_too_small_for_what_must_stay_is_refused_with_the_numbers():
    messages = [_said("system", "s" * 100), *_chat(3), _said("user", "u" * 200)]

    with pytest.raises(InvalidInput) as caught:
        _window(messages, 300)

    assert caught.value.code == "window_too_small"
    assert "300 tokens, and 308 must" in caught.value.message
    assert "system prompt 104, newest user message 204" in caught.value.message


def test_what_must_stay_is_sent_even_without_room_for_the_line():
    messages = [_said("system", "s" * 100), *_chat(3), _said("user", "u" * 200)]

    assert _window(messages, 310) == (messages[0], messages[-1])


@pytest.mark.parametrize(
    "wrong", [{"context_tokens": 0}, {"share": 0}, {"share": 1.2}, {"messages": 0}]
)
def test_a_budget_that_fits_nothing_is_refused(wrong):
    with pytest.raises(InvalidInput) as caught:
        Budget(**{"context_tokens": 1_000} | wrong)

    assert caught.value.code == "bad_budget"


def test_the_beginning_of_the_window_changes_only_every_few_turns():
    messages = [_said("system", "Be kind."), *_chat(150)]
    plans = [
        plan_window(messages[:length], Budget(context_tokens=1_000_000), _Characters())
        for length in range(2, len(messages), 2)
    ]
    outside = [frozenset(e.index for e in plan.edits if isinstance(e, Drop)) for plan in plans]
    changes = sum(before != after for before, after in pairwise(outside))

    assert all(before <= after for before, after in pairwise(outside))
    assert len(plans) / changes >= 4
    lines = {
        left: edit
        for left, plan in zip(outside, plans, strict=True)
        for edit in plan.edits
        if isinstance(edit, Insert)
    }
    assert len(lines) == changes


def test_texts_are_counted_once_however_often_the_window_is_planned():
    characters = _Characters()
    counter = RememberedCounts(characters)
    messages = _chat(100)
    budget = Budget(context_tokens=2_000)
    first = plan_window(messages, budget, counter)
    counted = characters.counted

    assert plan_window(messages, budget, counter) == first
    assert characters.counted == counted


def test_remembered_counts_do_not_grow_without_end():
    characters = _Characters()
    counter = RememberedCounts(characters, remembered=10)

    assert [counter.count("x" * n) for n in range(30)] == list(range(30))
    assert counter.count("x" * 29) == 29
    assert characters.counted == 30


def test_a_message_costs_its_calls_its_name_and_its_attachments_too():
    plain = message_tokens(_said("user", "1234567890"), _Characters())
    call = ToolCall(id="a", name="12345", arguments="1234567890")

    assert plain == 14
    assert message_tokens(_said("user", "1234567890", name="Ana"), _Characters()) == plain + 3
    assert message_tokens(Message(role="assistant", tool_calls=(call,)), _Characters()) == 27
    for part, least in (
        (ImagePart(source={"url": "u"}), 1_000),
        (FilePart(source={"url": "u"}), 1_000),
        (FilePart(source={"data": "x" * 1_000_000, "media_type": "application/pdf"}), 10_000),
        (FilePart(source={"text": "x" * 777}), 777),
        (FilePart(source={"anthropic": {"type": "thinking", "thinking": "x" * 777}}), 777),
    ):
        assert message_tokens(Message(role="user", parts=(part,)), _Characters()) >= least


def test_planning_two_hundred_messages_again_counts_no_text_anew():
    counted: list[str] = []

    class Counter(EstimatedTokens):
        def count(self, text: str) -> int:
            counted.append(text)
            return super().count(text)

    counter = RememberedCounts(Counter())
    messages = _chat(100, 800)
    budget = Budget(context_tokens=20_000)
    plan = plan_window(messages, budget, counter)
    assert len(counted) >= 200

    counted.clear()
    assert plan_window(messages, budget, counter) == plan
    assert counted == []
