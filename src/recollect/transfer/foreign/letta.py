"""Letta: agent files (.af) of both formats, and the archival memory as its server lists it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, cast

from recollect.domain.fields import MAX_DESCRIPTION, RecordFields
from recollect.transfer.foreign.found import (
    Found,
    FoundMemory,
    FoundMessage,
    Json,
    Said,
    label,
    labels,
    mapping,
    metadata_of,
    moment,
    not_readable,
    objects,
)
from recollect.transfer.foreign.sources import read_json

_HINT: Final = (
    "Give an agent file (.af), or the JSON of /v1/agents/ID/archival-memory of a Letta server."
)
# The block about the person; other blocks are about the agent and its work.
_ABOUT_USER: Final = "human"
_USER, _PROJECT = "user-profile", "project-context"
_SPOKEN: Final = ("user", "assistant")
_SAY: Final = "send_message"
_SAID: Final = "user_message"
# What an agent file has beside memory, and what happens to it.
_BESIDE: Final = {
    "tools": "tools, which are code of the agent",
    "sources": "data sources: add their files with `recollect kb add`",
    "files": "files: add them with `recollect kb add`",
    "mcp_servers": "MCP servers, which are settings of the agent",
    "skills": "skills, which belong to the agent",
    "groups": "groups of agents",
}


def read_letta(path: Path) -> Found:
    """Return the blocks, the passages and the messages of agents."""
    found = Found()
    for file in sorted(path.rglob("*.af")) if path.is_dir() else [path]:
        _read(read_json(file), found)
    if path.is_dir() and not found.memories and not found.messages:
        raise not_readable("Letta", "there is no agent file in it", _HINT)
    return found


def _read(value: object, found: Found) -> None:
    if isinstance(value, list):
        listed = cast("list[object]", value)
        passages = objects(listed)
        if len(passages) < len(listed):
            raise not_readable("Letta", "it is not a list of passages", _HINT)
        _add_passages(passages, found, "")
        return
    whole = mapping(value)
    if isinstance(whole.get("agents"), list) and "blocks" in whole:
        _read_agents(whole, found)
    elif "core_memory" in whole:
        _read_one(whole, found)
    else:
        raise not_readable("Letta", "it has no `agents` and no `core_memory`", _HINT)
    for name, reason in _BESIDE.items():
        for entry in objects(whole.get(name)):
            found.leave_out(reason, str(entry.get("name") or entry.get("file_name") or ""))


def _read_agents(whole: Json, found: Found) -> None:
    """Read the format with ids: blocks stand beside the agents that share them."""
    written = moment(whole.get("created_at"))
    names: dict[str, list[str]] = {}
    for agent in objects(whole["agents"]):
        for block in labels(agent.get("block_ids")):
            names.setdefault(block, []).append(str(agent.get("name") or agent.get("id")))
        _add_messages(agent, found)
        _add_passages(objects(agent.get("archival_memory")), found, str(agent.get("name") or ""))
        if agent.get("system"):
            found.leave_out("system prompts, which belong to the agent", str(agent.get("name")))
    whose = " ".join(sorted({name for its in names.values() for name in its}))
    for block in objects(whole.get("blocks")):
        agents = names.get(str(block.get("id")), [])
        _add_block(block, f"{whose}\x1f{block.get('id')}", agents, written, found)


def _read_one(agent: Json, found: Found) -> None:
    """Read the older format: one agent with its blocks inside."""
    name = str(agent.get("name") or "agent")
    for block in objects(agent.get("core_memory")):
        key = f"{name}\x1f{block.get('label')}"
        _add_block(block, key, [name], moment(block.get("created_at")), found)
    _add_messages(agent, found)
    if agent.get("system"):
        found.leave_out("system prompts, which belong to the agent", name)


def _add_block(block: Json, key: str, agents: list[str], at: datetime | None, found: Found) -> None:
    content, name = block.get("value"), label(block.get("label")) or "block"
    if not isinstance(content, str) or not content.strip():
        found.leave_out("empty blocks", name)
        return
    metadata = {**mapping(block.get("metadata")), **mapping(block.get("metadata_"))}
    fields = RecordFields(
        title=name,
        category=_USER if name == _ABOUT_USER else _PROJECT,
        description=str(block.get("description") or "")[:MAX_DESCRIPTION],
        tags=[f"letta:{name}"[:100]],
        metadata=metadata_of({**metadata, "agents": agents}),
    )
    if at is not None:
        fields["created_at"] = at
    said = Said(content=content, at=moment(block.get("updated_at")) or at)
    found.memories.append(FoundMemory(key=key, said=[said], fields=fields))


def _add_passages(passages: list[Json], found: Found, agent: str) -> None:
    """Add the archival memory; an embedding is made anew."""
    for passage in passages:
        content = passage.get("text")
        if not isinstance(content, str):
            raise not_readable("Letta", "a passage has no `text`", _HINT)
        if not content.strip() or passage.get("is_deleted"):
            found.leave_out("deleted or empty passages", str(passage.get("id")))
            continue
        at = moment(passage.get("created_at"))
        tags = labels(passage.get("tags"))
        metadata = {**mapping(passage.get("metadata")), "agents": [agent] if agent else []}
        fields = RecordFields(tags=tags, metadata=metadata_of(metadata))
        if at is not None:
            fields["created_at"] = at
        key = str(passage.get("id") or f"{agent}\x1f{content}")
        found.memories.append(
            FoundMemory(key=key, said=[Said(content=content, at=at)], fields=fields)
        )


def _add_messages(agent: Json, found: Found) -> None:
    name = str(agent.get("name") or agent.get("id") or "agent")
    session = f"letta-{name}"[:100]
    for place, message in enumerate(objects(agent.get("messages"))):
        role = message.get("role")
        words = _spoken(message).strip()
        if role not in _SPOKEN:
            found.leave_out(f"messages of the role {role}", session)
        elif not words:
            found.leave_out("messages without words, such as tool calls and heartbeats", session)
        else:
            found.messages.append(
                FoundMessage(
                    session=session,
                    id=str(message.get("id") or f"{place}"),
                    at=moment(message.get("created_at")),
                    message={"role": role, "content": words},
                )
            )


def _spoken(message: Json) -> str:
    """Return what was said; older agents say it with a tool, and wrap what the person says."""
    for call in objects(message.get("tool_calls")):
        function = mapping(call.get("function"))
        if function.get("name") == _SAY:
            return str(_parsed(function.get("arguments")).get("message") or "")
    words = "\n".join(_words(message.get("content")))
    wrapped: Json = _parsed(words) if message.get("role") == "user" else {}
    if "type" not in wrapped:
        return words
    return str(wrapped.get("message") or "") if wrapped["type"] == _SAID else ""


def _parsed(text: object) -> Json:
    try:
        return mapping(json.loads(text)) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}


def _words(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in objects(content):
        text = part.get("text")
        if part.get("type", "text") == "text" and isinstance(text, str):
            yield text
        elif isinstance(part.get("content"), Mapping):
            yield from _words([part["content"]])
