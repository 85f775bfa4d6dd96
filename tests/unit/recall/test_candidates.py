"""One row an owner, whatever path found whichever of its units."""

import pytest

from recollect.recall.candidates import gather
from tests.unit.recall.found import found, row


def test_nothing_found_is_no_candidate():
    assert len(gather([])) == 0
    assert len(gather([found("keyword", []), found("vector", [])])) == 0


def test_an_owner_that_two_paths_found_is_one_candidate_with_both_scores():
    first, second = row(10), row(20)
    candidates = gather(
        [found("keyword", [(first, 0.6)]), found("vector", [(second, 0.5), (first, 0.3)])]
    )
    assert candidates.owners.tolist() == [10, 20]
    assert candidates.by_path("keyword").tolist() == [0.6, 0.0]
    assert candidates.by_path("vector").tolist() == [0.3, 0.5]
    assert candidates.by_path("recent", otherwise=0.1).tolist() == [0.1, 0.1]


def test_what_a_path_did_not_find_scores_what_the_caller_says():
    candidates = gather([found("keyword", [(row(10), 0.6)]), found("vector", [(row(20), 0.5)])])
    assert candidates.by_path("vector", otherwise=0.2).tolist() == [0.2, 0.5]
    assert candidates.found["vector"].horizon == 0.0, "nothing was cut off"
    by_words, by_vector = candidates.path_scores([0, 1])
    assert [(it.path, it.rank, it.score) for it in by_words] == [("keyword", 1, 0.6)]
    assert [(it.path, it.rank, it.score) for it in by_vector] == [("vector", 1, 0.5)]


def test_a_long_text_counts_half_as_a_whole_and_half_by_its_best_passage():
    whole = row(10, start=0, end=900)
    passages = [row(11, ordinal=1, start=0, end=400), row(12, ordinal=2, start=400, end=900)]
    scored = [(whole, 0.4), (passages[0], 0.2), (passages[1], 0.8)]
    candidates = gather([found("keyword", [*scored, (row(20), 0.5)])])
    assert candidates.owners.tolist() == [10, 20]
    assert candidates.by_path("keyword").tolist() == pytest.approx([0.6, 0.5])
    assert candidates.rows["unit"].tolist() == [12, 20], "its best passage speaks for it"
    assert candidates.rows["end"][0] == 900


def test_a_passage_whose_whole_was_not_found_is_held_at_what_was_cut_off():
    passage = row(11, ordinal=1)
    scored = [(passage, 0.8), (row(20), 0.3)]
    complete = gather([found("keyword", scored)])
    assert complete.by_path("keyword").tolist() == pytest.approx([0.4, 0.3])
    cut_off = gather([found("keyword", scored, is_cut_off=True)])
    assert cut_off.by_path("keyword").tolist() == pytest.approx([0.55, 0.3])


def test_words_say_best_which_unit_speaks_for_an_owner():
    by_words, by_meaning = row(11, ordinal=1), row(12, ordinal=2)
    candidates = gather([found("keyword", [(by_words, 0.1)]), found("vector", [(by_meaning, 0.9)])])
    assert candidates.owners.tolist() == [10]
    assert candidates.rows["unit"].tolist() == [11]
