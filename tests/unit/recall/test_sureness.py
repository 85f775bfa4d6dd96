"""What has nothing to do with a memory finds nothing, whatever stands around."""

import numpy as np
import pytest

from recollect.ports.units import COLUMNS, Matches, UnitRows
from recollect.recall.candidates import gather
from recollect.recall.paths import Found, PathName
from recollect.recall.sureness import sureness


def found(path: PathName, score: float, *, trust: float = 1.0) -> Found:
    rows = UnitRows.of([[0] * len(COLUMNS)], ["a"])
    scores = np.array([score])
    return Found(path=path, matches=Matches(rows=rows, raw=scores, scores=scores), trust=trust)


def sure(*paths: Found, recent: float = 0.0) -> float:
    return sureness(gather(paths), paths, recent)


@pytest.mark.parametrize(
    ("words", "nearness"),
    [(0.2, 0.08), (0.1, 0.13), (0.0, 0.14)],
    ids=["one common word", "a little of both", "vaguely alike"],
)
def test_a_weak_fit_is_hardly_sure(words: float, nearness: float):
    assert sure(found("keyword", words), found("vector", nearness)) == 0.1


@pytest.mark.parametrize(
    ("words", "nearness"),
    [(0.75, 0.1), (0.0, 0.36), (0.4, 0.3)],
    ids=["its words", "its meaning", "both"],
)
def test_a_good_fit_is_sure_by_either_path(words: float, nearness: float):
    assert sure(found("keyword", words), found("vector", nearness)) == 1.0


def test_without_vectors_words_are_believed():
    assert sure(found("keyword", 0.2)) == 1.0
    assert sure(found("keyword", 0.2), found("vector", 0.9, trust=0.0)) == 1.0


def test_what_was_last_needs_no_words():
    assert sure(found("keyword", 0.1), found("vector", 0.1), recent=1.0) == 1.0
