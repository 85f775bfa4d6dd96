""" "Remember this": what "this" stands for is kept, once, and nothing else."""

from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.record import Tier
from tests.fakes import FakeJudge

_DECISION = "我们决定后端改用 FastAPI"


async def _talk(memory: Memory, session: str, *said: str) -> None:
    """A session, each turn "user: …" or "assistant: …", with a prompt for each question."""
    async with memory.session(session) as talk:
        for line in said:
            role, _, words = line.partition(": ")
            await talk.observe({"role": role, "content": words})
            if role == "user":
                await talk.prepare()
        await talk.end()
    await memory.drain()


async def _kept(memory: Memory) -> list[tuple[str, Tier]]:
    return [(it.content, it.tier) for it in await memory.list() if not it.is_session_episode]


@pytest.mark.parametrize("wish", ["对，记住这个", "好的，把上面说的记下来吧", "记住那个"])
async def test_it_is_what_was_said_before(memory: Memory, wish: str):
    await _talk(memory, "s", f"user: {_DECISION}", "assistant: 好的。", f"user: {wish}")
    assert await _kept(memory) == [(_DECISION, Tier.LONG)]


@pytest.mark.parametrize("answer", ["你们决定后端改用 FastAPI。", "FastAPI。"])
async def test_in_a_later_session_it_is_the_record_that_was_recalled(memory: Memory, answer: str):
    await _talk(memory, "s1", f"user: {_DECISION}")
    ((content, tier),) = await _kept(memory)
    assert (content, tier) == (_DECISION, Tier.SHORT)
    await _talk(
        memory, "s2", "user: 后端改用什么框架？", f"assistant: {answer}", "user: 对，记住这个"
    )
    assert await _kept(memory) == [(_DECISION, Tier.LONG)]
    (record,) = [it for it in await memory.list() if it.content == _DECISION]
    assert (await memory.history(record.id))[-1].reason == "the user asked to remember it"


async def test_what_contradicts_the_record_is_kept_beside_it(memory: Memory, judge: FakeJudge):
    await _talk(memory, "s1", "user: We decided to move the backend to FastAPI")
    answer = "We decided to move the backend to Flask"
    judge.knows("We decided to move the backend to FastAPI", answer, "conflict")
    await _talk(memory, "s2", f"assistant: {answer}.", "user: Yes, remember that")
    kept = dict(await _kept(memory))
    assert kept["We decided to move the backend to FastAPI"] is Tier.SHORT
    assert kept[answer] is Tier.LONG


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("记住这个：我对花生过敏", "用户对花生过敏"),
        ("帮我记一下这个：门禁密码在抽屉里", "门禁密码在抽屉里"),
        ("Remember this: my desk is on floor 4", "User's desk is on floor 4"),
        ("Remember this project uses Go", "this project uses Go"),
        ("记住这个项目用 Go 写", "这个项目用 Go 写"),
        ("Remember that Rui's my partner", "Rui is User's partner"),
    ],
)
async def test_what_follows_a_colon_is_told_without_it(memory: Memory, said: str, kept: str):
    await _talk(memory, "s", f"user: {said}")
    assert [content for content, _ in await _kept(memory)] == [kept]


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("Your locker is number 12 on floor 3.", "User's locker is number 12 on floor 3"),
        ("你的储物柜在三楼十二号。", "用户的储物柜在三楼十二号"),
        ("I put your locker key next to you.", "Assistant put your locker key next to you"),
    ],
)
async def test_words_to_the_user_are_turned_round_where_the_grammar_is_sure(
    memory: Memory, answer: str, kept: str
):
    await _talk(memory, "s", f"assistant: {answer}", "user: 记住这个")
    assert [content for content, _ in await _kept(memory)] == [kept]


@pytest.mark.parametrize("wish", ["对，记住这个", "Remember this", "记住那个", "把上面说的记下来"])
@pytest.mark.parametrize("before", [(), ("assistant: 你好！有什么可以帮你？",), ("user: 谢谢",)])
async def test_nothing_is_stored_when_there_is_nothing_to_mean(
    memory: Memory, wish: str, before: tuple[str, ...]
):
    await _talk(memory, "s", *before, f"user: {wish}")
    assert await _kept(memory) == []


async def test_with_the_local_models(database_path: Path, judged: Memory):
    await _talk(judged, "s1", f"user: {_DECISION}")
    await _talk(
        judged, "s2", "user: 后端用什么框架？", "assistant: FastAPI。", "user: 对，记住这个"
    )
    assert await _kept(judged) == [(_DECISION, Tier.LONG)]
