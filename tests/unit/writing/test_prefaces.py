"""What stands before what a sentence tells, and what only looks like it."""

import pytest

from recollect.writing.extract_prefaces import preface
from recollect.writing.extract_voice import self_contained


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
