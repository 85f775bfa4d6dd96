"""Tool results of every form come back as they were; ranges are exact."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.context.edits import with_texts
from recollect.domain import archive
from recollect.domain.archive import ContentRange, content_from, content_of, parse_range
from recollect.domain.message import ImagePart, Message, TextPart
from recollect.errors import InvalidInput

_ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(_ANY_TEXT | st.binary(max_size=200) | _JSON)
def test_every_result_comes_back_from_its_bytes(result: object):
    content = content_of(result)
    back = content_from(content.form, content.data)
    assert back == content
    assert back.value == result
    assert type(back.value) is type(result)


@pytest.mark.parametrize("result", [object(), {1: "a"}, {"a": [{None: 1}]}, {"a": {2, 3}}])
def test_what_could_not_come_back_the_same_is_refused(result: object):
    with pytest.raises(InvalidInput) as refused:
        content_of(result)
    assert refused.value.code == "wrong_type"


def test_a_result_beyond_the_limit_is_refused_with_both_sizes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archive, "MAX_BYTES", 1_000)
    content_of("字" * 333)
    with pytest.raises(InvalidInput) as refused:
        content_of("字" * 334)
    assert refused.value.code == "result_too_large"
    assert "1,002" in refused.value.message
    assert "1,000" in refused.value.message


def test_the_limit_is_a_hundred_megabytes():
    assert archive.MAX_BYTES >= 100_000_000


@pytest.mark.parametrize(
    ("spelling", "unit", "first", "last"),
    [
        ("10-20", "lines", 10, 20),
        ("lines 10 - 20", "lines", 10, 20),
        ("Lines: 1-1", "lines", 1, 1),
        ("chars 0-2000", "characters", 0, 2000),
        ("characters:5-6", "characters", 5, 6),
    ],
)
def test_ranges_are_read(spelling: str, unit: str, first: int, last: int):
    found = parse_range(spelling)
    assert (found.unit, found.first, found.last) == (unit, first, last)
    assert parse_range(found) is found


@pytest.mark.parametrize("spelling", ["", "20-10", "a-b", "10", "-5-10", "bytes 1-2", "1-2-3"])
def test_what_is_no_range_is_refused(spelling: str):
    with pytest.raises(InvalidInput) as refused:
        parse_range(spelling)
    assert refused.value.code == "bad_range"


def test_lines_and_characters_of_a_text():
    text = "一\r\n二\n\n四"
    assert parse_range("1-1").of(text) == "一\r\n"
    assert parse_range("2-3").of(text) == "二\n\n"
    assert parse_range("4-9").of(text) == "四"
    assert parse_range("7-9").of(text) == ""
    assert parse_range("chars 3-4").of(text) == "二"


@given(st.text(alphabet="ab\r\n字", max_size=40), st.integers(1, 12))
def test_the_lines_of_a_text_put_together_are_the_text(text: str, step: int):
    lines = text.count("\n") + 1
    parts = [
        ContentRange(unit="lines", first=first, last=first + step - 1).of(text)
        for first in range(1, lines + 1, step)
    ]
    assert "".join(parts) == text


def test_the_texts_of_every_kind_of_message_are_changed_and_nothing_else():
    image = ImagePart(source={"url": "a"})
    neutral = Message(role="tool", parts=(TextPart(text="a"), image), answers="a")
    openai = {"role": "tool", "tool_call_id": "a", "content": "a"}
    parts = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "a"}]}
    anthropic = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "a"},
            {"type": "tool_result", "content": [{"type": "text", "text": "a"}]},
        ],
    }
    responses = {"type": "function_call_output", "call_id": "a", "output": "a"}

    assert with_texts(neutral, str.upper).parts == (TextPart(text="A"), image)
    assert with_texts(openai, str.upper) == {**openai, "content": "A"}
    assert with_texts(parts, str.upper)["content"][0] == {"type": "text", "text": "A"}
    assert with_texts(parts, str.upper)["content"][1] is parts["content"][1]
    first, second = with_texts(anthropic, str.upper)["content"]
    assert first == {"type": "tool_result", "tool_use_id": "a", "content": "A"}
    assert second["content"] == [{"type": "text", "text": "A"}]
    assert with_texts(responses, str.upper)["output"] == "A"
    for message in (
        neutral,
        openai,
        parts,
        anthropic,
        responses,
        {"role": "user", "content": None},
    ):
        assert with_texts(message, str) is message
