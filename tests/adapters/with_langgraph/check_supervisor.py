"""A supervisor remembers, its sub-agents are told, and a dead memory stops nobody."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langgraph_supervisor import create_supervisor

from recollect.adapters.supervisor import SupervisorMemory
from recollect.sync import Memory
from tests.adapters.with_langgraph.scripted import Scripted, calling, scripted

_CONCLUSION = "Conclusion: the outage of the billing service was caused by a full disk."
_WISH = "From now on I prefer answers in metric units. Why did billing fail?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


def of(user: str, thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread, "user_id": user}}


def with_sub_agent_as_tool(known: SupervisorMemory, boss: Scripted, worker: Scripted) -> Any:
    sub = create_agent(worker, middleware=[known.worker("billing")], name="billing")

    def ask_billing(task: str) -> str:
        return sub.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text

    tool = StructuredTool.from_function(ask_billing, description="Ask the billing agent.")
    return create_agent(boss, tools=[tool], middleware=[known.supervisor(with_tools=False)])


def with_create_supervisor(known: SupervisorMemory, boss: Scripted, worker: Scripted) -> Any:
    sub = create_agent(worker, middleware=[known.worker("billing")], name="billing")
    graph = create_supervisor([sub], model=boss, prompt=known.prompt("You lead a team."))
    return graph.compile()


_SHAPES = {
    "a tool": (with_sub_agent_as_tool, calling("ask_billing", task=_WISH)),
    "create_supervisor": (with_create_supervisor, calling("transfer_to_billing")),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("shape", _SHAPES)
def test_preferences_and_conclusions_are_remembered_and_sub_agents_see_them(
    memory: Memory, shape: str
):
    build, handoff = _SHAPES[shape]
    known = SupervisorMemory(memory)
    first = build(known, scripted(handoff, "It was the disk."), scripted(_CONCLUSION))
    first.invoke({"messages": [HumanMessage(_WISH)]}, of("ann", "monday"))
    ann = memory.scope(user="ann")
    kept = {it.category: it for it in ann.list().items}
    assert "metric units" in kept["user-profile"].content
    assert "full disk" in kept["task-traces"].content
    assert kept["task-traces"].source == "billing"

    worker = scripted("As before.")
    question = "What caused the outage of the billing service? Do I prefer metric units?"
    again = handoff if shape != "a tool" else calling("ask_billing", task=question)
    boss = scripted(again, "A full disk.")
    second = build(known, boss, worker)
    second.invoke({"messages": [HumanMessage(question)]}, of("ann", "tuesday"))
    for sent in (boss.sent[0], worker.sent[0]):
        assert sent[0].type == "system"
        assert "full disk" in sent[0].text
        assert "metric units" in sent[0].text
    # The sub-agent keeps nothing: it got its task and what is remembered, no other history.
    if shape == "a tool":
        assert [it.type for it in worker.sent[0]] == ["system", "human"]
    assert memory.scope(user="bob").list().items == ()


def test_a_memory_that_is_killed_in_the_middle_stops_nobody(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "RECOLLECT_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "recollect", "serve", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address)
            with Memory.open(address) as memory:
                _tell_the_story(memory, server)
        finally:
            server.kill()


def _tell_the_story(memory: Memory, server: subprocess.Popen[bytes]) -> None:
    memory.scope(user="ann").remember("Ann wants metric units", category="user-profile")
    known = SupervisorMemory(memory)
    sub = create_agent(scripted("The answer is 42."), middleware=[known.worker("maths")])

    def ask_maths(task: str) -> str:
        server.send_signal(signal.SIGKILL)
        server.wait()
        return sub.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text

    tool = StructuredTool.from_function(ask_maths, description="Ask the maths agent.")
    question = "In which units does Ann want the answer?"
    boss = scripted(calling("ask_maths", task=question), "It is 42.")
    agent = create_agent(boss, tools=[tool], middleware=[known.supervisor(with_tools=False)])
    done = agent.invoke({"messages": [HumanMessage(question)]}, of("ann", "s"))
    assert "metric units" in boss.sent[0][0].text
    assert done["messages"][-1].text == "It is 42."
    assert any(it.startswith("server_unreachable") for it in done["memory_degraded"])


def _wait_for(address: str) -> None:
    for _ in range(300):
        try:
            if httpx.get(f"{address}/health", trust_env=False).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the server did not start")
