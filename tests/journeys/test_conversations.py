"""Conversations: an answer is found by its question, a turn by who said it."""

from datetime import timedelta
from typing import Any

import pytest

from recollect import Memory
from tests.conftest import TurnedClock


def _said(*lines: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"role": "user", "name": name, "content": text} for name, text in lines]


_ENGLISH = (
    ("Ann", "Hello, I have not seen you for a long time"),
    ("Bob", "The weather has been awful lately"),
    ("Ann", "Which instrument have you started to learn?"),
    ("Bob", "The cello, twice every week with a private teacher"),
    ("Ann", "Splendid, may I listen some day"),
    ("Bob", "Sure, come around on Sunday then"),
)
_CHINESE = (
    ("李娜", "好久不见，你还好吗"),
    ("张伟", "最近天气糟透了"),
    ("李娜", "你开始学习什么乐器？"),
    ("张伟", "大提琴，每周两次，请了一位私人老师"),
    ("李娜", "太好了，改天想听听看"),
    ("张伟", "好啊，周日过来吧"),
)


@pytest.mark.parametrize(
    ("lines", "question", "answer"),
    [
        (_ENGLISH, "which instrument did Bob start to learn", _ENGLISH[3][1]),
        (_CHINESE, "张伟开始学习什么乐器", _CHINESE[3][1]),
    ],
)
async def test_an_answer_is_found_by_the_question_before_it(
    memory: Memory, lines: tuple[tuple[str, str], ...], question: str, answer: str
):
    await memory.observe(_said(*lines), session="one")
    for number in range(5):
        chat = _said(
            ("Eve", f"The train number {number} was late again, the station was cold"),
            ("Kim", "I painted the kitchen walls yellow this month"),
        )
        await memory.observe(chat, session=f"other {number}")
    recalled = await memory.recall(question)
    assert answer in [hit.content for hit in recalled][:2]
    (hit,) = [it for it in recalled if it.content == answer]
    assert hit.explanation.surroundings > 0.2
    assert hit.explanation.surroundings > max(it.score for it in hit.explanation.paths)


async def test_the_same_words_far_from_their_question_are_not_lifted(memory: Memory):
    question, answer = _ENGLISH[2], _ENGLISH[3]
    (_, together) = await memory.observe(_said(question, answer), session="one")
    (apart,) = await memory.observe(_said(answer), session="two")
    await memory.observe(_said(("Eve", "The station was cold")), session="three")
    recalled = await memory.recall("which instrument did Bob start to learn", min_score=0.0)
    scores = {hit.id: hit.score for hit in recalled}
    assert scores[together.id] > 1.5 * scores.get(apart.id, 0.0)


@pytest.mark.parametrize(
    ("names", "line", "question"),
    [
        (("Carla", "Dieter"), "I adopted a grey kitten from the shelter", "kitten adopted by {}"),
        (("王芳", "陈强"), "我从收容所领养了一只灰色的小猫", "{}领养的小猫是什么颜色"),
    ],
)
async def test_who_is_named_comes_before_who_is_not(
    memory: Memory, names: tuple[str, str], line: str, question: str
):
    await memory.observe(_said(*((name, line) for name in names)), session="one")
    for name in names:
        first, second = await memory.recall(question.format(name), min_score=0.0)
        assert first.item.speaker == name  # type: ignore[union-attr]
        assert first.explanation.factor > second.explanation.factor


_DINNER = [
    {"role": "user", "content": "I need a restaurant in Lisbon for the anniversary dinner, fish"},
    {
        "role": "assistant",
        "content": "A Lisbon restaurant for an anniversary dinner: fish at Ramiro",
    },
]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("restaurant in Lisbon for the anniversary dinner", "user"),
        ("which restaurant in Lisbon did you recommend for the anniversary dinner", "assistant"),
        ("你推荐的 Lisbon restaurant anniversary dinner", "assistant"),
    ],
)
async def test_what_the_assistant_said_comes_first_only_when_it_is_asked_for(
    memory: Memory, question: str, first: str
):
    await memory.observe(_DINNER, session="one")
    recalled = await memory.recall(question, min_score=0.0)
    assert len(recalled) == 2, "the other one is still found"
    assert recalled[0].item.role == first  # type: ignore[union-attr]


async def test_a_mere_word_of_praise_comes_after_what_says_something(memory: Memory):
    await memory.observe(_said(("Ann", "The cello!")), session="one")
    (full,) = await memory.observe(
        _said(
            ("Ann", "The cello lesson with Mr Brandt moved from the school to his flat in Baker St")
        ),
        session="two",
    )
    recalled = await memory.recall("cello", min_score=0.0)
    by_id = {hit.id: hit.explanation.factor for hit in recalled}
    assert by_id.pop(full.id) > max(by_id.values())


async def test_a_conversation_that_goes_on_later_has_its_turns_side_by_side(
    memory: Memory, clock: TurnedClock
):
    await memory.observe(_said(_ENGLISH[2]), session="one")
    clock.turn(hours=2)
    (answer,) = await memory.observe(_said(_ENGLISH[3]), session="one")
    await memory.observe(_said(("Eve", "The station was cold")), session="two")
    recalled = await memory.recall("which instrument did Bob start to learn", min_score=0.0)
    (hit,) = [it for it in recalled if it.id == answer.id]
    assert hit.explanation.surroundings > 0.2


async def test_another_persons_conversation_explains_nothing(memory: Memory, clock: TurnedClock):
    mine, other = memory.scope(user="ann"), memory.scope(user="zoe")
    await other.observe(_said(_ENGLISH[2]), session="one")
    clock.turn(seconds=timedelta(minutes=1).total_seconds())
    await mine.observe(_said(_ENGLISH[3]), session="one")
    recalled = await mine.recall("which instrument did Bob start to learn", min_score=0.0)
    assert [hit.content for hit in recalled] == [_ENGLISH[3][1]]
    assert recalled[0].explanation.surroundings == 0
