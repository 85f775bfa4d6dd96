"""People set right what they said a moment ago; memory keeps what they meant."""

import pytest

from recollect import Memory
from tests.conftest import TurnedClock
from tests.fakes import FakeJudge
from tests.telling import remembered, tell


@pytest.mark.parametrize(
    ("said", "correction"),
    [
        ("My sister's birthday is 12 June.", "No, it's 21 June."),
        ("My sister's birthday is 12 June.", "Sorry, 21 June."),
        ("My flight is on 3 May at 9:00.", "I meant 10:00."),
        ("My phone number is 555-1234.", "No wait, it's 555-4321."),
        ("My manager is Alice.", "No, it's Beatrix."),
        ("My car is a Fiat.", "Wait no, Opel."),
        ("我妹妹的生日是6月12日。", "不对，是6月21日。"),
        ("我的航班是5月3日上午9点。", "说错了，上午10点。"),
        ("我的经理是王芳。", "不对，是李强。"),
    ],
)
@pytest.mark.parametrize("reply", ["", "OK, noted.", "{said}"])
async def test_a_correction_is_kept_with_what_it_corrects(
    memory: Memory, clock: TurnedClock, said: str, correction: str, reply: str
):
    await tell(memory, said)
    (known,) = await remembered(memory)
    if reply:
        answer = {"role": "assistant", "content": reply.format(said=said)}
        await memory.observe(answer, session="s")
    clock.turn(seconds=20)
    await tell(memory, correction)
    assert await remembered(memory) == [f"{known} – {correction}"]


async def test_a_slip_may_be_set_right_twice_and_within_one_message(memory: Memory):
    await tell(memory, "My flight is on 3 May.", "No, 4 May.", "Sorry, it's 5 May.")
    assert await remembered(memory) == [
        "User's flight is on 3 May – No, 4 May. – Sorry, it's 5 May."
    ]
    await tell(memory, "我的座位号是12。不对，是21。")
    assert "用户的座位号是12。不对，是21" in await remembered(memory)


@pytest.mark.parametrize(
    ("said", "correction"),
    [
        ("My sister's birthday is 12 June.", "No, it's fine."),
        ("My sister's birthday is 12 June.", "It's 21 June today."),
        ("My manager is Alice.", "No, it's OK."),
        ("My sister is 12.", "No thanks."),
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
            "I use Obsidian for my notes now.",
        ),
        (
            "我用Notion做笔记。",
            "我已经把Notion替换成了Obsidian。",
            "我现在用Obsidian做笔记。",
        ),
    ],
)
async def test_what_an_assistant_did_is_no_change_of_the_users_life(
    memory: Memory, clock: TurnedClock, judge: FakeJudge, told: str, done: str, own: str
):
    judge.is_sure_of_all = "update"
    await tell(memory, told)
    (known,) = await remembered(memory)
    clock.turn(days=1)
    await memory.observe({"role": "assistant", "content": done}, session="s")
    await memory.extract()
    assert known in await remembered(memory)

    # The user's own word on it counts.
    await tell(memory, own)
    assert known not in await remembered(memory)
