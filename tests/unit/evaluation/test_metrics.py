"""The measures against values worked out by hand."""

from math import log2

import pytest

from recollect.evaluation.metrics import (
    Judged,
    found_all,
    hit,
    ndcg,
    percentile,
    quality,
    quality_by_category,
    recall,
    reciprocal_rank,
)

TEN = tuple("abcdefghij")


def test_a_hit_counts_only_down_to_its_depth():
    assert hit(TEN, {"a"}, 1) == 1
    assert hit(TEN, {"b", "z"}, 1) == 0
    assert hit(TEN, {"b", "z"}, 5) == 1
    assert hit(TEN, {"f"}, 5) == 0
    assert hit((), {"f"}, 5) == 0


def test_all_means_every_wanted_one():
    assert found_all(TEN, {"a", "e"}, 5) == 1
    assert found_all(TEN, {"a", "f"}, 5) == 0
    assert found_all(TEN, {"a", "f"}, 10) == 1
    assert found_all(TEN, {"a", "z"}, 10) == 0


def test_recall_is_the_share_of_the_wanted_among_the_first_ten():
    assert recall(TEN, {"a", "j", "y", "z"}) == 0.5
    assert recall((*TEN, "k"), {"k"}) == 0


def test_the_reciprocal_rank_looks_at_the_first_wanted_one_only():
    assert reciprocal_rank(TEN, {"d", "e"}) == 0.25
    assert reciprocal_rank((*TEN, "k"), {"k"}) == 0


def test_ndcg_of_one_wanted_in_third_place():
    assert ndcg(TEN, {"c"}) == pytest.approx(1 / log2(4))


def test_ndcg_of_two_wanted_in_places_one_and_four():
    ideal = 1 + 1 / log2(3)
    assert ndcg(TEN, {"a", "d"}) == pytest.approx((1 + 1 / log2(5)) / ideal)


def test_ndcg_of_a_perfect_top_ten_is_one_even_when_more_than_ten_are_wanted():
    assert ndcg(TEN, {*TEN, "k", "l"}) == pytest.approx(1)


def test_ndcg_counts_what_is_missing():
    # Wanted a and z, only a came: 1 / (1 + 1/log2 3).
    assert ndcg(TEN, {"a", "z"}) == pytest.approx(0.6131, abs=1e-4)


def test_percentiles_are_values_that_occurred():
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert percentile(values, 0.5) == 3
    assert percentile(values, 0.95) == 5
    assert percentile([7.0], 0.5) == 7
    assert percentile([], 0.5) == 0


def test_quality_is_the_mean_over_questions_and_told_apart_by_category():
    found = Judged(category="easy", ranking=("a", "b"), gold=frozenset("a"))
    late = Judged(category="hard", ranking=(*"uvwxy", "a"), gold=frozenset("ab"))
    missed = Judged(category="hard", ranking=(), gold=frozenset("a"))

    measured = quality([found, late, missed])

    assert measured["hit@1"] == pytest.approx(1 / 3)
    assert measured["hit@5"] == pytest.approx(1 / 3)
    assert measured["hit@10"] == pytest.approx(2 / 3)
    assert measured["recall@10"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert measured["all@5"] == measured["all@10"] == pytest.approx(1 / 3)
    assert measured["mrr@10"] == pytest.approx((1 + 1 / 6) / 3)
    late_ndcg = (1 / log2(7)) / (1 + 1 / log2(3))
    assert measured["ndcg@10"] == pytest.approx((1 + late_ndcg) / 3)
    assert quality_by_category([found, late, missed]) == {
        "easy": {"n": 1, "hit@10": 1, "ndcg@10": 1},
        "hard": {"n": 2, "hit@10": 0.5, "ndcg@10": pytest.approx(late_ndcg / 2)},
    }
