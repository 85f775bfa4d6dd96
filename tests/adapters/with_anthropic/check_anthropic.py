"""Anthropic's client with a fake of its service: the memory tool and the middleware."""

import asyncio
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic, beta_tool

from recollect import Memory
from recollect.adapters.anthropic import (
    AsyncRecollectMemoryTool,
    RecollectMemoryTool,
    RecollectMiddleware,
)
from recollect.sync import Memory as BlockingMemory

_LONG = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(2_000))


class FakeService:
    """Answers as told, and keeps what it was sent."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.sent: list[dict[str, Any]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(json.loads(request.content))
        answer = self._answers.pop(0)
        if isinstance(answer, int):
            return httpx2.Response(answer, json={"type": "error", "error": {"message": "busy"}})
        blocks = [{"type": "text", "text": answer}] if isinstance(answer, str) else [answer]
        message = {
            "id": f"msg_{len(self.sent)}",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": blocks,
            "stop_reason": "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    def client(self, *middleware: Any) -> Anthropic:
        http = httpx2.Client(transport=httpx2.MockTransport(self))
        return Anthropic(api_key="k", http_client=http, middleware=middleware)


def using(**command: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t-{command['command']}", "name": "memory", "input": command}


def calling(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t-{name}", "name": name, "input": arguments}


@pytest.fixture
def ann(tmp_path: Path) -> Iterator[BlockingMemory]:
    with BlockingMemory.open(tmp_path / "memory.db") as memory:
        yield memory.scope(user="ann")


def test_the_memory_tool_keeps_files_and_tells_the_model_its_mistakes(ann: BlockingMemory):
    path = "/memories/ann.md"
    service = FakeService(
        using(command="create", path=path, file_text="Ann wants metric units\n"),
        using(command="insert", path=path, insert_line=1, insert_text="and green tea"),
        using(command="view", path="/memories/../etc/passwd"),
        "Done.",
    )
    runner = service.client().beta.messages.tool_runner(
        model="claude",
        max_tokens=100,
        messages=[{"role": "user", "content": "Remember what I like"}],
        tools=[RecollectMemoryTool(ann)],
    )
    assert runner.until_done().content[0].text == "Done."
    assert service.sent[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    (refused,) = service.sent[-1]["messages"][-1]["content"]
    assert refused["is_error"]
    assert "would escape" in str(refused["content"])
    # The files are items: they come back in another run, are found, and belong to Ann alone.
    files = RecollectMemoryTool(ann)
    listing = files.call({"command": "view", "path": "/memories"})
    assert listing.splitlines()[1:] == ["37B\t/memories", "37B\t/memories/ann.md"]
    (hit,) = ann.items.search(("anthropic-memory",), query="green tea")
    assert hit.item.value["text"] == "Ann wants metric units\nand green tea\n"


async def test_changes_side_by_side_all_arrive(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        tool = AsyncRecollectMemoryTool(memory)
        path = "/memories/list.txt"
        await tool.call({"command": "create", "path": path, "file_text": ""})
        line = {"command": "insert", "path": path, "insert_line": 0}
        await asyncio.gather(*(tool.call({**line, "insert_text": str(n)}) for n in range(20)))
        texts = await tool.files.texts()
        assert len(texts["list.txt"].split()) == 20


@pytest.mark.parametrize("system", ["Be brief.", [{"type": "text", "text": "Be brief."}]])
def test_every_call_is_told_what_is_remembered_and_the_list_stays(ann: BlockingMemory, system: Any):
    ann.remember("Ann wants metric units")
    memory = RecollectMiddleware(ann, session="monday")
    service = FakeService(529, "Metric.")
    messages: list[Any] = [{"role": "user", "content": "Which units does Ann want?"}]
    client = service.client(memory).with_options(max_retries=1)
    answer = client.messages.create(model="claude", max_tokens=9, system=system, messages=messages)
    assert answer.content[0].text == "Metric."
    assert messages == [{"role": "user", "content": "Which units does Ann want?"}]
    # The first attempt failed; the second was sent the same, and nothing was taken over twice.
    first, second = service.sent
    assert first == second
    told = str(second["system"])
    assert told.index("Be brief.") < told.index("Ann wants metric units")
    assert isinstance(second["system"], type(system))
    memory.leave()
    spoken = [it.content for it in ann.turns(session="monday").items]
    assert spoken == ["Which units does Ann want?", "Metric."]


def test_a_long_chat_is_compressed_and_results_follow_their_calls(ann: BlockingMemory):
    messages: list[Any] = []
    for number in range(40):
        use = {"type": "tool_use", "id": f"t{number}", "name": "fetch", "input": {}}
        thought = {"type": "thinking", "thinking": "Hm.", "signature": f"sig{number}"}
        done = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"It is {number}"}
        messages += [
            {"role": "user", "content": f"Question {number}"},
            {"role": "assistant", "content": [thought, use]},
            {"role": "user", "content": [done]},
            {"role": "assistant", "content": f"So it is {number}."},
        ]
    messages.append({"role": "user", "content": "Are you there?"})
    service = FakeService("Yes.")
    memory = RecollectMiddleware(ann, session="s", context_tokens=3_000)
    service.client(memory).messages.create(model="claude", max_tokens=9, messages=messages)
    sent = service.sent[0]["messages"]
    assert len(sent) < len(messages) / 2
    for before, after in pairwise(sent):
        assert before["role"] != after["role"]
        if isinstance(after["content"], list) and after["content"][0]["type"] == "tool_result":
            thought, use = before["content"]
            assert use["id"] == after["content"][0]["tool_use_id"]
            assert thought["signature"] == use["id"].replace("t", "sig")


@pytest.mark.parametrize("thread", [False, None])
def test_the_tool_runner_is_told_and_observed_in_a_thread_too(
    ann: BlockingMemory, thread: Literal[False] | None
):
    @beta_tool
    def fetch() -> str:
        """Fetch a report."""
        return _LONG

    ann.remember("Ann wants metric units")
    memory = RecollectMiddleware(ann, session="monday")
    service = FakeService(calling("fetch"), "It has 2000 rows.", "Metric.")
    client = service.client(memory)
    options: Any = {"model": "claude", "max_tokens": 9, "system": "Be brief.", "tools": [fetch]}
    said: Any = [{"role": "user", "content": "Fetch it in the units that Ann wants"}]
    runner = client.beta.messages.tool_runner(messages=said, thread=thread, **options)
    assert runner.until_done().content[0].text == "It has 2000 rows."
    first, second = service.sent
    assert "metric units" in str(first["system"])
    # These are not the tools that the guide speaks of.
    assert "memory_save" not in str(first)
    # A thread's system prompt is the one it began with, and only what is new is sent.
    is_threaded = thread is None
    assert ("system" in second) is not is_threaded
    assert len(second["messages"]) == (1 if is_threaded else 3)
    assert len(str(second["messages"])) < len(_LONG) / 4
    memory.leave()
    roles = [it.role for it in ann.turns(session="monday").items]
    assert roles == ["user", "assistant", "tool", "assistant"]


def test_what_a_user_adds_to_a_thread_is_told_what_is_remembered(ann: BlockingMemory):
    ann.remember("Ann wants metric units")
    memory = RecollectMiddleware(ann, session="monday")
    service = FakeService("Hello.", "Metric.")
    thread = service.client(memory).beta.messages.thread(model="claude", max_tokens=9)
    thread.send({"role": "user", "content": "Hi there"})
    thread.send({"role": "user", "content": "Which units does Ann want?"})
    (asked,) = service.sent[1]["messages"]
    assert asked["content"][0]["text"] == "Which units does Ann want?"
    assert "metric units" in asked["content"][1]["text"]
    memory.leave()
    spoken = [it.content for it in ann.turns(session="monday").items]
    assert spoken == ["Hi there", "Hello.", "Which units does Ann want?", "Metric."]


async def test_a_closed_memory_stops_no_call(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        pass
    middleware = RecollectMiddleware(memory, session="s")
    service = FakeService("Still here.")
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(service))
    client = AsyncAnthropic(api_key="k", http_client=http, middleware=[middleware])
    messages: list[Any] = [{"role": "user", "content": "Are you there?"}]
    answer = await client.messages.create(model="claude", max_tokens=9, messages=messages)
    assert answer.content[0].text == "Still here."
    assert service.sent[0]["messages"] == messages
    await middleware.aleave()
    assert middleware.degraded
