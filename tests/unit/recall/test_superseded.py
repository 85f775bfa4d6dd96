"""What no longer holds hands on what speaks for it, and never stands before what does."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.embedding import MemoryCalibration
from recollect.domain.fields import new_record
from recollect.domain.hit import Standing
from recollect.domain.record import Evidence
from recollect.domain.scope import Scope
from recollect.domain.sections import RecallSettings
from recollect.recall.fuse import fuse
from recollect.recall.question import is_about_past
from recollect.recall.superseded import below_successors, outlived
from tests.unit.recall.found import NOW, found, question, row

_ALONE = RecallSettings(neighbour_weight=0, session_weight=0, day_weight=0, answer_weight=0)
_PLAIN = replace(_ALONE, terse_discount=0)
_MODEL = MemoryCalibration()
_SCOPE = Scope(user="ann")
_OLD, _OTHER, _NOW_SO = row(1), row(2), row(3, kind="record")


def _ranked(weights=_PLAIN, superseded=None, words=((_OLD, 0.8), (_OTHER, 0.6), (_NOW_SO, 0.1))):
    paths = [found("keyword", list(words))]
    return list(fuse(question(), paths, weights, _MODEL, superseded or {}))


@pytest.mark.parametrize("fusion", ["scores", "rrf"])
def test_a_record_scores_what_the_turn_did_that_it_replaced(fusion):
    weights = replace(_PLAIN, fusion=fusion)
    before = _ranked(weights)
    after = _ranked(weights, {"turn_1": "record_3"})
    assert [it.owner_id for it in before] == ["turn_1", "turn_2", "record_3"]
    assert [it.owner_id for it in after] == ["record_3", "turn_2", "turn_1"]
    assert after[0].score == pytest.approx(before[0].score)
    assert [it.superseded_by for it in after] == [None, None, "record_3"]


def test_the_discount_is_part_of_the_factor():
    (turn,) = [it for it in _ranked(superseded={"turn_1": "record_3"}) if it.superseded_by]
    assert turn.explanation((), (), ()).factor == pytest.approx(0.5)
    (gone,) = [
        it
        for it in _ranked(replace(_PLAIN, outdated_discount=1.0), {"turn_1": "record_3"})
        if it.superseded_by
    ]
    assert gone.score == 0


def test_a_record_that_fits_better_keeps_its_score():
    words = ((_OLD, 0.3), (_NOW_SO, 0.7))
    alone = _ranked(words=words)
    assert _ranked(superseded={"turn_1": "record_3"}, words=words)[0].score == alone[0].score


def test_where_the_record_was_not_found_nothing_is_handed_on():
    words = ((_OLD, 0.8), (_OTHER, 0.6))
    scores = [it.score for it in _ranked(words=words)]
    assert [it.score for it in _ranked(superseded={"turn_1": "record_3"}, words=words)] == scores


@given(
    words=st.lists(st.floats(0, 1), min_size=3, max_size=8),
    discount=st.floats(0, 1),
    fusion=st.sampled_from(["scores", "rrf"]),
    data=st.data(),
)
@settings(deadline=None, max_examples=60)
def test_nothing_outranks_what_replaced_it(words, discount, fusion, data):
    rows = [row(at + 1) for at in range(len(words) - 1)] + [row(len(words), kind="record")]
    record = f"record_{len(words)}"
    old = data.draw(st.sets(st.integers(1, len(words) - 1)))
    weights = replace(_PLAIN, outdated_discount=discount, fusion=fusion)
    superseded = {f"turn_{it}": record for it in old}
    ranked = _ranked(weights, superseded, list(zip(rows, words, strict=True)))
    score = next(it.score for it in ranked if it.owner_id == record)
    assert all(it.score <= score for it in ranked if it.superseded_by == record)


def test_whatever_is_weighed_later_it_stays_below():
    ranked = {it.owner_id: it for it in _ranked(superseded={"turn_1": "record_3"})}
    scores = {"turn_1": 0.9, "turn_2": 0.5, "record_3": 0.7}
    standing = Standing(observed_at=NOW)
    weighed = [
        ranked[owner]._replace(standing=standing, score=score) for owner, score in scores.items()
    ]
    told = [(it.owner_id, it.score) for it in below_successors(weighed)]
    assert told == [("record_3", 0.7), ("turn_1", 0.7), ("turn_2", 0.5)]


def test_a_turn_on_which_another_record_rests_is_not_outlived():
    home = new_record("In York", {"evidence": [Evidence(turn="turn_2")]}, _SCOPE, NOW)
    allergy = new_record("No peanuts", {"evidence": [Evidence(turn="turn_1")]}, _SCOPE, NOW)
    by_turn = {"turn_1": home.id}
    assert outlived(by_turn, [home]) == by_turn
    assert outlived(by_turn, [home, allergy]) == {}
    corrected = home.evolve(evidence=(Evidence(turn="turn_1"),))
    assert outlived(by_turn, [corrected]) == by_turn


@pytest.mark.parametrize(
    ("text", "is_past"),
    [
        ("where did I live before?", True),
        ("What was my previous job", True),
        ("which editor did I used to like", True),
        ("我以前住在哪里？", True),
        ("我曾经喜欢什么座位", True),
        ("我原来的公司叫什么", True),
        ("where did I live before that, in 2020", True),
        ("which seats did I use to prefer", True),
        ("where do I live?", False),
        ("which tool do I use to deploy", False),
        ("book a flight home before Friday", False),
        ("提醒我开会之前给家里打电话", False),
        ("原来如此，那我住在哪里", False),
        ("what seat should I book", False),
        ("我住在哪里？", False),
        ("我喜欢什么座位", False),
    ],
)
def test_a_question_for_the_past_is_told_by_its_words(text, is_past):
    assert is_about_past(text) == is_past
