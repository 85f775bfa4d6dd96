"""session.sync and session.plan: a framework owns the history, memory follows it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.context.edits import Drop, Insert, Keep, Replace, apply
from recollect.context.history import SessionPlan
from recollect.context.message_formats import read_messages
from recollect.errors import InvalidInput
from tests.serving import served

_SYSTEM = {"role": "system", "content": "You are a helper."}
_LONG = "The harbour report.\n" + "\n".join(f"Berth {n} is free on day {n}." for n in range(2_000))


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(name: str, id: str) -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


@pytest.fixture(params=["here", "on a server"])
async def ann(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Memory]:
    database = tmp_path / "memory.db"
    if request.param == "here":
        async with Memory.open(database) as memory:
            yield memory.scope(user="ann")
    else:
        async with served(database) as address, Memory.open(address) as memory:
            yield memory.scope(user="ann")


async def contents(memory: Memory, *, retracted: bool = False) -> list[str]:
    turns = (await memory.turns(session="s")).items
    return [it.content for it in turns if (it.act == "retracted") is retracted]


async def test_only_what_is_new_is_observed_and_the_same_twice_changes_nothing(ann: Memory):
    history = [_SYSTEM, user("My cat is called Momo"), assistant("Noted")]
    async with ann.session("s") as session:
        first = await session.sync(history)
        assert (len(first.added), first.retracted, first.unchanged) == (2, (), 0)
        # Another system prompt is no news of the conversation.
        again = await session.sync([{**_SYSTEM, "content": "You are terse."}, *history[1:]])
        assert (again.added, again.retracted, again.unchanged) == ((), (), 2)
        third = await session.sync([*history, user("And my dog Bello")])
        assert [turn.content for turn in third.added] == ["And my dog Bello"]
    async with ann.session("s") as session:
        # A beginning that the framework cut off is no retraction.
        cut = await session.sync([assistant("Noted"), user("And my dog Bello"), assistant("Ok")])
        assert (len(cut.added), cut.retracted, cut.unchanged) == (1, (), 2)
    assert await contents(ann) == ["My cat is called Momo", "Noted", "And my dog Bello", "Ok"]


async def test_a_branch_takes_back_what_it_replaces(ann: Memory):
    async with ann.session("s") as session:
        await session.sync([user("Where is berth 7?"), assistant("At the walrus pier")])
        branched = await session.sync([user("Where is berth 7?"), assistant("At the east pier")])
        assert (len(branched.added), len(branched.retracted)) == (1, 1)
        sent = await session.prepare(format="openai")
        assert [it["content"] for it in sent] == ["Where is berth 7?", "At the east pier"]
    assert await contents(ann) == ["Where is berth 7?", "At the east pier"]
    assert await contents(ann, retracted=True) == ["At the walrus pier"]
    found = [hit.content for hit in await ann.recall("pier of berth 7", min_score=0)]
    assert "At the east pier" in found
    assert "At the walrus pier" not in found
    # Opened anew it is as it was left.
    async with ann.session("s") as session:
        assert (
            await session.sync([user("Where is berth 7?"), assistant("At the east pier")])
        ).retracted == ()


def applied(native: list[dict[str, Any]], plan: SessionPlan) -> list[str]:
    """What a framework sends: its own messages, or ours in their place."""
    views = [it.message for it in read_messages(native)]
    return [it.text for it in apply(views, plan.edits)]


async def test_a_plan_speaks_of_the_frameworks_own_indexes(ann: Memory):
    await ann.remember("Ann wants answers in one sentence", category="user-profile")
    history = [
        _SYSTEM,
        user("Fetch the harbour report"),
        called("fetch", "c1"),
        result("c1", _LONG),
        assistant("It lists two thousand berths"),
        user("How should answers for Ann look?"),
    ]
    async with ann.session("s") as session:
        plan = await session.plan(history, "How should answers for Ann look?")
        assert "Ann wants answers in one sentence" in plan.system
        assert [type(it) for it in plan.edits] == [Keep, Keep, Replace, Keep, Keep]
        (replaced,) = [it for it in plan.edits if isinstance(it, Replace)]
        assert replaced.index == 3
        assert "load_tool_history" in replaced.message.text
        assert replaced.message.answers == "c1"
        assert len(replaced.message.text) < 10_000
        assert applied(history, plan)[0] == _SYSTEM["content"]
        # Only what is sent changes: the stored history and the framework's are as before.
        assert history[3]["content"] == _LONG
        again = await session.sync(history)
        assert (again.added, again.retracted) == ((), ())
    async with ann.session("t") as session:
        blocks = [{"type": "tool_result", "tool_use_id": it, "content": "x"} for it in ("c1", "c2")]
        with pytest.raises(InvalidInput) as refused:
            await session.plan([user("x"), {"role": "user", "content": blocks}])
    assert refused.value.code == "not_one_message"


async def test_a_long_chat_is_compressed_for_the_framework(ann: Memory):
    history = [_SYSTEM]
    for number in range(60):
        history += [user(f"Question {number} about berth {number}?"), assistant(f"It is {number}")]
    async with ann.session("s", context_tokens=4_000) as session:
        await session.plan(history)
        await session.settle()
        plan = await session.plan(history)
        texts = applied(history, plan)
    assert len(texts) < 60
    assert texts[0] == _SYSTEM["content"]
    assert texts[-1] == "It is 59"
    dropped = [it.index for it in plan.edits if isinstance(it, Drop)]
    assert dropped == list(range(1, len(dropped) + 1))
    (inserted,) = [it for it in plan.edits if isinstance(it, Insert)]
    assert inserted.before <= dropped[-1] + 1
