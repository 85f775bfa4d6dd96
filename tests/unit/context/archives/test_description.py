"""What is known of an archived result: what the tool was asked, and what the result says."""

import json

import pytest

from recollect.context.archives.description import canonical_input, digest_of, query_of
from recollect.domain.archive import content_of
from recollect.errors import InvalidInput
from recollect.language.token_estimate import EstimatedTokens

_TOKENS = EstimatedTokens()
_MANUAL = (
    "永策Pro操作手册\n\n本手册面向系统管理员。\n"
    + "这里是一般性的介绍文字，没有特别的内容。\n" * 80
    + "## 第三章 权限管理\n角色权限需要在后台单独开启。\n"
    + "更多一般性的介绍文字。\n" * 80
    + "## 第四章 登录\n注意：修改后必须重新登录。\n"
)


def _summary(result: object, query: str = "") -> str:
    return str(digest_of(content_of(result), query, 200, _TOKENS))


def test_a_text_is_told_by_its_headings_and_its_telling_lines():
    summary = _summary(_MANUAL, "角色权限")
    assert "第三章 权限管理" in summary
    assert "角色权限需要在后台单独开启" in summary
    assert "必须重新登录" in summary
    assert summary.count("一般性的介绍文字") <= 2
    assert _TOKENS.count(summary) <= 200


def test_a_json_result_is_told_by_its_names_counts_and_what_is_in_it():
    rows = [{"id": n, "name": f"客户{n}", "city": "上海"} for n in range(700)]
    summary = _summary({"total": 700, "rows": rows, "next": None})
    assert "rows[700]" in summary
    assert "上海" in summary
    assert "700" in _summary(rows)


def test_json_in_a_text_is_understood_too():
    assert "30" in _summary(json.dumps([{"id": 1}] * 30))
    broken = '{"id": 1, ' * 30
    assert '"id": 1' in _summary(broken)


def test_bytes_are_told_by_their_kind_and_size():
    assert _summary(b"\x89PNG\r\n\x1a\n" + b"\xff" * 20_000) == "PNG data, 20008 bytes"
    assert _summary(b"\xff\xfe\x00\xd8" * 5_000) == "binary data, 20000 bytes"


@pytest.mark.parametrize("result", ["x\ud800y\x00z\n" * 3000, {"a\ud800": ["\x00"] * 4000}])
def test_a_summary_can_be_stored_whatever_the_result_holds(result: object):
    summary = _summary(result)
    assert summary
    assert all(line.isprintable() for line in summary.split("\n"))
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
