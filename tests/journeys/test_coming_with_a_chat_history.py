"""Whoever has talked elsewhere brings the conversations along: from ChatGPT, Claude or anywhere."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.errors import InvalidInput
from tests.command_line import CommandLine
from tests.fakes import FakeEmbedder


def _node(name: str, parent: str | None, message: dict[str, Any] | None) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": [], "message": message}


def _words(name: str, role: str, *parts: Any, time: float | None = None, **more: Any) -> Any:
    content = {"content_type": more.pop("content_type", "text"), "parts": list(parts)}
    author = {"role": role, "name": None}
    return {"id": name, "author": author, "create_time": time, "content": content, **more}


def _chatgpt() -> list[dict[str, Any]]:
    """One conversation as ChatGPT exports it: a tree, in which one question was asked anew."""
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    hidden = {"is_visually_hidden_from_conversation": True}
    nodes = [
        _node("root", None, None),
        _node("s", "root", _words("s", "system", "", metadata=hidden)),
        _node("u0", "s", _words("m0", "user", "How do I cook rise?", time=1_700_000_000.5)),
        _node("u1", "s", _words("m1", "user", "How do I cook rice?", time=1_700_000_060.0)),
        _node(
            "t",
            "u1",
            _words("m2", "assistant", "search(rice)", recipient="browser", content_type="code"),
        ),
        _node("t1", "t", _words("m3", "tool", "ten results")),
        _node("a1", "t1", _words("m4", "assistant", "Simmer it for 12 minutes.")),
        _node(
            "u2",
            "a1",
            _words("m5", "user", picture, "Here is my pot.", "", content_type="multimodal_text"),
        ),
    ]
    return [
        {
            "title": "Rice",
            "create_time": 1_700_000_000.0,
            "conversation_id": "c-1",
            "current_node": "u2",
            "mapping": {it["id"]: it for it in nodes},
        }
    ]


def _claude() -> list[dict[str, Any]]:
    return [
        {
            "uuid": "k-1",
            "name": "护照",
            "created_at": "2025-03-01T08:00:00.000000Z",
            "chat_messages": [
                {
                    "uuid": "q",
                    "text": "",
                    "content": [{"type": "text", "text": "我的护照放在书桌的抽屉里。"}],
                    "sender": "human",
                    "created_at": "2025-03-01T08:00:01.000000Z",
                },
                {
                    "uuid": "r",
                    "text": "好的，记下了。",
                    "sender": "assistant",
                    "created_at": "2025-03-01T08:00:02.000000Z",
                },
            ],
        }
    ]


async def _said(memory: Memory, session: str) -> list[tuple[str, str]]:
    return [(it.role, it.content) for it in await memory.turns(session=session)]


async def test_exports_of_chatgpt_and_claude_come_in_as_they_were_said(
    database_path: Path, tmp_path: Path
):
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("conversations.json", json.dumps(_chatgpt()))
        packed.writestr("user.json", "{}")
    claude = tmp_path / "conversations.json"
    claude.write_text(json.dumps(_claude()), encoding="utf-8")

    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        first = await memory.import_chat(archive)
        assert (first.conversations, first.added, first.empty) == (1, 3, 3)
        assert await _said(memory, "chatgpt-c-1") == [
            ("user", "How do I cook rice?"),
            ("assistant", "Simmer it for 12 minutes."),
            ("user", "Here is my pot."),
        ]
        page = await memory.turns(session="chatgpt-c-1")
        assert page.items[0].at == datetime(2023, 11, 14, 22, 14, 20, tzinfo=UTC)
        assert page.items[1].at == page.items[0].at, "where none is given, the time before it"

        assert (await memory.import_chat(claude)).added == 2
        found = await memory.recall("我的护照放在哪里？", min_score=0)
        assert found[0].content == "我的护照放在书桌的抽屉里。"
        assert found[0].turn is not None
        assert found[0].turn.at == datetime(2025, 3, 1, 8, 0, 1, tzinfo=UTC)

        # What was talked about since then is added, and nothing else.
        again = _claude()
        again[0]["chat_messages"].append(
            {"uuid": "s", "text": "谢谢！", "sender": "human", "created_at": "2025-03-02T08:00:00Z"}
        )
        claude.write_text(json.dumps(again), encoding="utf-8")
        second = await memory.import_chat(claude)
        assert (second.added, second.known) == (1, 2)
        assert (await memory.import_chat(archive)).added == 0

        # The conversation goes on here, with nothing of ours in what is sent.
        sent = await memory.session("claude-k-1").prepare()
        assert sent[-1] == {"role": "user", "content": "谢谢！"}


def test_a_plain_file_is_imported_by_the_command_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
):
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    file = tmp_path / "summer.jsonl"
    lines = [
        {
            "role": "user",
            "content": "We sail to Bornholm.",
            "timestamp": "2024-07-01T09:00:00+02:00",
        },
        {"role": "assistant", "content": "Have fun!", "timestamp": 1_719_817_260},
        {"role": "user", "content": "Yes!"},
        {"role": "user", "content": "Yes!"},
        {"role": "user", "content": "Who is Bo?", "session": "other"},
    ]
    file.write_text("".join(json.dumps(it) + "\n" for it in lines), encoding="utf-8")
    recollect = CommandLine(capfdbinary)
    place = ("--data", str(tmp_path / "memory.db"), "--json")

    done = recollect("import", "--chat", str(file), *place).json
    assert (done["conversations"], done["added"], done["known"]) == (2, 5, 0)
    assert "5 here already" in recollect("import", "--chat", str(file), *place[:2]).out
    turns = recollect("turns", "--session", "summer", *place).json["items"]
    assert [it["content"] for it in turns] == [it["content"] for it in lines[:4]]
    assert turns[0]["at"].startswith("2024-07-01T07:00:00")
    assert turns[1]["at"].startswith("2024-07-01T07:01:00")

    with file.open("a", encoding="utf-8") as more:
        more.write('{"role": "user"\n{"role": "wizard", "content": "Hm."}\n')
        more.write('{"role": "user", "content": "Back home.", "timestamp": "noon"}\n')
        more.write('{"role": "user", "content": "Home again."}\n')
    refused = recollect("import", "--chat", str(file), *place).error
    assert refused["code"] == "bad_json"
    assert "Entry 6" in refused["message"]
    done = recollect("import", "--chat", "--skip-bad", str(file), *place).json
    assert (done["added"], done["known"], done["bad"]) == (1, 5, 3)
    assert {it["code"] for it in done["problems"]} == {"bad_json", "bad_time", "unknown_role"}


async def test_what_is_no_chat_is_refused(database_path: Path, tmp_path: Path):
    file = tmp_path / "letter.txt"
    file.write_text("Dear Ann,\nall is well.\n", encoding="utf-8")
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        with pytest.raises(InvalidInput) as refused:
            await memory.import_chat(file)
        assert refused.value.code == "not_a_chat"


@pytest.mark.parametrize("name", ["at", "timestamp"])
async def test_a_message_may_tell_its_time_as_text(memory: Memory, name: str):
    message = {"role": "user", "content": "We met in Kiel.", name: "2021-05-06T10:00:00+02:00"}
    moment = datetime(2021, 5, 6, 8, tzinfo=UTC)
    (turn,) = await memory.observe(message, session="s")
    (said,) = await memory.session("s").observe(message)
    assert turn.at == said.at == moment
    assert name not in turn.payload
    for wrong, code in (("yesterday", "bad_time"), ("2021-05-06T10:00:00", "naive_datetime")):
        with pytest.raises(InvalidInput) as refused:
            await memory.observe({**message, name: wrong})
        assert refused.value.code == code
