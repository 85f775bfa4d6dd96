"""MCP with a real client: over stdio with the command, over HTTP with the server."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, TextResourceContents

from recollect import Memory
from recollect.domain.memory_tools import MEMORY_TOOLS, READING_TOOLS
from recollect.mcp.server import ANNOTATIONS
from recollect.settings import Settings
from tests.adapters.running import check_stories, run_example
from tests.database_servers import storage_of
from tests.processes import RECOLLECT
from tests.serving import served


def text_of(result: CallToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, TextContent)
    return part.text


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return json.loads(text_of(result))


def command(folder: Path, *arguments: str, **variables: str) -> StdioServerParameters:
    """What a client's configuration says: a command and its environment."""
    storage = storage_of(folder / "memory" / "memory.db")
    place = {f"RECOLLECT_STORAGE__{name.upper()}": where for name, where in storage.items()}
    return StdioServerParameters(
        command=RECOLLECT[0],
        args=[*RECOLLECT[1:], "mcp", *arguments],
        env={**os.environ, "RECOLLECT_DATA_DIR": str(folder), **place, **variables},
    )


@asynccontextmanager
async def over_http(folder: Path, where: str = "/mcp") -> AsyncIterator[Client]:
    async with served(folder / "memory.db") as address, Client(f"{address}{where}") as client:
        yield client


async def test_a_client_that_starts_the_command_remembers_across_two_runs(tmp_path: Path):
    async with Client(command(tmp_path, RECOLLECT_SCOPE__USER="ann")) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == list(MEMORY_TOOLS)
        saved = await call(client, "memory_save", content="Ann drinks green tea", type="user")
        # A spelling with a dot is the same tool; the scratchpad lives as long as the process.
        (found,) = await call(client, "memory.recall", query="which tea does Ann drink?")
        assert found["id"] == saved["id"]
        pad = await call(client, "scratchpad_update", current_goal="brew")
        assert pad["current_goal"] == "brew"
    async with Client(command(tmp_path, "--user", "ann", "--language", "zh")) as client:
        assert client.instructions is not None
        assert "记忆系统" in client.instructions
        assert "不会自动召回" in client.instructions
        (found,) = await call(client, "memory_recall", query="Ann tea")
        assert found["content"] == "Ann drinks green tea"
    async with Client(command(tmp_path, "--user", "bob")) as client:
        assert await call(client, "memory_recall", query="Ann tea") == []


async def test_every_tool_says_what_it_may_do(tmp_path: Path):
    assert list(ANNOTATIONS) == list(MEMORY_TOOLS)
    async with over_http(tmp_path, "/mcp?user=ann&session=desk") as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(listed) == set(MEMORY_TOOLS)
    for tool in listed.values():
        assert tool.title
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert not {"user", "agent", "workspace", "org"} & set(tool.input_schema["properties"])
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
    # A server cannot add to a prompt: the model must ask.
    assert "Nothing is recalled by itself" in str(listed["memory_recall"].description)
    reading = {name for name, tool in listed.items() if tool.annotations.read_only_hint}
    assert reading == {
        "memory_recall",
        "memory_profile",
        "memory_search",
        "memory_summarize",
        "memory_route",
        "load_tool_history",
        "knowledge_search",
    }


async def test_over_http_the_address_says_whose_memory_it_is(tmp_path: Path):
    async with served(tmp_path / "memory.db") as address:
        async with Client(f"{address}/mcp?user=ann") as ann:
            await call(ann, "memory_save", content="Ann's door code is 4711")
            # No argument of a model chooses another user.
            spoofed = await ann.call_tool("memory_recall", {"query": "door code", "user": "bob"})
            assert spoofed.is_error
            assert json.loads(text_of(spoofed))["error"]["code"] == "unknown_field"
            scratchpad = await ann.call_tool("scratchpad_update", {"current_goal": "g"})
            assert json.loads(text_of(scratchpad))["error"]["code"] == "no_session"
            assert "scratchpad_update" not in {it.name for it in (await ann.list_tools()).tools}
        async with Client(f"{address}/mcp?user=bob") as bob:
            assert await call(bob, "memory_recall", query="door code 4711") == []
        async with Client(f"{address}/mcp?user=ann", mode="legacy") as earlier:
            (found,) = await call(earlier, "memory_recall", query="door code")
            assert found["content"] == "Ann's door code is 4711"
        async with httpx.AsyncClient(base_url=address) as plain:
            mistyped = await plain.post("/mcp?user_id=ann", json={})
            assert (mistyped.status_code, mistyped.json()["code"]) == (422, "unknown_field")
            assert (await plain.get("/mcp")).status_code == 405


