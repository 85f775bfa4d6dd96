"""Relevant passages: the right part of a long text, within a budget, quickly."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.context.archives.passages import select_passages


class _Letters:
    """As many tokens as characters."""

    def count(self, text: str) -> int:
        return len(text)


_CHINESE = [
    "系统支持多种部署方式。",
    "日志默认保留三十天。",
    "用户可以自行修改头像。",
    "报表每周一生成。",
]
_ENGLISH = [
    "The service writes its log to a folder. ",
    "Reports are made on Mondays. ",
    "A user may change the picture. ",
    "Backups are kept for a week. ",
]


def _long_text(sentences: list[str], planted: str, characters: int, seed: int = 1) -> str:
    chosen = random.Random(seed)
    text = ""
    while len(text) < characters:
        text += "".join(chosen.choices(sentences, k=5)) + "\n"
        if len(text) > characters * 0.7 and planted not in text:
            text += planted + "\n"
    return text


@pytest.mark.parametrize(
    ("sentences", "planted", "query"),
    [
        (_CHINESE, "开启二次验证需要先绑定手机号码。", "怎么开启二次验证"),
        (_CHINESE, "開啟二次驗證需要先綁定手機號碼。", "怎么开启二次验证"),
        (_CHINESE, "接口 getUserToken 的超时为 30 秒。", "getUserToken 超时"),
        (_ENGLISH, "Refund policies changed in May: 14 days. ", "what is the refund policy"),
        (_ENGLISH, "Error E4711 means that the disk is full. ", "what does e4711 mean"),
    ],
)
@pytest.mark.parametrize("characters", [12_000, 700_000])
def test_the_passage_that_answers_is_shown(
    sentences: list[str], planted: str, query: str, characters: int
):
    text = _long_text(
        sentences, planted, min(characters, 12_000 if "開" in planted else characters)
    )
    selection = select_passages(text, query, _Letters(), 1_500)
    assert planted.strip() in selection.render(text)
    assert sum(end - start for start, end in selection.spans) <= 1_500


@pytest.mark.parametrize("query", ["", "的", "something that nobody wrote"])
def test_without_a_match_the_beginning_is_shown(query: str):
    text = "第一段。\n" + "其他内容。\n" * 3_000
    selection = select_passages(text, query, _Letters(), 600)
    assert selection.spans[0][0] == 0
    assert selection.render(text).startswith("[chars 0-")


def test_neighbours_are_shown_as_one_and_in_the_order_of_the_text():
    text = "apples and pears. \n" * 200 + "plums and cherries. \n" * 400
    ((start, end),) = select_passages(text, "pears", _Letters(), 6_000).spans
    assert start == 0
    assert 3_600 < end < 6_000


def test_a_passage_larger_than_the_budget_is_cut():
    selection = select_passages("很长的一句话没有停顿" * 2_000, "停顿", _Letters(), 40)
    ((start, end),) = selection.spans
    assert 0 < end - start <= 40


def test_a_passage_tells_the_range_it_can_be_loaded_by():
    text = "nothing here. \n" * 900 + "the needle is here\n" + "nothing here. \n" * 900
    selection = select_passages(text, "needle", _Letters(), 2_000)
    ((start, end),) = selection.spans
    assert selection.render(text) == f"[chars {start}-{end}]\n{text[start:end]}"
    assert "needle" in text[start:end]


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(alphabet=st.sampled_from("ab 登录。\n.é"), min_size=1, max_size=9_000),
    query=st.text(alphabet="ab登录 ", max_size=12),
    budget=st.integers(1, 3_000),
)
def test_spans_lie_within_the_text_in_order_and_within_the_budget(
    text: str, query: str, budget: int
):
    spans = select_passages(text, query, _Letters(), budget).spans
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(text) for edge in edges)
    assert sum(end - start for start, end in spans) <= budget
