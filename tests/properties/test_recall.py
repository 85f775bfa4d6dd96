"""What holds of every recall, whatever is remembered and asked."""

import asyncio
import itertools
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Memory
from recollect.domain.hit import Recalled
from recollect.domain.scope import Scope
from recollect.recall.paths import KeywordPath
from recollect.recall.question import Question
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.examples import examples
from tests.fakes import FakeEmbedder
from tests.services import services

_WORDS = (
    *("harbour", "lantern", "invoice", "Marta", "user_id", "kitten", "yesterday", "2026", "you"),
    *("茶叶", "合同", "上周三", "张伟", "推荐", "?"),
)
_texts = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join)
_questions = st.lists(st.sampled_from(_WORDS[:-1]), min_size=1, max_size=6).map(" ".join)
_notes = st.lists(_texts, min_size=1, max_size=8)
_talks = st.lists(
    st.tuples(_texts, st.sampled_from(("user", "assistant")), st.sampled_from(("Ann", "张伟"))),
    max_size=6,
)
_ALL: dict[str, Any] = {"limit": 100, "min_score": 0.0}
_numbers = itertools.count()


@dataclass
class _World:
    """A memory that forgets no answer but looks again each time."""

    runner: asyncio.Runner
    memory: Memory
    clock: TurnedClock
    embedder: FakeEmbedder

    def run(self, story: Coroutine[Any, Any, None]) -> None:
        self.runner.run(story)

    async def filled(self, notes: list[str], talk: list[tuple[str, str, str]]) -> Memory:
        """Somebody new, who remembers these notes and this talk."""
        somebody = self.memory.scope(user=f"user-{next(_numbers)}")
        await somebody.remember_many(notes)
        said = [{"role": role, "name": name, "content": text} for text, role, name in talk]
        await somebody.observe(said, session="one")
        return somebody


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_World]:
    chosen = Settings.load(
        {
            "data_dir": tmp_path_factory.mktemp("recall"),
            "storage": {"synchronous": "off"},
            "recall": {"cache_seconds": 0, "gap": 0},
        }
    )
    clock, embedder = TurnedClock(), FakeEmbedder()
    with asyncio.Runner() as runner:

        async def opened() -> Memory:
            return await Memory.open(chosen, clock=clock, embedder=embedder)

        memory = runner.run(opened())
        yield _World(runner, memory, clock, embedder)
        runner.run(memory.close())


def _told(recalled: Recalled) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in recalled]


@settings(max_examples=examples(25), deadline=None)
@given(_notes, _talks, _questions)
def test_scores_are_shares_in_falling_order_and_the_same_when_asked_again(
    world: _World, notes, talk, asked
):
    async def story() -> None:
        memory = await world.filled(notes, talk)
        recalled = await memory.recall(asked, **_ALL)
        scores = [hit.score for hit in recalled]
        assert all(0 < score <= 1 for score in scores)
        assert scores == sorted(scores, reverse=True)
        assert len({hit.id for hit in recalled}) == len(recalled)
        assert _told(await memory.recall(asked, **_ALL)) == _told(recalled)

    world.run(story())


@settings(max_examples=examples(25), deadline=None)
@given(_notes, _talks, _questions)
def test_the_best_of_the_keyword_path_and_of_the_vector_path_are_in_the_answer(
    world: _World, notes, talk, asked
):
    async def story() -> None:
        memory = await world.filled(notes, talk)
        hits = {hit.id: hit for hit in await memory.recall(asked, **_ALL)}
        by_words = await _best_by_words(world, memory, asked)
        if by_words is not None and by_words not in hits:
            # Of equal texts only one is shown.
            best = await memory.get(by_words)
            assert best.content in {hit.content for hit in hits.values()}
        nearest = await _nearest(world, notes, asked)
        assert nearest is None or nearest in {hit.content for hit in hits.values()}

    world.run(story())


async def _best_by_words(world: _World, memory: Memory, asked: str) -> str | None:
    """What the keyword path alone thinks best."""
    path = KeywordPath(services(world.memory).here.units)
    scopes: tuple[Scope, ...] = (memory.caller_scope,)
    question = Question(text=asked, scopes=scopes, limit=1, min_score=0.0, now=world.clock.now())
    matches = (await path.search(question, 1, within=None)).matches
    return str(matches.column("owner")[0]) if len(matches) else None


async def _nearest(world: _World, notes: list[str], asked: str) -> str | None:
    """The note whose vector is nearest, computed apart from any index; None if none is near."""
    vectors = await world.embedder.embed([asked, *notes], "query")
    cosines = vectors[1:] @ vectors[0]
    best = int(np.argmax(cosines))
    # Vectors are kept as 16-bit floats, so what is hardly near at all may come out as not near.
    return notes[best] if cosines[best] > 0.01 else None


@settings(max_examples=examples(25), deadline=None)
@given(_notes, _talks, st.data())
def test_a_note_is_found_by_its_own_words(world: _World, notes, talk, data):
    wanted = data.draw(st.sampled_from([it for it in notes if it.strip("? ")] or ["harbour"]))

    async def story() -> None:
        memory = await world.filled([*notes, wanted], talk)
        recalled = await memory.recall(wanted, **_ALL)
        assert wanted in [hit.content for hit in recalled]

    world.run(story())


@settings(max_examples=examples(20), deadline=None)
@given(_notes, _talks, _questions, st.integers(1, 4), st.floats(0, 1))
def test_a_limit_and_a_bar_only_shorten_the_answer_and_near_misses_were_left_out(
    world: _World, notes, talk, asked, limit, bar
):
    async def story() -> None:
        memory = await world.filled(notes, talk)
        recalled = await memory.recall(asked, limit=limit, min_score=bar)
        assert len(recalled) <= limit
        assert all(hit.score >= bar for hit in recalled)
        shown = {hit.id for hit in recalled}
        for miss in recalled.near_misses:
            assert miss.id not in shown
            assert (miss.reason == "below min_score") == (miss.score < bar)

    world.run(story())


@settings(max_examples=examples(20), deadline=None)
@given(_notes, _questions)
def test_one_day_that_holds_everything_adds_nothing_to_the_order(world: _World, notes, asked):
    async def story() -> None:
        memory = await world.filled(notes, [])
        for hit in await memory.recall(asked, **_ALL):
            assert hit.explanation.surroundings == 0

    world.run(story())
