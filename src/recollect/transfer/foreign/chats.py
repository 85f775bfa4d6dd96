"""ChatGPT and Claude: what a data export holds beside the messages that `chat_import` reads."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from json import loads
from pathlib import Path, PurePosixPath
from typing import Final, cast

from recollect.domain.fields import RecordFields
from recollect.errors import InvalidInput
from recollect.transfer.chat_import import (
    ChatFile,
    Fields,
    path_in_chatgpt,
    read_chats,
    read_entries,
)
from recollect.transfer.foreign.found import (
    Found,
    FoundMemory,
    Json,
    Said,
    mapping,
    moment,
    not_readable,
    objects,
)

_HINT: Final = "Give the archive that was sent, or the folder it was unpacked to."
_MEMORIES: Final = "memories"
_USER: Final = "user-profile"
# What ChatGPT was told to keep: messages to its tool of this name.
_NOTEBOOK: Final = "bio"


def read_chat_export(path: Path, found: Found) -> list[ChatFile]:
    """Return the conversations of an export, plain, zipped or unpacked; add the rest to `found`."""
    files = sorted(path.glob("conversations*.json")) if path.is_dir() else [path]
    if not files:
        raise not_readable(
            "ChatGPT or Claude",
            "there is no conversations.json in it",
            _HINT,
        )
    chats: list[ChatFile] = []
    for file in files:
        chats.append(read_chats(file))
        for entry in read_entries(file):
            if not isinstance(entry, InvalidInput):
                _look_beside(entry, found)
    for memory in _memories_in(path):
        _add_memories(memory, found)
    if not found.memories and not any(chat.messages or chat.empty for chat in chats):
        raise not_readable("ChatGPT or Claude", "there are no conversations in it", _HINT)
    return chats


def _look_beside(conversation: Fields, found: Found) -> None:
    name = str(conversation.get("title") or conversation.get("name") or "")
    for message in objects(conversation.get("chat_messages")):
        for kind in ("attachments", "files"):
            for _ in objects(message.get(kind)):
                found.leave_out("attached files: add them with `recollect kb add`", name)
    nodes = mapping(conversation.get("mapping"))
    shown = path_in_chatgpt(conversation) if nodes else []
    ids = {str(node.get("id")) for node in shown}
    for key, node in nodes.items():
        message = mapping(mapping(node).get("message"))
        for _ in objects(mapping(message.get("metadata")).get("attachments")):
            found.leave_out("attached files: add them with `recollect kb add`", name)
        if message.get("recipient") == _NOTEBOOK:
            _add_note(message, found)
        elif mapping(message.get("author")).get("role") in ("user", "assistant") and not (
            key in ids or str(mapping(node).get("id")) in ids
        ):
            found.leave_out("messages of branches that were abandoned", name)


def _add_note(message: Json, found: Found) -> None:
    """Add what ChatGPT wrote into the memory of the person."""
    parts = mapping(message.get("content")).get("parts")
    listed = cast("list[object]", parts) if isinstance(parts, list) else []
    text = "\n".join(it for it in listed if isinstance(it, str)).strip()
    if not text:
        found.leave_out("notes without words")
        return
    at = moment(message.get("create_time"))
    fields = RecordFields(category=_USER)
    if at is not None:
        fields["created_at"] = at
    key = str(message.get("id") or text)
    found.memories.append(FoundMemory(key=key, said=[Said(content=text, at=at)], fields=fields))


def _memories_in(path: Path) -> Iterable[Json]:
    """Yield what Claude remembers, which an export has in files of its own."""
    if path.is_dir():
        for file in sorted(path.glob(f"{_MEMORIES}*.json")):
            yield from _parsed(file.read_bytes())
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for part in archive.infolist():
                name = PurePosixPath(part.filename)
                if name.suffix == ".json" and name.stem.startswith(_MEMORIES):
                    yield from _parsed(archive.read(part))


def _parsed(data: bytes) -> Iterable[Json]:
    try:
        value: object = loads(data)
    except ValueError as problem:
        raise InvalidInput(
            f"{_MEMORIES}.json is not JSON: {problem}; nothing was changed", code="bad_json"
        ) from None
    return objects(value) or [mapping(value)]


def _add_memories(memory: Json, found: Found) -> None:
    about = mapping(memory.get("project_memories"))
    told = {"Claude": memory.get("conversations_memory"), **about}
    for name, text in told.items():
        if isinstance(text, str) and text.strip():
            category = "project-context" if name in about else _USER
            fields = RecordFields(title=f"memory of {name}"[:255], category=category)
            said = Said(content=text, at=None)
            found.memories.append(FoundMemory(key=name, said=[said], fields=fields))
