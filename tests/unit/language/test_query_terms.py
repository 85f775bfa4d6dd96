"""The terms of a question."""

from recollect.language.analysis import query_terms


def test_whoever_asks_is_no_term_of_a_question():
    assert query_terms("Where do I live?") == ["live"]
    assert query_terms("What is my wife's name?") == ["wife", "name"]
    assert query_terms("me, myself") == ["me", "myself"], "unless nothing else is asked"
