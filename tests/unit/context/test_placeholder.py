"""Placeholders: the seed's layout, written and read back to the letter."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.context.placeholder import (
    Placeholder,
    close_placeholders,
    find_placeholders,
    one_line,
    open_placeholders,
    opened,
    parse_placeholder,
)

_CHINESE = Placeholder(
    id="arc_01",
    tool="search_yongce_docs",
    query="永策Pro的权限管理怎么配置？",
    time=datetime(2024, 12, 16, 10, 30, tzinfo=UTC),
    length=52000,
    summary="权限管理分为角色、菜单和数据三级。",
    sources=("操作手册.pdf", "权限白皮书.docx", "https://example.com/faq"),
    language="zh",
)
_ENGLISH = Placeholder(
    id="arc_02",
    tool="read_file",
    query="server log",
    time=datetime(2024, 12, 16, 10, 30, tzinfo=UTC),
    length=1_234_567,
    unit="bytes",
    summary="Started, failed, started again",
    language="en",
)


def test_the_chinese_placeholder_has_the_layout_of_the_seed():
    assert str(_CHINESE) == (
        "📎 [工具结果存档: arc_01]\n"
        "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━\n"
        "工具: search_yongce_docs\n"
        "查询: 永策Pro的权限管理怎么配置？\n"
        "时间: 2024-12-16 10:30:00 UTC\n"
        "原始长度: 52000字\n"
        "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━\n"
        "内容摘要:\n"
        "权限管理分为角色、菜单和数据三级。\n"
        "\n"
        "主要来源:\n"
        "- 操作手册.pdf\n"
        "- 权限白皮书.docx\n"
        "- https://example.com/faq\n"
        "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━\n"
        '如需查看完整内容，请调用 load_tool_history(uuid="arc_01")'
    )


def test_the_english_one_says_the_same_and_leaves_out_sources_it_does_not_have():
    assert str(_ENGLISH).splitlines() == [
        "📎 [Tool result archived: arc_02]",
        "━" * 37,
        "Tool: read_file",
        "Query: server log",
        "Time: 2024-12-16 10:30:00 UTC",
        "Original length: 1234567 bytes",
        "━" * 37,
        "Summary:",
        "Started, failed, started again",
        "━" * 37,
        'To see the full content, call load_tool_history(uuid="arc_02")',
    ]


def test_only_what_is_shown_is_kept():
    long = Placeholder(
        id="arc_1",
        tool="t",
        query="问" * 600,
        time=datetime(2026, 1, 1, tzinfo=UTC),
        length=1,
        summary="摘要" * 300,
        sources=("a", "b", "c", "d"),
    )
    assert (len(long.query), long.summary) == (200, "摘要" * 249 + "摘…")
    assert long.sources == ("a", "b", "c")


_TEXT = st.text(max_size=260)
_PLACEHOLDERS = st.builds(
    Placeholder,
    id=st.from_regex(r"(arc_)?[0-9a-z-]{1,40}", fullmatch=True),
    tool=_TEXT,
    query=_TEXT
    | st.sampled_from(["", "━" * 37, "- x", "Summary:", "📎 [Tool result archived: a]"]),
    time=st.datetimes(timezones=st.just(UTC)),
    length=st.integers(0, 10**9),
    unit=st.sampled_from(["characters", "bytes"]),
    summary=_TEXT
    | st.sampled_from(
        ["━" * 37, "主要来源:", "- 来源", "a\n\nSummary:\nb", "x\n" + "━" * 37 + "\ny"]
    ),
    sources=st.lists(_TEXT, max_size=5).map(tuple),
    language=st.sampled_from(["zh", "en"]),
)


@settings(max_examples=150, deadline=None)
@given(_PLACEHOLDERS)
def test_every_placeholder_is_read_back_exactly(placeholder: Placeholder):
    assert parse_placeholder(str(placeholder)) == placeholder


@settings(max_examples=80, deadline=None)
@given(placeholder=_PLACEHOLDERS, content=st.text(max_size=300), around=st.text(max_size=40))
def test_whatever_is_shown_behind_a_placeholder_is_closed_to_the_letter(
    placeholder: Placeholder, content: str, around: str
):
    closed = f"{around}{placeholder}\n{around}"
    shown = open_placeholders(closed, {placeholder.id: ("full", content)})
    assert content in shown
    assert len(shown) > len(closed)
    assert close_placeholders(shown) == closed
    assert open_placeholders(shown, {}) == closed


@pytest.mark.parametrize("placeholder", [_CHINESE, _ENGLISH])
def test_a_content_that_looks_like_a_block_itself_is_closed_with_it(placeholder: Placeholder):
    nested = opened(_ENGLISH, "full", opened(placeholder, "passages", "deep"))
    shown = opened(placeholder, "full", f"{nested}\n{nested}") + "\nafter"
    assert close_placeholders(shown) == f"{placeholder}\nafter"


def test_a_block_that_somebody_changed_is_closed_at_its_end():
    shown = opened(_CHINESE, "full", "一二三四五六七八九十" * 100)
    shortened = shown.replace("一二三四五六七八九十" * 50, "……") + "\n之后"
    assert close_placeholders(shortened) == f"{_CHINESE}\n之后"
    assert close_placeholders(shown[:-200]) == str(_CHINESE)


def test_placeholders_are_found_among_other_text_in_their_order():
    text = f"first\n{_ENGLISH}\nthen\n{_CHINESE}\nlast"
    found = list(find_placeholders(text))
    assert [it for _, _, it in found] == [_ENGLISH, _CHINESE]
    assert [text[start:end] for start, end, _ in found] == [str(_ENGLISH), str(_CHINESE)]


def test_only_the_named_placeholders_are_opened():
    text = f"{_ENGLISH}\n\n{_CHINESE}"
    shown = open_placeholders(text, {"arc_01": ("full", "全部内容")})
    assert shown == f"{_ENGLISH}\n\n{opened(_CHINESE, 'full', '全部内容')}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a plain text",
        "📎 [工具结果存档: arc_01]",
        str(_CHINESE).replace('uuid="arc_01"', 'uuid="arc_99"'),
        str(_CHINESE).replace("工具: ", ""),
    ],
)
def test_what_only_looks_like_one_is_left_alone(text: str):
    assert parse_placeholder(text) is None
    assert close_placeholders(text) == text
    assert open_placeholders(text, {"arc_01": ("full", "x")}) == text


def test_lines_become_one_without_what_cannot_be_printed():
    assert one_line(" a\n\tb\u2028c\x00d\ud800e ", 100) == "a b c d e"
    assert one_line("abcdef", 4) == "abc…"
