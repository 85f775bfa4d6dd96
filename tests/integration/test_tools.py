"""The memory tools as a model calls them, on a real database, in both languages."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import recollect.sync
from recollect import Memory
from recollect.domain.meter import figures_of
from recollect.domain.turn import Turn
from recollect.errors import NotFound
from recollect.settings import Settings
from recollect.tools import Toolbox
from recollect.writing.plain_reader import PlainReader
from recollect.writing.reader_extraction import ReaderExtractor
from tests.chat_server import chat_server, openai_text
from tests.chat_server import refusal as server_error
from tests.conftest import TurnedClock
from tests.fakes import FakeJudge
from tests.integration.archive_texts import manual
from tests.services import services

TEA = "Ann drinks green tea in the morning"
CHINESE_TEA = "安妮早上喝绿茶"


@pytest.fixture
def ann(memory: Memory) -> Memory:
    return memory.scope(agent="helper", user="ann")


@pytest.fixture
def tools(ann: Memory) -> Toolbox:
    return ann.tools(session="monday")


async def told(tools: Toolbox, tool: str, /, **arguments: Any) -> Any:
    return json.loads(await tools.call(tool, arguments))


async def refusal(tools: Toolbox, tool: str, /, **arguments: Any) -> str:
    error = (await told(tools, tool, **arguments))["error"]
    assert error.keys() == {"code", "message", "hint"}
    assert error["message"]
    return error["code"]


async def saved(tools: Toolbox, content: str = TEA, **more: Any) -> str:
    given = {"action": "create", "name": "tea", "type": "user", **more}
    answer = await told(tools, "memory_save", content=content, **given)
    assert answer.keys() == {"id", "status"}
    assert answer["status"] == "created"
    return answer["id"]


async def contents(memory: Memory) -> list[str]:
    return sorted(record.content for record in await memory.list())


# --- memory_save and memory_recall ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "content", "question", "age"),
    [
        ("en", TEA, "What does Ann drink?", "3 days ago"),
        ("zh", CHINESE_TEA, "安妮喝什么？", "3天前"),
    ],
)
async def test_what_is_saved_comes_back_with_its_type_name_score_and_age(
    ann: Memory, clock: TurnedClock, language: Any, content: str, question: str, age: str
):
    tools = ann.tools(language)
    saved_as = await saved(tools, content, description="drinks")
    clock.turn(days=3)
    (found,) = await told(tools, "memory_recall", query=question)
    score = found.pop("score")
    assert 0.3 <= score <= 1
    assert found == {"id": saved_as, "type": "user", "name": "tea", "content": content, "age": age}


async def test_only_the_wanted_type_and_number_are_recalled(tools: Toolbox):
    await saved(tools, "Ann drinks green tea")
    await saved(tools, "Ann drinks tea at stand-ups", type="project")
    (found,) = await told(tools, "memory_recall", query="Ann drinks tea", type="project")
    assert found["type"] == "project"
    assert len(await told(tools, "memory_recall", query="Ann drinks tea", limit=1)) == 1
    assert await told(tools, "memory_recall", query="quantum chromodynamics") == []


async def test_what_was_said_is_recalled_too(ann: Memory, tools: Toolbox):
    await ann.observe([{"role": "user", "content": "The staging password hint is 'heron'"}])
    (found,) = await told(tools, "memory_recall", query="staging password hint")
    assert (found["type"], found["name"]) == ("turn", "user")


async def test_a_memory_is_updated_and_deleted_by_its_id(ann: Memory, tools: Toolbox):
    it = await saved(tools)
    answer = await told(
        *(tools, "memory_save"),
        action="update",
        name="coffee",
        type="user",
        id=it,
        content="Ann drinks coffee now",
    )
    assert answer == {"id": it, "status": "updated"}
    record = await ann.get(it)
    assert (record.title, record.content) == ("coffee", "Ann drinks coffee now")
    assert len(await ann.history(it)) == 2
    gone = {"action": "delete", "name": "coffee", "type": "user", "id": it}
    assert await told(tools, "memory_save", **gone) == {"id": it, "status": "deleted"}
    assert await contents(ann) == []
    assert await refusal(tools, "memory_save", **gone) == "deleted"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "missing_field"),
        ({"action": "create"}, "missing_field"),
        ({"action": "create", "content": " "}, "empty_text"),
        ({"action": "update", "content": "x"}, "missing_field"),
        ({"action": "delete"}, "missing_field"),
        ({"action": "update", "content": "x", "id": "mem_unknown"}, "not_found"),
        ({"action": "delete", "id": "mem_unknown"}, "not_found"),
    ],
)
async def test_a_save_that_cannot_be_changes_nothing(
    ann: Memory, tools: Toolbox, given: dict[str, Any], code: str
):
    await saved(tools)
    assert await refusal(tools, "memory_save", name="n", type="user", **given) == code
    assert await contents(ann) == [TEA]


@pytest.mark.parametrize(
    ("content", "type"),
    [
        ("User prefers window seats on trains", "user"),
        ("用户喜欢靠窗的座位", "user"),
        ("The wiki is at https://wiki.example.org/start", "reference"),
        ("The orders service runs on PostgreSQL 16", "project"),
    ],
)
async def test_a_text_alone_is_enough_to_be_saved(tools: Toolbox, content: str, type: str):
    answer = await told(tools, "memory_save", content=content)
    assert answer["status"] == "created"
    (found,) = await told(tools, "memory_recall", query=content)
    assert (found["id"], found["type"], found["content"]) == (answer["id"], type, content)


async def test_a_text_with_an_id_changes_that_memory(ann: Memory, tools: Toolbox):
    it = await saved(tools)
    answer = await told(tools, "memory_save", content="Ann drinks coffee now", id=it)
    assert answer == {"id": it, "status": "updated"}
    assert (await ann.get(it)).title == "tea"
    assert await contents(ann) == ["Ann drinks coffee now"]


async def test_a_long_memory_is_shown_by_the_passage_that_matters(ann: Memory, tools: Toolbox):
    await ann.remember(manual("en", 30_000) + "\n\nThe vault opens with heron-42.\n")
    (found,) = await told(tools, "memory_recall", query="what does the vault open with?")
    assert "heron-42" in found["content"]
    assert len(found["content"]) < 2_500
    assert found["content"].endswith(" …")


# --- The six tools of S4 -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "query"), [(TEA, "Ann green tea"), (CHINESE_TEA, "安妮 绿茶")], ids=["en", "zh"]
)
async def test_what_is_written_is_searched_with_its_metadata(
    ann: Memory, tools: Toolbox, clock: TurnedClock, content: str, query: str
):
    metadata = {"type": "domain-facts", "tags": ["drinks"], "source": "analysis", "origin": "S4"}
    answer = await told(tools, "memory_write", content=content, metadata={**metadata, "ttl": 3600})
    assert answer.keys() == {"id", "status"}
    assert answer["status"] == "created"
    (found,) = await told(tools, "memory_search", query=query)
    assert found.keys() == {"id", "content", "metadata", "score"}
    assert (found["id"], found["content"]) == (answer["id"], content)
    assert metadata.items() <= found["metadata"].items()
    record = await ann.get(answer["id"])
    assert (record.category, record.tags, record.session) == (
        *("domain-facts", ("drinks",)),
        "monday",
    )
    clock.turn(hours=2)
    assert await told(tools, "memory_search", query=query) == []


@pytest.mark.parametrize(
    ("content", "later", "kind"),
    [
        ("I prefer green tea", "I prefer black tea", "preference"),
        ("我喜欢喝绿茶", "我现在喜欢喝红茶", "preference"),
    ],
    ids=["en", "zh"],
)
async def test_what_is_written_again_is_merged_and_what_changed_gets_a_version(
    ann: Memory,
    tools: Toolbox,
    clock: TurnedClock,
    judge: FakeJudge,
    content: str,
    later: str,
    kind: str,
):
    judge.knows(content, later, "update", is_sure=True)
    given = {"metadata": {"type": kind}}
    first = await told(tools, "memory_write", content=content, **given)
    clock.turn(days=1)
    again = await told(tools, "memory_write", content=content, **given)
    assert (again["id"], again["status"]) == (first["id"], "merged")
    clock.turn(days=1)
    changed = await told(tools, "memory_write", content=later, **given)
    assert (changed["id"], changed["status"]) == (first["id"], "versioned")
    assert await contents(ann) == [later]
    assert (
        await refusal(tools, "memory_write", content="x", metadata={"strategy": "guess"})
        == "unknown_value"
    )


async def test_a_search_keeps_to_its_limits(tools: Toolbox):
    for number in range(7):
        await saved(tools, f"Ann drank tea number {number} in week {number}", name=f"tea {number}")
    assert len(await told(tools, "memory_search", query="Ann drank tea", min_score=0)) == 5
    assert len(await told(tools, "memory_search", query="Ann drank tea", top_k=2)) == 2
    assert await told(tools, "memory_search", query="Ann drank tea", min_score=1) == []


# Whose words they are stays known, whatever the model says.
_BY_MODEL = {"written_by": "model"}


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (None, "The port is 9090."),
        ("overwrite", "The port is 9090."),
        ("append", "The port is 8080. The port is 9090."),
        ("summarise", "The port is 9090."),
    ],
)
async def test_an_update_merges_as_it_is_told(
    ann: Memory, tools: Toolbox, judge: FakeJudge, strategy: str | None, expected: str
):
    judge.knows("The port is 8080.", "The port is 9090.", "update")
    it = (await ann.remember("The port is 8080.", tags=["ops"], metadata={"a": 1})).id
    metadata: dict[str, Any] = {"b": 2, "tags": ["net"]}
    if strategy is not None:
        metadata["strategy"] = strategy
    answer = await told(
        tools, "memory_update", id=it, content="The port is 9090.", metadata=metadata
    )
    assert answer == {"id": it, "status": "updated"}
    record = await ann.get(it)
    assert record.content == expected
    assert (record.tags, record.metadata) == (("ops", "net"), {"a": 1, "b": 2, **_BY_MODEL})


async def test_an_update_without_merging_takes_the_place_of_what_was(ann: Memory, tools: Toolbox):
    it = (await ann.remember("港口是 8080。", tags=["ops"], metadata={"a": 1})).id
    await told(
        *(tools, "memory_update"), id=it, content="端口是 9090。", metadata={"b": 2}, merge=False
    )
    record = await ann.get(it)
    assert (record.content, record.metadata) == ("端口是 9090。", {"b": 2, **_BY_MODEL})
    await told(tools, "memory_update", id=it, metadata={}, merge=False)
    assert (await ann.get(it)).metadata == _BY_MODEL


async def test_a_course_of_events_grows_unless_it_is_told_otherwise(ann: Memory, tools: Toolbox):
    it = (await ann.remember("导出了报表。", category="task-traces")).id
    await told(tools, "memory_update", id=it, content="发给了王芳。")
    assert (await ann.get(it)).content == "导出了报表。发给了王芳。"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "missing_field"),
        ({"content": ""}, "empty_text"),
        ({"metadata": {"strategy": "guess"}}, "unknown_value"),
        ({"metadata": {"ttl": -1}}, "out_of_range"),
        ({"metadata": {"ttl": "soon"}}, "out_of_range"),
        ({"metadata": {"tags": "one"}}, "wrong_type"),
        ({"metadata": {"importance": 7}}, "out_of_range"),
    ],
)
async def test_an_update_that_cannot_be_changes_nothing(
    ann: Memory, tools: Toolbox, given: dict[str, Any], code: str
):
    it = await saved(tools)
    assert await refusal(tools, "memory_update", id=it, **given) == code
    assert len(await ann.history(it)) == 1


async def test_deleting_by_id_and_by_conditions(ann: Memory, tools: Toolbox):
    for number in range(3):
        await ann.remember(f"draft {number}", tags=["draft"])
    kept = await saved(tools)
    drafts = {"tags": ["draft"]}
    assert await told(tools, "memory_delete", filters=drafts, dry_run=True) == {"deleted": 3}
    assert len(await contents(ann)) == 4
    assert await told(tools, "memory_delete", filters=drafts) == {"deleted": 3}
    assert await contents(ann) == [TEA]
    assert await told(tools, "memory_delete", id=kept, dry_run=True) == {"deleted": 1}
    assert await told(tools, "memory_delete", id=kept) == {"deleted": 1}
    assert await contents(ann) == []
    assert (await ann.undo(kept)).content == TEA


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "missing_field"),
        ({"id": "mem_1", "filters": {"tags": ["a"]}}, "missing_field"),
        ({"filters": {}}, "empty_filters"),
        ({"filters": {"tags": []}}, "empty_filters"),
        ({"id": "mem_unknown"}, "not_found"),
        ({"id": "mem_unknown", "dry_run": True}, "not_found"),
    ],
)
async def test_a_deletion_that_cannot_be_deletes_nothing(
    ann: Memory, tools: Toolbox, given: dict[str, Any], code: str
):
    await saved(tools)
    assert await refusal(tools, "memory_delete", **given) == code
    assert await contents(ann) == [TEA]


@pytest.mark.parametrize(
    ("texts", "goal", "kept"),
    [
        (
            ["The launch is on 12 June. The weather was fine.", "Wang Fang owns the launch."],
            "plan the launch",
            ("12 June", "Wang Fang"),
        ),
        (["上线定在6月12日。今天天气不错。", "上线由王芳负责。"], "安排上线", ("6月12日", "王芳")),
    ],
    ids=["en", "zh"],
)
async def test_memories_and_texts_are_summarised_without_a_model(
    ann: Memory, tools: Toolbox, texts: list[str], goal: str, kept: tuple[str, ...]
):
    first = (await ann.remember(texts[0])).id
    answer = await told(tools, "memory_summarize", items=[first, *texts[1:]], goal=goal)
    assert answer.keys() == {"summary"}
    assert all(word in answer["summary"] for word in kept)


async def test_of_much_text_the_summary_keeps_what_the_goal_is_about(tools: Toolbox):
    items = [manual("en", 8_000), "The vault opens with heron-42. " + manual("en", 8_000)]
    answer = await told(tools, "memory_summarize", items=items, goal="how does the vault open?")
    assert "heron-42" in answer["summary"]
    assert len(answer["summary"]) < 2_000


async def test_what_is_not_active_is_not_summarised(ann: Memory, tools: Toolbox):
    it = await saved(tools)
    await ann.delete(it)
    assert await refusal(tools, "memory_summarize", items=[it], goal="x") == "deleted"
    assert await refusal(tools, "memory_summarize", items=["mem_unknown"], goal="x") == "not_found"
    assert await refusal(tools, "memory_summarize", items=[" "], goal="x") == "empty_text"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The launch is on 12 June; Wang Fang owns it.", "The launch is on 12 June; Wang Fang"),
        ("The launch is on 30 July.", "The launch is on 12 June"),
        ("", "The launch is on 12 June"),
    ],
    ids=["true", "not in the memories", "nothing"],
)
async def test_a_models_summary_is_taken_when_its_numbers_and_names_are_there(
    tmp_path: Path, said: str, expected: str
):
    with chat_server() as server:
        server.answers = [openai_text(said)]
        settings = Settings.load(
            {
                "data_dir": tmp_path,
                "models": {
                    "summarise": "openai:small",
                    "providers": {"openai": {"base_url": f"{server.url}/v1"}},
                    "retries": 0,
                },
            }
        )
        async with Memory.open(settings) as memory:
            items = ["The launch is on 12 June.", "Wang Fang owns the launch."]
            answer = await told(memory.tools(), "memory_summarize", items=items, goal="plan")
    assert answer["summary"].startswith(expected)


@pytest.mark.parametrize(
    ("message", "policy", "expected"),
    [
        ("记住，我喜欢喝绿茶", "default", (False, True, ["user-profile"])),
        ("Remember that I prefer green tea", "auto", (False, True, ["user-profile"])),
        ("Remember that I prefer green tea", "off", (False, False, [])),
        ("上次我们决定用什么数据库？", "default", (True, False, None)),
        ("按我喜欢的格式出报表", "default", (True, False, None)),
        ("照我的习惯整理一下会议纪要", "default", (True, False, None)),
        ("以后都按我喜欢的格式出报表", "default", (False, True, ["user-profile"])),
        ("Write the report the way I like it", "default", (True, False, None)),
        ("Use my preferred format for the report", "default", (True, False, None)),
    ],
)
async def test_a_message_is_routed(tools: Toolbox, message: str, policy: str, expected: Any):
    answer = await told(tools, "memory_route", message=message, policy=policy)
    assert answer.keys() == {"should_read", "should_write", "namespaces", "reason", "by"}
    reads, writes, namespaces = expected
    assert (answer["should_read"], answer["should_write"]) == (reads, writes)
    assert namespaces is None or answer["namespaces"] == namespaces


async def test_a_short_answer_is_routed_with_the_question_before_it(tools: Toolbox):
    alone = await told(tools, "memory_route", message="PDF 格式")
    assert (alone["should_read"], alone["should_write"]) == (False, False)
    answer = await told(
        tools, "memory_route", message="PDF 格式", context="上次我们定的发票格式是什么？"
    )
    assert (answer["should_read"], answer["should_write"]) == (True, False)
    assert answer["namespaces"]


@pytest.mark.parametrize(
    ("content", "question"),
    [
        ("Remember that I prefer green tea", "Which tea do I prefer?"),
        ("We decided to use PostgreSQL for the orders service", "Which database did we decide on?"),
        ("导出的报表存放在 /data/reports/march.csv", "导出的报表在哪里？"),
    ],
)
async def test_where_a_message_is_routed_it_can_be_written_and_searched(
    tools: Toolbox, content: str, question: str
):
    routed = (await told(tools, "memory_route", message=content))["namespaces"]
    assert routed
    for namespace in routed:
        written = await told(
            tools, "memory_write", content=content, namespace=namespace, metadata={}
        )
        (found,) = await told(
            tools, "memory_search", query=question, namespace=namespace, min_score=0.0
        )
        assert found["id"] == written["id"]
    others = {"user-profile", "domain-facts", "task-traces", "tool-effects"} - set(routed)
    for namespace in others - {"domain-facts"}:
        assert await told(tools, "memory_search", query=question, namespace=namespace) == []
    gone = {"namespace": routed[0], "tags": []}
    assert await told(tools, "memory_delete", filters=gone) == {"deleted": 1}


async def test_the_settings_of_recall_hold_for_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_TOP_K", "2")
    monkeypatch.setenv("MEMORY_MIN_SCORE", "0.9")
    monkeypatch.setenv("MEMORY_NAMESPACES", '{"sql": "warehouse"}')
    async with Memory.open(tmp_path) as memory:
        sql = memory.scope(agent="sql", user="ann")
        tools = sql.tools()
        for drink in ("tea", "coffee", "water"):
            await sql.remember(f"Ann drinks {drink} in the morning before work")
        everything = {"query": "Ann drinks in the morning before work", "min_score": 0.0}
        found = await told(tools, "memory_search", **everything)
        assert len(found) == 2
        assert {it["metadata"]["namespace"] for it in found} == {"warehouse/ann"}
        assert len(await told(tools, "memory_search", top_k=3, **everything)) == 3
        assert await told(tools, "memory_search", query="Ann and something else entirely") == []
        named = await told(tools, "memory_search", namespace="warehouse/ann", **everything)
        assert named == found
        assert await refusal(tools, "memory_search", query="x", namespace="warehouse/bob")
        schema = next(it for it in tools.anthropic() if it["name"] == "memory_search")
        properties = schema["input_schema"]["properties"]
        assert (properties["top_k"]["default"], properties["min_score"]["default"]) == (2, 0.9)


async def test_a_model_puts_an_update_together_when_it_is_asked_to_summarise(tmp_path: Path):
    old = "The API limit is 100 requests. Tom is responsible."
    new = "The API limit is 200 requests and resets at noon."
    both = "The API limit is 200 requests and resets at noon; Tom is responsible."
    with chat_server() as server:
        server.answers = [openai_text(both), server_error(503)]
        settings = Settings.load(
            {
                "data_dir": tmp_path,
                "models": {
                    "summarise": "openai:small",
                    "providers": {"openai": {"base_url": f"{server.url}/v1"}},
                    "retries": 0,
                },
            }
        )
        async with Memory.open(settings) as memory:
            tools = memory.tools()
            first, second = [await memory.remember(old), await memory.remember(f"{old} So far.")]
            asked = {"content": new, "metadata": {"strategy": "summarise"}}
            answer = await told(tools, "memory_update", id=first.id, **asked)
            assert answer == {"id": first.id, "status": "updated"}
            assert (await memory.get(first.id)).content == both
            answer = await told(tools, "memory_update", id=second.id, **asked)
            assert answer["degraded"] == "model_unavailable"
            by_rules = (await memory.get(second.id)).content
            assert "200" in by_rules
            assert "Tom" in by_rules


async def test_a_model_proposes_what_all_agents_should_know(memory: Memory):
    tools = memory.scope(agent="helper", user="ann").tools()
    answer = await told(
        *(tools, "memory_propose"),
        content="Ann wants all dates written as 2026-03-01",
        type="preference",
        reason="she said so twice",
    )
    assert answer["status"] == "pending"
    (waiting,) = (await memory.scope(agent="helper", user="ann").shared.proposals()).items
    assert (waiting.id, waiting.reason) == (answer["id"], "she said so twice")
    assert await refusal(tools, "memory_propose", content="x", type="adr") == "wrong_role"


# --- Archived results and the scratchpad ---------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_archived_result_is_loaded_whole_by_a_query_or_by_a_range(
    ann: Memory, tools: Toolbox, language: Any
):
    text = manual(language)
    session = ann.session("monday")
    shown = await session.archive.process_tool_result("search", {"query": "q"}, text, "monday")
    (archive,) = await ann.archives.list()
    assert archive.id in shown
    assert text in await tools.call("load_tool_history", {"uuid": archive.id})
    part = await tools.call("load_tool_history", {"uuid": archive.id, "range": "chars 0-20"})
    assert text[:20] in part
    assert text[:200] not in part
    passages = await tools.call("load_tool_history", {"uuid": archive.id, "query": text[:60]})
    assert 0 < len(passages) < len(text)
    assert await refusal(tools, "load_tool_history", uuid="arc_unknown") == "unknown_archive"
    wrong = {"uuid": archive.id, "range": "from here"}
    assert await refusal(tools, "load_tool_history", **wrong) == "bad_range"


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_knowledge_is_searched_by_passages_of_what_was_put_away(
    memory: Memory, ann: Memory, tools: Toolbox, language: Any
):
    text = manual(language)
    question = text[:60]
    await ann.remember(question)
    assert await told(tools, "knowledge_search", query=question) == []
    await ann.session("monday").archive.process_tool_result("manual", {}, text, "monday")
    await ann.drain()
    found = await told(tools, "knowledge_search", query=question, top_k=1)
    (archive,) = await ann.archives.list()
    assert [(it["id"], it["source"]) for it in found] == [(archive.id, "manual")]
    assert found[0]["content"] in text
    assert len(found[0]["content"]) < len(text)
    assert found[0]["age"]
    bobs = memory.scope(agent="helper", user="bob").tools(session="monday")
    assert await told(bobs, "knowledge_search", query=question) == []


async def test_the_scratchpad_of_the_session_is_updated(ann: Memory, tools: Toolbox):
    await told(tools, "scratchpad_update", current_goal="上线", sub_goals=["测试", "发布"])
    pad = await told(
        *(tools, "scratchpad_update"),
        completed=["测试"],
        decisions=[{"what": "用 Redis", "why": "快"}],
    )
    assert pad == {
        "current_goal": "上线",
        "sub_goals": ["测试", "发布"],
        "completed": ["测试"],
        "current_step": "",
        "decisions": [{"what": "用 Redis", "why": "快"}],
        "blockers": [],
    }
    kept = await ann.session("monday").scratchpad.read()
    assert json.loads(json.dumps(kept.to_json())) == pad
    assert (await ann.session("tuesday").scratchpad.read()).is_empty
    assert await refusal(tools, "scratchpad_update", blockers=[" "]) == "empty_text"


# --- Whose memory it is --------------------------------------------------------------------------


async def test_what_belongs_to_others_is_never_seen_or_touched(memory: Memory, tools: Toolbox):
    bob = memory.scope(agent="helper", user="bob")
    secret = await bob.remember("Bob's tea is a secret", tags=["draft"], category="user-profile")
    text = manual("en")
    await bob.session("s").archive.process_tool_result("search", {}, text, "s")
    (archive,) = await bob.archives.list()
    assert await told(tools, "memory_recall", query="Bob's tea secret") == []
    assert await told(tools, "memory_search", query="Bob's tea secret", min_score=0) == []
    for name, arguments in {
        "memory_update": {"id": secret.id, "content": "stolen"},
        "memory_delete": {"id": secret.id},
        "memory_summarize": {"items": [secret.id], "goal": "read it"},
        "memory_save": {"action": "delete", "name": "n", "type": "user", "id": secret.id},
    }.items():
        assert await refusal(tools, name, **arguments) == "not_found"
    assert await refusal(tools, "load_tool_history", uuid=archive.id) == "unknown_archive"
    assert await told(tools, "memory_delete", filters={"tags": ["draft"]}) == {"deleted": 0}
    assert await bob.get(secret.id) == secret


@pytest.mark.parametrize(
    "namespace",
    ["helper_memories/bob", "user_profile/bob", "other_memories/ann", "helper/bob", "*shared/ann"],
)
async def test_a_namespace_of_others_is_refused(
    memory: Memory, ann: Memory, tools: Toolbox, namespace: str
):
    for name, arguments in {
        "memory_search": {"query": "tea"},
        "memory_write": {"content": "x", "metadata": {"type": "user-profile"}},
    }.items():
        code = await refusal(tools, name, namespace=namespace, **arguments)
        # What is shared may be read; it is written by proposal only.
        assert code in {"not_allowed", "bad_scope"} or namespace.startswith("*shared")
    assert await contents(ann) == []
    assert await contents(memory.scope(agent="helper", user="bob")) == []


async def test_a_namespace_chooses_among_the_callers_own(ann: Memory, tools: Toolbox):
    for namespace, kind in (("user_profile/ann", "user-profile"), ("helper_memories/ann", "adr")):
        await told(
            *(tools, "memory_write"),
            content=f"Ann's {kind} is about tea",
            namespace=namespace,
            metadata={"type": kind},
        )
        (found,) = await told(tools, "memory_search", query="Ann tea", namespace=namespace)
        assert found["metadata"]["type"] == kind
        assert found["metadata"]["namespace"] == namespace
    assert await refusal(tools, "memory_search", query="tea", namespace="nonsense") == (
        "bad_namespace"
    )


async def test_conditions_delete_only_what_the_caller_may_write(memory: Memory, tools: Toolbox):
    of_user = memory.scope(agent=None, user="ann")
    await of_user.remember("kept by Ann herself", tags=["x"], category="adr")
    await of_user.remember("her profile", tags=["x"], category="user-profile")
    assert await told(tools, "memory_delete", filters={"tags": ["x"]}) == {"deleted": 1}
    assert await contents(of_user) == ["kept by Ann herself"]


# --- What a tool's result means for memory -------------------------------------------------------


async def test_what_a_result_shows_counts_as_recalled_once_a_session(ann: Memory, tools: Toolbox):
    it = await saved(tools)
    for _ in range(3):
        await tools.call("memory_recall", {"query": "Ann green tea"})
        await tools.call("memory_search", {"query": "Ann green tea"})
        await tools.call("memory_summarize", {"items": [it], "goal": "tea"})
    await ann.drain()
    assert (await ann.get(it)).access_count == 1
    await ann.tools(session="tuesday").call("memory_recall", {"query": "Ann green tea"})
    await ann.recall("Ann green tea")
    await ann.drain()
    assert (await ann.get(it)).access_count == 2


async def test_what_a_result_shows_is_in_the_audit_and_can_be_asked_again(
    ann: Memory, tools: Toolbox
):
    it = await saved(tools)
    await tools.call("memory_recall", {"query": "Ann green tea"})
    await tools.call("memory_search", {"query": "quantum chromodynamics"})
    await ann.drain()
    (entry,) = await ann.audit.tail(action="inject")
    replay = await ann.audit.replay(entry.target)
    assert (replay.form, replay.session, replay.question) == (
        *("memory_recall", "monday"),
        "Ann green tea",
    )
    assert [(item.id, item.fate) for item in replay.items] == [(it, "same")]


@pytest.mark.parametrize("said", ["I prefer green tea", "我偏好绿茶"])
async def test_what_a_memory_tool_gave_is_neither_archived_nor_extracted_again(
    ann: Memory, tools: Toolbox, said: str
):
    for number in range(20):
        await saved(tools, f"{said} {number}. " + said * 80, name=f"n{number}", type="reference")
    result = await tools.call("memory_recall", {"query": said, "limit": 20})
    assert len(result) > 10_000
    session = ann.session("monday")
    call = {"id": "c", "type": "function"}
    call |= {"function": {"name": "memory_recall", "arguments": "{}"}}
    turns = await session.observe(
        [
            {"role": "user", "content": "What do you know?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": result},
        ]
    )
    assert turns[-1].content == result
    assert session.usage.archived == 0
    rules = ReaderExtractor(PlainReader())
    assert await rules.extract(turns) == ()
    assert await rules.extract([_as_user(turns[-1], said)]) != ()


def _as_user(turn: Turn, said: str) -> Turn:
    return replace(turn, role="user", content=said, act="statement")


# --- The toolbox ---------------------------------------------------------------------------------


async def test_the_schemas_are_given_as_frameworks_take_them(ann: Memory):
    box = ann.tools("zh")
    assert {it["type"] for it in box.openai()} == {"function"}
    assert box.openai()[0]["function"].keys() == {"name", "description", "parameters"}
    assert box.anthropic()[0].keys() == {"name", "description", "input_schema"}
    assert box.json_schemas()[0].keys() == {"title", "name", "description", "parameters"}
    assert box.json_schemas()[0]["title"] == "保存记忆"
    names = [it.name for it in box.specs]
    assert [it["function"]["name"] for it in box.openai()] == names
    assert [it["name"] for it in box.anthropic()] == names
    json.dumps([box.openai(), box.anthropic(), box.json_schemas()])


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("memory_dance", "{}", "unknown_tool"),
        ("memory_recall", "{", "invalid_json"),
        ("memory_recall", "[]", "wrong_type"),
        ("memory_recall", "", "missing_field"),
        ("memory_recall", '{"query": "\\ud800"}', "invalid_unicode"),
        ("memory_recall", '{"query": "  "}', "empty_text"),
        ("memory_recall", "[" * 100_000, "invalid_json"),
    ],
)
async def test_a_bad_call_is_answered_with_what_is_wrong(
    tools: Toolbox, name: str, arguments: str, code: str
):
    assert json.loads(await tools.call(name, arguments))["error"]["code"] == code


async def test_arguments_come_as_json_or_as_a_mapping_and_names_with_a_servers(tools: Toolbox):
    await saved(tools)
    as_text = await tools.call("mcp__recollect__memory_recall", '{"query": "Ann green tea"}')
    assert as_text == await tools.call("memory_recall", {"query": "Ann green tea"})
    with pytest.raises(NotFound):
        await tools.run("memory_delete", {"id": "mem_unknown"})


def test_blocking_code_has_the_same_tools(tmp_path: Path):
    with recollect.sync.Memory.open(tmp_path / "memory.db") as memory:
        tools = memory.tools("zh", session="s")
        tools.call(
            "memory_save",
            {"action": "create", "name": "茶", "type": "user", "content": CHINESE_TEA},
        )
        (found,) = json.loads(tools.call("memory_recall", '{"query": "安妮喝什么"}'))
        assert found["content"] == CHINESE_TEA
        assert [it["name"] for it in tools.anthropic()] == [it.name for it in tools.specs]


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Memory]:
    agents = {
        "mute": {"enabled": False},
        "brief": {"prefetch_limit": 1},
        "shy": {"write_policy": "off"},
        "usual": {},
    }
    async with Memory.open(Settings.load({"data_dir": tmp_path, "agents": agents})) as opened:
        yield opened


async def test_an_agent_without_memory_has_no_block_no_guide_and_no_tools(fleet: Memory):
    mute = fleet.scope(agent="mute", user="ann")
    await mute.remember(TEA)
    made = await mute.context("What tea does Ann drink?")
    assert (made.text, made.ids, made.left_out) == ("", (), ())
    assert (await mute.context("What tea does Ann drink?", limit=5)).text == ""
    assert mute.guide() == mute.guide("zh") == ""
    assert mute.tools().specs == ()
    assert mute.tools().openai() == mute.tools().anthropic() == []
    assert await refusal(mute.tools(), "memory_recall", query="tea") == "unknown_tool"
    session = mute.session("s")
    await session.observe({"role": "user", "content": "hello"})
    assert "memory" not in json.dumps(await session.prepare("What tea does Ann drink?"))
    # A call of the library itself is no wish of the agent's.
    assert [hit.content for hit in await mute.recall("Ann green tea")] == [TEA]


async def test_an_agent_may_have_a_limit_of_its_own(fleet: Memory):
    for agent, expected in {"brief": 1, "usual": 5, "undeclared": 5}.items():
        memory = fleet.scope(agent=agent, user="ann")
        await memory.remember_many([f"Ann drank tea number {number}" for number in range(8)])
        made = await memory.context("the tea that Ann drank")
        assert len(made.ids) + len(made.left_out) == expected
        assert memory.guide().startswith("## Memory")


async def test_an_agent_that_may_not_write_is_told_that_nothing_was(fleet: Memory):
    tools = fleet.scope(agent="shy", user="ann").tools()
    for name, arguments in {
        "memory_write": {"content": TEA, "metadata": {}},
        "memory_save": {"action": "create", "name": "n", "type": "user", "content": TEA},
    }.items():
        assert (await told(tools, name, **arguments))["error"]["code"] == "not_kept"
    assert (await told(tools, "memory_route", message="Remember that I prefer tea"))[
        "should_write"
    ] is False


@pytest.mark.parametrize(
    ("strategy", "content"),
    [
        ("overwrite", "Releases go out on Thursday."),
        ("append", "Releases go out on Tuesday. Releases go out on Thursday."),
        ("summarise", "Releases go out on Thursday."),
    ],
)
async def test_a_strategy_acts_on_what_the_judge_calls_updated(
    ann: Memory, tools: Toolbox, judge: FakeJudge, strategy: str, content: str
):
    old, new = "Releases go out on Tuesday.", "Releases go out on Thursday."
    judge.knows(old, new, "update")
    first = await told(tools, "memory_write", content=old, metadata={})
    written = await told(tools, "memory_write", content=new, metadata={"strategy": strategy})
    assert (written["id"], written["status"]) == (first["id"], "versioned")
    assert (await ann.get(first["id"])).content == content


async def test_what_is_recognised_is_told_and_counted(
    ann: Memory, tools: Toolbox, judge: FakeJudge
):
    old, new = "Releases go out on Tuesday.", "Tuesday is the day of releases."
    judge.knows(old, new, "same")
    first = await told(tools, "memory_write", content=old, metadata={})
    written = await told(tools, "memory_write", content=new, metadata={})
    assert (first["status"], written["status"]) == ("created", "same")
    figures = figures_of(services(ann).meter.totals())
    assert (figures.duplicate_writes, figures.duplicate_share) == (1, 0.5)
