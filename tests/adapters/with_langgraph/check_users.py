"""However LangGraph and LangChain name their users, nothing is shared between two of them."""

import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware.types import AgentState
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_supervisor import create_supervisor

from recollect import Memory
from recollect.adapters.langchain import RecollectMiddleware
from recollect.adapters.langgraph import RecollectStore
from recollect.adapters.supervisor import SupervisorMemory
from tests.adapters.people import check_nothing_is_shared, users_of
from tests.adapters.with_langgraph.scripted import calling, scripted

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@dataclass
class Context:
    user_id: str


class NamedState(AgentState):
    user_id: str


def configured(**keys: str) -> dict[str, Any]:
    return {"config": {"configurable": keys}}


def _context(person: str) -> dict[str, Any]:
    return {"context": Context(user_id=person)}


Naming = Callable[[str], dict[str, Any]]
# What is given to a run beside the messages; `state` goes into its input.
NAMED: dict[str, Naming] = {
    "configurable.user_id": lambda it: configured(user_id=it),
    "configurable.langgraph_user_id": lambda it: configured(langgraph_user_id=it),
    "configurable.langgraph_auth_user_id": lambda it: configured(langgraph_auth_user_id=it),
    "state.user_id": lambda it: {"state": {"user_id": it}},
    "state.user_name": lambda it: {"state": {"user_name": it}},
    "context.user_id": _context,
    "context mapping": lambda it: {"context": {"user_id": it}},
}
ANONYMOUS: dict[str, Naming] = {
    "a thread": lambda _: configured(thread_id=str(uuid4())),
    "nothing": lambda _: {},
    "empty names": lambda _: configured(user_id="", thread_id=str(uuid4())),
}


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


class OneAgent:
    """An agent with the middleware; what people say is also saved by a memory tool."""

    def __init__(self, memory: Memory) -> None:
        self._middleware = RecollectMiddleware(memory)

    async def run(self, said: str, **given: Any) -> str:
        saving = calling("memory_save", content=said)
        model = scripted(*([saving, "Noted."] if said.startswith("Remember") else ["Hm."]))
        agent = create_agent(model, middleware=[self._middleware], context_schema=Context)
        await invoked(agent, said, **given)
        return str(model.sent)


class AgentWithTool:
    """A supervisor whose sub-agent is a tool: it gets no state of the supervisor."""

    def __init__(self, memory: Memory) -> None:
        self._known = SupervisorMemory(memory)

    async def run(self, said: str, **given: Any) -> str:
        worker = scripted("Done.")
        sub = create_agent(worker, middleware=[self._known.worker("helper")], name="helper")

        async def ask(task: str) -> str:
            """Ask the helper."""
            return (await sub.ainvoke({"messages": [HumanMessage(task)]}))["messages"][-1].text

        tool = StructuredTool.from_function(coroutine=ask)
        boss = scripted(calling("ask", task=said), "Done.")
        middleware = self._known.supervisor(with_tools=False)
        agent = create_agent(boss, [tool], middleware=[middleware], context_schema=Context)
        await invoked(agent, said, **given)
        return str((boss.sent, worker.sent))


class Team:
    """A supervisor made by `create_supervisor`."""

    def __init__(self, memory: Memory) -> None:
        self._known = SupervisorMemory(memory)

    async def run(self, said: str, **given: Any) -> str:
        worker, boss = scripted("Done."), scripted(calling("transfer_to_helper"), "Done.")
        sub = create_agent(worker, middleware=[self._known.worker("helper")], name="helper")
        options = self._known.options("You lead a team.")
        graph = create_supervisor([sub], model=boss, context_schema=Context, **options)
        await invoked(graph.compile(), said, **given)
        return str((boss.sent, worker.sent))


async def invoked(graph: Any, said: str, state: Any = None, **given: Any) -> Any:
    return await graph.ainvoke({"messages": [HumanMessage(said)], **(state or {})}, **given)


_SHAPES = [OneAgent, AgentWithTool, Team]
# One agent is told in every way; where several are, each place that can name a user is enough.
_PLACES = ("configurable.user_id", "state.user_id", "context.user_id")


@pytest.mark.parametrize(
    ("shape", "way"),
    [
        *((OneAgent, way) for way in NAMED),
        *((shape, way) for shape in _SHAPES[1:] for way in _PLACES),
    ],
)
async def test_people_who_are_named_share_nothing(memory: Memory, shape: Any, way: str):
    graph = shape(memory)
    await check_nothing_is_shared(memory, lambda who, said: graph.run(said, **NAMED[way](who)))


@pytest.mark.parametrize(
    ("shape", "way"),
    [
        *((OneAgent, way) for way in ANONYMOUS),
        *((shape, "a thread") for shape in _SHAPES[1:]),
    ],
)
async def test_people_who_are_not_named_share_nothing_and_it_is_told_once(
    memory: Memory, shape: Any, way: str, caplog: pytest.LogCaptureFixture
):
    graph = shape(memory)
    caplog.set_level(logging.WARNING, "recollect")
    users = await check_nothing_is_shared(
        memory, lambda who, said: graph.run(said, **ANONYMOUS[way](who)), named=False
    )
    # One for each of the two who said something worth keeping, whichever agent heard it.
    assert len(users) in (2, 4)
    told = [it for it in caplog.records if "no user" in it.getMessage()]
    assert len(told) == 1


async def test_a_thread_keeps_its_anonymous_user(memory: Memory):
    graph = OneAgent(memory)
    here = configured(thread_id="monday")
    await graph.run("Remember that the word for my locker is zephyr", **here)
    assert "zephyr" in await OneAgent(memory).run("What is the word for my locker?", **here)


@pytest.mark.parametrize("shape", _SHAPES)
async def test_a_user_whom_the_program_gave_wins(memory: Memory, shape: Any):
    graph = shape(memory.scope(user="carol"))
    await graph.run("Remember that the word for my locker is zephyr", **configured(user_id="bob"))
    assert await users_of(memory) == {"carol"}


async def test_a_state_of_the_programs_own_names_the_user_too(memory: Memory):
    middleware = RecollectMiddleware(memory, with_tools=False)
    agent = create_agent(
        scripted("Noted.", "Hm."),
        middleware=[middleware],
        state_schema=NamedState,
        checkpointer=InMemorySaver(),
    )
    here = configured(thread_id="monday")
    done = await invoked(agent, "Hello, I am new here", {"user_id": "ann"}, **here)
    assert done["user_id"] == "ann"
    # A thread that was told once whose it is goes on so.
    await invoked(agent, "Hello again", **here)
    assert await users_of(memory) == {"ann"}


async def test_the_store_keeps_people_apart_by_their_namespaces(memory: Memory):
    store = RecollectStore(memory)
    await store.aput(("memories", "ann"), "locker", {"word": "zephyr"})
    assert await store.asearch(("memories", "bob"), query="locker") == []
    assert await store.aget(("memories", "bob"), "locker") is None
