"""Told in a conversation, "forget my phone number" acts on what it means, and can be undone."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.record import Status
from tests.database_servers import environment_of, place_of
from tests.nursery import WARM

_TALK = """
import asyncio, sys
from recollect import Memory

async def main():
    database, session, *said = sys.argv[1:]
    async with Memory.open(database) as memory:
        async with memory.session(session) as talk:
            for at, text in enumerate(said):
                role = "assistant" if text.startswith("->") else "user"
                await talk.observe({"role": role, "content": text.removeprefix("->")})
        await memory.extract()
        await memory.drain()

asyncio.run(main())
"""


@dataclass(frozen=True)
class Life:
    """What somebody tells, what they ask to forget, and what of it stays."""

    told: Sequence[str]
    number: str
    wish: str
    question: str
    asked: str
    stays: Sequence[str]


_LIVES = [
    Life(
        told=[
            "Hi, my phone number is 555-0199.",
            "->Got it, your phone number is 555-0199.",
            "My sister Anna's phone number is 555-7788.",
            "I live in Oslo.",
        ],
        number="555-0199",
        wish="Please forget my phone number.",
        question="What is my phone number?",
        asked="User asks: Please forget my phone number",
        stays=["User lives in Oslo", "User's sister Anna's phone number is 555-7788"],
    ),
    Life(
        told=[
            "你好，我的电话是13800001111。",
            "->好的，您的电话是13800001111。",
            "我妹妹的电话是13911112222。",
            "我住在杭州。",
        ],
        number="13800001111",
        wish="别再记我的电话。",
        question="我的电话是多少？",
        asked="用户要求：别再记我的电话",
        stays=["用户住在杭州", "用户的妹妹的电话是13911112222"],
    ),
]
_IN_BOTH = pytest.mark.parametrize("life", _LIVES, ids=["en", "zh"])


def talk_elsewhere(database: Path, session: str, *said: str) -> None:
    """Talk in a process of its own, which reads what was said at its end."""
    subprocess.run(
        [WARM, "-c", _TALK, place_of(database), session, *said],
        env={**os.environ, **environment_of(database)},
        capture_output=True,
        check=True,
        timeout=240,
    )


async def talk(database: Path, session: str, *said: str, policy: str = "auto") -> list[str]:
    """Talk to a memory that is opened for it; return what became of what was read at its end."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RECOLLECT_WRITING__POLICY", policy)
        async with Memory.open(database) as memory:
            async with memory.session(session) as talking:
                for text in said:
                    role = "assistant" if text.startswith("->") else "user"
                    message = {"role": role, "content": text.removeprefix("->")}
                    await talking.observe(message)
            written = await memory.extract()
            await memory.drain()
    return [it.status for it in written]


async def contents(memory: Memory, *statuses: Status) -> list[str]:
    found = await memory.list(status=statuses or Status.ACTIVE)
    return sorted(record.content for record in found)


@_IN_BOTH
async def test_it_is_deleted_gives_way_and_comes_back_with_undo(
    database_path: Path, real_model: None, life: Life
):
    talk_elsewhere(database_path, "monday", *life.told)
    talk_elsewhere(database_path, "tuesday", life.wish)

    async with Memory.open(database_path) as memory:
        assert await contents(memory) == sorted([life.asked, *life.stays]), "nothing else is gone"
        (gone,) = await memory.list(status=Status.DELETED)
        assert life.number in gone.content
        (wish,) = [it for it in await memory.list() if it.content == life.asked]
        last = (await memory.history(gone.id))[-1]
        assert last.reason == f"the user asked to forget it: {wish.id}", "who asked, and where"

        hits = await memory.recall(life.question)
        assert hits[0].content in (life.asked, life.wish), "the wish, or the words of it"
        told = [hit for hit in hits if life.number in hit.content]
        assert all(hit.replaced_by == wish.id for hit in told), "its turns give way to the wish"
        assert life.number not in (await memory.context(life.question)).text

        # Reading everything again brings nothing back.
        turns = (await memory.turns(session="monday")).items
        assert any(life.number in turn.content for turn in turns), "what was said stays said"
        async with memory.session("monday") as session:
            await session.end()
        await memory.drain()
        assert life.number not in " ".join(await contents(memory))

        await memory.undo(gone.id)
        assert life.number in (await memory.recall(life.question))[0].content


