"""People tell facts in passing, ask, suppose and chat; memory keeps the facts, in their words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect import Memory
from tests.command_line import CommandLine

pytestmark = pytest.mark.usefixtures("real_model")


async def _told(memory: Memory, *said: str) -> list[str]:
    """Return the records of a talk in which the user speaks first, then both by turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]
    await memory.observe(messages, session="talk")
    await memory.extract("talk")
    return [record.content for record in await memory.list()]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Standup: search still times out above 300 rps, Farid owns the switch to NATS",
            ("300 rps", "Farid"),
        ),
        ("can you word this nicely? our landlord Mr Oke raised the rent to 1,240", ("1,240",)),
        ("站会：导入恢复正常，搜索超过三百并发还是超时，切换归法里德负责", ("三百并发", "法里德")),
        ("帮我润色一下请假条，我女儿小满周三要拔牙", ("小满",)),
        (
            "ok. I did sign up for the welding course though, starts 9 January",
            ("welding course though, starts 9 January",),
        ),
    ],
)
async def test_a_fact_told_beside_something_else_is_kept(
    judged: Memory, said: str, kept: tuple[str, ...]
):
    records = await _told(judged, said)
    assert all(any(word in record for record in records) for word in kept)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("我家闺女昨天出生了！六斤八两，取名司徒念", "用户六斤"),
        ("钟毓下个月离职，去读博了，可惜", "用户钟毓"),
        ("又是内存，上周就这样。limit 从 2Gi 调到 4Gi 吧", "用户limit"),
        ("发布窗口改了，改成周二晚上九点，周四跟财务结账撞了", "用户发布窗口"),
        ("记住考级要带户口本原件，去年就白跑了一趟", "用户考级"),
    ],
)
async def test_what_names_nobody_is_not_told_of_the_user(judged: Memory, said: str, wrong: str):
    records = await _told(judged, said)
    assert records
    assert not any(wrong in record for record in records)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("住在苏州，做会计的", "用户住在苏州"),
        ("每天早上六点跑步", "用户每天早上六点跑步"),
        ("记住：喜欢靠窗的座位", "用户喜欢靠窗的座位"),
    ],
)
async def test_what_users_leave_out_of_themselves_is_told_of_them(
    judged: Memory, said: str, told: str
):
    assert any(told in record for record in await _told(judged, said))


@pytest.mark.parametrize(
    "said",
    [
        "If I lived in Berlin, I'd cycle to work every day.",
        "Suppose a shop sells 200 loaves at 3.20 and wastes 12 percent. What's the revenue?",
        'What does this mean? "We have moved your appointment to 4 May."',
        "on the bus, phone at 4 percent lol",
        "要是我住在柏林，每天就骑车上班了。",
        "哈哈哈笑死，这也太离谱了吧",
    ],
)
async def test_what_is_supposed_asked_quoted_or_chatted_is_no_fact(judged: Memory, said: str):
    assert await _told(judged, said) == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [("How many guests?", "60, maybe 62"), ("预算多少？", "全包十八万")],
)
async def test_a_short_answer_stands_alone_with_its_question(
    judged: Memory, question: str, answer: str
):
    (record,) = await _told(judged, "Help me plan the wedding, please", question, answer)
    assert question in record
    assert answer in record


async def test_the_trace_says_who_found_a_claim(judged: Memory):
    said = {"role": "user", "content": "I'm a nurse and I live in Turku."}
    await judged.observe(said, session="talk")
    found = await judged.extract("talk")
    assert (await judged.trace(found[0].write_id)).step("extract") == {"by": "reader"}


def test_the_share_of_what_is_kept_can_be_measured(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
):
    talk = {
        "turns": [{"role": "user", "content": "I'm allergic to walnuts. What's for dinner?"}],
        "keep": [{"turn": 0, "span": "I'm allergic to walnuts"}],
        "skip": [{"turn": 0, "span": "What's for dinner?"}],
    }
    file = tmp_path / "talks.jsonl"
    file.write_text(json.dumps(talk), "utf-8")

    told = CommandLine(capfdbinary)("bench", "extract", str(file), "--json").json

    assert (told["items"], told["recall"], told["precision"]) == (1, 1.0, 1.0)


