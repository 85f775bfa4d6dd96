"""The list of tools that every interface publishes, with their JSON schemas."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel, ValidationError

from recollect.domain.context import Tongue
from recollect.domain.memory_tools import ToolName, reasons_to_load
from recollect.domain.views import Json
from recollect.errors import InvalidInput
from recollect.tools import search_tools, write_tools
from recollect.tools.arguments import (
    CHINESE,
    Arguments,
    DeleteMemory,
    LoadToolHistory,
    ProposeMemory,
    ReadProfile,
    RecallMemory,
    RouteMessage,
    SaveMemory,
    SearchKnowledge,
    SearchMemory,
    SummarizeMemory,
    UpdateMemory,
    UpdateScratchpad,
    WriteMemory,
)
from recollect.tools.tool_context import ToolContext

# --- The JSON schema of a tool's arguments, short and in one language -----------------------------

_REFERENCE: Final = "#/$defs/"
_OPTIONAL: Final = {"type": "null"}


def schema_of(
    arguments: type[BaseModel], language: Tongue, defaults: Mapping[str, object] | None = None
) -> Json:
    """Return the schema of a tool's arguments in one language, without references.

    `defaults` are the defaults of the settings.
    """
    schema: Json = json.loads(_written(arguments, language))
    for name, default in (defaults or {}).items():
        if "default" in schema["properties"].get(name, {}):
            schema["properties"][name]["default"] = default
    return schema


@cache
def _written(arguments: type[BaseModel], language: Tongue) -> str:
    """Return the schema as text: making it takes milliseconds, and frameworks ask in every run."""
    whole = arguments.model_json_schema()
    definitions = cast("Mapping[str, Json]", whole.pop("$defs", {}))
    # The tool itself has a description; those of Python classes are for people who read them.
    whole.pop("description", None)
    return json.dumps(_plain(whole, definitions, language))


def _plain(schema: Json, definitions: Mapping[str, Json], language: Tongue) -> Json:
    own = _resolved(schema, definitions)
    chinese = own.pop(CHINESE, None)
    if language == "zh" and chinese is not None:
        own["description"] = chinese
    own.pop("title", None)
    if own.get("default", ...) is None:
        del own["default"]
    if "properties" in own:
        properties = cast("Mapping[str, Json]", own["properties"])
        own["properties"] = {
            name: _plain(inner, definitions, language) for name, inner in properties.items()
        }
    if "items" in own:
        own["items"] = _plain(cast("Json", own["items"]), definitions, language)
    return own


def _resolved(schema: Json, definitions: Mapping[str, Json]) -> Json:
    """Return the schema without references and without the alternative `null`."""
    own: Json = dict(schema)
    choices = cast("list[Json]", own.pop("anyOf", []))
    parts = [choice for choice in choices if choice != _OPTIONAL]
    if "$ref" in own:
        parts.append({"$ref": own.pop("$ref")})
    for part in parts:
        named = part.get("$ref")
        inner: Mapping[str, Any] = part
        if isinstance(named, str):
            inner = {**definitions[named.removeprefix(_REFERENCE)]}
            # The field has the description, not its class.
            inner.pop("description", None)
        own = {**inner, **own}
    return own


# --- The list of tools that every interface publishes ---------------------------------------------

Given = TypeVar("Given", bound=Arguments)
Run = Callable[[ToolContext, Given], Awaitable[object]]

# Error codes for the validation errors of pydantic.
_CODES: Final[Mapping[str, str]] = {
    "missing": "missing_field",
    "extra_forbidden": "unknown_field",
    "enum": "unknown_value",
    "literal_error": "unknown_value",
    "greater_than_equal": "out_of_range",
    "less_than_equal": "out_of_range",
    "too_short": "out_of_range",
    "too_long": "too_many_items",
    "string_too_long": "text_too_large",
    "string_unicode": "invalid_unicode",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool: its name, titles and descriptions, its arguments and its function."""

    name: ToolName
    titles: Mapping[Tongue, str]
    descriptions: Mapping[Tongue, str]
    arguments: type[Arguments]
    run: Callable[[ToolContext, Any], Awaitable[object]]
    needs_session: bool = False

    def title(self, language: Tongue) -> str:
        return self.titles[language]

    def description(self, language: Tongue) -> str:
        return self.descriptions[language]

    def schema(self, language: Tongue, defaults: Mapping[str, object] | None = None) -> Json:
        """Return the JSON schema of the arguments, with the defaults of the settings if given."""
        return schema_of(self.arguments, language, defaults)

    def checked(self, given: Mapping[str, Any]) -> Arguments:
        """Return the validated arguments, or raise an error that names what is invalid."""
        try:
            return self.arguments.model_validate(given)
        except ValidationError as problems:
            found = problems.errors(include_url=False, include_input=False)
            message = "; ".join(f"{_place(error['loc'])}: {error['msg']}" for error in found)
            code = _CODES.get(found[0]["type"], "wrong_type")
        known = ", ".join(self.arguments.model_fields)
        raise InvalidInput(message, code=code, hint=f"{self.name} takes: {known}.")