@_IN_BOTH
async def test_said_in_one_breath_with_the_number_it_holds_too(
    database_path: Path, real_model: None, nobody_works: None, life: Life
):
    statuses = await talk(database_path, "monday", *life.told, life.wish)
    async with Memory.open(database_path) as memory:
        await memory.drain()
        assert life.number not in " ".join(await contents(memory))
        assert life.number in " ".join(await contents(memory, Status.DELETED))
    assert "deleted" in statuses


@_IN_BOTH
async def test_where_only_what_is_explicit_is_written_a_person_decides(
    database_path: Path, real_model: None, life: Life
):
    await talk(database_path, "monday", *life.told)
    await talk(database_path, "tuesday", life.wish, policy="explicit")

    async with Memory.open(database_path) as memory:
        assert life.number in " ".join(await contents(memory)), "nothing is deleted yet"
        (dispute,) = await memory.upkeep.conflicts()
        assert life.number in dispute.first.content
        assert dispute.second.content == life.asked

        await memory.upkeep.resolve(dispute.conflict.id, "keep_second")
        assert life.number not in " ".join(await contents(memory))
        assert life.number not in (await memory.recall(life.question))[0].content


@_IN_BOTH
async def test_where_nothing_is_written_nothing_happens(
    database_path: Path, real_model: None, life: Life
):
    await talk(database_path, "monday", *life.told)
    await talk(database_path, "tuesday", life.wish, policy="off")
    async with Memory.open(database_path) as memory:
        assert life.number in " ".join(await contents(memory))
        assert not await memory.upkeep.conflicts()


@pytest.mark.parametrize(
    "said",
    [
        "I forgot my phone at home.",
        "Don't forget my phone number.",
        "Did you forget my phone number?",
        "Forget it, never mind.",
        "Please forget my shoe size.",
        "Please forget Anna's birthday.",
        "忘了带手机。",
        "别忘了我的电话。",
        "我忘了我的电话放在哪里了。",
        "请忘掉我的鞋码。",
    ],
)
async def test_what_means_something_else_or_nothing_deletes_nothing(
    database_path: Path, real_model: None, said: str
):
    async with Memory.open(database_path) as memory:
        for life in _LIVES:
            for text in life.told:
                if not text.startswith("->"):
                    await memory.observe({"role": "user", "content": text}, session="monday")
        await memory.extract()
        before = await contents(memory)
        await memory.observe({"role": "user", "content": said}, session="tuesday")
        written = await memory.extract()
        assert not {it.status for it in written} & {"deleted", "proposed"}
        assert set(before) <= set(await contents(memory))


async def test_what_tells_something_else_too_is_left_to_a_person(
    database_path: Path, real_model: None
):
    async with Memory.open(database_path) as memory:
        both = "User's phone number is 555-0199 and their sister Anna's phone number is 555-7788"
        await memory.write(both, category="user")
        await memory.observe(
            {"role": "user", "content": "Please forget my phone number."}, session="s"
        )
        written = await memory.extract()
        assert [it.status for it in written] == ["created", "proposed"]
        assert both in await contents(memory)


async def test_what_others_share_is_never_meant(database_path: Path, real_model: None):
    async with Memory.open(database_path) as memory:
        ann, bo = memory.scope(user="ann"), memory.scope(user="bo")
        await bo.write("User's phone number is 555-0199", category="user")
        await ann.observe({"role": "user", "content": "Forget my phone number."}, session="s")
        assert not await ann.extract()
        assert await contents(bo) == ["User's phone number is 555-0199"]


@pytest.mark.parametrize(
    ("told", "wish", "gone"),
    [
        (
            ["My cardiologist banned coffee after the palpitations.", "I live in Oslo."],
            "Can you forget what I told you about my palpitations?",
            "palpitations",
        ),
        (
            ["我妈7月因为胆结石住院了。", "我住在杭州。"],
            "你能不能把我说的我妈住院的事忘了？",
            "胆结石",
        ),
    ],
    ids=["en", "zh"],
)
async def test_a_polite_wish_for_what_was_told_is_carried_out(
    database_path: Path, real_model: None, told: Sequence[str], wish: str, gone: str
):
    await talk(database_path, "monday", *told)
    await talk(database_path, "tuesday", wish)
    async with Memory.open(database_path) as memory:
        await memory.drain()
        assert gone in " ".join(await contents(memory, Status.DELETED))
        assert len(await contents(memory)) == 2, "where they live, and the wish"
        for record in await memory.list():
            await memory.update(record.id, facet="instruction", about="user")
        (line,) = (await memory.profile()).lines
        assert gone not in line.text
        assert "forget-wish" not in (await memory.get(line.id)).tags, "it stands in no prompt"
