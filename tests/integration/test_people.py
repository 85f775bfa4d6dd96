"""Nothing is shared between two people in plain lists, PydanticAI, MCP and HTTP.

The other adapters tell the same story in the environments of their frameworks:
tests/adapters/with_*/check_users.py.
"""

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from recollect import Memory
from recollect.adapters.plain import wrap
from recollect.adapters.pydantic_ai import RecollectMemory
from recollect.sync import Memory as BlockingMemory
from tests.adapters.people import check_nothing_is_shared, users_of
from tests.serving import served


async def _plain(memory: Memory, said: str, session: str | None) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": said}]
    async with wrap(memory, messages, session=session) as chat:
        return str(await chat.to_send())


async def _given(memory: Memory, person: str, said: str) -> str:
    return await _plain(memory.scope(user=person), said, session="one name for all")


async def _session(memory: Memory, person: str, said: str) -> str:
    return await _plain(memory, said, session=str(uuid4()))


async def _nothing(memory: Memory, person: str, said: str) -> str:
    return await _plain(memory, said, session=None)


@dataclass
class Deps:
    user: str | None = None


class Scripted:
    """A model that saves what it is told to remember, and keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(f"{info.instructions} {messages}")
        said = str(messages[-1].parts[0].content) if len(messages) == 1 else ""
        saving = ToolCallPart("memory_save", {"content": said})
        return ModelResponse([saving if said.startswith("Remember") else TextPart("Noted.")])


async def _agent(known: RecollectMemory, said: str, **options: Any) -> str:
    script = Scripted()
    await Agent(script.model, deps_type=Deps, capabilities=[known]).run(
        said, **{"deps": Deps(), **options}
    )
    return str(script.sent)


async def _capability_user(memory: Memory, person: str, said: str) -> str:
    return await _agent(RecollectMemory(memory, user=person, session="same"), said)


def _of_deps(ctx: RunContext[Deps]) -> str | None:
    return ctx.deps.user


async def _capability_function(memory: Memory, person: str, said: str) -> str:
    known = RecollectMemory(memory, user=_of_deps)
    return await _agent(known, said, deps=Deps(person))


async def _capability_nobody(memory: Memory, person: str, said: str) -> str:
    return await _agent(RecollectMemory(memory, user=_of_deps), said)


async def _capability_conversation(memory: Memory, person: str, said: str) -> str:
    return await _agent(RecollectMemory(memory), said, conversation_id=str(uuid4()))


Way = Callable[[Memory, str, str], Awaitable[str]]
_NAMED: dict[str, Way] = {
    "plain: scope(user=)": _given,
    "PydanticAI: user=": _capability_user,
    "PydanticAI: user= as a function": _capability_function,
}
_ANONYMOUS: dict[str, Way] = {
    "plain: a session": _session,
    "plain: nothing": _nothing,
    "PydanticAI: a function that knows nobody": _capability_nobody,
    "PydanticAI: a conversation": _capability_conversation,
}


@pytest.mark.parametrize("way", [*_NAMED, *_ANONYMOUS])
async def test_two_people_share_nothing(memory: Memory, way: str, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING, "recollect")
    converse = {**_NAMED, **_ANONYMOUS}[way]
    await check_nothing_is_shared(
        memory, lambda person, said: converse(memory, person, said), named=way in _NAMED
    )
    told = [it for it in caplog.records if "no user was named" in it.getMessage()]
    assert len(told) == (way in _ANONYMOUS)


async def test_an_agent_that_is_delegated_to_works_for_the_same_unknown_user(memory: Memory):
    known = RecollectMemory(memory)
    helper = Agent(Scripted().model)
    boss = Agent(FunctionModel(_calls_helper), capabilities=[known])

    @boss.tool_plain
    async def ask_helper(task: str) -> str:
        return (await helper.run(task, capabilities=[known.for_delegate("helper")])).output

    await boss.run("Hello", conversation_id="c")
    scopes = (await memory.scope(user=None).workspace.scopes()).items
    assert {it.scope.agent for it in scopes} >= {None, "helper"}
    assert len(await users_of(memory)) == 1


def _calls_helper(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    if len(messages) > 1:
        return ModelResponse([TextPart("Done.")])
    return ModelResponse([ToolCallPart("ask_helper", {"task": "Remember that tea is liked"})])


@pytest.mark.parametrize("user", ["ann", _of_deps])
async def test_notes_and_their_reset_are_those_of_the_user(memory: Memory, user: Any):
    known = RecollectMemory(memory, user=user, session="s")
    await _agent(known, "Hello", deps=Deps("ann"))
    anns = memory.scope(user="ann").session("s")
    await anns
    anns.notes.cache_toc("angui_2024", ["1 Intro", "2 Risks"])
    await anns.close()
    bobs = memory.scope(user="bob").session("s")
    await bobs
    bobs.notes.cache_toc("angui_2024", ["9 Bob's own"])
    await bobs.close()

    fresh = RecollectMemory(memory, user=user, session="s")
    await _agent(fresh, "Hello again", deps=Deps("ann"))
    assert (await fresh.notes()).has_cached_toc("angui_2024")
    assert "Bob" not in str((await fresh.notes()).get_cached_toc("angui_2024"))
    await fresh.reset()
    assert (await fresh.notes()).has_cached_toc("angui_2024")
    await fresh.reset_all()
    assert not (await fresh.notes()).has_cached_toc("angui_2024")
    assert (await fresh.notes(user="bob")).has_cached_toc("angui_2024")


async def test_notes_without_a_name_are_those_of_the_conversation_that_ran_last(memory: Memory):
    known = RecollectMemory(memory)
    await _agent(known, "Hello", conversation_id="c")
    assert await known.notes() is await known.notes("c")


# --- HTTP and MCP over HTTP: the address or the key names the user --------------------------------


async def _whose(client: httpx.AsyncClient, query: str = "", key: str = "") -> Any:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = await client.get(f"/v1/scope{query}", headers=headers)
    if answer.status_code != 200:
        return answer.json()["code"]
    told = answer.json()
    return told["scope"]["user"], told["user_is_named"]


async def test_over_http_a_request_without_a_user_is_the_keys_user_or_the_servers(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        anns = (await memory.keys.create("ann", users=["ann"])).secret
        both = (await memory.keys.create("both", users=["ann", "bob"])).secret
        every = (await memory.keys.create("all", all_users=True)).secret
    async with served(tmp_path / "memory.db") as address:
        async with httpx.AsyncClient(base_url=address) as client:
            assert await _whose(client, key=anns) == ("ann", True)
            assert await _whose(client, key=both) == "foreign_scope"
            assert await _whose(client, "?user=bob", key=both) == ("bob", True)
            # All who name nobody share the server's own user, and can see that.
            assert await _whose(client, key=every) == ("me", False)
            assert await _whose(client, "?user=bob", key=every) == ("bob", True)
            assert await _whose(client, "?user=bob", key=anns) == "foreign_scope"
        # An adapter on such a memory goes by the same rule.
        async with Memory.open(address, key=anns) as remote:
            assert remote.user_is_named
        async with Memory.open(address, key=every) as remote:
            assert not remote.user_is_named
            await _plain(remote, "Remember that I like tea", session="monday")
    async with Memory.open(tmp_path / "memory.db") as memory:
        (user,) = await users_of(memory)
        assert str(user).startswith("anon_")


@pytest.mark.parametrize("way", ["address", "key"])
async def test_two_people_share_nothing_over_mcp(tmp_path: Path, way: str):
    async with Memory.open(tmp_path / "memory.db") as memory:
        every = (await memory.keys.create("all", all_users=True)).secret
        keys = {it: (await memory.keys.create(it, users=[it])).secret for it in ("ann", "bob")}
    async with served(tmp_path / "memory.db") as address, httpx.AsyncClient() as client:

        async def converse(person: str, said: str) -> str:
            key = keys[person] if way == "key" else every
            query = "" if way == "key" else f"?user={person}"
            tool, given = (
                ("memory_save", {"content": said})
                if said.startswith("Remember")
                else ("memory_recall", {"query": said})
            )
            call = {"name": tool, "arguments": given}
            answer = await client.post(
                f"{address}/mcp{query}",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
                headers={
                    "Authorization": f"Bearer {key}",
                    "Accept": "application/json, text/event-stream",
                },
            )
            assert answer.status_code == 200, answer.text
            return answer.text

        admin = (await _admin(tmp_path)).secret
        async with Memory.open(address, key=admin) as seen:
            await check_nothing_is_shared(seen, converse)


async def _admin(folder: Path) -> Any:
    async with Memory.open(folder / "memory.db") as memory:
        return await memory.keys.create("admin", role="admin")


# --- What lay under the default user before ------------------------------------------------------

_GUIDES = [Path(__file__).parents[2] / "docs" / f"people{it}.md" for it in ("", ".zh-CN")]


@pytest.mark.parametrize("guide", _GUIDES, ids=lambda it: it.name)
def test_what_lies_under_me_is_moved_as_the_guide_tells(
    guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path))
    (code,) = re.findall(r"```python\n(.*?)```", guide.read_text("utf-8"), re.DOTALL)
    with BlockingMemory.open() as memory:
        me = memory.scope(user="me")
        for session, word in (("thread-17", "zephyr"), ("thread-18", "quartz")):
            told = [{"role": "user", "content": f"Remember that my word is {word}"}]
            me.observe(told, session=session)
            me.tools(session=session).call("memory_save", {"content": f"The bike is {word}"})
        me.extract()
    exec(compile(code, str(guide), "exec"), {})
    with BlockingMemory.open() as memory:
        for user, word, other in (("ann", "zephyr", "quartz"), ("bob", "quartz", "zephyr")):
            kept = str([it.content for it in memory.scope(user=user).list().items])
            assert f"bike is {word}" in kept
            assert f"word is {word}" in kept
            assert other not in kept
            assert len(memory.scope(user=user).turns().items) == 1
        assert not memory.scope(user="me").turns().items
        assert not memory.scope(user="me").list().items
