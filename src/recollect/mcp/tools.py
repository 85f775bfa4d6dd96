"""The memory tools as MCP shows them: their schemas, what they may do, and calls by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types

from recollect.domain.context import Tongue
from recollect.domain.memory_tools import READING_TOOLS, ToolName
from recollect.domain.scope import Role
from recollect.errors import InvalidInput, RecollectError
from recollect.tools import Toolbox, ToolSpec

__all__ = ["Toolbox", "call_tool", "list_tools"]

_READS: Final = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ADDS: Final = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
# Saying the same thing twice leaves memory as it is after the first time.
_MERGES: Final = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_REPLACES: Final = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
ANNOTATIONS: Final[Mapping[ToolName, types.ToolAnnotations]] = {
    "memory_save": types.ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
    ),
    "memory_recall": _READS,
    "memory_search": _READS,
    "memory_write": _MERGES,
    "memory_update": _REPLACES,
    "memory_delete": _REPLACES,
    "memory_summarize": _READS,
    "memory_route": _READS,
    "memory_propose": _ADDS,
    "load_tool_history": _READS,
    "scratchpad_update": _MERGES,
    "knowledge_search": _READS,
}

# Elsewhere what is remembered comes back by itself; a server cannot add to a prompt. Many clients
# show a model these and not the server's instructions.
DESCRIPTIONS: Final[Mapping[ToolName, Mapping[Tongue, str]]] = {
    "memory_save": {
        "en": "Store, update or delete a long-term memory. memory_recall finds it in later "
        "conversations.",
        "zh": "存储、更新或删除长期记忆。以后的对话可用 memory_recall 找到它。",
    },
    "memory_recall": {
        "en": "Look up long-term memories and what was said in earlier conversations. Nothing is "
        "recalled by itself: call this when a conversation begins, and whenever the user may have "
        "told you something before.",
        "zh": "检索长期记忆和过去对话的内容。记忆不会自动出现：对话开始时，"
        "以及用户可能说过相关内容时，请先调用。",
    },
}


def list_tools(box: Toolbox, language: Tongue, role: Role, has_session: bool) -> list[types.Tool]:
    """Return the tools of one caller; those of a session only where there is one.

    Who may only read is not shown what writes.
    """
    described = {told["name"]: told for told in box.json_schemas()}
    return [
        types.Tool(
            name=spec.name,
            title=described[spec.name]["title"],
            description=DESCRIPTIONS[spec.name][language]
            if spec.name in DESCRIPTIONS
            else described[spec.name]["description"],
            input_schema=described[spec.name]["parameters"],
            annotations=ANNOTATIONS[spec.name],
        )
        for spec in box.specs
        if has_session or not spec.needs_session
        if spec.name in READING_TOOLS or role.includes(Role.WRITER)
    ]


async def call_tool(
    box: Toolbox, name: str, arguments: Mapping[str, Any], *, role: Role, has_session: bool
) -> types.CallToolResult:
    """Answer a call as JSON text; what went wrong is told to the model, which can try again."""
    # Elsewhere the tools are spelled memory.search; models' providers take no dots.
    name = name.replace(".", "_")
    try:
        if name not in READING_TOOLS:
            role.require(Role.WRITER, name)
        _require_session(box.specs, name, has_session)
        result = await box.run(name, arguments)
    except RecollectError as problem:
        told = {"code": problem.code, "message": problem.message, "hint": problem.hint}
        return _answer({"error": told}, is_error=True)
    return _answer(result)


def _require_session(specs: tuple[ToolSpec, ...], name: str, has_session: bool) -> None:
    if not has_session and any(spec.name == name and spec.needs_session for spec in specs):
        raise InvalidInput(
            f"{name} belongs to a session, and this connection names none; nothing was changed",
            code="no_session",
            hint="Connect to /mcp?session=ID, or use `recollect mcp` over stdio.",
        )


def _answer(result: object, *, is_error: bool = False) -> types.CallToolResult:
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)
