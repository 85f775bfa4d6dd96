"""Summaries without a model: what a result is made of, how it begins and what it says."""

import json

import pytest

from recollect.context.archives.description import (
    MAX_SUMMARY,
    canonical_input,
    parsed,
    query_of,
    summary_of,
)
from recollect.domain.archive import content_of
from recollect.errors import InvalidInput

_MANUAL = (
    "永策Pro操作手册\n\n本手册面向系统管理员。\n"
    + "这里是一般性的介绍文字，没有特别的内容。\n" * 80
    + "## 第三章 权限管理\n角色权限需要在后台单独开启。\n"
    + "更多一般性的介绍文字。\n" * 80
    + "注意：修改后必须重新登录。\n"
)


def _summary(result: object, query: str = "") -> str:
    content = content_of(result)
    return summary_of(content, parsed(content), query)


def test_a_text_is_told_by_its_beginning_and_its_telling_lines():
    summary = _summary(_MANUAL, "角色权限")
    assert summary.startswith("永策Pro操作手册")
    assert "第三章 权限管理" in summary
    assert "角色权限需要在后台单独开启" in summary
    assert summary.count("一般性的介绍文字") <= 5
    assert len(summary) <= MAX_SUMMARY


def test_what_was_asked_for_comes_before_other_headings():
    sections = "".join(f"## Section {n}\n{'plain words ' * 8}\n" for n in range(60))
    text = f"Handbook\n{sections}Refunds are paid within 14 days.\n"
    assert "Refunds are paid within 14 days." in _summary(text, "how long do refunds take")


def test_a_text_in_one_line_is_told_by_more_of_its_beginning():
    summary = _summary("无换行的文字" * 3000)
    assert 200 <= len(summary) <= MAX_SUMMARY


def test_a_json_result_is_told_by_its_names_counts_and_first_items():
    rows = [{"id": n, "name": f"客户{n}", "city": "上海"} for n in range(700)]
    summary = _summary({"total": 700, "rows": rows, "next": None})
    assert summary.startswith("{total, rows[700], next}")
    assert "id=0, name=客户0, city=上海" in summary
    assert _summary(rows).startswith("[700] id=0, name=客户0")


def test_json_in_a_text_is_understood_too():
    assert _summary(json.dumps([{"id": 1}] * 30)).startswith("[30] id=1")
    broken = '{"id": 1, ' * 30
    assert _summary(broken).startswith('{"id": 1')


def test_bytes_are_told_by_their_kind_and_size():
    assert _summary(b"\x89PNG\r\n\x1a\n" + b"\xff" * 20_000) == "PNG, 20,008 bytes"
    assert _summary(b"\xff\xfe\x00\xd8" * 5_000) == "binary, 20,000 bytes"


@pytest.mark.parametrize("result", ["x\ud800y\x00z\n" * 3000, {"a\ud800": ["\x00"] * 4000}])
def test_a_summary_can_be_stored_whatever_the_result_holds(result: object):
    summary = _summary(result)
    assert summary
    assert summary.isprintable()
    summary.encode()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"mode": "mix", "query": "权限管理"}, "权限管理"),
        ({"keywords": ["登录", "配置"]}, "登录 配置"),
        ({"limit": 5, "page": 2}, "limit: 5, page: 2"),
        ({"query": "  ", "path": "a/b.md"}, "a/b.md"),
        ("a plain text", "a plain text"),
        (None, ""),
    ],
)
def test_what_a_tool_was_asked_is_read_from_its_input(asked: object, expected: str):
    assert query_of(asked) == expected


def test_equal_inputs_are_equal_in_any_order():
    one = canonical_input({"query": "权限", "options": {"b": 1, "a": [1, 2]}})
    assert one == canonical_input({"options": {"a": [1, 2], "b": 1}, "query": "权限"})
    assert one != canonical_input({"query": "权限", "options": {"b": 1, "a": [2, 1]}})


def test_an_input_without_end_is_refused():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(InvalidInput) as refused:
        canonical_input(endless)
    assert refused.value.code == "wrong_type"


@pytest.mark.parametrize(
    "result",
    [
        [*range(5_000)],
        {"rows": [{"id": number} for number in range(2_000)]},
        {"text": "x" * 20_000},
        "# Error\n" + "nothing to see here\n" * 600,
        "错误：磁盘已满\n" + "一切正常\n" * 3_000,
    ],
)
def test_a_large_result_is_told_in_200_to_500_characters(result: object):
    content = content_of(result)
    assert 200 <= len(summary_of(content, parsed(content), "")) <= 500
