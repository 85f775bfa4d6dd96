"""Messages between providers: what each sees of the other's, and what is refused."""

from dataclasses import replace

import pytest

from recollect.context.anthropic_messages import (
    from_anthropic,
    to_anthropic,
    with_ids_of_their_own,
)
from recollect.context.conversation import grouped
from recollect.context.edits import Drop, Insert, Keep, Replace, apply
from recollect.context.openai_messages import (
    to_openai,
)
from recollect.domain.message import FilePart, ImagePart, Message, TextPart, ToolCall, mention
from recollect.errors import InvalidInput
from tests.provider_rules import (
    anthropic_rule_breaks,
    from_openai,
    openai_rule_breaks,
    valid_for_anthropic,
    valid_for_openai,
)

_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "search", "arguments": '{"q": "登录"}'},
}
_LOOP = [
    {"role": "developer", "content": "你是助手。"},
    {"role": "user", "content": "找一下登录页面"},
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "login.tsx"},
    {"role": "assistant", "content": "在 login.tsx 里。", "refusal": None},
]


def _said(role, text, **more) -> Message:
    return Message(role=role, parts=(TextPart(text=text),), **more)


def _calling(*ids) -> Message:
    calls = tuple(ToolCall(id=each, name="search", arguments="{}") for each in ids)
    return Message(role="assistant", tool_calls=calls)


def _answer(call, text="found") -> Message:
    return _said("tool", text, answers=call)


def test_a_tool_loop_of_openai_reads_as_neutral_messages():
    system, user, call, result, answer = from_openai(_LOOP)

    assert (system.role, system.text) == ("system", "你是助手。")
    assert user == _said("user", "找一下登录页面")
    assert call.tool_calls == (ToolCall(id="call_1", name="search", arguments='{"q": "登录"}'),)
    assert (result.role, result.answers, result.text) == ("tool", "call_1", "login.tsx")
    assert answer.text == "在 login.tsx 里。"


def test_a_tool_loop_of_openai_becomes_anthropics():
    written = to_anthropic(from_openai(_LOOP))

    assert written.system == "你是助手。"
    assert written.messages == [
        {"role": "user", "content": "找一下登录页面"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "call_1", "name": "search", "input": {"q": "登录"}}
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "login.tsx"}],
        },
        {"role": "assistant", "content": "在 login.tsx 里。"},
    ]


def test_several_results_in_one_anthropic_message_become_one_message_each():
    native = [
        {"role": "user", "content": "look both up"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "two calls", "signature": "c2ln"},
                {"type": "text", "text": "One moment."},
                {"type": "tool_use", "id": "a", "name": "search", "input": {}},
                {"type": "tool_use", "id": "b", "name": "search", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": "2", "is_error": True},
                {"type": "text", "text": "and hurry"},
            ],
        },
    ]
    messages = from_anthropic(native, "Be kind.")

    assert [m.role for m in messages] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert to_anthropic(messages).messages == native
    assert to_openai(messages)[2]["content"] == "One moment."
    assert openai_rule_breaks(to_openai(messages)) == []


def test_thinking_survives_when_another_part_of_its_message_is_changed():
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    native = [{"role": "assistant", "content": [thinking, {"type": "text", "text": "long"}]}]
    (message,) = from_anthropic(native)
    shorter = replace(message, parts=(message.parts[0], TextPart(text="short")))

    content = to_anthropic([_said("user", "?"), shorter]).messages[1]["content"]

    assert content == [thinking, {"type": "text", "text": "short"}]


def test_a_changed_message_is_written_anew_and_keeps_the_providers_own_keys():
    native = {
        "role": "user",
        "content": [{"type": "text", "text": "old", "prompt_cache_breakpoint": {}}],
        "x_trace": "7",
    }
    (message,) = from_openai([native])

    changed = replace(message, parts=(TextPart(text="new"),))

    assert to_openai([changed]) == [{"role": "user", "content": "new", "x_trace": "7"}]


def test_a_picture_reaches_the_other_provider():
    url = "data:image/png;base64,iVBORw0KGgo="
    (message,) = from_openai(
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]
    )
    (written,) = to_anthropic([message]).messages

    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    assert written["content"] == [{"type": "image", "source": source}]
    assert to_openai(from_anthropic([written])) == to_openai([message])


