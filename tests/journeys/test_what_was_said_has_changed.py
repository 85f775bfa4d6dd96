"""What somebody said has changed since: the agent goes by what holds now, and still knows the past.

A move and another preference, in both languages, told in two sessions as people tell it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest

from recollect import Memory
from tests.conftest import TurnedClock
from tests.fakes import FakeJudge


@dataclass(frozen=True)
class Story:
    """What is said first and later, the question, and the words of the one and the other."""

    first: str
    later: str
    question: str
    old: str
    new: str


STORIES = {
    "home": Story(
        "I live in Leeds",
        "I moved to Manchester last week",
        "where do I live?",
        *("Leeds", "Manchester"),
    ),
    "seat": Story(
        "I prefer window seats",
        "Actually I prefer aisle seats now",
        "what seat do I prefer?",
        *("window", "aisle"),
    ),
    "住处": Story("我住在利兹", "我上周搬到曼彻斯特了", "我住在哪里？", "利兹", "曼彻斯特"),
    "座位": Story(
        "我喜欢靠窗的座位", "其实我现在更喜欢靠过道的座位", "我喜欢什么座位", "靠窗", "过道"
    ),
}
stories = pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())


@pytest.fixture(autouse=True)
def _what_comes_later_is_an_update(judge: FakeJudge) -> None:
    judge.is_sure_of_all = "update"


async def _tell(memory: Memory, clock: TurnedClock, *said: str, answer: str = "") -> None:
    """Each in a session of its own, a few days after the one before."""
    for words in said:
        session = memory.session(f"on {clock.turn(days=3).date()}")
        await session.observe({"role": "user", "content": words})
        if answer:
            await session.observe({"role": "assistant", "content": answer})
        await session.end()
        await memory.extract()


@stories
async def test_what_holds_now_is_recalled_before_what_was_said_before(
    memory: Memory, clock: TurnedClock, story: Story
):
    await _tell(memory, clock, story.first, story.later)
    hits = await memory.recall(story.question, min_score=0)

    assert hits[0].record is not None
    assert story.new in hits[0].content
    outdated = [hit for hit in hits if hit.content == story.first]
    assert [hit.replaced_by for hit in outdated] == [hits[0].id]
    assert outdated[0].score < hits[0].score
    assert all(hit.replaced_by is None for hit in hits if hit not in outdated)


@pytest.mark.usefixtures("real_model")
@stories
async def test_by_meaning_too_what_holds_now_comes_first(
    memory: Memory, clock: TurnedClock, story: Story
):
    await _tell(memory, clock, story.first, story.later)
    hits = await memory.recall(story.question)
    assert story.new in hits[0].content


@stories
async def test_a_prompt_is_given_only_what_holds_now(
    memory: Memory, clock: TurnedClock, story: Story
):
    await _tell(memory, clock, story.first, story.later)
    context = await memory.context(story.question, min_score=0)
    assert story.new in context.text
    assert story.old not in context.text
    assert "replaced" in {left.reason for left in context.left_out}


@pytest.mark.parametrize(
    ("story", "question", "mark"),
    [
        (STORIES["home"], "where did I live before?", "(turn, user, since changed)"),
        (STORIES["seat"], "which seats did I use to prefer, previously?", "since changed"),
        (STORIES["住处"], "我以前住在哪里？", "(对话原文, 用户, 后来有变)"),
        (STORIES["座位"], "我原来喜欢什么座位", "后来有变"),
    ],
    ids=STORIES.keys(),
)
async def test_who_asks_for_the_past_is_told_it_as_the_past(
    memory: Memory, clock: TurnedClock, story: Story, question: str, mark: str
):
    await _tell(memory, clock, story.first, story.later)
    assert story.first in [hit.content for hit in await memory.recall(question, min_score=0)]
    context = await memory.context(question, min_score=0)
    line = next(line for line in context.text.splitlines() if story.first in line)
    assert mark in line


@stories
async def test_where_only_the_old_words_are_looked_for_they_are_marked(
    memory: Memory, clock: TurnedClock, story: Story
):
    await _tell(memory, clock, story.first, story.later)
    said = await memory.context(story.question, min_score=0, until=clock.now() - timedelta(days=1))
    line = next(line for line in said.text.splitlines() if story.first in line)
    assert "since changed" in line or "后来有变" in line


@stories
async def test_undone_or_deleted_it_is_as_if_it_had_never_changed(
    memory: Memory, clock: TurnedClock, story: Story
):
    await _tell(memory, clock, story.first, story.later)
    current = (await memory.recall(story.question, min_score=0))[0].id
    clock.turn(days=1)
    await memory.undo(current)
    hits = await memory.recall(story.question, min_score=0)
    assert all(hit.replaced_by is None for hit in hits)
    # What was said later was said all the same, and the answerer may put it first.
    assert story.old in next(hit.content for hit in hits if hit.record)

    await _tell(memory, clock, story.later)
    await memory.delete(current)
    hits = await memory.recall(story.question, min_score=0)
    assert all(hit.replaced_by is None for hit in hits)


@pytest.mark.usefixtures("real_model")
async def test_what_changed_twice_is_outdated_twice(memory: Memory, clock: TurnedClock):
    await _tell(memory, clock, "I live in Leeds", "I moved to Manchester", "I moved to York")
    hits = await memory.recall("where do I live, and where have I moved?", min_score=0)
    assert hits[0].content == "User moved to York"
    replaced = {hit.content for hit in hits if hit.replaced_by == hits[0].id}
    assert replaced == {"I live in Leeds", "I moved to Manchester"}


@pytest.mark.parametrize(
    ("said", "correction", "question"),
    [
        ("I live in Leeds", "User lives in York", "where do I live?"),
        ("我住在利兹", "用户住在约克", "我住在哪里？"),
    ],
)
async def test_a_record_corrected_by_hand_stands_for_what_was_said(
    memory: Memory, clock: TurnedClock, said: str, correction: str, question: str
):
    await _tell(memory, clock, said)
    (record,) = await memory.list()
    await memory.update(record.id, correction)

    hits = await memory.recall(question, min_score=0)
    assert [hit.content for hit in hits] == [correction, said]
    assert hits[1].replaced_by == record.id
    assert said not in (await memory.context(question, min_score=0)).text


async def test_a_turn_that_said_something_else_too_still_speaks_for_that(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.is_sure_of_all = "different"
    judge.knows("User lives in Leeds", "User moved to York", "update", is_sure=True)
    await _tell(memory, clock, "I live in Leeds. I am allergic to peanuts.", "I moved to York")
    question = "what am I allergic to?"
    hits = await memory.recall(question, min_score=0)
    assert "peanuts" in hits[0].content
    context = await memory.context(question, min_score=0)
    line = next(line for line in context.text.splitlines() if "I live in Leeds." in line)
    assert "since changed" in line


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize(
    ("said", "nod", "question"),
    [
        ("I live in Leeds", "Good to know.", "where do I live?"),
        ("我住在利兹", "好的，我记住了。", "我住在哪里？"),
    ],
)
async def test_a_mere_nod_never_enters_a_prompt(
    memory: Memory, clock: TurnedClock, said: str, nod: str, question: str
):
    await _tell(memory, clock, said, answer=nod)
    context = await memory.context(question, min_score=0)
    assert said in context.text
    assert nod not in context.text


@pytest.mark.parametrize(
    ("asked", "answer", "question"),
    [
        ("Which port does the API run on?", "Port 8080.", "the port of the API"),
        ("接口用哪个端口？", "8080 端口。", "接口的端口"),
    ],
)
async def test_a_short_answer_with_a_number_does(
    memory: Memory, clock: TurnedClock, asked: str, answer: str, question: str
):
    await _tell(memory, clock, asked, answer=answer)
    assert answer in (await memory.context(question, min_score=0)).text


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (("I live in Leeds", "I live in York"), "where do I live?"),
        (("我住在利兹", "我住在约克"), "我住在哪里？"),
    ],
)
async def test_a_decision_between_two_claims_holds_for_the_words_behind_them(
    memory: Memory, clock: TurnedClock, judge: FakeJudge, said: tuple[str, str], question: str
):
    judge.is_sure_of_all = "conflict"
    session = memory.session("one after the other")
    await session.observe([{"role": "user", "content": words} for words in said])
    await session.end()
    await memory.extract()
    (dispute,) = await memory.upkeep.conflicts()
    await memory.upkeep.resolve(dispute.id, "keep_second")

    hits = await memory.recall(question, min_score=0)
    assert hits[0].id == dispute.second.id
    assert {hit.content: hit.replaced_by for hit in hits if hit.turn}[said[0]] == hits[0].id
    assert said[0] not in (await memory.context(question, min_score=0)).text