@asynccontextmanager
async def with_key(address: str, key: str) -> AsyncIterator[Client]:
    """A client that sends a key of the server with every request."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def test_with_keys_a_client_does_what_its_role_and_scope_allow(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        bound = {"users": ["ann"], "workspaces": ["default"]}
        writer = (await memory.keys.create("writer", role="writer", **bound)).secret
        reader = (await memory.keys.create("reader", role="reader", **bound)).secret
        await memory.scope(user="bob").remember("Bob's door code is 1234")
    async with served(tmp_path / "memory.db") as address:
        anns, bobs = f"{address}/mcp?user=ann", f"{address}/mcp?user=bob"
        async with with_key(anns, writer) as client:
            await call(client, "memory_save", content="Ann's door code is 4711")
        async with with_key(anns, reader) as client:
            shown = {it.name for it in (await client.list_tools()).tools}
            assert shown == READING_TOOLS
            (found,) = await call(client, "memory_recall", query="door code")
            assert found["content"] == "Ann's door code is 4711"
            (part,) = (await client.read_resource("memory://context")).contents
            assert "4711" in part.text
            for tool in ("memory_save", "memory.save"):
                refused = await client.call_tool(tool, {"content": "Ann moved"})
                assert json.loads(text_of(refused))["error"]["code"] == "role_too_low"
        # A foreign scope, no key and a wrong key get no answer at all.
        for where, key, status in ((bobs, writer, 403), (anns, "", 401), (anns, "rk_no", 401)):
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            async with httpx.AsyncClient(headers=headers) as plain:
                assert (await plain.post(where, json={})).status_code == status
            with pytest.raises(BaseException):  # noqa: B017, PT011
                async with with_key(where, key) as client:
                    await client.list_tools()
    async with Memory.open(tmp_path / "memory.db") as memory:
        kept = [it.content for it in (await memory.scope(user="ann").list()).items]
        assert kept == ["Ann's door code is 4711"]


async def test_resources_show_what_is_known_and_single_records(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        ann = memory.scope(user="ann")
        records = await ann.remember_many(f"Fact number {n} about the harbour" for n in range(60))
        await memory.scope(user="bob").remember("Bob keeps bees")
    async with over_http(tmp_path, "/mcp?user=ann") as client:
        first = await client.list_resources()
        standing = ["memory://profile", "memory://context"]
        assert [it.uri for it in first.resources][:2] == standing
        second = await client.list_resources(cursor=first.next_cursor)
        uris = {it.uri for it in (*first.resources, *second.resources)}
        assert uris == {*standing, *(f"memory://records/{it.id}" for it in records)}
        assert second.next_cursor is None

        async def read(uri: str) -> str:
            (part,) = (await client.read_resource(uri)).contents
            assert isinstance(part, TextResourceContents)
            return part.text

        known = await read("memory://context")
        assert known.startswith("<memory>")
        assert known.count("about the harbour") == 20
        assert "Bob" not in known
        about = await read("memory://context/harbour%20number%2042")
        assert "Fact number 42" in about
        assert json.loads(await read(f"memory://records/{records[0].id}"))["id"] == records[0].id
        for unknown in ("memory://records/mem_1", "memory://nowhere", "file:///etc/passwd"):
            with pytest.raises(MCPError) as refused:
                await read(unknown)
            assert refused.value.data["uri"] == unknown


async def test_prompts_bring_what_is_remembered(tmp_path: Path):
    async with over_http(tmp_path, "/mcp?user=ann&language=zh") as client:
        await call(client, "memory_save", content="安妮喜欢喝绿茶", type="user")
        prompts = {it.name: it for it in (await client.list_prompts()).prompts}
        assert all(it.description for it in prompts.values())
        answered = await client.get_prompt("recall", {"question": "安妮喜欢什么茶？"})
        (message,) = answered.messages
        assert isinstance(message.content, TextContent)
        assert "安妮喜欢喝绿茶" in message.content.text
        assert message.content.text.endswith("安妮喜欢什么茶？")
        for name in ("remember_conversation", "memory_guide"):
            (message,) = (await client.get_prompt(name)).messages
            assert "memory_save" in message.content.text
        for name, arguments in (("recall", {}), ("nothing", {})):
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)


async def test_an_agent_without_memory_has_no_tools(tmp_path: Path):
    settings = Settings.load({"data_dir": tmp_path, "agents": {"mute": {"enabled": False}}})
    async with served(settings) as address, Client(f"{address}/mcp?agent=mute") as client:
        assert (await client.list_tools()).tools == []
        refused = await client.call_tool("memory_save", {"content": "x"})
        assert json.loads(text_of(refused))["error"]["code"] == "unknown_tool"


async def test_the_snippets_in_the_documentation_reach_a_server(tmp_path: Path):
    told: list[dict[str, Any]] = []
    for page in ("mcp.md", "mcp.zh-CN.md"):
        text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
        for snippet in re.findall(r"```json\n(.*?)```", text, flags=re.DOTALL):
            servers = json.loads(snippet)
            told.append(servers.get("mcpServers", servers.get("servers"))["recollect"])
    started = [it for it in told if "command" in it]
    assert {(it["command"], it["args"][0]) for it in started} == {("recollect", "mcp")}
    assert [it["env"] for it in started] == [{"RECOLLECT_SCOPE__USER": "ann"}] * 4
    last = started[-1]
    async with Client(command(tmp_path, *last["args"][1:], **last["env"])) as client:
        listed = {tool.name: tool.title for tool in (await client.list_tools()).tools}
        await call(client, "memory_save", content="安妮喜欢喝绿茶")
    assert listed["memory_save"] == "保存记忆"
    addressed = [it for it in told if "url" in it]
    assert len(addressed) == 4
    assert all(it["headers"]["Authorization"].startswith("Bearer ") for it in addressed)
    (address,) = {it["url"] for it in addressed}
    # Both reach the same memory.
    settings = Settings.load({"data_dir": tmp_path})
    async with (
        served(settings) as base,
        Client(address.replace("http://127.0.0.1:7077", base)) as client,
    ):
        (found,) = await call(client, "memory_recall", query="绿茶")
        assert found["content"] == "安妮喜欢喝绿茶"


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # It starts `recollect`, which lies beside the interpreter.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    check_stories(run_example("mcp_client.py", tmp_path), ("remembered",))