def test_a_picture_in_a_tools_result_is_described_where_it_cannot_be_shown():
    picture = ImagePart(source={"url": "https://example.com/a.png"}, description="登录页截图")
    messages = [
        _said("user", "?"),
        _calling("a"),
        Message(role="tool", parts=(picture,), answers="a"),
    ]

    assert to_openai(messages)[2]["content"] == "[image: 登录页截图]"
    assert to_anthropic(messages).messages[2]["content"][0]["content"][0]["type"] == "image"


def test_messages_without_words_and_odd_call_ids_are_made_valid_for_anthropic():
    messages = [
        _said("assistant", "How can I help?"),
        _said("user", ""),
        _calling("functions.search:0"),
        _answer("functions.search:0"),
        Message(role="assistant"),
        _said("user", "go on"),
        _said("user", "please"),
    ]

    assert valid_for_anthropic(messages) == []
    assert to_anthropic(messages).messages[-1]["content"] == [
        {"type": "text", "text": "go on"},
        {"type": "text", "text": "please"},
    ]


def test_arguments_that_are_no_object_still_make_a_valid_call():
    call = ToolCall(id="a", name="shell", arguments="{broken")
    (message,) = to_anthropic([Message(role="assistant", tool_calls=(call,))]).messages[1:]

    assert message["content"][0]["input"] == {"arguments": "{broken"}


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([_said("user", "?"), _answer("a")], "not called right before"),
        ([_said("user", "?"), _calling("a"), _said("user", "!")], "comes before the results"),
        ([_said("user", "?"), _calling("a", "a")], "two tool calls with one id"),
        ([Message(role="user", tool_calls=_calling("a").tool_calls)], "tool calls with role"),
        ([_said("user", "?"), _calling("a"), _answer("a"), _answer("a")], "not called"),
    ],
)
def test_openais_rules_are_checked(messages, told):
    assert any(told in line for line in valid_for_openai(messages))


@pytest.mark.parametrize(
    ("wire", "told"),
    [
        ([{"role": "assistant", "content": "hi"}], "first"),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "again"),
        ([{"role": "user", "content": " "}], "an empty text"),
        ([{"role": "user", "content": []}], "no content"),
        ([{"role": "tool", "content": "x"}], "role 'tool'"),
        (
            [
                {"role": "user", "content": "a"},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}],
                },
                {"role": "user", "content": "b"},
                {"role": "assistant", "content": "c"},
            ],
            "does not answer ['a']",
        ),
        (
            [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}],
            "called right before: []",
        ),
    ],
)
def test_anthropics_rules_are_checked(wire, told):
    assert any(told in line for line in anthropic_rule_breaks(wire))


def test_a_pending_call_at_the_end_breaks_no_rule():
    messages = [_said("user", "?"), _calling("a", "b"), _answer("a")]

    assert valid_for_openai(messages) == []
    assert valid_for_anthropic(messages) == []


def test_an_id_is_used_again_once_its_result_is_there():
    again = [_calling("a"), _answer("a", "first"), _calling("a", "b"), _answer("b"), _answer("a")]
    messages = [_said("user", "?"), *again]

    assert [group.members for group in grouped(messages)] == [(0,), (1, 2), (3, 4, 5)]
    assert valid_for_openai(messages) == []
    assert valid_for_anthropic(tuple(with_ids_of_their_own(messages))) == []


def test_anthropic_gets_ids_that_no_other_call_has():
    messages = [_said("user", "?")]
    for ids in (("a.b",), ("a_b",), ("a_b-2", "a.b")):
        messages += [_calling(*ids), *map(_answer, ids)]
    renamed = tuple(with_ids_of_their_own(messages))

    blocks = [it for said in to_anthropic(renamed).messages[1:] for it in said["content"]]
    called = [it["id"] for it in blocks if it["type"] == "tool_use"]
    assert called == [it["tool_use_id"] for it in blocks if it["type"] == "tool_result"]
    assert called == ["a_b", "a_b-2", "a_b-2-2", "a_b-3"]
    assert valid_for_anthropic(renamed) == []


