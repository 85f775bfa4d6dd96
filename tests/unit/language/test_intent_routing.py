"""Whether a message should be read for and written, judged by rules in English and Chinese.

A line of `route.tsv`: language, message, `r` where memory should be read, how it should be written
(`explicit`, `auto`, `*` either, `-` not at all), the namespace (`*` any), and whether the line was
`seen` while the rules were written or kept `aside`.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.write import Namespace
from recollect.language.intent import route

_FILE = Path(__file__).parents[2] / "data" / "route.tsv"
_HASH = "121d6cac56a7514a9386e5a6c43cbe263cad22e304ca86a304bd6613383f87d6"


class _Line(NamedTuple):
    message: str
    read: str
    write: str
    namespace: str


def _labelled(language: str, part: str) -> Iterator[_Line]:
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        its_language, *cells, its_part = line.split("\t")
        if (its_language, its_part) == (language, part):
            yield _Line(*cells)


def test_the_labelled_set_is_the_one_that_was_frozen():
    assert hashlib.sha256(_FILE.read_bytes()).hexdigest() == _HASH


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("part", "accuracy"), [("seen", 0.97), ("aside", 0.92)])
def test_most_labelled_messages_are_routed_right(language: str, part: str, accuracy: float):
    lines = list(_labelled(language, part))
    read = sum(route(it.message).should_read == (it.read == "r") for it in lines)
    write = sum(route(it.message).should_write == (it.write != "-") for it in lines)
    assert min(read, write) >= accuracy * len(lines)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["seen", "aside"])
def test_what_is_written_goes_where_it_belongs(language: str, part: str):
    written = [it for it in _labelled(language, part) if it.write != "-"]
    right = [it.namespace == "*" or it.namespace in route(it.message).namespaces for it in written]
    assert sum(right) >= 0.92 * len(written)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["seen", "aside"])
def test_the_policy_explicit_writes_explicit_wishes_only(language: str, part: str):
    lines = [it for it in _labelled(language, part) if it.write != "*"]
    right = [
        route(it.message, policy="explicit").should_write == (it.write == "explicit")
        for it in lines
    ]
    assert sum(right) >= 0.95 * len(lines)


@pytest.mark.parametrize("message", ["From now on, answer in French.", "记住我的工号是 10086。"])
def test_the_policy_off_writes_nothing_and_still_reads(message: str):
    assert route(message).should_write
    assert not route(message, policy="off").should_write
    assert route(f"{message} What is my name?", policy="off").should_read


@pytest.mark.parametrize(
    ("message", "namespace"),
    [
        ("I prefer aisle seats", "user-profile"),
        ("默认用人民币", "user-profile"),
        ("ARR means annual recurring revenue", "domain-facts"),
        ("活跃用户是指最近登录过的用户", "domain-facts"),
        ("We decided to use Postgres", "task-traces"),
        ("结论：销量下降是因为调价", "task-traces"),
        ("The report was saved to /srv/out/may.csv", "tool-effects"),
        ("报表已导出到 /srv/out/may.csv", "tool-effects"),
    ],
)
def test_each_rule_of_the_seed_leads_to_its_namespace(message: str, namespace: Namespace):
    assert namespace in route(message).namespaces


def test_a_message_that_points_back_is_looked_up_in_all_namespaces():
    assert set(route("Continue where we left off").namespaces) == set(get_args(Namespace))
    assert set(route("接着上次的继续").namespaces) == set(get_args(Namespace))


def test_the_words_that_decided_are_given():
    assert route("Thanks! I prefer tea.").reason == "preference: I prefer tea."
    assert route("多谢！我叫小周。").reason == "user: 我叫小周。"
    assert route("What is my name?").reason == "what is my name?"
    assert route("ok").reason == ""


@given(st.text(st.characters(), max_size=300))
def test_any_text_is_routed_and_always_the_same(text: str):
    routed = route(text)
    assert routed == route(text)
    assert routed.should_write or routed.should_read or not routed.namespaces
    assert not route(text, policy="off").should_write
