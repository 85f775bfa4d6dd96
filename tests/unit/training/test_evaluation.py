"""How the recipe measures vectors."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest

from training.evaluation import RecallSets, mean_cosine, ndcg, translations_found

SETS = {
    "rooms": {
        "units": [
            ["ann", "a1", "east"],
            ["ann", "a2", "north"],
            ["ann", "a3", "north-east"],
            ["bo", "b1", "east"],
        ],
        "queries": [["ann", ["a1"], "eastwards"], ["ann", ["a1", "a3"], "upwards"]],
    }
}
DIRECTIONS = {
    "east": (1.0, 0.0),
    "eastwards": (0.9, 0.1),
    "north": (0.0, 1.0),
    "north-east": (0.7, 0.7),
    "upwards": (0.1, 0.9),
}


def test_a_question_is_answered_by_the_units_of_its_scope(tmp_path: Path):
    file = tmp_path / "eval.json.gz"
    file.write_bytes(gzip.compress(json.dumps(SETS).encode()))
    sets = RecallSets.read(file)
    vectors = np.array([DIRECTIONS[text] for text in sets.texts], np.float32)

    score = sets.scores(vectors)["rooms"]

    # The first finds a1 at once; the second meets a2 before a3 and a1.
    second = (1 / math.log2(3) + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    assert score.ndcg == pytest.approx((1 + second) / 2)
    assert score.hit == 0.5


def test_without_sets_there_is_nothing_to_measure(tmp_path: Path):
    sets = RecallSets.read(tmp_path / "none")
    assert sets.texts == []
    assert sets.scores(np.zeros((0, 2), np.float32)) == {}


def test_a_ranking_is_worth_most_when_what_is_wanted_comes_first():
    assert ndcg([True, True, False], wanted=2) == 1
    assert ndcg([False, True, True], wanted=2) < ndcg([True, False, True], wanted=2) < 1
    assert ndcg([False] * 10 + [True], wanted=1) == 0


def test_translations_are_looked_for_among_all_others():
    english = np.eye(3, dtype=np.float32)
    chinese = english[[0, 2, 2]]
    assert translations_found(chinese, english) == pytest.approx(2 / 3)
    assert mean_cosine(chinese, english) == pytest.approx(2 / 3)
