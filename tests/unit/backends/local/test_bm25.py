"""The ranker against a plain reading of the formula, and the similarity made of it."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.backends.local.bm25 import K1, B, Statistics, Weights, inverse_frequency
from recollect.backends.local.postings import PackedPostings, PackedSearch
from recollect.backends.local.segment import pack_texts

_TEXTS = st.lists(st.lists(st.integers(1, 8), max_size=12), min_size=1, max_size=12)
_QUERY = st.lists(st.integers(1, 10), min_size=1, max_size=8, unique=True)


def _packed(texts: Sequence[Sequence[int]], query: Sequence[int]):
    keys = np.array(query, np.uint64)
    postings = PackedPostings().added(pack_texts(texts, only=keys))
    search = PackedSearch(postings, keys)
    weights = Weights(search.statistics)
    ranking = search.score(weights)
    return dict(zip(ranking.units.tolist(), ranking.scores.tolist(), strict=True)), weights


def _plain_bm25(texts: Sequence[Sequence[int]], query: Sequence[int]) -> dict[int, float]:
    average = sum(map(len, texts)) / len(texts)
    scores: dict[int, float] = {}
    for term in query:
        having = sum(term in text for text in texts)
        idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        for place, text in enumerate(texts):
            repeats = text.count(term)
            if repeats:
                norm = K1 * (1 - B + B * len(text) / average)
                gain = idf * repeats * (K1 + 1) / (repeats + norm)
                scores[place] = scores.get(place, 0.0) + gain
    return scores


@settings(deadline=None)
@given(texts=_TEXTS, query=_QUERY)
def test_packed_scores_are_those_of_the_plain_formula(texts, query):
    scores, _ = _packed(texts, query)
    assert scores == pytest.approx(_plain_bm25(texts, query), rel=1e-12)


@settings(deadline=None)
@given(texts=_TEXTS, query=_QUERY)
def test_similarity_is_between_0_and_1_and_keeps_the_order(texts, query):
    scores, weights = _packed(texts, query)
    raws = sorted(scores.values())
    similarities = weights.similarities(np.array(raws)).tolist()
    assert all(0 < similarity <= 1 for similarity in similarities)
    assert similarities == sorted(similarities)


def test_more_than_a_byte_of_repeats_counts_as_a_byte_full():
    scores, _ = _packed([[1] * 255 + [2] * 45, [1] * 300, [3] * 300], [1])
    assert scores[0] == scores[1]


@settings(deadline=None)
@given(units=st.integers(1, 10**6), share=st.floats(0, 1))
def test_a_term_is_never_worth_less_than_nothing(units, share):
    assert inverse_frequency(units, round(units * share)) > 0


def test_a_term_that_no_unit_has_lowers_the_similarity():
    texts = [[1, 2], [3, 4], [5, 6]]
    known, weights = _packed(texts, [1, 2])
    partly, partly_weights = _packed(texts, [1, 2, 99])
    assert known[0] == partly[0]
    assert partly_weights.similarities(partly[0]) < weights.similarities(known[0])


def test_every_term_once_at_average_length_is_a_strong_match_and_repeats_approach_one():
    texts = [[1, 2], [3, 4], [5, 6]]
    once, weights = _packed(texts, [1, 2])
    often, often_weights = _packed([[1, 2] * 100, *([7] * 200 for _ in range(9))], [1, 2])
    assert weights.similarities(once[0]) == pytest.approx(0.7365, abs=1e-3)
    assert often_weights.similarities(often[0]) > 0.99


def test_half_the_weight_scores_about_half():
    scores, weights = _packed([[1, 3], [2, 4], [5, 6], [7, 8]], [1, 2])
    assert weights.similarities(scores[0]) == pytest.approx(0.43, abs=0.01)


def test_statistics_of_several_scopes_add_up():
    one = Statistics(units=2, length=10, frequencies=(1, 0))
    other = Statistics(units=3, length=5, frequencies=(2, 3))
    assert one + other == Statistics(units=5, length=15, frequencies=(3, 3))
