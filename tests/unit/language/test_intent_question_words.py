"""A question is looked for by what it is about, not by the words it is asked with."""

from __future__ import annotations

import pytest

from recollect.language.analysis import query_terms
from recollect.language.intent import without_asking


@pytest.mark.parametrize(
    ("asked", "about"),
    [
        ("Can you remind me where I planted the beans?", "where I planted the beans"),
        ("How many days passed since I planted the beans?", "I planted the beans"),
        ("I was wondering if you could recommend a novel", "a novel"),
        ("Where did I say I met Laura?", "where I met Laura"),
        ("What was the novel that you mentioned?", "what was the novel"),
        ("In our previous conversation about tea, which did you recommend?", "tea recommend"),
        ("My phone is slow. Any tips?", "my phone is slow"),
        ("Could you give me a short summary of the garden project?", "the garden project"),
        ("请问我的护照放在哪里？", "我的护照放在哪里"),
        ("你还记得我的猫叫什么吗？", "我的猫叫什么吗"),
        ("能不能告诉我老王的电话？", "老王的电话"),
        ("我一共买了几本书？", "我 买了几本书"),
    ],
)
def test_the_words_that_only_ask_are_left_out(asked: str, about: str) -> None:
    assert set(query_terms(without_asking(asked))) == set(query_terms(about))


@pytest.mark.parametrize(
    "asked",
    [
        "What kind of music does Ann like?",  # people ask each other so
        "How long have they been married?",
        "Which conversation starters do I use?",
        "The mentioned invoice is from Acme",
        "他遇到的麻烦事是什么？",
        "小王的记性怎么样？",
    ],
)
def test_words_of_the_matter_stay(asked: str) -> None:
    assert without_asking(asked) == asked


# One for each beginning that the pattern looks for.
@pytest.mark.parametrize(
    ("asked", "about"),
    [
        ("Any ideas for tea?", "for tea?"),
        ("Did I bring up tea?", "Did I tea?"),
        ("Could you show us tea?", "tea?"),
        ("Do you recall tea?", "tea?"),
        ("Trips from first to last", "Trips"),
        ("How many days ago was tea?", "was tea?"),
        ("I remember tea", "tea"),
        ("In total, tea", ", tea"),
        ("Did I mention tea?", "Did I tea?"),
        ("The order of tea", "tea"),
        ("Our last chat about tea", "tea"),
        ("Please tell me tea", "tea"),
        ("Remind us tea", "tea"),
        ("Did I say tea?", "Did I tea?"),
        ("Tell me tea", "tea"),
        ("Will you list tea?", "tea?"),
        ("You can share tea", "tea"),
        ("All in all, tea", ", tea"),
        ("Altogether, tea", ", tea"),
        ("Did you discuss tea?", "Did you tea?"),
        ("Which came first, tea?", ", tea?"),
        ("I covered tea", "I tea"),
        ("请问茶在哪", "茶在哪"),
        ("麻烦您说茶在哪", "说茶在哪"),
        ("你还记得茶吗", "茶吗"),
        ("您记得茶吗", "茶吗"),
        ("还记得茶吗", "茶吗"),
        ("记得茶吗", "茶吗"),
        ("记不记得茶", "茶"),
        ("能告诉我茶在哪吗", "茶在哪吗"),
        ("可以告诉我茶在哪吗", "茶在哪吗"),
        ("再告诉我茶在哪", "茶在哪"),
        ("告诉我茶在哪", "茶在哪"),
        ("提醒我茶在哪", "茶在哪"),
        ("我之前跟你说过的茶", "茶"),
        ("一共几杯茶", "几杯茶"),
        ("总共几杯茶", "几杯茶"),
        ("你知道茶在哪吗", "茶在哪吗"),
    ],
)
def test_every_way_of_asking_is_noticed_where_it_begins(asked: str, about: str) -> None:
    assert without_asking(asked).split() == about.split()


def test_who_spoke_stays_and_so_do_capitals() -> None:
    # "I" marks what users tell of themselves, and a model may tell Rose from rose.
    assert "I" in without_asking("The novel that I mentioned to Rose").split()
    assert "Rose" in without_asking("Can you remind me when Rose is born?")
    assert without_asking("İzmir, can you remind me?") == "İzmir, can you remind me?"


def test_a_question_of_nothing_else_stays_as_it_is() -> None:
    assert without_asking("Do you remember?") == "Do you remember?"
    assert without_asking("请问") == "请问"


def test_a_long_message_is_left_alone() -> None:
    told = "Can you remind me? " + "We walked on along the river and spoke of this and that. " * 12
    assert without_asking(told) == told