@pytest.mark.parametrize(
    ("messages", "code", "told"),
    [
        ([_said("user", "?"), _answer("a")], "result_without_call", "Message 1"),
        ([_said("user", "?"), _answer("a"), _calling("a")], "result_before_call", "message 2"),
        ([_calling("a"), _said("user", "?"), _calling("a")], "duplicate_call", "Messages 0 and 2"),
        ([_calling("a", "a")], "duplicate_call", "Messages 0 and 0"),
        ([_calling("a"), _answer("a"), _answer("a")], "duplicate_result", "Messages 1 and 2"),
        ([_said("narrator", "Es war einmal")], "unknown_role", "Message 0"),
        ([Message(role="user", tool_calls=_calling("a").tool_calls)], "calls_outside", "Message 0"),
        ([_said("tool", "?")], "result_without_call", "None"),
    ],
)
def test_bad_conversations_are_refused_and_the_message_is_named(messages, code, told):
    with pytest.raises(InvalidInput, match=told) as caught:
        grouped(messages)

    assert caught.value.code.startswith(code)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("read", "native", "code"),
    [
        (from_openai, {"role": "function", "content": "x"}, "unknown_role"),
        (from_openai, {"content": "x"}, "unknown_role"),
        (from_openai, {"role": "user", "content": 7}, "unreadable_message"),
        (from_openai, {"role": "user", "content": [7]}, "unreadable_message"),
        (from_openai, {"role": "assistant", "tool_calls": [{"id": "a"}]}, "unreadable_message"),
        (from_openai, {"role": "tool", "tool_call_id": 7}, "unreadable_message"),
        (from_anthropic, {"role": "tool", "content": "x"}, "unknown_role"),
        (from_anthropic, {"role": "user", "content": None}, "unreadable_message"),
        (from_anthropic, {"role": "user", "content": [{"text": "x"}]}, "unreadable_message"),
        (from_anthropic, {"role": "assistant", "content": [{"type": "tool_use"}]}, "unreadable"),
        (from_anthropic, {"role": "user", "content": [{"type": "tool_result"}]}, "unreadable"),
    ],
)
def test_messages_that_cannot_be_read_are_refused_with_their_index(read, native, code):
    with pytest.raises(InvalidInput, match="Message 1") as caught:
        read([{"role": "user", "content": "hello"}, native])

    assert caught.value.code.startswith(code)


def test_calls_and_results_are_one_group_and_a_missing_result_makes_it_pending():
    messages = [_said("user", "?"), _calling("a", "b"), _answer("b"), _said("user", "!")]

    assert [(group.members, group.pending) for group in grouped(messages)] == [
        ((0,), False),
        ((1, 2), True),
        ((3,), False),
    ]


def test_edits_keep_drop_replace_and_insert_by_index():
    a, b, c, new = (_said("user", text) for text in "abcn")
    edits = [Insert(0, new), Keep(0), Drop(1), Replace(2, new), Insert(3, a)]

    assert apply([a, b, c], edits) == (new, a, new, a)
    assert apply([a, b, c], []) == (a, b, c)


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([Drop(0), Keep(0)], "conflicting_edits"),
        ([Drop(1)], "edit_out_of_range"),
        ([Insert(-1, _said("user", "x"))], "edit_out_of_range"),
    ],
)
def test_edits_that_make_no_sense_are_refused(edits, code):
    with pytest.raises(InvalidInput) as caught:
        apply([_said("user", "only")], edits)

    assert caught.value.code == code


def test_attachments_are_mentioned_by_what_is_known_of_them():
    assert mention(ImagePart(source={"url": "u"})) == "[image]"
    page = ImagePart(source={"url": "https://example.com/a/page.png?size=2"})
    assert mention(page) == "[image: page.png]"
    drawn = ImagePart(source={"media_type": "image/png", "data": "iVBO" * 1_000})
    assert mention(drawn) == "[image: image/png, 3000 bytes]"
    assert mention(FilePart(source={"url": "u"}, name="a.pdf", description="报告")) == (
        "[file: a.pdf: 报告]"
    )
