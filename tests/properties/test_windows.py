"""Every window of every conversation: valid for both providers, in order, within its budget."""

from itertools import count, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.context.edits import Drop, Insert, Keep, apply
from recollect.context.window import Budget, Plan, RememberedCounts, plan_window
from recollect.domain.message import FilePart, ImagePart, Message, TextPart, ToolCall
from recollect.errors import InvalidInput
from recollect.language.token_estimate import EstimatedTokens
from tests.examples import examples
from tests.provider_rules import (
    valid_for_anthropic,
    valid_for_openai,
)

_counter = RememberedCounts(EstimatedTokens())

_sentences = st.sampled_from(
    (
        "好的，我来看一下登录页面的布局问题。",
        "数据库迁移脚本已经写好，周五之前上线。",
        "Please rename the column and run the tests again.",
        "The build fails on line 42: `KeyError: 'user_id'`.",
        "把 UserService 的 timeout 改成 30 秒",
    )
)
_texts = st.builds(lambda sentence, times: sentence * times, _sentences, st.integers(1, 30))
_pictures = st.just(ImagePart(source={"media_type": "image/png", "data": "iVBORw0KGgo="}))
_files = st.just(FilePart(source={"text": "a,b\n1,2\n" * 20}, name="table.csv"))


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """A system prompt, turns with tool loops, and at the end perhaps a call without its result."""
    ids = (f"call_{number}" for number in count())
    messages: list[Message] = []
    if draw(st.booleans()):
        messages.append(_said("system", draw(_texts)))
    for _ in range(draw(st.integers(1, 14))):
        messages += _turn(draw, ids)
    ending = draw(st.sampled_from(("asked", "answered", "pending")))
    if ending != "answered":
        messages.append(_said("user", draw(_texts)))
    if ending == "pending":
        calls, results = _round(draw, ids)
        messages += [calls, *results[: draw(st.integers(0, len(results) - 1))]]
    return messages


def _turn(draw: st.DrawFn, ids) -> list[Message]:
    asked = draw(st.lists(_texts.map(_text) | _pictures | _files, min_size=1, max_size=2))
    turn = [Message(role="user", parts=tuple(asked))]
    for _ in range(draw(st.integers(0, 3))):
        calls, results = _round(draw, ids)
        turn += [calls, *results]
    if draw(st.integers(0, 9)) == 0:
        turn.append(_said("system", "Answer briefly."))
    return [*turn, _said("assistant", draw(_texts))]


def _round(draw: st.DrawFn, ids) -> tuple[Message, list[Message]]:
    calls = tuple(
        ToolCall(id=next(ids), name="search", arguments='{"q": "登录"}')
        for _ in range(draw(st.integers(1, 3)))
    )
    said = draw(st.just(()) | _texts.map(lambda text: (_text(text),)))
    results = [
        Message(role="tool", parts=(_text(draw(_texts)),), answers=call.id) for call in calls
    ]
    return Message(role="assistant", parts=said, tool_calls=calls), draw(st.permutations(results))


def _text(text: str) -> TextPart:
    return TextPart(text=text)


def _said(role, text: str) -> Message:
    return Message(role=role, parts=(_text(text),))


_budgets = st.builds(Budget, context_tokens=st.integers(500, 12_000), messages=st.integers(8, 50))
_some = settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@_some
@given(conversations(), _budgets)
def test_a_window_is_valid_for_both_providers_within_budget_and_stays_itself(messages, budget):
    _check_window(messages, budget)


@pytest.mark.soak
@settings(_some, max_examples=10_000)
@given(conversations(), _budgets)
def test_ten_thousand_windows_are_valid(messages, budget):
    _check_window(messages, budget)


def _check_window(messages, budget) -> None:
    plan = _planned(messages, budget)
    if plan is None:
        return
    window = apply(messages, plan.edits)

    assert valid_for_openai(window) == []
    assert valid_for_anthropic(window) == []
    assert plan.tokens <= budget.tokens
    assert len(window) <= budget.messages

    kept = [edit.index for edit in plan.edits if isinstance(edit, Keep)]
    dropped = [edit.index for edit in plan.edits if isinstance(edit, Drop)]
    assert kept == sorted(kept)
    assert sorted(kept + dropped) == list(range(len(messages)))
    assert plan.outside == len(dropped)

    again = plan_window(window, budget, _counter)
    assert apply(window, again.edits) == window
    assert again.tokens == plan.tokens


@_some
@given(conversations(), _budgets)
def test_what_must_stay_stays_and_pairs_are_never_parted(messages, budget):
    plan = _planned(messages, budget)
    if plan is None:
        return
    window = apply(messages, plan.edits)

    users = [message for message in messages if message.role == "user"]
    assert users[-1] in window
    if messages[0].role == "system":
        assert window[0] == messages[0]
    answered = {message.answers for message in messages if message.role == "tool"}
    sent_calls = {call.id for message in window for call in message.tool_calls}
    sent_answers = {message.answers for message in window if message.role == "tool"}
    all_calls = {call.id for message in messages for call in message.tool_calls}
    assert sent_answers == sent_calls & answered
    assert all_calls - answered <= sent_calls


@_some
@given(conversations(), _budgets)
def test_what_has_left_does_not_come_back_and_the_line_about_it_stays_the_same(messages, budget):
    plans = [_planned(messages[:length], budget) for length in range(1, len(messages) + 1)]
    for before, after in pairwise(plans):
        if before is None or after is None:
            continue
        left = {edit.index for edit in before.edits if isinstance(edit, Drop)}
        left_after = {edit.index for edit in after.edits if isinstance(edit, Drop)}
        assert left <= left_after
        if left == left_after and _lines(before) and _lines(after):
            assert _lines(before) == _lines(after)


def _planned(messages, budget) -> Plan | None:
    """The plan, or none where the budget cannot hold what must stay."""
    try:
        return plan_window(messages, budget, _counter)
    except InvalidInput as problem:
        if problem.code == "window_too_small":
            return None
        raise


def _lines(plan) -> list[Insert]:
    return [edit for edit in plan.edits if isinstance(edit, Insert)]
