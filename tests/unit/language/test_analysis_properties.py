"""What holds for every text there is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.language.analysis import query_terms, term_key, term_keys, terms
from recollect.language.characters import _same_as, fold
from tests.growth import grows_in_proportion

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
LIVELY = st.sampled_from(
    [
        *"aBz09 .-_/:@'’+#,=?的了谁登录咖啡猫萬與カ゛가é́½ﷺ\t\x00\ud800",
        *(
            "getUserName ",
            "the ",
            "what ",
            "don't ",
            "v2.3.1",
            "2024年04月",
            "https://",
            "C++",
            "用React",
        ),
    ]
)
LIVELY_TEXT = st.lists(LIVELY, max_size=30).map("".join)
TEXTS = ANY_TEXT | LIVELY_TEXT
TRADITIONAL = sorted(character for character in _same_as() if character > "\u3400")


@settings(deadline=None)
@given(TEXTS)
def test_terms_of_any_text_are_plain_words(text: str) -> None:
    for term in terms(text):
        assert term
        assert not any(map(str.isspace, term))
        assert len(term) <= 66  # the bound of a token, or one number and the character it counts


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=127), max_size=80) | LIVELY_TEXT.filter(str.isascii))
def test_plain_english_has_the_same_terms_beside_other_letters(text: str) -> None:
    only_stop_words = terms(f"{text} zebra") == ["zebra"]
    assert only_stop_words or terms(f"{text}\n猫") == [*terms(text), "猫"]


@settings(deadline=None)
@given(TEXTS)
def test_question_and_stored_text_have_the_same_terms(text: str) -> None:
    asked = query_terms(text)
    assert set(asked) == set(terms(text))
    assert len(asked) == len(set(asked))


@settings(deadline=None)
@given(TEXTS, st.data())
def test_words_taken_from_a_text_find_it(text: str, data: st.DataObject) -> None:
    words = text.split()
    asked = " ".join(word for word in words if data.draw(st.booleans()))
    only_stop_words = terms(f"{asked} zebra") == ["zebra"]
    assert only_stop_words or set(query_terms(asked)) <= set(terms(text))


@settings(deadline=None)
@given(st.text(st.sampled_from("登录咖啡猫项目文档測試資料"), min_size=1, max_size=20), st.data())
def test_any_piece_of_a_chinese_text_finds_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert set(query_terms(text[start:end])) <= set(terms(text))


@settings(deadline=None)
@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@settings(deadline=None)
@given(TEXTS)
def test_analysing_folded_text_changes_nothing(text: str) -> None:
    assert terms(fold(text)) == terms(text)


@settings(deadline=None)
@given(st.text(st.sampled_from(TRADITIONAL), max_size=30))
def test_traditional_and_simplified_agree(traditional: str) -> None:
    simplified = "".join(_same_as()[character] for character in traditional)
    assert terms(traditional) == terms(simplified)


@settings(deadline=None)
@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=40))
def test_full_width_and_half_width_agree(half: str) -> None:
    full = "".join(chr(ord(character) + 0xFEE0) for character in half)
    assert terms(full) == terms(half)


@settings(deadline=None)
@given(ANY_TEXT)
def test_keys_are_unsigned_64_bit_numbers(term: str) -> None:
    assert 0 <= term_key(term) < 1 << 64


def test_keys_stay_the_same_for_ever_because_the_index_stores_them() -> None:
    assert term_keys(["coffe", "咖啡"]) == [term_key("coffe"), term_key("咖啡")]
    assert term_key("咖啡") == 693110024760828975
    assert len(set(term_keys(map(str, range(10_000))))) == 10_000


HOSTILE = {
    "one long word": "a",
    "humps": "aB",
    "dots": "a.",
    "joints": "a::",
    "amounts": "1,000,",
    "nearly amounts": "111,",
    "marks out of order": "\u0323\u0301",
    "points out of order": "\u05b0\u0591",
    "voicing marks": "\u3099",
    "nothing but stop words": "the 的",
    "numbers": "9",
    "scripts in turn": "中a1",
    "apostrophes": "a'",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    assert grows_in_proportion(terms, piece * (80_000 // len(piece)))


@settings(max_examples=30, deadline=None)
@given(st.text(st.sampled_from("aB1.:/@_'-+# "), min_size=200, max_size=400))
def test_long_tangles_of_joints_stay_bounded(text: str) -> None:
    assert len(terms(text)) <= 4 * len(text)
