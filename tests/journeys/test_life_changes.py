"""Lives change: people move, sell the car, part, recover, or only said it wrong. Memory follows."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from recollect import Memory, Tier
from tests.conftest import TurnedClock
from tests.telling import remembered, tell

_FILE = Path(__file__).parents[1] / "data" / "life_changes.tsv"


@pytest.mark.parametrize(
    ("before", "after", "known"),
    [
        ("I live in Berlin.", "We moved to Munich last month.", "We moved to Munich last month"),
        ("We live in Berlin.", "We've just moved to Munich.", "We've just moved to Munich"),
        ("我住在北京。", "我们搬到慕尼黑了。", "我们搬到慕尼黑了"),
        ("我们住在北京。", "我们上个月搬到上海了。", "我们上个月搬到上海了"),
    ],
)
async def test_who_has_moved_lives_there_now(
    memory: Memory, clock: TurnedClock, before: str, after: str, known: str
):
    await tell(memory, before)
    clock.turn(days=3)
    await tell(memory, after)
    assert await remembered(memory) == [known]


@pytest.mark.parametrize(
    ("home", "said"),
    [
        ("I live in Berlin.", "We moved to Kubernetes last month."),
        ("I live in Berlin.", "I moved to the frontend team."),
        ("I live in Berlin.", "I moved to Linux."),
        ("I live in Berlin.", "We moved to a bigger flat."),
        ("I live in Berlin.", "My company moved to Munich."),
        ("我住在北京。", "我们搬到新办公室了。"),
        ("我住在北京。", "我搬到新工位了。"),
        ("我住在北京。", "我搬到新房子了。"),
    ],
)
async def test_not_everything_that_moves_is_a_home(
    memory: Memory, clock: TurnedClock, home: str, said: str
):
    await tell(memory, home)
    (known,) = await remembered(memory)
    clock.turn(days=3)
    await tell(memory, said)
    assert known in await remembered(memory)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I drive a Civic.", "I sold the Civic and bought a Tesla."),
        ("I drive a Honda Civic.", "I sold my old car and bought a Tesla."),
        ("我开一辆本田思域。", "我把旧车卖了，换了一辆特斯拉。"),
        ("我的车是本田。", "我把旧车卖了，换了一辆特斯拉。"),
    ],
)
async def test_a_car_that_was_sold_is_driven_no_more(
    memory: Memory, clock: TurnedClock, before: str, after: str
):
    await tell(memory, f"Remember: {before}" if before.isascii() else f"记住：{before}")
    (told,) = await memory.list()
    clock.turn(days=3)
    await tell(memory, after)

    (record,) = await memory.list()
    assert ("Tesla" if before.isascii() else "特斯拉") in record.content
    # What was to be kept for good is kept for good with what became of it, and its past is known.
    assert (record.id, record.kind, record.tier) == (told.id, told.kind, Tier.LONG)
    assert (await memory.history(record.id))[0].record.content == told.content


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My girlfriend is called Lily.", "We broke up."),
        ("My girlfriend is called Lily.", "I broke up with Lily last week."),
        ("My wife is called Anna.", "I got divorced."),
        ("I'm single.", "I'm engaged now."),
        ("我女朋友叫小丽。", "我和女朋友分手了。"),
        ("我有女朋友。", "我们分手了。"),
        ("我老婆叫安娜。", "我离婚了。"),
        ("我单身。", "我订婚了。"),
    ],
)
async def test_a_pair_is_known_as_long_as_it_is_one(
    memory: Memory, clock: TurnedClock, before: str, after: str
):
    await tell(memory, before)
    (known,) = await remembered(memory)
    clock.turn(days=3)
    await tell(memory, after)
    (now,) = await remembered(memory)
    assert now != known


@pytest.mark.parametrize(
    ("before", "after", "stays"),
    [
        ("My favourite colour is blue.", "I prefer green now.", False),
        ("My favourite colour is blue.", "I prefer green tea now.", True),
        ("My favourite colour is blue.", "My daughter prefers green now.", True),
        ("我最喜欢的颜色是蓝色。", "我现在更喜欢绿色。", False),
        ("我最喜欢的颜色是蓝色。", "我现在更喜欢绿茶。", True),
        ("我最喜欢的颜色是蓝色。", "我女儿现在更喜欢绿色。", True),
    ],
)
async def test_what_is_liked_better_now_is_the_favourite(
    memory: Memory, clock: TurnedClock, before: str, after: str, stays: bool
):
    await tell(memory, before)
    (known,) = await remembered(memory)
    clock.turn(days=3)
    await tell(memory, after)
    assert (known in await remembered(memory)) == stays


@pytest.mark.parametrize(
    ("allergy", "said", "is_over"),
    [
        ("I'm allergic to peanuts.", "My doctor says I'm no longer allergic to peanuts.", True),
        ("I'm allergic to peanuts.", "My friend says I'm no longer allergic to peanuts.", False),
        ("I'm allergic to peanuts.", "My doctor says I may no longer be allergic.", False),
        ("我对花生过敏。", "医生说我已经不对花生过敏了。", True),
        ("我对花生过敏。", "我朋友说我已经不对花生过敏了。", False),
        ("我对花生过敏。", "医生说我可能不对花生过敏了。", False),
    ],
)
async def test_a_doctors_word_on_the_user_counts(
    memory: Memory, clock: TurnedClock, allergy: str, said: str, is_over: bool
):
    await tell(memory, allergy)
    (known,) = await remembered(memory)
    clock.turn(days=3)
    await tell(memory, said)
    (now,) = await remembered(memory)
    assert (now != known) == is_over


# --- "No, it's the 21st" -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "correction", "known"),
    [
        ("My sister's birthday is 12 June.", "No, it's 21 June.", "birthday is 21 June"),
        ("My sister's birthday is 12 June.", "Sorry, 21 June.", "birthday is 21 June"),
        ("My sister's birthday is 12 June.", "It's 21 June, not 12 June.", "birthday is 21 June"),
        ("My flight is on 3 May at 9:00.", "I meant 10:00.", "flight is on 3 May at 10:00"),
        ("My phone number is 555-1234.", "No wait, it's 555-4321.", "number is 555-4321"),
        ("My manager is Alice.", "No, it's Beatrix.", "manager is Beatrix"),
        ("我妹妹的生日是6月12日。", "不对，是6月21日。", "妹妹的生日是6月21日"),
        ("我的航班是5月3日上午9点。", "说错了，上午10点。", "航班是5月3日上午10点"),
        ("我妹妹的生日是6月12日。", "是6月21日，不是6月12日。", "妹妹的生日是6月21日"),
        ("我的经理是王芳。", "不对，是李强。", "经理是李强"),
    ],
)
@pytest.mark.parametrize("reply", ["", "OK, noted.", "{said}"])
async def test_a_correction_need_not_say_again_what_it_corrects(
    memory: Memory, clock: TurnedClock, said: str, correction: str, known: str, reply: str
):
    await tell(memory, said)
    if reply:
        answer = {"role": "assistant", "content": reply.format(said=said)}
        await memory.observe(answer, session="s")
    clock.turn(seconds=20)
    await tell(memory, correction)
    (content,) = await remembered(memory)
    assert content.endswith(known)


async def test_a_slip_may_be_set_right_twice_and_within_one_message(memory: Memory):
    await tell(memory, "My flight is on 3 May.", "No, 4 May.", "Sorry, it's 5 May.")
    assert await remembered(memory) == ["User's flight is on 5 May"]
    await tell(memory, "我的座位号是12。不对，是21。")
    assert "用户的座位号是21" in await remembered(memory)
    assert not any("12" in content for content in await remembered(memory))


@pytest.mark.parametrize(
    ("said", "correction"),
    [
        ("My sister's birthday is 12 June.", "No, it's fine."),
        ("My sister's birthday is 12 June.", "No, it's 30."),
        ("My sister's birthday is 12 June.", "It's 21 June today."),
        ("My manager is Alice.", "No, it's OK."),
        ("My sister is 12 and my brother is 15.", "No, it's 21."),
        ("我妹妹的生日是6月12日。", "不是，6月21日是我们的纪念日。"),
        ("我的经理是王芳。", "不对，是这样的。"),
    ],
)
async def test_what_is_no_other_value_corrects_nothing(
    memory: Memory, clock: TurnedClock, said: str, correction: str
):
    await tell(memory, said)
    known = set(await remembered(memory))
    clock.turn(seconds=20)
    await tell(memory, correction)
    assert known
    assert known <= set(await remembered(memory))


@pytest.mark.parametrize(
    ("said", "reply", "correction"),
    [
        (
            "My sister's birthday is 12 June.",
            "Shall I book the hall for 20 June?",
            "No, it's 21 June.",
        ),
        ("我妹妹的生日是6月12日。", "音乐会是6月20日吗？", "不对，是6月21日。"),
    ],
)
async def test_a_correction_of_the_reply_is_none_of_what_was_told(
    memory: Memory, said: str, reply: str, correction: str
):
    await tell(memory, said)
    known = set(await remembered(memory))
    await memory.observe({"role": "assistant", "content": reply}, session="s")
    await tell(memory, correction)
    assert known <= set(await remembered(memory))


@pytest.mark.parametrize(
    ("told", "done", "own"),
    [
        (
            "I use Notion for my notes.",
            "I've replaced Notion with Obsidian and migrated the notes.",
            "I replaced Notion with Obsidian yesterday.",
        ),
        (
            "我用Notion做笔记。",
            "我已经把Notion替换成了Obsidian。",
            "我昨天把Notion换成了Obsidian。",
        ),
    ],
)
async def test_what_an_assistant_did_is_no_change_of_the_users_life(
    memory: Memory, clock: TurnedClock, told: str, done: str, own: str
):
    await tell(memory, told)
    (known,) = await remembered(memory)
    clock.turn(days=1)
    await memory.observe({"role": "assistant", "content": done}, session="s")
    await memory.extract()
    assert known in await remembered(memory)

    # The user's own word on it counts.
    await tell(memory, own)
    assert known not in await remembered(memory)


# --- Many lives ----------------------------------------------------------------------------------


class _Life(NamedTuple):
    """What somebody says, at once or days apart, and the words that are known at the end."""

    changes: bool
    pause: float
    said: Sequence[str]
    known: str


def _lives() -> list[_Life]:
    lines = [line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines()]
    return [
        _Life(what == "changes", 20 if when == "at once" else 86_400, said.split(" ⏎ "), known)
        for what, when, said, known in lines
    ]


async def _before_and_after(
    memory: Memory, clock: TurnedClock, life: _Life
) -> tuple[set[str], set[str]]:
    await tell(memory, *life.said[:-1])
    before = set(await remembered(memory))
    clock.turn(seconds=life.pause)
    await tell(memory, life.said[-1])
    return before, set(await remembered(memory))


async def test_what_only_looks_like_a_change_replaces_nothing(memory: Memory, clock: TurnedClock):
    lives = [life for life in _lives() if not life.changes]
    for number, life in enumerate(lives):
        before, after = await _before_and_after(memory.scope(user=f"user-{number}"), clock, life)
        assert before, life.said
        assert before <= after, life.said
    assert len(lives) >= 150


async def test_most_changes_of_everyday_life_are_followed(memory: Memory, clock: TurnedClock):
    lives = [life for life in _lives() if life.changes]
    followed = 0
    for number, life in enumerate(lives):
        before, after = await _before_and_after(memory.scope(user=f"user-{number}"), clock, life)
        is_known = any(life.known in content for content in after)
        followed += bool(before) and before.isdisjoint(after) and is_known
    assert followed >= 0.8 * len(lives)
