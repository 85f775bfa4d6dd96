"""People take back what they said, minutes or a moment later; memory keeps what they meant."""

import pytest

from recollect import Memory
from tests.telling import remembered, tell


@pytest.mark.parametrize(
    "slip",
    [
        *("Sorry, ", "Actually ", "No, ", "No wait, ", "Correction: ", "Oops, ", "Ah sorry, "),
        *("My mistake, ", "I was wrong, ", "I was wrong. ", "Let me correct that: ", "Turns out "),
    ],
)
async def test_a_slip_of_the_tongue_is_set_right(memory: Memory, slip: str):
    said = "my sister's birthday is 21 June."
    await tell(memory, "My sister's birthday is 12 June.", slip + said)
    assert await remembered(memory) == ["User's sister's birthday is 21 June"]


@pytest.mark.parametrize(
    "slip",
    [
        *("不对，", "抱歉，", "对不起，", "其实", "更正一下，", "我说错了，", "刚才说错了。"),
        *("等等，", "不是，", "我记错了，", "改一下，", "啊，不对，"),
    ],
)
async def test_a_slip_of_the_tongue_is_set_right_in_chinese(memory: Memory, slip: str):
    await tell(memory, "我妹妹的生日是6月12日。", f"{slip}我妹妹的生日是6月21日。")
    assert await remembered(memory) == ["用户的妹妹的生日是6月21日"]


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("By the way, my cat is called Miso.", "User's cat is called Miso"),
        ("Update: my office is in room 302.", "User's office is in room 302"),
        ("Please note that I'm allergic to nuts.", "User is allergic to nuts"),
        ("对了，我对花生过敏。", "用户对花生过敏"),
        ("对不起，我对花生过敏。", "用户对花生过敏"),
        ("我的好朋友叫小王。", "用户的好朋友叫小王"),
    ],
)
async def test_what_stands_before_a_fact_is_no_part_of_it(memory: Memory, said: str, known: str):
    await tell(memory, said)
    assert await remembered(memory) == [known]


@pytest.mark.parametrize("said", ["I was wrong.", "No wait.", "Sorry!", "我说错了。", "不对。"])
async def test_that_something_was_wrong_is_nothing_to_remember(memory: Memory, said: str):
    await tell(memory, said)
    assert await remembered(memory) == []


a_value_alone = pytest.mark.parametrize(
    ("said", "slip", "known"),
    [
        (
            "Bea's birthday is coming as well, 14 April",
            "no wait, I mix that up every single year. it's 17 April",
            ("Bea's birthday is coming as well, 14 April – ", "it's 17 April"),
        ),
        (
            "妈妈生日快到了，是 3 月 8 号",
            "不对，我记错了，是 3 月 18 号",
            ("用户妈妈生日快到了，是 3 月 8 号 – ", "是 3 月 18 号"),
        ),
    ],
)


@a_value_alone
async def test_a_value_alone_is_kept_behind_the_wrong_one_when_both_are_read_together(
    judged: Memory, said: str, slip: str, known: tuple[str, str]
):
    await judged.observe([{"role": "user", "content": it} for it in (said, slip)], session="s")
    await judged.extract("s")
    (content,) = await remembered(judged)
    assert (content.startswith(known[0]), content.endswith(known[1])) == (True, True)


@a_value_alone
async def test_a_value_alone_is_kept_behind_the_wrong_one_when_that_has_been_read(
    judged: Memory, said: str, slip: str, known: tuple[str, str]
):
    async with judged.session("s") as session:
        await session.observe({"role": "user", "content": said})
    await judged.drain()
    async with judged.session("s") as session:
        await session.observe({"role": "user", "content": slip})
    await judged.drain()
    (content,) = await remembered(judged)
    assert (content.startswith(known[0]), content.endswith(known[1])) == (True, True)
