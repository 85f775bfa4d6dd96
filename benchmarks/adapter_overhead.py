"""How much time each adapter adds before the model is called, with 10,000 records.

    make adapters && .venv/bin/python benchmarks/adapter_overhead.py

The time from the start of a run to the call of a scripted model, with memory less without it, on
the clock and of the processor. Agents are made before; each run is a new conversation with a
question that was not asked before. Frameworks run in the environments of their tests, without the
default model: search goes by words. `--embedder` uses it, for adapters whose environment has it.
The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from recollect import Memory
from recollect.settings import Settings

ROOT: Final = Path(__file__).parents[1]
RECORDS: Final = 10_000
BATCH: Final = 500
RUNS: Final = 20
WARM_UP: Final = 5
# Adapters by the environment they are measured in; the empty name is the project's own.
PLACES: Final = {
    "plain": "",
    "pydantic_ai": "",
    "langchain": "langgraph",
    "openai_agents": "openai_agents",
    "anthropic": "anthropic",
    "llama_index": "llama_index",
    "google_adk": "google_adk",
    "agent_framework": "agent_framework",
}
Run = Callable[[str, str], Awaitable[None]]
Called = Callable[[], None]


def plain(memory: Memory | None, called: Called) -> Run:
    from recollect.adapters.plain import wrap

    async def run(session: str, question: str) -> None:
        messages = [{"role": "user", "content": question}]
        if memory is not None:
            await wrap(memory, messages, session=session).to_send()
        called()

    return run


def pydantic_ai(memory: Memory | None, called: Called) -> Run:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    from recollect.adapters.pydantic_ai import RecollectMemory

    def model(*_: Any) -> ModelResponse:
        called()
        return ModelResponse([TextPart("Yes.")])

    known = [] if memory is None else [RecollectMemory(memory)]
    agent = Agent(FunctionModel(model), capabilities=known)

    async def run(session: str, question: str) -> None:
        await agent.run(question, conversation_id=session)

    return run


def langchain(memory: Memory | None, called: Called) -> Run:
    from langchain.agents import create_agent
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage

    from recollect.adapters.langchain import RecollectMiddleware

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

        def _generate(self, *given: Any, **more: Any) -> Any:
            called()
            return super()._generate(*given, **more)

    known = [] if memory is None else [RecollectMiddleware(memory)]
    agent = create_agent(Model(messages=iter([AIMessage("Yes.")])), middleware=known)

    async def run(session: str, question: str) -> None:
        whose = {"configurable": {"thread_id": session, "user_id": "ann"}}
        await agent.ainvoke({"messages": [HumanMessage(question)]}, whose)

    return run


def openai_agents(memory: Memory | None, called: Called) -> Run:
    from agents import Agent, Runner, set_tracing_disabled
    from agents.testing import ScriptedModel, assistant_message

    from recollect.adapters.openai_agents import AgentMemory

    set_tracing_disabled(True)

    class Model(ScriptedModel):
        async def get_response(self, *given: Any, **more: Any) -> Any:
            called()
            return await super().get_response(*given, **more)

    async def run(session: str, question: str) -> None:
        agent = Agent(name="helper", model=Model([[assistant_message("Yes.")]]))
        if memory is None:
            await Runner.run(agent, question)
        else:
            known = AgentMemory(memory, session=session)
            await known.run(known.agent(agent), question)

    return run


def anthropic(memory: Memory | None, called: Called) -> Run:
    import httpx2
    from anthropic import AsyncAnthropic

    from recollect.adapters.anthropic import RecollectMiddleware

    told = {"id": "m", "type": "message", "role": "assistant", "model": "claude"}
    told |= {"content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"}
    told |= {"usage": {"input_tokens": 1, "output_tokens": 1}}

    def service(_: httpx2.Request) -> httpx2.Response:
        called()
        return httpx2.Response(200, json=told)

    async def run(session: str, question: str) -> None:
        known = [] if memory is None else [RecollectMiddleware(memory, session=session)]
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(service))
        client = AsyncAnthropic(api_key="k", http_client=http, middleware=known)
        said: Any = [{"role": "user", "content": question}]
        await client.messages.create(model="claude", max_tokens=9, messages=said)

    return run


def llama_index(memory: Memory | None, called: Called) -> Run:
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import Memory as ChatMemory

    from recollect.adapters.llama_index import RecollectBlock

    async def run(session: str, question: str) -> None:
        blocks = [] if memory is None else [RecollectBlock(memory, session=session)]
        history = ChatMemory.from_defaults(
            session_id=session, memory_blocks=blocks, tokenizer_fn=str.split
        )
        await history.aput(ChatMessage(role="user", content=question))
        await history.aget()
        called()

    return run


def google_adk(memory: Memory | None, called: Called) -> Run:
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService
    from google.adk.tools import preload_memory
    from google.genai import types

    from recollect.adapters.google_adk import RecollectMemoryService

    class Model(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            called()
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Yes.")]))

    tools = [] if memory is None else [preload_memory]
    agent = LlmAgent(name="helper", model=Model(model="scripted"), tools=tools)
    sessions = InMemorySessionService()
    service = None if memory is None else RecollectMemoryService(memory)
    runner = Runner(
        app_name="helper", agent=agent, session_service=sessions, memory_service=service
    )

    async def run(session: str, question: str) -> None:
        await sessions.create_session(app_name="helper", user_id="ann", session_id=session)
        said = types.Content(role="user", parts=[types.Part(text=question)])
        async for _ in runner.run_async(user_id="ann", session_id=session, new_message=said):
            pass

    return run


def agent_framework(memory: Memory | None, called: Called) -> Run:
    from agent_framework import (
        Agent,
        BaseChatClient,
        ChatMiddlewareLayer,
        ChatResponse,
        FunctionInvocationLayer,
        Message,
    )

    from recollect.adapters.agent_framework import RecollectProvider

    class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
        async def _inner_get_response(self, **_: Any) -> ChatResponse:
            called()
            return ChatResponse(messages=[Message("assistant", ["Yes."])])

    known = [] if memory is None else [RecollectProvider(memory)]
    agent = Agent(Client(), context_providers=known)

    async def run(session: str, question: str) -> None:
        await agent.run(question, session=agent.create_session(session_id=session))

    return run


async def fill(folder: str, embedder: bool) -> None:
    """Make a memory with the records."""
    texts = [
        f"Container {n} of ship {n % 97} lies at berth {n % 40} since day {n % 365}"
        for n in range(RECORDS)
    ]
    async with Memory.open(_settings(folder, embedder)) as opened:
        memory = _scoped(opened)
        for start in range(0, RECORDS, BATCH):
            await memory.remember_many(texts[start : start + BATCH])
        await memory.drain()


def _settings(folder: str, embedder: bool) -> Settings:
    chosen: dict[str, Any] = {"writing": {"judge": "rules"}}
    if not embedder:
        chosen["embedding"] = {"model": "none"}
    return Settings.load({"data_dir": folder, **chosen})


def _scoped(memory: Memory) -> Memory:
    # An app of Google's kit is an agent here.
    return memory.scope(user="ann", agent="helper")


async def measure(adapter: str, folder: str, embedder: bool) -> dict[str, Any]:
    """Return the milliseconds of one adapter, with memory and without, on the clock and of work."""
    took: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    async with Memory.open(_settings(folder, embedder)) as opened:
        for number in range(2 * (RUNS + WARM_UP)):
            with_memory = number % 2 == 0
            reached: list[tuple[float, float]] = []
            memory = _scoped(opened) if with_memory else None
            run: Run = globals()[adapter](memory, lambda: reached.append(_now()))  # noqa: B023
            clock, work = _now()
            await run(f"s{number}", f"Where does container {number * 37} of ship {number} lie?")
            took[with_memory].append((reached[0][0] - clock, reached[0][1] - work))
    # The first ones load what is loaded once.
    known, bare = (list(zip(*took[it][WARM_UP:], strict=True)) for it in (True, False))
    return {
        "adapter": adapter,
        "embedder": embedder,
        "runs": RUNS,
        "added_p50_ms": round(median(known[0]) - median(bare[0]), 1),
        "added_p95_ms": round(quantiles(known[0], n=20)[-1] - median(bare[0]), 1),
        "added_work_p50_ms": round(median(known[1]) - median(bare[1]), 1),
        "without_p50_ms": round(median(bare[0]), 1),
    }


def _now() -> tuple[float, float]:
    return 1000 * time.perf_counter(), 1000 * time.process_time()


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("adapters", nargs="*", default=list(PLACES))
    arguments.add_argument("--embedder", action="store_true")
    arguments.add_argument("--data", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.data:
        (adapter,) = given.adapters
        print(json.dumps(asyncio.run(measure(adapter, given.data, given.embedder))))
        return
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as made:
        asyncio.run(fill(f"{made}/filled", given.embedder))
        for adapter in given.adapters:
            name = PLACES[adapter]
            own = ROOT / "tests" / "adapters" / f".venv-{name}" / "bin" / "python"
            folder = shutil.copytree(f"{made}/filled", f"{made}/{adapter}")
            command = [own if name else sys.executable, __file__, adapter, "--data", folder]
            command += ["--embedder"] if given.embedder else []
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results.append(json.loads(done.stdout.splitlines()[-1]))
            print(results[-1], file=sys.stderr)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