def _tool(
    name: ToolName,
    arguments: type[Given],
    run: Run[Given],
    *,
    titles: tuple[str, str],
    chinese: str,
    english: str,
    needs_session: bool = False,
) -> ToolSpec:
    return ToolSpec(
        name=name,
        titles={"zh": titles[0], "en": titles[1]},
        descriptions={"zh": chinese, "en": english},
        arguments=arguments,
        run=cast("Callable[[ToolContext, Any], Awaitable[object]]", run),
        needs_session=needs_session,
    )


SPECS: Final[tuple[ToolSpec, ...]] = (
    _tool(
        "memory_save",
        SaveMemory,
        write_tools.save,
        titles=("保存记忆", "Save a memory"),
        chinese="存储、更新或删除长期记忆。记忆会在未来对话中自动召回。",
        english="Store, update or delete a long-term memory. Memories come back by themselves in "
        "later conversations.",
    ),
    _tool(
        "memory_recall",
        RecallMemory,
        search_tools.recall,
        titles=("检索记忆", "Recall memories"),
        chinese="搜索长期记忆和过往对话中的相关信息。",
        english="Look up long-term memories and what was said in earlier conversations.",
    ),
    _tool(
        "memory_profile",
        ReadProfile,
        search_tools.profile,
        titles=("用户档案", "The user's profile"),
        chinese="查看用户档案：用户是谁、长期要求、过敏、饮食、住处、工作和亲近的人。",
        english="Read the user's profile: who they are, standing instructions, allergies, diet, "
        "home, work and close people.",
    ),
    _tool(
        "memory_search",
        SearchMemory,
        search_tools.search,
        titles=("搜索记忆", "Search memories"),
        chinese="在一个命名空间中搜索记忆，返回内容、元数据和相关度。",
        english="Search memories, in one namespace if you name it; gives content, metadata and "
        "score.",
    ),
    _tool(
        "memory_write",
        WriteMemory,
        write_tools.write,
        titles=("写入记忆", "Write a memory"),
        chinese="写入一条记忆。与已有记忆重复时合并，改变已有内容时生成新版本。",
        english="Remember a text. What is known already is merged with it; what it changes gets a "
        "new version.",
    ),
    _tool(
        "memory_update",
        UpdateMemory,
        write_tools.update,
        titles=("更新记忆", "Update a memory"),
        chinese="修改一条记忆，原来的版本会保留。",
        english="Change a memory; the version before is kept.",
    ),
    _tool(
        "memory_delete",
        DeleteMemory,
        write_tools.delete,
        titles=("删除记忆", "Delete memories"),
        chinese="按 ID 或条件删除记忆。先用 dry_run 查看将删除多少条。",
        english="Delete a memory by its id, or all that meet conditions. Use dry_run first to see "
        "how many.",
    ),
    _tool(
        "memory_summarize",
        SummarizeMemory,
        search_tools.summarize,
        titles=("摘要记忆", "Summarize memories"),
        chinese="把若干条记忆或文本概括成一段简短的摘要。",
        english="Make one short summary of several memories or texts.",
    ),
    _tool(
        "memory_route",
        RouteMessage,
        search_tools.route,
        titles=("记忆路由", "Route a message"),
        chinese="判断一条消息是否需要读取记忆、是否值得写入，以及涉及哪些命名空间。",
        english="Judge whether a message should be answered with memory, whether it is worth "
        "remembering, and where.",
    ),
    _tool(
        "memory_propose",
        ProposeMemory,
        write_tools.propose,
        titles=("提议共享记忆", "Propose to shared memory"),
        chinese="提议让本工作区的所有智能体都知道一件事；由协调者批准后才会共享。",
        english="Propose something that all agents of the workspace should know. It is shared once "
        "the coordinator has approved it.",
    ),
    _tool(
        "load_tool_history",
        LoadToolHistory,
        search_tools.load_tool_history,
        titles=("加载历史工具结果", "Load an earlier tool result"),
        chinese="加载之前工具调用的完整结果。使用场景："
        + "；".join(reasons_to_load("zh"))
        + "。只在确实需要历史详情时加载。",
        english="Load the whole result of an earlier tool call. Use it when: "
        + "; ".join(reasons_to_load("en"))
        + ". Load only what you really need.",
    ),
    _tool(
        "scratchpad_update",
        UpdateScratchpad,
        write_tools.update_scratchpad,
        titles=("更新任务草稿", "Update the scratchpad"),
        chinese="记录当前任务的目标、步骤、决定和阻碍。未提到的内容保持不变。",
        english="Note the goal, steps, decisions and blockers of the task at hand. What is left "
        "out stays as it is.",
        needs_session=True,
    ),
    _tool(
        "knowledge_search",
        SearchKnowledge,
        search_tools.search_knowledge,
        titles=("搜索资料", "Search documents"),
        chinese="在存档的文档和工具结果中搜索，返回相关段落；全文用 load_tool_history 加载。",
        english="Search the documents and tool results that were put away; gives the passages "
        "that fit. load_tool_history loads one as a whole.",
    ),
)


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)) or "arguments"