def test_how_often_messages_are_routed_right_can_be_measured(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
):
    lines = [
        {"before": "", "text": "I'm allergic to walnuts.", "reads": False, "writes": True},
        {"before": "", "text": "What's my landlord called?", "reads": True, "writes": False},
        {"turns": [{"role": "user", "content": "我对花生过敏。"}], "keep": [{"turn": 0}]},
    ]
    file = tmp_path / "messages.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")

    told = CommandLine(capfdbinary)("bench", "route", str(file), "--json").json

    right = {"messages": 2, "accuracy": 1.0, "wrong_yes": 0, "wrong_no": 0}
    assert told["en"] == {"reads": right, "writes": right}
    assert told["zh"]["writes"]["accuracy"] == 1.0
    assert told["zh"]["reads"]["messages"] == 0


@pytest.mark.parametrize(
    ("said", "wish", "fact"),
    [
        ("From now on use metric units, and I moved to Porto last week.", "metric", "Porto"),
        ("以后都用中文回答我，另外我女儿叫小满。", "中文", "小满"),
    ],
)
async def test_a_fact_told_beside_a_wish_is_a_record_of_its_own(
    judged: Memory, said: str, wish: str, fact: str
):
    records = await _told(judged, said)
    assert len(records) == 2
    assert any(wish in record and fact not in record for record in records)
    assert any(fact in record and wish not in record for record in records)


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("预算五百左右吧。另外以后给我写代码都用 Go，别用 Python 了", "Go"),
        ("The budget is about 500. By the way, from now on write code in Go, please.", "Go"),
    ],
)
async def test_a_wish_after_a_fact_is_kept(judged: Memory, said: str, wish: str):
    assert any(wish in record for record in await _told(judged, said))


@pytest.mark.parametrize(
    "said",
    [
        "Could you give me measurements in metric from now on?",
        "From now on, could you answer in bullet points?",
        "Can you please never use emojis?",
        "能不能以后别加表情符号？",
    ],
)
async def test_a_wish_may_be_put_as_a_request(judged: Memory, said: str):
    await _told(judged, said)
    (record,) = await judged.list()
    assert record.category == "preference"
    assert said.rstrip("?？") in record.content


@pytest.mark.parametrize(
    "said",
    [
        "Could you tell me what jobs there will be in future?",
        "Can you check why it crashes every time I save?",
        "Can you always get a refund on train tickets?",
        "能不能以后再聊这个？",
    ],
)
async def test_a_request_with_the_words_of_a_wish_is_none(judged: Memory, said: str):
    assert await _told(judged, said) == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "My sister lives in Leeds. Sorry, I meant York.",
            "User's sister lives in Leeds. Sorry, they meant York",
        ),
        (
            "I play the cello in an orchestra. Actually no, the viola these days.",
            "User plays the cello in an orchestra. Actually no, the viola these days",
        ),
        (
            "I'm allergic to penicillin. Sorry, not penicillin, it's sulfa drugs I'm allergic to.",
            "User is allergic to penicillin. Sorry, not penicillin, "
            "it's sulfa drugs they are allergic to",
        ),
        ("我妹妹在南京上班。说错了，是在无锡。", "用户的妹妹在南京上班。说错了，是在无锡"),
        ("I love hiking in the Alps. Sorry, I'm rambling.", "User loves hiking in the Alps"),
        ("我住在杭州。不好意思，打扰了。", "用户住在杭州"),
    ],
)
async def test_what_is_put_right_at_once_is_kept_with_what_puts_it_right(
    judged: Memory, said: str, kept: str
):
    assert await _told(judged, said) == [kept]


@pytest.mark.parametrize(
    "said",
    [
        "The boiler cuts out every time we run the dishwasher.",
        "发布窗口是每周四晚上十点以后，老板定的",
        "She always arrives late at the clinic, it drives the nurses nuts.",
    ],
)
async def test_what_tells_of_a_thing_is_no_wish(judged: Memory, said: str):
    records = await _told(judged, said)
    assert records
    assert not any(record.startswith(("User asks", "用户要求")) for record in records)


async def test_a_wish_is_kept_with_what_it_is_for(judged: Memory):
    records = await _told(judged, "oh and for any recipe you give me, use grams, never cups.")
    assert records == ["User asks: oh and for any recipe you give me, use grams, never cups"]


async def test_what_one_would_do_is_no_procedure(judged: Memory):
    assert await _told(judged, "If I won the lottery I'd buy the whole lake, obviously") == []
    assert await _told(judged, "If a build fails on main, roll back and tell Ana") != []
