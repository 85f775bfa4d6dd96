"""The names of the memory tools, whose results come from memory and are not archived again."""

from __future__ import annotations

from typing import Final, Literal, get_args

ToolName = Literal[
    "memory_save",
    "memory_recall",
    "memory_search",
    "memory_write",
    "memory_update",
    "memory_delete",
    "memory_summarize",
    "memory_route",
    "memory_propose",
    "load_tool_history",
    "scratchpad_update",
    "knowledge_search",
]
MEMORY_TOOLS: Final[tuple[ToolName, ...]] = get_args(ToolName)
# Tools that change nothing, for callers that may only read.
READING_TOOLS: Final[frozenset[str]] = frozenset(
    {
        "memory_recall",
        "memory_search",
        "memory_summarize",
        "memory_route",
        "load_tool_history",
        "knowledge_search",
    }
)


def plain_name(tool_name: str) -> str:
    """Return a tool's name without the prefix of a server: `mcp__recollect__memory_save`."""
    return tool_name.rpartition("__")[2]


def is_memory_tool(tool_name: str) -> bool:
    """Return whether a tool is one of the memory tools."""
    return plain_name(tool_name) in MEMORY_TOOLS
