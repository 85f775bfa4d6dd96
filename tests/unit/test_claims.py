"""What short claims say, in English and Chinese."""

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.text import (
    claim_nouns_chinese,
    claim_nouns_english,
    claim_things_chinese,
    claim_things_english,
    claim_verbs_chinese,
    claim_verbs_english,
    claim_words_chinese,
    claim_words_english,
)
from recollect.text.claim_parts import SIGNS
from recollect.text.claims import Claim, claim
from recollect.text.similarity import contrast


def _concepts(it: Claim) -> list[str]:
    return [word.concept for word in it.words if word.kind not in ("self", "weak")]


def _denied(text: str) -> list[str]:
    return [word.concept for word in claim(text).words if word.denied]


def _topic(text: str) -> set[str]:
    return {word.concept for word in claim(text).words if word.is_topic and word.kind != "weak"}


@pytest.mark.parametrize(
    "texts",
    [
        ("The meeting is at 3 pm.", "The meeting is at 15:00.", "The meeting is at 3 p.m."),
        ("I get up at 6:30.", "The user wakes up at half past six."),
        ("It is due on 5 March.", "It is due on March 5th.", "It is due on the 5th of March."),
        ("The rent is 1,200 euros.", "The rent is €1200.", "The rent is 1200 EUR."),
        ("The budget is $5k.", "The budget is 5000 dollars."),
        ("会议在下午三点。", "会议在15:00。", "会议在下午3点整。"),
        ("我六点半起床。", "用户6:30起床。"),
        ("截止日期是三月五号。", "截止日期是3月5日。"),
        ("预算是5万元。", "预算是50000元。", "预算是五万块。"),
        ("每周二开会。", "每个星期二开会。"),
        ("用户有两只猫。", "用户有2只猫。"),
    ],
)
def test_a_number_or_time_is_one_however_it_is_written(texts: tuple[str, ...]):
    first, *others = map(claim, texts)
    for other in others:
        assert sorted(_concepts(other)) == sorted(_concepts(first))


@pytest.mark.parametrize(
    "texts",
    [
        ("I live in Rome.", "The user resides in Rome.", "User is based in Rome."),
        ("Please remember that I like tea.", "I like tea, thanks!", "By the way, I love tea."),
        ("The user mentioned that my dog is old.", "My dog is old."),
        ("我住在罗马。", "用户居住在罗马。"),
        ("请记住，我喜欢茶。", "对了，我爱茶，谢谢。"),
        ("用户提到我的狗老了。", "我的狗老了。"),
    ],
)
def test_synonyms_and_politeness_change_nothing(texts: tuple[str, ...]):
    first, *others = map(claim, texts)
    for other in others:
        assert _concepts(other) == _concepts(first)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The user reports to Anna.", "user"),
        ("Right shoulder hurts.", "shoulder"),
        ("用户说日语。", "user"),
        ("好的习惯很重要。", "habit"),
    ],
)
def test_what_only_looks_like_politeness_is_kept(text: str, kept: str):
    assert kept in {word.concept for word in claim(text).words}


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The user does not like coffee.", ["like"]),
        ("The user dislikes coffee.", ["like"]),
        ("The user likes tea but not coffee.", ["coffe"]),
        ("The user likes tea but does not like coffee.", ["coffe"]),
        ("The shop is not closed.", []),
        ("The user likes tea.", []),
        ("用户不喜欢咖啡。", ["like"]),
        ("用户讨厌咖啡。", ["like"]),
        ("不要在周五发布。", ["deploy"]),
        ("这家店味道不错。", []),
    ],
)
def test_a_denial_is_bound_to_what_it_denies(text: str, denied: list[str]):
    assert _denied(text) == denied


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("We switched from MySQL to PostgreSQL.", {"mysql"}),
        ("We deploy on Mondays instead of Fridays.", {"fri"}),
        ("Anna left Siemens and joined Bosch.", {"siemen"}),
        ("我们把 MySQL 换成了 PostgreSQL。", {"mysql"}),
        ("我以前住在成都，现在住在重庆。", {"live", "chengdu"}),
        ("不学法语了，我改学西班牙语。", {"learn", "french"}),
    ],
)
def test_a_claim_tells_what_is_over(text: str, gone: set[str]):
    assert claim(text).gone == gone


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("The staging database runs on port 5432.", {"staging", "database"}),
        ("The design team is managed by Alice.", {"alic"}),
        ("For the blog, use British spelling.", {"blog"}),
        ("The 8 am train is full.", {"8:00", "am", "train"}),
        ("302会议室有投影仪。", {"302", "meeting", "室"}),
        ("设计团队由王芳负责。", {"王芳"}),
    ],
)
def test_a_claim_is_about_what_stands_before_its_verb(text: str, topic: set[str]):
    assert _topic(text) == topic


def test_a_word_is_a_verb_or_a_thing_by_its_place():
    assert claim("The build is slow.").verb == ""
    assert claim("The team builds a house.").verb == "build"
    assert claim("Nightly builds start at one.").verb == "start"
    assert claim("Please call me Alex.").verb == "name"
    assert claim("Please call me in the evening.").verb == "call"


def test_a_wish_is_no_deed():
    assert "wish" in claim("The user wants to visit Japan.").marks
    assert "wish" not in claim("The user visited Japan.").marks
    assert "wish" in claim("用户想去日本旅游。").marks


def test_traditional_and_full_width_characters_are_read_alike():
    assert claim("我最喜歡的顏色是綠色。") == claim("我最喜欢的颜色是绿色。")
    assert claim("用户有２只猫。") == claim("用户有2只猫。")


def test_a_name_found_in_one_claim_only_is_matched_by_its_characters():
    laid = contrast(claim("刘洋教陈静游泳。"), claim("陈静跟刘洋学游泳。"))
    assert not {word.concept for word in (*laid.new, *laid.old)} & {"刘洋", "陈静", "刘", "陈"}


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="a1.,:-/$k 9点半月号周一第万零是不了的mA'st\n%@", max_size=40))
def test_any_text_can_be_read(text: str):
    assert claim(text) == claim(text)


_LISTS = {
    "en": (
        claim_words_english.PHRASES,
        claim_words_english.PEOPLE,
        claim_words_english.SIGNS,
        claim_verbs_english.VERBS,
        claim_nouns_english.NOUNS,
        claim_things_english.THINGS,
        claim_nouns_english.CLASSES,
    ),
    "zh": (
        claim_words_chinese.PHRASES,
        claim_words_chinese.PEOPLE,
        claim_words_chinese.SIGNS,
        claim_verbs_chinese.VERBS,
        claim_nouns_chinese.NOUNS,
        claim_things_chinese.THINGS,
        claim_nouns_chinese.CLASSES,
        {"light": claim_words_chinese.LIGHT},
    ),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_phrase_is_listed_under_two_meanings(language: str):
    meanings: defaultdict[str, set[str]] = defaultdict(set)
    for group in _LISTS[language]:
        for key, phrases in group.items():
            for phrase in phrases.split("," if language == "en" else None):
                meanings[" ".join(phrase.split())].add(key)
    assert {phrase: keys for phrase, keys in meanings.items() if len(keys) > 1} == {}
    assert "" not in meanings


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_key_of_the_lists_names_signs_or_concepts(language: str):
    classes = {*claim_nouns_english.CLASSES, *claim_nouns_chinese.CLASSES}
    kinds = {"verb", "word", "weak", "kin", "self", "pronoun", "number", "when", "light", "often"}
    for group in _LISTS[language]:
        for key in group:
            for piece in key.split(" + "):
                assert piece.split()[0] in SIGNS | kinds | classes | {"direction"}, key
