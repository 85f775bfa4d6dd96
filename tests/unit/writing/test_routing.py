"""Routing of messages by what a reader says of them, and by rules without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.write import Namespace
from recollect.errors import NotAvailable
from recollect.ports.facets import FacetGuess
from recollect.ports.reader import Reading, Stance
from recollect.writing.reader_extraction import ReaderExtractor
from recollect.writing.routing import Router


class _FakeReader:
    """Keeps every part with this stance, and says which messages need memory."""

    def __init__(
        self,
        stance: Stance = "told",
        *,
        kept: bool = True,
        sure: float = 1.0,
        needed: str = "",
        facet: str = "",
    ) -> None:
        self._reading = Reading(
            score=sure if kept else -sure,
            worth=sure if kept else -sure,
            lasts="long",
            stance=stance,
            states=FacetGuess(facet=facet, probability=1.0),
        )
        self._needed = needed

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        return [self._reading for _ in parts]

    async def needs(self, messages: Sequence[tuple[str, str]]) -> Sequence[float]:
        return [1.0 if self._needed and self._needed in text else -1.0 for _, text in messages]


class _BrokenReader(_FakeReader):
    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        raise NotAvailable("no weights")

    async def needs(self, messages: Sequence[tuple[str, str]]) -> Sequence[float]:
        raise NotAvailable("no weights")


def _router(reader: _FakeReader) -> Router:
    return Router(reader=ReaderExtractor(reader))


async def test_the_reader_decides_what_is_read_and_written():
    router = _router(_FakeReader(kept=False, needed="pads"))
    told = await router.route("Order new pads")
    assert (told.should_read, told.should_write, told.by) == (True, False, "reader")
    assert told.reason == "order new pads"
    assert not (await router.route("Who wrote Faust?")).should_read


@pytest.mark.parametrize(
    ("facet", "namespace"),
    [
        ("home", "user-profile"),
        ("version", "domain-facts"),
        ("decision", "task-traces"),
        ("deadline", "user-profile"),
    ],
)
async def test_what_a_part_states_tells_where_it_belongs(facet: str, namespace: Namespace):
    told = await _router(_FakeReader(facet=facet)).route("Quince is at 4.2 now")
    assert told.should_write
    assert told.namespaces == (namespace,)


@pytest.mark.parametrize("stance", ["asked", "requested", "supposed", "quoted", "chatter", "task"])
async def test_what_is_not_told_is_not_written(stance: Stance):
    assert not (await _router(_FakeReader(stance)).route("The moon is made of cheese")).should_write


async def test_what_is_denied_is_told():
    assert (await _router(_FakeReader("denied")).route("I left the choir")).should_write


@pytest.mark.parametrize(
    "message", ["Continue where we left off", "接着上次的继续", "As usual, please"]
)
async def test_words_that_point_back_add_to_what_the_reader_says(message: str):
    told = await _router(_FakeReader(kept=False)).route(message)
    assert told.should_read
    assert set(told.namespaces) == set(get_args(Namespace))


@pytest.mark.parametrize(
    "message",
    ["From now on, answer in French.", "以后都用中文", "默认用人民币", "记住我的工号是 7"],
)
async def test_trigger_words_add_to_what_the_reader_says(message: str):
    router = _router(_FakeReader(kept=False))
    assert (await router.route(message, "explicit")).should_write
    assert not (await router.route(message, "off")).should_write


@pytest.mark.parametrize(
    ("message", "is_written"),
    [("never late once, always on time", False), ("Remember: never before nine", True)],
)
async def test_a_sure_reader_refuses_what_only_has_the_words_of_a_wish(
    message: str, is_written: bool
):
    router = _router(_FakeReader("chatter", kept=False, sure=4.0))
    assert (await router.route(message)).should_write == is_written


async def test_an_agents_report_of_its_work_is_kept_where_effects_are():
    router = _router(_FakeReader(kept=False))
    told = await router.route("The report was saved to /srv/out/may.csv")
    assert told.namespaces == ("tool-effects",)
    assert (await router.route("结论：销量下降是因为调价")).namespaces == ("task-traces",)


async def test_without_a_reader_rules_decide_and_the_route_says_so():
    for router in (Router(), _router(_BrokenReader())):
        told = await router.route("I live in Oslo. What is my name?")
        assert (told.should_read, told.should_write, told.by) == (True, True, "rules")
        assert told.reason == "user: I live in Oslo."
        assert not (await router.route("ok")).namespaces


@pytest.mark.parametrize(
    "message",
    [
        "I prefer aisle seats",
        "The demo moved to 4 May",
        "We decided to use Postgres",
        "我对花生过敏",
        "报表已导出到 /srv/out/may.csv",
    ],
)
async def test_without_a_reader_what_tells_of_somebody_or_gives_a_value_is_written(message: str):
    assert (await Router().route(message)).should_write


@pytest.mark.parametrize(
    "message",
    ["Hello!", "If I lived in Rome, I'd cycle.", "What do I like?", "要是我住在罗马呢", "哈哈"],
)
async def test_without_a_reader_nothing_else_is_written(message: str):
    assert not (await Router().route(message)).should_write


@given(st.text(st.characters(), max_size=300))
async def test_any_text_is_routed_and_always_the_same(text: str):
    router = Router()
    routed = await router.route(text)
    assert routed == await router.route(text)
    assert routed.should_write or routed.should_read or not routed.namespaces
    assert not (await router.route(text, "off")).should_write
