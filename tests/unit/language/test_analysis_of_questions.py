"""The terms of a question."""

from recollect.language.analysis import query_terms, slight_terms


def test_who_asks_counts_little():
    assert slight_terms(query_terms("Where do I live?")) == ["i"]
    assert slight_terms(query_terms("What is my wife's name?")) == ["my"]


def test_who_asks_counts_if_nothing_else_is_asked():
    assert slight_terms(query_terms("me, myself")) == []
