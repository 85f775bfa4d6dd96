"""The memory tools at the command line and over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from recollect.settings import Settings
from recollect.tools import SPECS
from tests.command_line import CommandLine
from tests.integration.test_server import problem_of, serving

NAMES = [spec.name for spec in SPECS]


@pytest.fixture
def cli(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> CommandLine:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    return CommandLine(capfdbinary)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings.load({"data_dir": tmp_path, "agents": {"mute": {"enabled": False}}})
    async with serving(settings) as opened:
        yield opened


# --- The command line ----------------------------------------------------------------------------


def test_the_tools_are_listed_for_people_and_for_frameworks(cli: CommandLine):
    assert "保存记忆" in cli("tools", "list", "--language", "zh").out
    listed = cli("tools", "list", "--json").json["items"]
    assert [it["name"] for it in listed] == NAMES
    openai = cli("tools", "list", "--format", "openai").json
    assert [it["function"]["name"] for it in openai] == NAMES
    anthropic = cli("tools", "list", "--format", "anthropic", "--language", "zh").json
    assert anthropic[1]["description"] == "搜索长期记忆和过往对话中的相关信息。"
    assert "call" in cli("tools").out


def test_a_tool_is_called_with_json(cli: CommandLine):
    given = '{"action": "create", "name": "茶", "type": "user", "content": "安妮喜欢喝绿茶"}'
    saved = cli("tools", "call", "memory_save", "--json", given).json
    assert saved["status"] == "created"
    (found,) = cli("tools", "call", "memory_recall", '{"query": "安妮喜欢什么茶"}').json
    assert (found["id"], found["content"]) == (saved["id"], "安妮喜欢喝绿茶")
    as_object = cli("tools", "call", "memory_recall", '{"query": "绿茶"}', "--json").json
    assert as_object["items"][0]["id"] == saved["id"]
    pad = cli("tools", "call", "scratchpad_update", '{"current_goal": "g"}', "--session", "s")
    assert pad.json["current_goal"] == "g"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("memory_dance",), "unknown_tool"),
        (("memory_recall",), "missing_field"),
        (("memory_recall", "{"), "invalid_json"),
        (("memory_delete", '{"id": "mem_1"}'), "not_found"),
        (("load_tool_history", '{"uuid": "arc_1"}'), "unknown_archive"),
        (("scratchpad_update", "{}"), "no_session"),
    ],
)
def test_a_bad_call_is_told_as_by_every_command(
    cli: CommandLine, arguments: tuple[str, ...], code: str
):
    told = cli("tools", "call", *arguments, "--json")
    assert told.status > 0
    assert told.error["code"] == code


def test_an_agent_without_memory_has_no_tools_there(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_AGENTS__mute__ENABLED", "false")
    assert cli("tools", "list", "--agent", "mute", "--json").json["items"] == []
    assert "disabled" in cli("tools", "list", "--agent", "mute").out
    called = cli("tools", "call", "memory_recall", '{"query": "a"}', "--agent", "mute", "--json")
    assert called.error["code"] == "unknown_tool"
    assert "disabled" in called.error["hint"]


# --- HTTP ----------------------------------------------------------------------------------------


async def test_the_tools_are_published_in_both_languages(client: httpx.AsyncClient):
    listed = (await client.get("/v1/tools", params={"language": "zh"})).json()["items"]
    assert [it["name"] for it in listed] == NAMES
    assert listed[0]["title"] == "保存记忆"
    openai = (await client.get("/v1/tools", params={"format": "openai"})).json()["items"]
    assert openai[0]["function"]["description"].startswith("Store, update or delete")
    anthropic = (await client.get("/v1/tools", params={"format": "anthropic"})).json()["items"]
    assert anthropic[0].keys() == {"name", "description", "input_schema"}
    assert (await client.get("/v1/tools", params={"agent": "mute"})).json() == {"items": []}
    refused = await client.get("/v1/tools", params={"language": "fr"})
    assert problem_of(refused) == (422, "unknown_value")


@pytest.mark.parametrize(
    ("content", "query"),
    [("Ann drinks green tea", "Ann tea"), ("安妮喜欢喝绿茶", "安妮喝什么茶")],
    ids=["en", "zh"],
)
async def test_tools_are_called_over_http(client: httpx.AsyncClient, content: str, query: str):
    scope = {"agent": "helper", "user": "ann"}
    given = {"action": "create", "name": "tea", "type": "user", "content": content}
    saved = (await client.post("/v1/tools/memory_save", json=given, params=scope)).json()
    (found,) = (
        await client.post("/v1/tools/memory_recall", json={"query": query}, params=scope)
    ).json()["result"]
    assert found["id"] == saved["result"]["id"]
    others = {"agent": "helper", "user": "bob"}
    answer = await client.post("/v1/tools/memory_recall", json={"query": query}, params=others)
    assert answer.json() == {"result": []}


async def test_a_scratchpad_is_kept_for_the_session_that_is_named(client: httpx.AsyncClient):
    where = {"session": "monday"}
    await client.post("/v1/tools/scratchpad_update", json={"current_goal": "g"}, params=where)
    added = await client.post("/v1/tools/scratchpad_update", json={"blockers": ["b"]}, params=where)
    assert added.json()["result"]["current_goal"] == "g"
    refused = await client.post("/v1/tools/scratchpad_update", json={"current_goal": "g"})
    assert problem_of(refused) == (422, "no_session")


@pytest.mark.parametrize(
    ("tool", "body", "expected"),
    [
        ("memory_dance", {}, (404, "unknown_tool")),
        ("memory_recall", {}, (422, "missing_field")),
        ("memory_recall", {"query": "a", "user": "bob"}, (422, "unknown_field")),
        ("memory_search", {"query": "a", "namespace": "x_memories/bob"}, (403, "not_allowed")),
        ("memory_delete", {"id": "mem_1"}, (404, "not_found")),
        ("memory_recall", [], (422, "wrong_type")),
    ],
)
async def test_a_bad_call_is_a_problem(
    client: httpx.AsyncClient, tool: str, body: object, expected: tuple[int, str]
):
    assert problem_of(await client.post(f"/v1/tools/{tool}", json=body)) == expected
