"""What other memories leave behind, small enough to be read: stores, exports and archives."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from pathlib import Path
from typing import Any, Final

STORES: Final = Path(__file__).parent / "data" / "other_memories"


def write_samples(folder: Path) -> None:
    """Write one of each into a folder, under the names that the guides use."""
    folder.mkdir()
    shutil.copy(STORES / "mem0_qdrant.zip", folder / "mem0.zip")
    langgraph_store(folder / "store.db")
    (folder / "helper.af").write_text(json.dumps(agent_file()), "utf-8")
    (folder / "zep.json").write_text(json.dumps(zep_graph()), "utf-8")
    chatgpt_archive(folder / "chatgpt.zip")
    claude_archive(folder / "claude.zip")


def langgraph_store(path: Path) -> Path:
    """A file as langgraph-checkpoint-sqlite 3.1 writes it; `check_moving_in` has it do so."""
    database = sqlite3.connect(path)
    database.execute(
        "CREATE TABLE store (prefix TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,"
        " created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT"
        " CURRENT_TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key))"
    )
    rows = [
        ("memories.ann", "1", {"content": "Ann keeps bees"}),
        ("memories.ann", "2", {"kind": "Memory", "content": {"content": "Ann likes tea"}}),
        ("memories.bob", "3", {"kind": "Profile", "content": {"name": "Bob", "age": 40}}),
        ("team.x.y", "4", {"content": "whose is it?"}),
        ("memories.ann", "5", {"count": 3}),
    ]
    for place, (prefix, key, value) in enumerate(rows):
        database.execute(
            "INSERT INTO store (prefix, key, value, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
            (prefix, key, json.dumps(value), f"2025-05-0{place + 1} 10:00:00", "2025-06-01 10:00"),
        )
    database.commit()
    database.close()
    return path


def agent_file() -> dict[str, Any]:
    """An agent of Letta in the format with ids."""

    def said(text: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": text}]

    tool = {"function": {"name": "send_message", "arguments": '{"message": "你好，小明！"}'}}
    return {
        "agents": [
            {
                "id": "agent-0",
                "name": "helper",
                "system": "You are …",
                "block_ids": ["block-0", "block-1"],
                "messages": [
                    {"id": "message-0", "role": "system", "content": said("You are …")},
                    {
                        "id": "message-1",
                        "role": "user",
                        "content": said('{"type": "user_message", "message": "我叫小明"}'),
                        "created_at": "2025-04-01T03:47:27+00:00",
                    },
                    {
                        "id": "message-2",
                        "role": "assistant",
                        "content": said("I should greet them."),
                        "tool_calls": [tool],
                        "created_at": "2025-04-01T03:47:29+00:00",
                    },
                    {"id": "message-3", "role": "tool", "content": said("OK")},
                ],
            }
        ],
        "blocks": [
            {"id": "block-0", "label": "human", "value": "Name: 小明", "description": "about them"},
            {"id": "block-1", "label": "scratch", "value": " "},
        ],
        "tools": [{"name": "send_message"}],
        "created_at": "2025-11-29T02:54:22+00:00",
    }


def zep_graph() -> dict[str, Any]:
    """A person, a place and what was true of them, as the API answers it."""
    return {
        "user_id": "ann",
        "nodes": [
            {"uuid": "n1", "name": "Ann", "summary": "Ann is a beekeeper.", "labels": ["Person"]},
            {"uuid": "n2", "name": "Bern", "summary": ""},
        ],
        "edges": [
            {
                "uuid": "e1",
                "name": "LIVES_IN",
                "fact": "Ann lives in Bern",
                "source_node_uuid": "n1",
                "target_node_uuid": "n2",
                "created_at": "2025-02-01T00:00:00Z",
                "valid_at": "2020-01-01T00:00:00Z",
                "invalid_at": "2024-01-01T00:00:00Z",
            }
        ],
        "threads": [
            {
                "thread_id": "t-1",
                "messages": [
                    {
                        "uuid": "m1",
                        "role": "user",
                        "name": "Ann",
                        "content": "I moved to Basel",
                        "created_at": "2024-01-02T09:00:00Z",
                    }
                ],
            }
        ],
    }


def chatgpt_archive(path: Path) -> Path:
    """A conversation with an abandoned branch, a picture and a note about the person."""

    def node(name: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
        message = {
            "id": f"m-{name}",
            "author": {"role": role},
            "create_time": 1_700_000_000.0,
            "content": {"content_type": "text", "parts": [text]},
            **more,
        }
        return {"id": name, "parent": parent, "children": [], "message": message}

    nodes = [
        node("u0", None, "user", "Waht is a hive?"),
        node(
            "u1",
            None,
            "user",
            "What is a hive?",
            metadata={"attachments": [{"name": "hive.png"}]},
        ),
        node("b", "u1", "assistant", "User keeps bees.", recipient="bio"),
        node("a", "b", "assistant", "A home for bees."),
    ]
    conversation = {
        "title": "Bees",
        "conversation_id": "c-1",
        "current_node": "a",
        "mapping": {it["id"]: it for it in nodes},
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([conversation]))
        archive.writestr("file-1.png", b"picture")
    return path


def claude_archive(source: Path) -> None:
    """A conversation with an attached file, and what Claude remembers."""
    talk = {
        "uuid": "k-1",
        "chat_messages": [
            {
                "uuid": "q",
                "sender": "human",
                "text": "我养蜜蜂",
                "created_at": "2025-03-01T08:00:01Z",
                "files": [{"file_name": "bees.pdf"}],
            }
        ],
    }
    told = [{"conversations_memory": "Keeps bees.", "project_memories": {"p-1": "A hive."}}]
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("conversations.json", json.dumps([talk]))
        archive.writestr("memories.json", json.dumps(told))
