"""Messages of either provider come back as they were, and reach the other provider valid."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.context.anthropic_messages import (
    from_anthropic,
    to_anthropic,
)
from recollect.context.openai_messages import (
    to_openai,
)
from tests.examples import examples
from tests.properties.test_windows import conversations
from tests.provider_rules import (
    anthropic_rule_breaks,
    from_openai,
    openai_rule_breaks,
)

_some = settings(max_examples=examples(60), deadline=None)
_texts = st.sampled_from(("", " ", "你好", "Hello.", "改成 30 秒", "```py\nx = 1\n```"))
_values = st.none() | st.booleans() | st.integers(-9, 9) | _texts | st.lists(st.integers(0, 3))
_objects = st.dictionaries(st.sampled_from(("q", "路径", "limit")), _values, max_size=2)
_more = st.dictionaries(st.sampled_from(("x_trace", "cache_control")), _objects, max_size=1)


def _typed(kind: str, more=_more, **fields):
    fixed = st.fixed_dictionaries({"type": st.just(kind), **fields})
    return st.builds(lambda block, others: others | block, fixed, more)


_openai_text = _typed("text", text=_texts)
_openai_parts = (
    _openai_text
    | _typed(
        "image_url",
        image_url=st.sampled_from(
            (
                {"url": "https://example.com/a.png"},
                {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"},
                {"url": "data:image/svg+xml;utf8,<svg/>"},
            )
        ),
    )
    | _typed("input_audio", input_audio=st.just({"data": "UklGRg==", "format": "wav"}))
    | _typed(
        "file",
        file=st.sampled_from(
            (
                {"file_id": "file-1"},
                {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "报告.pdf"},
                {"file_data": "data:application/pdf;base64,JVBERi0="},
            )
        ),
    )
    | _typed("video_url", video_url=st.just({"url": "https://example.com/v.mp4"}))
)
_own_keys = st.dictionaries(st.sampled_from(("x_meta", "audio", "reasoning_content")), _texts)
_ids = st.integers(0, 10_000).map("call_{}".format)


@st.composite
def _openai_calls(draw):
    calls = []
    for call_id in draw(st.lists(_ids, min_size=1, max_size=3, unique=True)):
        arguments = draw(_objects.map(json.dumps) | st.just("{broken"))
        function = {"name": "search", "arguments": arguments}
        custom = {"name": "shell", "input": "ls"}
        calls.append(
            draw(
                st.sampled_from(
                    (
                        {"id": call_id, "type": "function", "function": function},
                        {"id": call_id, "type": "function", "function": function, "index": 0},
                        {"id": call_id, "type": "custom", "custom": custom},
                    )
                )
            )
        )
    return calls


@st.composite
def _openai_messages(draw):
    role = draw(st.sampled_from(("system", "developer", "user", "assistant", "tool")))
    parts = st.lists(_openai_parts if role == "user" else _openai_text, max_size=3)
    message = {"role": role, "content": draw(_texts | parts)}
    if role == "assistant":
        said = st.lists(_openai_text | _typed("refusal", refusal=_texts), max_size=2)
        message["content"] = draw(st.none() | _texts | said)
        if draw(st.booleans()):
            message["refusal"] = draw(st.none() | _texts)
        if draw(st.booleans()):
            message["tool_calls"] = draw(_openai_calls())
            if draw(st.booleans()):
                del message["content"]
    if role == "tool":
        message["tool_call_id"] = draw(_ids)
    if draw(st.booleans()):
        message["name"] = "Ana"
    return message | draw(_own_keys)


_anthropic_shown = (
    _typed("text", text=_texts)
    | _typed(
        "image",
        source=st.sampled_from(
            (
                {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                {"type": "url", "url": "https://example.com/a.png"},
                {"type": "file", "file_id": "file_1"},
            )
        ),
    )
    | _typed(
        "document",
        source=st.sampled_from(
            (
                {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
                {"type": "text", "media_type": "text/plain", "data": "第一章"},
                {"type": "content", "content": [{"type": "text", "text": "x"}]},
                {"type": "file", "file_id": "file_2"},
            )
        ),
        more=_more | st.sampled_from(({"title": "手册"}, {"context": "about", "title": None})),
    )
)
_results = _typed(
    "tool_result",
    tool_use_id=_ids,
    more=_more
    | st.fixed_dictionaries(
        {"content": _texts | st.lists(_anthropic_shown, max_size=2), "is_error": st.booleans()}
    )
    | _texts.map(lambda text: {"content": text}),
)
_said = (
    _typed("text", text=_texts)
    | _typed("thinking", thinking=_texts, signature=st.just("c2ln"))
    | _typed("redacted_thinking", data=st.just("eA=="))
    | _typed("tool_use", id=_ids, name=st.just("search"), input=_objects)
    | _typed("server_tool_use", id=_ids, name=st.just("web_search"), input=_objects)
)
_anthropic_messages = st.one_of(
    st.builds(
        lambda content, more: {"role": "user", "content": content} | more,
        _texts | st.lists(_anthropic_shown | _results, max_size=4),
        _own_keys,
    ),
    st.builds(
        lambda content, more: {"role": "assistant", "content": content} | more,
        _texts | st.lists(_said, max_size=4),
        _own_keys,
    ),
    st.builds(lambda text: {"role": "system", "content": text}, _texts),
)
_prompts = st.none() | _texts | st.lists(_typed("text", text=_texts), max_size=2)


@_some
@given(st.lists(_openai_messages(), max_size=6))
def test_openai_messages_come_back_as_they_were(messages):
    assert to_openai(from_openai(messages)) == messages


@_some
@given(st.lists(_anthropic_messages, max_size=6), _prompts)
def test_anthropic_messages_come_back_as_they_were(messages, system):
    written = to_anthropic(from_anthropic(messages, system))

    assert written.messages == messages
    assert written.system == system


@_some
@given(conversations())
def test_a_conversation_at_openai_is_valid_at_anthropic_and_back(messages):
    openai = to_openai(messages)
    assert openai_rule_breaks(openai) == []
    anthropic = to_anthropic(from_openai(openai))
    assert anthropic_rule_breaks(anthropic.messages) == []

    back = to_openai(from_anthropic(anthropic.messages, anthropic.system))
    assert openai_rule_breaks(back) == []
    said = [m["tool_call_id"] for m in openai if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in back if m["role"] == "tool"] == said
