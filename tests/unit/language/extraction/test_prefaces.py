"""What stands before what a sentence tells, and what only looks like it."""

import pytest

from recollect.language.claims.moods import mood
from recollect.language.extraction.message import self_contained
from recollect.language.extraction.utterances import preface


@pytest.mark.parametrize(
    ("sentence", "told", "corrects"),
    [
        ("no, i don't like coffee.", "i don't like coffee.", True),
        ("oh, hi, i'm ann", "i'm ann", False),
        ("oh no, wait, it is 5", "it is 5", True),
        ("well, actually i live in berlin", "i live in berlin", True),
        ("sorry \u2014 it is blue", "it is blue", True),
        ("i was wrong.", "", True),
        ("i'd like to correct that: it is 5", "it is 5", True),
        ("不是的，我住北京", "我住北京", True),
        ("等一下，我说错了，是21日", "是21日", True),
        ("哦，对了，我换号了", "我换号了", False),
        ("补充一下，我还养猫", "我还养猫", False),
    ],
)
def test_what_stands_before_it_is_told_apart(sentence: str, told: str, corrects: bool):
    found = preface(sentence)
    assert (sentence[found.length :], found.corrects) == (told, corrects)


@pytest.mark.parametrize(
    ("openings", "told", "ordered"),
    [
        (
            "oh|ah|aha|uh|umm|hmm|ugh|well|ok|okay|hey|hi|hello|btw|by the way|fyi"
            "|just so you know|for the record",
            ", i live in Porto",
            ", write a poem about Porto",
        ),
        (
            "哦|噢|啊|嗯嗯|呃|唉|诶|哎呀|对了|好的|行|那个|顺便提一下|顺便说一句",
            "，我住在波尔图",
            "，写一首关于波尔图的诗",
        ),
    ],
)
def test_who_begins_with_oh_is_understood_as_without_it(openings: str, told: str, ordered: str):
    for opening in openings.split("|"):
        language = "en" if opening.isascii() else "zh"
        bare = told.lstrip(",， ")
        assert preface(opening + told).length == len(opening + told) - len(bare)
        assert self_contained(opening + told, language, "Ann", is_theirs=True).startswith("Ann")
        assert mood(opening + ordered) == "imperative", opening


@pytest.mark.parametrize(
    "sentence",
    [
        *("no problem at all", "no one likes it", "sorry for the delay, i live in berlin"),
        *("sorry i'm late", "well-known facts", "okra is nice", "in fact-checking we trust"),
        *("not quite there yet", "i was wrong about the date", "wait for me"),
        *("不过我喜欢茶", "不吃香菜", "对花生过敏", "好朋友结婚了", "行李丢了", "等等我"),
        *("抱歉让你久等了", "错了三道题", "那个人是我哥哥", "其", ""),
    ],
)
def test_what_is_part_of_the_sentence_stays(sentence: str):
    assert preface(sentence) == (0, False)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("好朋友小王结婚了", "好朋友小王结婚了"),
        ("行李丢了", "行李丢了"),
        ("对花生过敏", "对花生过敏"),
        ("请假三天", "请假三天"),
        ("好，行李丢了", "行李丢了"),
    ],
)
def test_words_that_begin_like_a_yes_are_whole(said: str, told: str):
    assert self_contained(said, "zh", "用户", is_theirs=False) == told
