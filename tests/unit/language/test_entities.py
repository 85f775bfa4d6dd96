"""Names found in Chinese and English text: precision first, fast, and never an exception."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.language.characters import fold
from recollect.language.entities import MOST_ENTITIES, entities
from tests.growth import grows_in_proportion

LABELLED = Path(__file__).parents[2] / "data" / "entities.tsv"

PIECES = [
    *(
        "张伟",
        "小李",
        "王老师",
        "在",
        "去",
        "的",
        "，",
        "。",
        "《",
        "》",
        "“",
        "”",
        "「",
        "」",
        "·",
        "大学",
        "路",
    ),
    *(
        "叫",
        "#",
        "@",
        "A",
        "Dr. ",
        "Smith",
        "iPhone",
        " ",
        "\n",
        "'s",
        "'t",
        "://",
        ".com",
        "_",
        "-1",
    ),
    *(
        "15",
        "of",
        "\0",
        "é",
        "İ",
        "ß",
        "ﬁ",
        "臺",
        "\ud800",
        "\u0301",
        "🎉",
        '"',
        "&",
        "J. ",
        "v1.2",
    ),
]
SOME_TEXT = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES)).map("".join))


class Sentence(NamedTuple):
    text: str
    names: frozenset[str]


def labelled(language: str, half: int) -> list[Sentence]:
    lines = LABELLED.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line.startswith(f"{language}\t")]
    return [
        Sentence(text, frozenset(fold(name).casefold() for name in names.split(";") if name))
        for _, text, names in rows[half::2]
    ]


def precision_and_recall(sentences: Sequence[Sentence]) -> tuple[float, float]:
    found = right = wanted = 0
    for sentence in sentences:
        names = set(entities(sentence.text))
        found += len(names)
        wanted += len(sentence.names)
        right += len(names & sentence.names)
    return right / found, right / wanted


@pytest.mark.parametrize("half", [0, 1], ids=["seen", "held back"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_names_are_found_and_everyday_words_are_not(language: str, half: int):
    sentences = labelled(language, half)
    precision, recall = precision_and_recall(sentences)
    assert len(sentences) >= 30
    assert precision >= 0.85
    assert recall >= 0.7


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        ("I saw Dr. Smith today.", "I called Smith today.", "smith"),
        ("Caroline's dog barked.", "We met Cároline there.", "caroline"),
        ("We love the Beatles.", "The Beatles split up.", "beatles"),
        ("She reads J.K. Rowling.", "She reads J. K. Rowling.", "j. k. rowling"),
        ("ask @marcus about it", "I met Marcus there.", "marcus"),
        ("他住在臺北。", "他住在台北市。", "台北"),
        ("明天要見張偉。", "明天要见张伟。", "张伟"),
        ("用ＰｏｓｔｇｒｅＳＱＬ存数据", "We use PostgreSQL here.", "postgresql"),
        ("王老师来了。", "作业交给王老师。", "王老师"),
    ],
)
def test_two_mentions_of_one_name_agree(one: str, other: str, name: str):
    assert name in entities(one)
    assert name in entities(other)


@pytest.mark.parametrize(
    "word", ["高兴", "张开", "王牌", "马上", "方法", "周末", "金额", "于是", "成功", "小时"]
)
def test_words_that_begin_like_a_surname_are_no_people(word: str):
    assert entities(f"我觉得{word}的时候要说。") == ()
    assert entities(f"{word}说了也没用。") == ()


def test_a_surname_at_the_end_of_a_word_begins_no_name():
    assert entities("他担任主任，工程师都很紧张。") == ()


def test_a_chain_of_places_is_its_parts():
    assert entities("他住在广东广州，在杭州西湖区上班。") == ("广东", "广州", "杭州", "西湖区")


def test_a_city_belongs_to_the_university_named_after_it():
    assert entities("她在浙江大学读书，住在浙江。") == ("浙江大学", "浙江")


def test_speech_and_irony_in_quotes_are_no_titles():
    assert entities("她说“明天一起去”，真是“聪明”。") == ()
    assert entities('"Not now," she said. "Maybe later."') == ()


def test_titles_in_brackets_and_quotes_are_found():
    assert entities("在看《三体》和电影“活着”") == ("三体", "活着")
    assert entities('I read "The Great Gatsby" twice.') == ("great gatsby",)


def test_ids_code_symbols_and_addresses_are_found_as_written():
    text = "ADR-003: getUserName set user_id in v2.3.1, see https://www.a.example/x or b@c.example"
    assert entities(text) == (
        *("adr-003", "getusername", "user_id", "v2.3.1"),
        *("a.example", "b@c.example"),
    )


def test_names_come_once_and_in_order_of_appearance():
    assert entities("张伟 met Caroline; Caroline likes 张伟 and 《三体》.") == (
        "张伟",
        "caroline",
        "三体",
    )


def test_headings_and_shouting_name_nothing():
    assert entities("Meeting Notes And Next Steps\nI SAID NEVER DO THIS AGAIN") == ()


def test_the_labels_of_a_list_name_nothing_but_its_text_does():
    text = "### Next Steps\n1. **Prioritize Tasks**: ask Caroline first\n- Allocate time for Bob"
    assert entities(text) == ("caroline", "bob")


def test_days_and_months_and_languages_are_no_names():
    assert entities("On Friday in May we spoke French. Monday, I fly. April is cold.") == ()


def test_the_first_word_of_a_sentence_is_a_name_only_when_it_is_no_everyday_word():
    assert entities("Caroline laughed. Dinner was late. Swimming helps. Volvo called.") == (
        "caroline",
        "volvo",
    )


def test_what_is_marked_inside_a_mark_is_the_name():
    assert entities("《和 @bob_lee 的一天》") == ("bob_lee",)


def test_a_text_full_of_names_gives_a_bounded_number():
    text = " ".join(f"see ADR-{number}," for number in range(1000))
    assert len(entities(text)) == MOST_ENTITIES


@given(SOME_TEXT)
@settings(max_examples=300, deadline=None)
def test_any_text_gives_folded_distinct_names(text: str):
    names = entities(text)
    assert len(set(names)) == len(names) <= MOST_ENTITIES
    assert all(name and name == fold(name).casefold() and "\0" not in name for name in names)
    assert entities(fold(text)) == names


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "A ",
            "Aa ",
            "AA",
            "a",
            "aB",
            "A.",
            "A-",
            "A'",
            "Of the ",
            "1 ",
            "Aa 1",
            "a.b",
            "a_",
            "_",
            "-1",
        ),
        *(
            "@a",
            "#a",
            "#",
            "://",
            "a://",
            "“",
            "“a",
            '"',
            "《",
            "·马",
            "马",
            "马克·",
            "叫",
            "小",
            "老王",
        ),
        *(
            "张伟",
            "张",
            "阿里",
            "路",
            "大学",
            "金融",
            "区",
            "北京",
            "参观",
            "\n",
            "\0",
            " ",
            "É",
            "\u0301",
        ),
        *("Caroline went. ", "在西湖区", "the "),
    ],
)
def test_long_hostile_text_takes_time_in_proportion_to_its_length(piece: str):
    text = (piece * 20_000)[:20_000]
    assert grows_in_proportion(entities, text)


def test_a_word_that_only_begins_like_the_rest_of_a_name_is_no_part_of_it():
    # Before 3.11.5 Python goes on behind the failed beginning of a group repeated possessively.
    found = entities("We met Mia in Oslo on Monday, then Tom of course.")
    assert found == ("mia", "oslo", "tom")
