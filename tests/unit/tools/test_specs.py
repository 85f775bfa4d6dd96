"""The list of tools: exactly the agreed ones, told in two languages, without a scope to name."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.domain.context import Tongue
from recollect.domain.memory_tools import (
    MEMORY_TOOLS,
    is_memory_tool,
    memory_guide,
    reasons_to_load,
    types_of_memory,
)
from recollect.domain.sharing import SHARED_TYPES
from recollect.errors import InvalidInput
from recollect.language.characters import language
from recollect.tools import SPECS, ToolSpec

# As agreed in INTERFACES.md: an argument ending with ? may be left out, = gives its default.
AGREED = {
    "memory_save": ("content?", "action=create", "name?", "type?", "description?", "id?"),
    "memory_recall": ("query", "type?", "limit=5"),
    "memory_profile": (),
    "memory_search": ("query", "namespace?", "top_k=5", "min_score=0.3"),
    "memory_write": ("content", "namespace?", "metadata"),
    "memory_update": ("id", "content?", "metadata?", "merge=True"),
    "memory_delete": ("id?", "filters?", "dry_run=False"),
    "memory_summarize": ("items", "goal"),
    "memory_route": ("message", "context?", "policy=default"),
    "memory_propose": ("content", "type", "reason?"),
    "load_tool_history": ("uuid", "query?", "range?"),
    "scratchpad_update": (
        *("current_goal?", "sub_goals=[]", "completed=[]", "current_step?"),
        *("decisions=[]", "blockers=[]", "unblocked=[]"),
    ),
    "knowledge_search": ("query", "top_k=5", "min_score=0.3"),
}
TONGUES: tuple[Tongue, Tongue] = ("zh", "en")


def spec(name: str) -> ToolSpec:
    return next(it for it in SPECS if it.name == name)


def spelled(schema: dict[str, Any]) -> Iterator[str]:
    for name, inner in schema["properties"].items():
        if name in schema.get("required", ()):
            yield name
        else:
            yield f"{name}={inner['default']}" if "default" in inner else f"{name}?"


def inner_schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from inner_schemas(inner)
    if "items" in schema:
        yield from inner_schemas(schema["items"])


def test_the_tools_and_their_arguments_are_the_agreed_ones():
    assert {it.name: tuple(spelled(it.schema("en"))) for it in SPECS} == AGREED


def test_results_of_every_tool_are_exempt_from_archiving_also_behind_a_servers_name():
    assert tuple(it.name for it in SPECS) == MEMORY_TOOLS
    assert all(is_memory_tool(f"mcp__recollect__{it.name}") for it in SPECS)
    assert not is_memory_tool("memory_of_a_shop")


def test_choices_are_the_agreed_ones():
    save, route = spec("memory_save").schema("en"), spec("memory_route").schema("en")
    assert save["properties"]["action"]["enum"] == ["create", "update", "delete"]
    assert save["properties"]["type"]["enum"] == ["user", "project", "feedback", "reference"]
    proposed = spec("memory_propose").schema("en")["properties"]["type"]["enum"]
    assert proposed == [*SHARED_TYPES]
    assert route["properties"]["policy"]["enum"] == ["default", "auto", "explicit", "off"]


def test_two_tools_have_the_names_of_the_seed():
    assert spec("memory_save").title("zh") == "保存记忆"
    assert spec("memory_recall").title("zh") == "检索记忆"


@pytest.mark.parametrize("tongue", TONGUES)
@pytest.mark.parametrize("tool", SPECS, ids=lambda it: it.name)
def test_all_is_told_in_one_language(tool: ToolSpec, tongue: Tongue):
    assert language(tool.description(tongue)) == tongue
    for schema in inner_schemas(tool.schema(tongue)):
        if "description" in schema:
            assert language(schema["description"]) == tongue, schema
        assert "zh" not in schema
        assert "title" not in schema


@pytest.mark.parametrize("tool", SPECS, ids=lambda it: it.name)
def test_no_argument_names_whose_memory_it_is_and_none_is_unknown(tool: ToolSpec):
    for schema in inner_schemas(tool.schema("en")):
        if schema.get("type") == "object" and "properties" in schema:
            assert schema["additionalProperties"] is False
            assert not {"org", "workspace", "agent", "user", "user_id", "scope"} & set(
                schema["properties"]
            )
    for foreign in ("user", "scope", "org", "principal", "caller", "children"):
        with pytest.raises(InvalidInput) as refused:
            tool.checked({foreign: "bob"})
        assert foreign in refused.value.message


@pytest.mark.parametrize("tongue", TONGUES)
def test_the_guide_and_the_descriptions_say_the_same(tongue: Tongue):
    guide = memory_guide(tongue)
    told_type = spec("memory_save").schema(tongue)["properties"]["type"]["description"]
    for line in types_of_memory(tongue):
        assert f"- {line}\n" in guide
        assert line in told_type
    for line in reasons_to_load(tongue):
        assert f"- {line}\n" in guide
        assert line in spec("load_tool_history").description(tongue)


@pytest.mark.parametrize(
    ("tool", "given", "code"),
    [
        ("memory_recall", {}, "missing_field"),
        ("memory_recall", {"query": 5}, "wrong_type"),
        ("memory_recall", {"query": "a", "limit": 0}, "out_of_range"),
        ("memory_recall", {"query": "a", "limit": 10_000}, "out_of_range"),
        ("memory_recall", {"query": "a", "type": "secret"}, "unknown_value"),
        ("memory_search", {"query": "a", "min_score": 2}, "out_of_range"),
        ("memory_search", {"query": "a", "min_score": float("nan")}, "out_of_range"),
        ("memory_save", {"action": "drop", "name": "a", "type": "user"}, "unknown_value"),
        ("memory_save", {"action": "create", "name": "a" * 256, "type": "user"}, "text_too_large"),
        ("memory_write", {"content": "a"}, "missing_field"),
        ("memory_write", {"content": "a", "metadata": "tags"}, "wrong_type"),
        ("memory_delete", {"filters": {"everything": True}}, "unknown_field"),
        ("memory_delete", {"filters": {"since": "2026-01-01T00:00:00"}}, "wrong_type"),
        ("memory_summarize", {"items": [], "goal": "a"}, "out_of_range"),
        ("memory_summarize", {"items": ["a"] * 101, "goal": "a"}, "too_many_items"),
        ("scratchpad_update", {"decisions": [{"why": "a"}]}, "missing_field"),
    ],
)
def test_what_cannot_be_taken_is_told_with_a_code(tool: str, given: dict[str, Any], code: str):
    with pytest.raises(InvalidInput) as refused:
        spec(tool).checked(given)
    assert refused.value.code == code
    assert refused.value.hint.startswith(f"{tool} takes: ")


def test_memory_alone_does_not_bring_the_library_that_checks_arguments():
    asked = (
        "import sys, recollect; print('pydantic' in sys.modules, 'recollect.tools' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False False"
