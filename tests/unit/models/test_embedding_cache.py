"""Texts that were embedded lately are not embedded again."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from recollect.domain.views import as_json
from recollect.models.embedding_cache import CachedEmbedder
from recollect.models.onnx_embedder import ModelTraits, OnnxEmbedder
from tests.conftest import TurnedClock
from tests.fakes import FakeEmbedder
from tests.unit.models.tiny_model import DIMENSION, tiny_files


class CountingEmbedder(FakeEmbedder):
    """A fake that remembers what it was asked."""

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.asked: list[str] = []

    async def embed(self, texts, purpose, progress=None):
        self.asked += texts
        return await super().embed(texts, purpose, progress)


@pytest.fixture
def inner() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def cached(inner: CountingEmbedder, clock: TurnedClock) -> CachedEmbedder:
    return CachedEmbedder(inner, clock)


async def test_only_new_texts_reach_the_model_and_rows_keep_their_order(
    cached: CachedEmbedder, inner: CountingEmbedder
):
    first = await cached.embed(["red", "green"], "query")
    second = await cached.embed(["green", "blue", "red", "blue"], "query")

    assert inner.asked == ["red", "green", "blue"]
    np.testing.assert_array_equal(second[0], first[1])
    np.testing.assert_array_equal(second[2], first[0])
    np.testing.assert_array_equal(second[1], second[3])


async def test_a_question_is_not_taken_for_a_passage(
    cached: CachedEmbedder, inner: CountingEmbedder
):
    await cached.embed(["red"], "query")
    await cached.embed(["red"], "passage")

    assert inner.asked == ["red", "red"]


async def test_whether_a_vector_is_at_hand_is_told_without_asking_for_it(
    cached: CachedEmbedder, clock: TurnedClock
):
    assert not cached.knows("red", "query")
    await cached.embed(["red"], "query")

    assert cached.knows("red", "query")
    assert not cached.knows("red", "passage")
    assert cached.stats().hits == 0, "asking so is no use of it"
    clock.turn(hours=25)
    assert not cached.knows("red", "query")


async def test_after_a_day_a_text_is_embedded_anew(
    cached: CachedEmbedder, inner: CountingEmbedder, clock: TurnedClock
):
    await cached.embed(["red"], "query")
    clock.turn(hours=23, minutes=59)
    await cached.embed(["red"], "query")
    assert len(inner.asked) == 1

    clock.turn(minutes=2)
    await cached.embed(["red"], "query")
    assert len(inner.asked) == 2


async def test_it_stays_within_its_budget_and_drops_what_was_unused_longest(
    inner: CountingEmbedder, clock: TurnedClock
):
    entry = inner.dimension * 4 + 300
    cached = CachedEmbedder(inner, clock, budget_bytes=2 * 3 * entry)

    await cached.embed(["a", "b", "c"], "query")
    await cached.embed(["a"], "query")
    await cached.embed(["d"], "query")
    await cached.embed(["a", "c", "d"], "query")
    assert inner.asked == ["a", "b", "c", "d"]
    await cached.embed(["b"], "query")
    assert inner.asked[-1] == "b"
    assert cached.stats().bytes <= cached.stats().budget_bytes


async def test_a_long_import_does_not_push_out_questions(
    inner: CountingEmbedder, clock: TurnedClock
):
    cached = CachedEmbedder(inner, clock, budget_bytes=40_000)
    await cached.embed(["who am I"], "query")

    await cached.embed([f"passage {number}" for number in range(1000)], "passage")
    await cached.embed(["who am I"], "query")

    assert inner.asked.count("who am I") == 1


async def test_its_memory_is_told_in_json(cached: CachedEmbedder):
    await cached.embed(["red"], "query")

    told = as_json(cached.stats())

    assert 0 < told["bytes"] < told["budget_bytes"]


async def test_the_hit_rate_is_told(cached: CachedEmbedder):
    await cached.embed(["a", "b"], "query")
    await cached.embed(["a", "b", "c", "a"], "query")

    stats = cached.stats()
    assert (stats.hits, stats.misses, stats.entries) == (3, 3, 3)
    assert stats.hit_rate == 0.5


async def test_a_failure_is_not_remembered(cached: CachedEmbedder, inner: CountingEmbedder):
    inner.is_broken = True
    with pytest.raises(Exception, match="told to fail"):
        await cached.embed(["a"], "query")
    inner.is_broken = False

    assert (await cached.embed(["a"], "query")).shape == (1, inner.dimension)


async def test_a_row_does_not_keep_its_batch_alive(cached: CachedEmbedder):
    await cached.embed(["a", "b"], "query")

    kept = next(iter(cached._shelves["query"]._vectors.values()))[1]
    assert cast("np.ndarray", kept).base is None


async def test_half_a_surrogate_pair_is_a_text_like_others(clock: TurnedClock):
    traits = ModelTraits(name="tiny", dimension=DIMENSION, longest=8)
    cached = CachedEmbedder(OnnxEmbedder(traits, tiny_files), clock)

    assert (await cached.embed(["one \ud83d"], "query")).shape == (1, DIMENSION)
    await cached.close()


def test_everything_else_is_the_models(cached: CachedEmbedder, inner: CountingEmbedder):
    inner.reads_only_ascii = True

    assert (cached.model, cached.dimension) == (inner.model, inner.dimension)
    assert cached.reads("key")
    assert not cached.reads("钥匙")
    assert cached.notes() == ()


@pytest.mark.parametrize("costs", [True, False])
async def test_an_import_that_is_repeated_is_paid_for_once(
    inner: CountingEmbedder, clock: TurnedClock, costs: bool
):
    cached = CachedEmbedder(inner, clock, keeps_imports=costs)
    texts = [f"row {number}" for number in range(100)]

    first = await cached.embed(texts, "passage")
    again = await cached.embed(texts, "passage")

    assert len(inner.asked) == (100 if costs else 200)
    np.testing.assert_array_equal(first, again)
