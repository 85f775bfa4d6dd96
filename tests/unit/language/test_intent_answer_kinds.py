"""A question that asks for a time or a number is better answered by a text that has one."""

from collections.abc import Callable

import pytest

from recollect import Memory
from recollect.domain.unit import Trait
from recollect.language.intent import answer_trait, wanted_trait

TIME, NUMBER, NOTHING = Trait.TELLS_TIME, Trait.TELLS_NUMBER, Trait.NONE


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When did we move to Lisbon?", TIME),
        ("Which day is the review?", TIME),
        ("我们什么时候搬家的？", TIME),
        ("发布日期是哪天？", TIME),
        ("How many chairs did she order?", NUMBER),
        ("她一共订了多少把椅子？", NUMBER),
        ("When did it start and how long did it take?", TIME | NUMBER),
        ("Who ordered the chairs?", NOTHING),
        ("谁订的椅子？", NOTHING),
        ("Whenever suits you", NOTHING),
    ],
)
def test_what_a_question_asks_for(question: str, wanted: Trait):
    assert wanted_trait(question) == wanted


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("We moved on 3 March", TIME | NUMBER),
        ("I saw her last Friday", TIME),
        ("昨天搬的家", TIME),
        ("搬家定在12号", TIME | NUMBER),
        ("She ordered twelve chairs, a dozen in all", NUMBER),
        ("她订了三个柜子", NUMBER),
        ("She is fine today", NOTHING),
        ("今天心情不错", NOTHING),
        ("It may rain", NOTHING),
        ("She often lifts weights in Chicago", NOTHING),
        ("Everlasting week, annexed months", NOTHING),
        ("We moved on Sept. 3", TIME | NUMBER),
        ("We moved on the 3rd of may", TIME | NUMBER),
    ],
)
def test_what_a_text_tells(text: str, told: Trait):
    assert answer_trait(text) == told


@pytest.mark.parametrize("spelled", [str.lower, str.capitalize, str.upper])
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("yesterday, tomorrow, ago, last weekend, last night, next year, next tuesday", TIME),
        ("two, three, four, five, six, seven, eight, nine, ten, dozen, hundred", NUMBER),
        ("thousand, twice, couple", NUMBER),
    ],
)
def test_every_word_that_tells_something(
    words: str, told: Trait, spelled: Callable[[str], str]
) -> None:
    for word in words.split(", "):
        assert answer_trait(f"So {spelled(word)}!") == told, word
        assert answer_trait(f"So x{word}!") == answer_trait(f"So {word}x!") == NOTHING, word


@pytest.mark.parametrize(
    ("question", "vague", "telling"),
    [
        (
            "How many chairs did Mia order for the office?",
            "Mia did order office chairs",
            "Mia did order 12 office chairs",
        ),
        ("小美给办公室订了多少把椅子？", "小美给办公室订了椅子", "小美给办公室订了12把椅子"),
    ],
)
async def test_the_text_that_has_the_answer_comes_first(
    memory: Memory, question: str, vague: str, telling: str
):
    await memory.remember(vague)
    answer = await memory.remember(telling)

    assert (await memory.recall(question))[0].id == answer.id
