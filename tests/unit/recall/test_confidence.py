"""What has nothing to do with a memory finds nothing, whatever stands around."""

import pytest

from recollect.domain.embedding import MemoryCalibration
from recollect.domain.sections import RecallSettings
from recollect.recall.candidates import gather
from recollect.recall.fuse import confidence, fuse
from recollect.recall.paths import Found, PathName
from tests.unit.recall import found as made
from tests.unit.recall.found import question, row


def found(path: PathName, score: float, *, trust: float = 1.0) -> Found:
    return made.found(path, [(row(1), score)], trust=trust)


def sure(*paths: Found, recent: float = 0.0, only_asks: bool = False) -> float:
    return confidence(gather(paths), paths, recent, MemoryCalibration(), only_asks=only_asks)


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


def test_a_question_wants_a_better_fit_than_a_task():
    paths = (found("keyword", 0.2), found("vector", 0.28))
    assert sure(*paths, only_asks=True) < sure(*paths)


@pytest.mark.parametrize(
    ("text", "only_asks"),
    [
        ("where do I live?", True),
        ("我住在哪里？", True),
        ("write a note for the builders", False),
        ("I have a guest on Friday, what can I cook?", False),
        ("周五家里来客人，帮我想想做什么菜？", False),
    ],
)
def test_a_question_is_told_from_a_task(text: str, only_asks: bool):
    assert question(text=text).only_asks is only_asks


def test_without_vectors_words_are_believed():
    assert sure(found("keyword", 0.2)) == 1.0
    assert sure(found("keyword", 0.2), found("vector", 0.9, trust=0.0)) == 1.0


def test_what_was_last_needs_no_words():
    assert sure(found("keyword", 0.1), found("vector", 0.1), recent=1.0) == 1.0


def test_all_scores_of_a_doubtful_question_fall_and_their_order_stays():
    words = made.found("keyword", [(row(1), 0.2), (row(2), 0.15)])
    alone = fuse(question(), [words], RecallSettings(), MemoryCalibration())
    doubted = fuse(
        question(),
        [words, made.found("vector", [(row(1), 0.01)])],
        RecallSettings(),
        MemoryCalibration(),
    )
    assert [it.owner_id for it in doubted] == [it.owner_id for it in alone]
    assert all(it.score < 0.2 * one.score for it, one in zip(doubted, alone, strict=True))
    assert [it.explanation((), (), ()).sureness for it in doubted] == [0.1, 0.1]
