"""English words: stems, stop words, contractions, accents."""

import pytest

from recollect.language.analysis import query_terms, terms


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ("painting", "Melanie painted a sunrise"),
        ("COFFEE", "a cup of coffee"),
        ("cafés", "the Café on the corner"),
        ("Caroline’s", "Caroline said hello"),
        ("naive", "a naïve plan"),
        ("Strasse", "Hauptstraße, Straße 5"),
        ("Lodz", "a week in Łódź"),
    ],
)
def test_another_form_of_a_word_finds_it(asked: str, stored: str) -> None:
    assert set(query_terms(asked)) <= set(terms(stored))


def test_question_words_and_auxiliaries_are_not_searched() -> None:
    assert terms("When did Caroline go to the support group?") == [
        "carolin",
        "go",
        "support",
        "group",
    ]


def test_contractions_leave_nothing_behind() -> None:
    assert terms("You're right, they'll say she doesn't and can’t: banana") == [
        "right",
        "say",
        "banana",
    ]


def test_the_first_person_is_searched_because_it_marks_what_users_tell_of_themselves() -> None:
    assert terms("I'm walking my dog") == ["i", "walk", "my", "dog"]


def test_names_with_an_apostrophe_are_found_with_and_without_it() -> None:
    assert terms("O'Brien") == ["obrien", "brien"]
    assert terms("OBrien")[0] == "obrien"


def test_terms_repeat_but_query_terms_do_not() -> None:
    assert terms("tea, coffee, tea") == ["tea", "coffe", "tea"]
    assert query_terms("tea, coffee, tea") == ["tea", "coffe"]


def test_a_text_of_stop_words_alone_keeps_them_on_both_sides() -> None:
    assert terms("What is it?") == ["what", "is", "it"]
    assert set(query_terms("what is")) <= set(terms("What is it?"))
    assert terms("What is the plan?") == ["plan"]


@pytest.mark.parametrize("nothing", ["", "   ", "?!…", "👍🏽", "\x00", "\ud800", "\u0301"])
def test_a_text_without_words_has_no_terms(nothing: str) -> None:
    assert terms(nothing) == []
    assert query_terms(nothing) == []
