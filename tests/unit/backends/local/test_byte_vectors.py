"""Vectors rounded to bytes: as near to each other as before, but for a thousandth or two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.backends.local.byte_vectors import ByteVectors, SplitVector, plain_product
from recollect.models import byte_products
from recollect.models.byte_products import quick_product
from recollect.ports.units import Vectors

_seeds = st.integers(0, 2**32 - 1)


def _vectors(seed: int, count: int, dimension: int = 384, spread: float = 0.0) -> Vectors:
    """Directions by chance; the larger the spread, the more of each lies in a few numbers."""
    chance = np.random.default_rng(seed)
    raw = chance.normal(size=(count, dimension)) * np.exp(spread * chance.normal(size=dimension))
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)


@given(_seeds, st.sampled_from([3, 384, 1536]), st.floats(0, 2))
def test_a_cosine_is_what_it_was_but_for_the_rounding(seed: int, dimension: int, spread: float):
    vectors = _vectors(seed, 40, dimension, spread)
    packed = ByteVectors.of(vectors)

    for question in vectors[:5]:
        found = packed.cosines(SplitVector.of(question), plain_product)
        np.testing.assert_allclose(found, vectors @ question, atol=0.01)


@given(_seeds)
def test_a_text_asked_for_word_by_word_is_as_near_as_can_be(seed: int):
    vectors = _vectors(seed, 3)

    found = ByteVectors.of(vectors).cosines(SplitVector.of(vectors[1]), plain_product)

    assert found[1] == pytest.approx(1, abs=1e-4)
    assert found.argmax() == 1


def test_a_vector_without_direction_is_as_far_from_everything():
    vectors = np.vstack([np.zeros(384, np.float32), _vectors(1, 1)])
    packed = ByteVectors.of(vectors)

    assert packed.cosines(SplitVector.of(vectors[1]), plain_product)[0] == pytest.approx(0)
    assert packed.cosines(SplitVector.of(vectors[0]), plain_product).tolist() == [0, 0]


def test_rows_keep_their_vectors_when_they_are_joined_and_taken():
    vectors = _vectors(2, 6)
    question = SplitVector.of(vectors[0])
    whole = ByteVectors.of(vectors).cosines(question, plain_product)

    joined = ByteVectors.joined([ByteVectors.of(vectors[:2]), ByteVectors.of(vectors[2:])])
    some = joined.take(np.array([5, 0, 3]))

    assert joined.cosines(question, plain_product).tolist() == whole.tolist()
    assert some.cosines(question, plain_product).tolist() == whole[[5, 0, 3]].tolist()


@pytest.mark.parametrize("count", [7, 5_000, 12_345])
def test_onnxruntime_and_numpy_multiply_alike(count: int):
    packed = ByteVectors.of(_vectors(3, count))
    question = SplitVector.of(_vectors(4, 1)[0])

    quick = packed.cosines(question, quick_product(plain_product))

    assert quick.tolist() == packed.cosines(question, plain_product).tolist()


def test_the_largest_numbers_there_are_do_not_overflow():
    codes = np.full((5_000, 384), 255, np.uint8)
    columns = np.full((384, 2), 63, np.int8)

    products = quick_product(plain_product)(codes, columns)

    assert set(products.ravel().tolist()) == {384 * 255 * 63}


def test_without_onnxruntime_numpy_does_it_all(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(byte_products, "_session", lambda: None)
    packed = ByteVectors.of(_vectors(5, 5_000))
    question = SplitVector.of(_vectors(6, 1)[0])

    found = packed.cosines(question, quick_product(plain_product))

    assert found.tolist() == packed.cosines(question, plain_product).tolist()
