"""A long session is remembered as what was told in it, not as its summary or the replies to it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from recollect import Memory
from recollect.domain.hit import Hit
from recollect.domain.record import Kind
from tests.conftest import TurnedClock

_ENGLISH = [
    ("user", "hi, long day. I live in Lisbon, up in the old town"),
    ("assistant", "Got it, you live in Lisbon, in the old town."),
    ("user", "my sister Bea works as a nurse in Braga"),
    ("assistant", "Noted, Bea is a nurse in Braga."),
    ("user", "we fly to Kyoto on 9 May"),
    ("assistant", "I'll keep 9 May in mind."),
    ("user", "can you rewrite this mail so that it sounds less annoyed?"),
    ("assistant", "Sure, here is a kinder version of it."),
    ("user", "I'm allergic to peanuts, the clinic told me today"),
    ("assistant", "Understood, no peanuts."),
]
_CHINESE = [
    ("user", "我住在成都，玉林那片"),
    ("assistant", "知道了，你住成都玉林。"),
    ("user", "我妹妹在西安当护士"),
    ("assistant", "好的，你妹妹在西安当护士。"),
    ("user", "我们5月9日去京都"),
    ("assistant", "5月9日，记下了。"),
    ("user", "我对花生过敏，医院今天说的"),
    ("assistant", "明白，不吃花生。"),
]


async def _talk(memory: Memory, clock: TurnedClock, turns: list[tuple[str, str]]) -> None:
    async with memory.session("monday") as session:
        for role, content in turns:
            await session.observe({"role": role, "content": content})
            clock.time += timedelta(seconds=40)
        await session.end()
    await memory.drain()
    clock.time += timedelta(days=3)


def _is_summary(hit: Hit) -> bool:
    return hit.record is not None and hit.record.is_session_episode


def _is_repeated(hit: Hit) -> bool:
    return any(boost.reason.startswith("says the same") for boost in hit.explanation.boosts)


@pytest.mark.parametrize(
    ("turns", "question", "answer"),
    [
        (_ENGLISH, "Where do I live?", "Lisbon"),
        (_ENGLISH, "When do we fly to Kyoto?", "9 May"),
        (_ENGLISH, "What am I allergic to?", "peanuts"),
        (_CHINESE, "我住在哪里？", "成都"),
        (_CHINESE, "我对什么过敏？", "花生"),
    ],
)
async def test_the_users_words_come_before_replies_and_the_summary(
    judged: Memory, clock: TurnedClock, turns: list[tuple[str, str]], question: str, answer: str
):
    await _talk(judged, clock, turns)
    episodes = await judged.list(kind="episodic")
    assert [record for record in episodes if record.is_session_episode]
    hits = list(await judged.recall(question))
    assert answer in hits[0].content
    first = hits[0]
    assert first.turn is None or first.turn.role == "user"
    assert not _is_summary(first)
    # The record, the turn and the reply fill one place, and a summary stands behind all others.
    places = [hit for hit in hits if not _is_repeated(hit)]
    assert [hit.id for hit in places if answer in hit.content and not _is_summary(hit)] == [
        first.id
    ]
    summaries = [place for place, hit in enumerate(hits) if _is_summary(hit)]
    others = [place for place, hit in enumerate(hits) if not _is_summary(hit)]
    assert not summaries or min(summaries) > max(others)


async def test_what_happened_on_a_day_is_told_by_the_summary(judged: Memory, clock: TurnedClock):
    await _talk(judged, clock, _ENGLISH)
    hits = await judged.recall("what did we talk about three days ago?")
    assert any(_is_summary(hit) for hit in hits)


async def test_a_reply_that_was_asked_for_is_an_answer(judged: Memory, clock: TurnedClock):
    asked = [
        ("user", "which tape helps against a window that lets in the noise of the tram?"),
        ("assistant", "Foam tape along the frame helps against the noise of the tram."),
        ("user", "my sister plays the tuba"),
        ("assistant", "Nice, the tuba."),
    ]
    await _talk(judged, clock, asked)
    hits = list(await judged.recall("what helps against the noise of the tram at the window?"))
    assert any("Foam tape" in hit.content for hit in hits[:2])


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (
            ["I have been in Porto since March, we got the keys to the flat", "I play chess"],
            "Where do I live?",
            "Porto",
        ),
        (["我们上个月搬到青岛了", "我周末下围棋"], "我现在住在哪个城市？", "青岛"),
    ],
)
async def test_what_is_asked_for_is_found_however_it_was_worded(
    judged: Memory, told: list[str], question: str, answer: str
):
    for statement in told:
        await judged.remember(statement, category="user")
    await judged.drain()
    hits = await judged.recall(question)
    assert hits
    assert answer in hits[0].content
    assert hits[0].record is not None
    assert hits[0].record.kind is Kind.SEMANTIC
