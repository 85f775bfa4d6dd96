"""Paths are brought together: evidence is added, bent into [0, 1] and explained."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.embedding import MemoryCalibration
from recollect.domain.sections import RecallSettings
from recollect.domain.times import to_micros
from recollect.domain.unit import Trait
from recollect.language.units import speaker_key
from recollect.recall.fuse import calibrated, fuse
from recollect.recall.paths import Found, TimeSpan
from tests.unit.recall.found import NOW, found, question, row

_ALONE = RecallSettings(neighbour_weight=0, session_weight=0, day_weight=0, answer_weight=0)
_PLAIN = replace(_ALONE, terse_discount=0)
_MODEL = MemoryCalibration()


def _scores(
    *paths: Found, text: str = "harbour", weights: RecallSettings = _PLAIN
) -> dict[str, float]:
    return {it.owner_id: it.score for it in fuse(question(text), paths, weights, _MODEL)}


def _bent(evidence: float) -> float:
    return pytest.approx(float(calibrated(np.array([evidence]))[0]))


def test_nothing_found_is_nothing():
    assert not fuse(question(), [found("keyword", [])], RecallSettings(), _MODEL)


def test_words_and_meaning_add_up():
    one, other = row(1), row(2)
    scores = _scores(
        found("keyword", [(one, 0.6), (other, 0.6)]), found("vector", [(one, 0.5), (other, 0.1)])
    )
    assert list(scores) == ["turn_1", "turn_2"]
    assert scores["turn_1"] == _bent(0.6 + 0.7 * 0.5)
    assert scores["turn_2"] == _bent(0.6 + 0.7 * 0.1)


def test_a_model_that_cannot_read_the_question_is_believed_less():
    scores = _scores(found("keyword", [(row(1), 0.2)]), found("vector", [(row(1), 0.8)], trust=0.5))
    assert scores["turn_1"] == _bent(0.2 + 0.5 * 0.7 * 0.8)


def test_a_text_in_another_language_is_not_behind_for_sharing_no_words():
    chinese, english = row(1, traits=Trait.NOT_CHINESE), row(2)
    words, meaning = found("keyword", [(english, 0.3)]), [(chinese, 0.7), (english, 0.4)]
    assert list(_scores(words, found("vector", meaning))) == ["turn_1", "turn_2"]
    scores = _scores(words, found("vector", meaning), text="数据库放在哪里")
    assert scores["turn_1"] == _bent(0.7 * 0.7), "it is in the question's language"


def test_what_is_not_among_the_nearest_is_at_most_as_near_as_the_last_of_them():
    words = found("keyword", [(row(1), 0.5)])
    nearest = found("vector", [(row(2), 0.9), (row(3), 0.2)])
    assert _scores(words, replace(nearest, is_cut_off=True))["turn_1"] == _bent(0.5 + 0.7 * 0.2)
    assert _scores(words, nearest)["turn_1"] == _bent(0.5), "all there are were returned"


def test_a_path_that_found_nothing_takes_nothing_away():
    alone = _scores(found("keyword", [(row(1), 0.5)]))
    beside = _scores(found("keyword", [(row(1), 0.5)]), found("vector", []), found("recent", []))
    assert alone == beside


def test_a_weak_best_hit_stays_weak():
    assert _scores(found("keyword", [(row(1), 0.05)]))["turn_1"] < 0.1


_RANKED = replace(_PLAIN, fusion="rrf")


def test_ranks_decide_the_order_when_they_are_asked_to():
    words = found("keyword", [(row(1), 0.9), (row(2), 0.2), (row(3), 0.1)])
    meaning = found("vector", [(row(2), 0.4), (row(3), 0.3)])
    assert list(_scores(words, meaning)) == ["turn_1", "turn_2", "turn_3"]
    ranked = _scores(words, meaning, weights=_RANKED)
    assert list(ranked) == ["turn_2", "turn_3", "turn_1"], "two paths beat the best of one"


def test_with_ranks_the_answer_scores_as_a_whole_as_it_did():
    words = found("keyword", [(row(1), 0.9), (row(2), 0.2)])
    meaning = found("vector", [(row(2), 0.4)])
    by_scores = _scores(words, meaning)
    by_ranks = _scores(words, meaning, weights=_RANKED)
    assert list(by_ranks.values()) == sorted(by_scores.values(), reverse=True)
    assert _scores(found("keyword", [(row(1), 0.05)]), weights=_RANKED)["turn_1"] < 0.1


def test_with_ranks_a_speaker_still_counts_and_equals_keep_their_order():
    said = [(row(1, speaker=speaker_key("Ann")), 0.5), (row(2, speaker=speaker_key("Bob")), 0.5)]
    words = found("keyword", said)
    assert list(_scores(words, text="Bob's harbour", weights=_RANKED)) == ["turn_2", "turn_1"]
    assert list(_scores(words, weights=_RANKED)) == ["turn_1", "turn_2"]


def test_of_equals_the_one_written_first_comes_first():
    scores = _scores(found("keyword", [(row(3), 0.5), (row(1), 0.5), (row(2), 0.5)]))
    assert list(scores) == ["turn_1", "turn_2", "turn_3"]


def test_a_turn_whose_speaker_the_question_names_counts_more():
    said = [(row(1, speaker=speaker_key("Ann")), 0.5), (row(2, speaker=speaker_key("Bob")), 0.5)]
    scores = _scores(found("keyword", said), text="Bob's harbour")
    assert scores["turn_2"] == _bent(0.5 * 1.4)
    assert scores["turn_1"] == _bent(0.5)


def test_a_chinese_speaker_is_named_too():
    said = [(row(1, speaker=speaker_key("张伟")), 0.5), (row(2, speaker=speaker_key("李娜")), 0.5)]
    scores = _scores(found("keyword", said), text="李娜说的港口在哪里")
    assert scores["turn_2"] > scores["turn_1"]


@pytest.mark.parametrize(
    ("text", "is_wanted"),
    [
        ("the harbour", False),
        ("what did you recommend about the harbour", True),
        ("your advice on the harbour", True),
        ("你推荐了哪个港口", True),
        ("哪个港口", False),
    ],
)
def test_the_assistants_words_count_less_unless_they_are_asked_for(text: str, is_wanted: bool):
    said = [(row(1, traits=int(Trait.BY_ASSISTANT)), 0.5)]
    scores = _scores(found("keyword", said), text=text)
    assert scores["turn_1"] == _bent(0.5 * (1.25 if is_wanted else 0.75))


def test_a_turn_that_says_next_to_nothing_counts_less_and_a_short_record_does_not():
    weights = _ALONE
    said = [
        (row(1, variety=1), 0.5),
        (row(2, variety=40), 0.5),
        (row(3, kind="record", variety=1), 0.5),
    ]
    scores = _scores(found("keyword", said), weights=weights)
    assert scores["turn_1"] < scores["turn_2"] == scores["record_3"] == _bent(0.5)


def test_the_time_that_is_named_pulls_and_never_filters():
    then, later = NOW - timedelta(days=10), NOW - timedelta(days=100)
    of_then, of_later = row(1, observed_at=to_micros(then)), row(2, observed_at=to_micros(later))
    day = TimeSpan.between(then - timedelta(hours=9), then + timedelta(hours=15))
    timed = found("time", [(of_then, 1.0)], trust=0.5, spans=(day,))
    scores = _scores(found("keyword", [(of_then, 0.4), (of_later, 0.4)]), timed)
    assert scores["turn_1"] == _bent(0.4 * 1.3 + 0.5 * 0.4)
    assert scores["turn_2"] == _bent(0.4), "the same as without a time"


def test_an_explanation_tells_ranks_and_scores_of_every_path():
    one, other = row(1), row(2)
    paths = [
        found("keyword", [(one, 0.2), (other, 0.6)]),
        found("vector", [(one, 0.5)]),
        found("recent", []),
    ]
    ranked = fuse(question(), paths, _PLAIN, _MODEL)
    by_id = {it.owner_id: it for it in ranked}
    (scores,) = ranked.path_scores([by_id["turn_1"].at])
    told = by_id["turn_1"].explanation(scores, ("harbour",), ())
    assert [(it.path, it.rank, it.raw, it.score) for it in told.paths] == [
        ("keyword", 2, 2.0, 0.2),
        ("vector", 1, 5.0, 0.5),
    ]
    assert told.matched_terms == ("harbour",)
    assert told.relevance == by_id["turn_1"].score


def test_a_follow_up_leans_on_what_is_recent_and_a_plain_question_does_not():
    paths = [found("keyword", [(row(1), 0.1)]), found("recent", [(row(2), 1.0)])]
    assert list(_scores(*paths)) == ["turn_1", "turn_2"]
    assert _scores(*paths)["turn_2"] == 0
    assert next(iter(_scores(*paths, text="go on"))) == "turn_2"


_units = st.builds(
    row,
    st.integers(1, 30).map(lambda it: 10 * it),
    kind=st.sampled_from(("record", "turn")),
    cluster=st.integers(-2, 2),
    place=st.integers(1, 5),
    traits=st.integers(0, 3),
    size=st.integers(0, 900),
    variety=st.integers(0, 30),
    observed_at=st.integers(0, 10**15),
)
_scored = st.lists(
    st.tuples(_units, st.floats(0, 1)), max_size=8, unique_by=lambda it: int(it[0]["unit"][0])
)


@settings(max_examples=60, deadline=None)
@given(_scored, _scored, _scored)
def test_every_owner_is_in_the_list_once_and_the_list_is_sorted(by_words, by_meaning, by_time):
    stretch = TimeSpan(0, 10**14)
    paths = [
        found("keyword", by_words),
        found("vector", by_meaning),
        found("time", by_time, spans=(stretch,) if by_time else ()),
    ]
    fused = fuse(question(), paths, RecallSettings(), _MODEL)
    units = {int(one["unit"][0]) for one, _ in (*by_words, *by_meaning, *by_time)}
    assert sorted(it.unit.number for it in fused) == sorted(units)
    scores = [it.score for it in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= it < 1 for it in scores)
    for path in (by_words, by_meaning):
        if path and (best := max(score for _, score in path)) > 1e-9:
            top = {int(one["unit"][0]) for one, score in path if score == best}
            assert all(it.score > 0 for it in fused if it.unit in top)
