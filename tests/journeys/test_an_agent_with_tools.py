"""A story: an agent keeps its memory by tools alone; another one has none and notices nothing."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.settings import Settings


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Memory]:
    agents = {"clerk": {}, "temp": {"enabled": False}}
    async with Memory.open(Settings.load({"data_dir": tmp_path, "agents": agents})) as opened:
        yield opened


class Model:
    """Stands for a model that calls tools: it knows only what the tools and the prompt tell it."""

    def __init__(self, memory: Memory, session: str, language: Any) -> None:
        self._memory = memory
        self._session = session
        self._tools = memory.tools(language, session=session)

    async def does(self, tool: str, **arguments: Any) -> Any:
        return json.loads(await self._tools.call(tool, json.dumps(arguments)))

    async def sees(self, message: str) -> str:
        return (await self._memory.context(message, session=self._session)).text


@pytest.mark.parametrize(
    ("language", "first", "second", "question"),
    [
        (
            "en",
            "Ann wants invoices as PDF",
            "Ann wants invoices as XML",
            "Which format do the invoices for Ann have?",
        ),
        ("zh", "安妮要求发票用 PDF 格式", "安妮要求发票用 XML 格式", "安妮的发票要什么格式？"),
    ],
)
async def test_an_agent_saves_recalls_updates_and_deletes(
    office: Memory, language: Any, first: str, second: str, question: str
):
    clerk = office.scope(agent="clerk", user="ann")
    assert "memory_save" in clerk.guide(language)

    monday = Model(clerk, "monday", language)
    assert await monday.sees(question) == ""
    saved = await monday.does(
        "memory_save", action="create", name="invoices", type="feedback", content=first
    )
    assert saved["status"] == "created"

    tuesday = Model(clerk, "tuesday", language)
    assert first in await tuesday.sees(question)
    (found,) = await tuesday.does("memory_recall", query=question, type="feedback")
    assert (found["id"], found["content"]) == (saved["id"], first)
    changed = await tuesday.does(
        *("memory_save",),
        action="update",
        id=found["id"],
        content=second,
        name="invoices",
        type="feedback",
    )
    assert changed == {"id": saved["id"], "status": "updated"}

    wednesday = Model(clerk, "wednesday", language)
    shown = await wednesday.sees(question)
    assert second in shown
    assert first not in shown
    assert [it.record.content for it in await clerk.history(saved["id"])] == [first, second]
    assert await wednesday.does("memory_delete", id=saved["id"]) == {"deleted": 1}

    thursday = Model(clerk, "thursday", language)
    assert await thursday.sees(question) == ""
    assert await thursday.does("memory_recall", query=question) == []
    # A person can still bring it back.
    assert (await clerk.undo(saved["id"])).content == second


async def test_an_agent_without_memory_is_told_nothing_and_given_nothing(office: Memory):
    temp = office.scope(agent="temp", user="ann")
    await temp.remember("Ann wants invoices as PDF")
    assert temp.guide() == ""
    assert temp.tools().openai() == []
    model = Model(temp, "monday", "en")
    assert await model.sees("Which format do the invoices for Ann have?") == ""
    refused = await model.does("memory_recall", query="invoices")
    assert refused["error"]["code"] == "unknown_tool"
    session = temp.session("monday")
    await session.observe({"role": "user", "content": "Which format do invoices have?"})
    (sent,) = await session.prepare("Which format do the invoices for Ann have?")
    assert sent == {"role": "user", "content": "Which format do invoices have?"}
    # Whoever asks the library itself still gets an answer.
    assert (await temp.recall("invoices for Ann"))[0].content == "Ann wants invoices as PDF"


async def test_two_users_of_one_agent_never_meet(office: Memory):
    ann = Model(office.scope(agent="clerk", user="ann"), "s", "en")
    bob = Model(office.scope(agent="clerk", user="bob"), "s", "en")
    secret = await ann.does(
        "memory_write", content="Ann's door code is 4711", metadata={"type": "user-profile"}
    )
    for spelling in (None, "user_profile/ann", "clerk_memories/ann", "clerk/ann"):
        given = {} if spelling is None else {"namespace": spelling}
        answer = await bob.does("memory_search", query="door code", min_score=0, **given)
        assert answer == [] if spelling is None else answer["error"]["code"] == "not_allowed"
    assert (await bob.does("memory_delete", id=secret["id"]))["error"]["code"] == "not_found"
    (found,) = await ann.does("memory_search", query="door code")
    assert found["id"] == secret["id"]
