"""What is kept for good at once, what passes, and who is meant."""

from datetime import timedelta

import pytest

from recollect import Memory
from recollect.domain.record import Tier
from recollect.errors import InvalidInput
from tests.conftest import TurnedClock


async def _say(memory: Memory, *texts: str, session: str = "s") -> None:
    await memory.observe([{"role": "user", "content": it} for it in texts], session=session)
    await memory.extract(session)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I'm allergic to peanuts.", "peanuts"),
        ("我对花生过敏。", "花生"),
        ("I live in Porto with my wife.", "Porto"),
        ("我今年 34 岁，住在苏州。", "苏州"),
        ("My sister Meg studies in Bonn.", "Bonn"),
        ("Stop adding emojis to your answers.", "emojis"),
        ("以后都用中文回答我。", "中文"),
    ],
)
async def test_what_lasts_is_still_known_after_the_buffer_is_empty(
    memory: Memory, clock: TurnedClock, text: str, words: str
):
    await _say(memory, text, "I collect old maps.")
    assert any("old maps" in it.content for it in await memory.list())
    clock.turn(days=30)
    kept = [it.content for it in await memory.list()]
    assert any(words in it for it in kept)
    assert not any("old maps" in it for it in kept)


async def test_the_later_of_two_opposite_instructions_is_active(memory: Memory, clock: TurnedClock):
    await _say(memory, "Always answer in English.", session="monday")
    clock.turn(days=2)
    await _say(memory, "以后都用中文回答我。", session="wednesday")

    (record,) = await memory.list()
    assert "中文" in record.content
    before, _ = await memory.history(record.id)
    assert "English" in before.record.content

    clock.turn(days=2)
    written = await memory.write("From now on, reply to me in German")
    assert written.status == "versioned"
    (record,) = await memory.list()
    assert "German" in record.content


async def test_an_update_does_not_end_when_what_it_replaces_would_have(
    memory: Memory, clock: TurnedClock
):
    soon = clock.now() + timedelta(days=1)
    await memory.write("User's room is 12", category="user", expires_at=soon)
    clock.turn(hours=2)
    written = await memory.write(
        "User's room is 14", category="user", metadata={"strategy": "overwrite"}
    )
    assert written.record is not None
    assert (written.record.tier, written.record.expires_at) == (Tier.LONG, None)
    clock.turn(days=30)
    assert [it.content for it in await memory.list()] == ["User's room is 14"]


async def test_a_user_is_known_by_their_id_their_words_and_what_is_set(memory: Memory):
    ann = memory.scope(user="ann.lee")
    assert await ann.user_names() == {"ann", "ann lee"}
    await _say(ann, "My name is Anneliese, by the way.", "我叫李安。")
    assert await ann.user_names() >= {"ann", "anneliese", "李安"}

    record = await ann.set_user_names(["Lise"])
    assert "lise" in await ann.user_names()
    again = await ann.set_user_names(["Liz"])
    assert again.id == record.id
    assert "liz" in await ann.user_names()
    assert "lise" not in await ann.user_names()

    assert await memory.scope(user="u-42").user_names() == frozenset()
    with pytest.raises(InvalidInput):
        await memory.scope(user=None).set_user_names(["Ann"])


async def test_names_are_forgotten_with_what_told_them(memory: Memory):
    ann = memory.scope(user="u-42")
    record = await ann.set_user_names(["Ann"])
    await ann.forget(record.id)
    assert await ann.user_names() == frozenset()
