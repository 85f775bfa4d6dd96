"""Nothing is shared between two people in plain lists, PydanticAI, MCP and HTTP.

The other adapters tell the same story in the environments of their frameworks:
tests/adapters/with_*/check_users.py.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from recollect import Memory
from recollect.adapters.plain import wrap
from recollect.adapters.pydantic_ai import RecollectMemory
from tests.adapters.people import check_nothing_is_shared, users_of


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
