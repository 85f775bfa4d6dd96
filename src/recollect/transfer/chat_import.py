"""Chat histories: files of messages, ChatGPT and Claude, imported once as turns."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

from recollect.context.message_formats import as_turn, given_id, read_messages
from recollect.domain.fields import MAX_LABEL
from recollect.domain.filters import Filter
from recollect.domain.job import Progress
from recollect.domain.scope import Caller
from recollect.domain.transfer import ImportedChats, LineProblem
from recollect.domain.turn import new_turn
from recollect.errors import InvalidInput, RecollectError
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.transfer.unpacking import (
    GZIP,
    ZIP,
    allowed_bytes,
    damaged,
    in_thread,
    limited,
    opened,
    unpacked,
)
from recollect.writing.observer import Observer

# --- Chat histories in files: messages as JSON lines, and the exports of ChatGPT and Claude -------
# A file is JSON or JSON lines, possibly compressed, or the archive that a provider sends. Each
# entry is a message or a conversation with its messages; its fields show which.

Fields: TypeAlias = Mapping[str, Any]

# A person's history of years is a tenth of this.
MAX_FILE_BYTES: Final = 512 * 2**20
MAX_ENTRY_CHARS: Final = 32 * 2**20
MAX_MESSAGES: Final = 500_000
MAX_ARCHIVE_FILES: Final = 10_000
_CHUNK_CHARS: Final = 2**16
_BETWEEN_VALUES: Final = re.compile(r"[ \t\r\n,]*")
_LINE_END: Final = re.compile(r"[\r\n]+")
_CONVERSATIONS: Final = "conversations"
_MESSAGES: Final = ("messages", "chat_messages", "mapping")
_ROLES: Final[Mapping[str, str]] = {"human": "user", "ai": "assistant", "model": "assistant"}
_TIMES: Final = ("timestamp", "at", "created_at", "create_time")
# The other fields of a plain message that are kept.
_KEPT_FIELDS: Final = ("name", "tool_calls", "tool_call_id")
# A larger number is in milliseconds, not seconds.
_MIN_MILLISECONDS: Final = 100_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message of a file with its conversation and a stable id.

    `at` is None when the file has no time; `place` counts the entries of the file.
    """

    place: int
    session: str
    id: str
    message: Fields
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """An entry that is neither a message nor a conversation."""

    place: int
    problem: RecollectError


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFile:
    """The contents of a file; `empty` counts messages without text, such as hidden ones."""

    messages: Sequence[ChatMessage]
    unreadable: Sequence[Unreadable]
    empty: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _RawMessage:
    """A message as the file has it; without a role it is ignored."""

    role: str = ""
    content: Any = None
    id: str = ""
    time: object = None
    more: Fields


def read_chats(source: str | Path | BinaryIO, session: str | None = None) -> ChatFile:
    """Return the messages of a file; those without a conversation belong to `session`."""
    default = _session_id(session or session_name(source))
    messages: list[ChatMessage] = []
    unreadable: list[Unreadable] = []
    empty = 0
    # Equal messages without ids are distinguished by their number.
    equals: Counter[tuple[str, str]] = Counter()
    for place, entry in enumerate(read_entries(source), start=1):
        try:
            if isinstance(entry, InvalidInput):
                raise entry
            conversation, said = _messages_of(entry, default)
            at: datetime | None = None
            for message in said:
                if not message.role or not message.content:
                    empty += 1
                    continue
                at = at if message.time is None else _moment(message.time)
                name = message.id or _hash_of(conversation, message)
                equals[conversation, name] += 1
                before = equals[conversation, name] - 1
                if message.id and before:
                    continue
                if len(messages) == MAX_MESSAGES:
                    raise _too_much(f"The file has more than {MAX_MESSAGES:,} messages")
                messages.append(
                    ChatMessage(
                        place=place,
                        session=conversation,
                        id=f"{name}-{before}" if before else name,
                        message={"role": message.role, "content": message.content, **message.more},
                        at=at,
                    )
                )
        except InvalidInput as problem:
            unreadable.append(Unreadable(place=place, problem=problem))
    if not messages and not empty and unreadable:
        raise InvalidInput(
            f"This is not a chat history: {unreadable[0].problem.message}",
            code="not_a_chat",
            hint='Give JSON lines such as {"role": "user", "content": "…", "timestamp": "…"}, or '
            "the file that ChatGPT or Claude exports.",
        )
    return ChatFile(messages=messages, unreadable=unreadable, empty=empty)


def read_entries(source: str | Path | BinaryIO) -> Iterator[Fields | InvalidInput]:
    """Yield the messages and conversations of a file, one at a time."""
    with opened(source, MAX_FILE_BYTES) as (file, size):
        head = file.read(len(ZIP))
        file.seek(0)
        if head.startswith(ZIP):
            yield from _in_archive(file, size)
        elif head.startswith(GZIP):
            yield from _in_text(unpacked(file, size, MAX_FILE_BYTES))
        else:
            yield from _in_text(file)


def _in_archive(file: BinaryIO, size: int) -> Iterator[Fields | InvalidInput]:
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
            if len(parts) > MAX_ARCHIVE_FILES:
                raise _too_much(f"The archive has more than {MAX_ARCHIVE_FILES:,} files")
            for part in sorted(parts, key=lambda it: it.filename):
                name = part.filename
                if Path(name).stem.startswith(_CONVERSATIONS) and name.endswith(".json"):
                    # What the archive says of its sizes may be wrong: what is read is counted.
                    with archive.open(part) as inner:
                        allowed = allowed_bytes(size, MAX_FILE_BYTES)
                        yield from _in_text(limited(cast("BinaryIO", inner), allowed))
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as damage:
        raise damaged(damage) from None


def _in_text(file: BinaryIO) -> Iterator[Fields | InvalidInput]:
    try:
        with io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
            yield from _in_json(text)
    except UnicodeDecodeError:
        raise InvalidInput(
            "The file is not text in UTF-8", code="not_a_chat", hint="Save it as UTF-8."
        ) from None


def _in_json(text: io.TextIOWrapper) -> Iterator[Fields | InvalidInput]:
    """Yield the entries of one JSON value, or of JSON lines."""
    start = text.read(_CHUNK_CHARS)
    if start.lstrip().startswith("["):
        yield from _in_list(text, start.lstrip()[1:])
        return
    line, rest = _first_line(text, start)
    try:
        # A line that is a whole value: JSON lines, or all there is.
        first = _loads(line)
    except InvalidInput:
        whole = _read_whole(text, line + rest)
        try:
            yield from _listed(_loads(whole))
        except InvalidInput:
            yield from _in_lines(_LINE_END.split(whole))
        return
    yield from _listed(first)
    yield from _in_lines(_following(text, rest))


def _in_list(text: io.TextIOWrapper, buffer: str) -> Iterator[Fields | InvalidInput]:
    """Yield the values of a JSON list as they are read."""
    decoder = json.JSONDecoder()
    at, more = 0, _CHUNK_CHARS
    while True:
        at += len(cast("re.Match[str]", _BETWEEN_VALUES.match(buffer, at))[0])
        if buffer.startswith("]", at):
            return
        value: object = None
        failed: Exception = ValueError("it ends in the middle")
        try:
            value, end = decoder.raw_decode(buffer, at)
        except RecursionError:
            yield _too_deep()
            return
        except ValueError as problem:
            end, failed = at, problem
        # A number may go on behind the end of what was read.
        if at < end < len(buffer):
            yield _entry(value)
            at, more = end, _CHUNK_CHARS
            continue
        piece = text.read(more)
        if not piece:
            yield InvalidInput(f"it is not JSON: {failed}", code="bad_json")
            return
        buffer, at = buffer[at:] + piece, 0
        _require_entry(buffer)
        # Twice as much each time, so that a long entry is not parsed again and again.
        more = len(buffer)


def _first_line(text: io.TextIOWrapper, start: str) -> tuple[str, str]:
    while not (found := _LINE_END.search(start)):
        piece = text.read(max(_CHUNK_CHARS, len(start)))
        if not piece:
            return start, ""
        start += piece
        _require_entry(start)
    if not start[: found.start()].strip():
        return _first_line(text, start[found.end() :])
    return start[: found.start()], start[found.start() :]


def _following(text: io.TextIOWrapper, rest: str) -> Iterator[str]:
    while True:
        *lines, rest = _LINE_END.split(rest)
        yield from lines
        piece = text.read(max(_CHUNK_CHARS, len(rest)))
        if not piece:
            yield rest
            return
        rest += piece
        _require_entry(rest)


def _read_whole(text: io.TextIOWrapper, start: str) -> str:
    whole = start + text.read(MAX_ENTRY_CHARS + 1 - min(len(start), MAX_ENTRY_CHARS))
    _require_entry(whole)
    return whole


def _in_lines(lines: Iterable[str]) -> Iterator[Fields | InvalidInput]:
    for line in lines:
        if line.strip():
            try:
                yield _fields(_loads(line))
            except InvalidInput as problem:
                yield problem


def _loads(text: str) -> object:
    try:
        return json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as problem:
        raise InvalidInput(f"it is not JSON: {problem}", code="bad_json") from None


def _entry(value: object) -> Fields | InvalidInput:
    try:
        return _fields(value)
    except InvalidInput as problem:
        return problem


def _require_entry(text: str) -> None:
    if len(text) > MAX_ENTRY_CHARS:
        raise _too_much(f"An entry has more than {MAX_ENTRY_CHARS:,} characters")


def _too_much(what: str) -> InvalidInput:
    return InvalidInput(what, code="import_too_large", hint="Split the file.")


def _too_deep() -> InvalidInput:
    return InvalidInput("its values are nested too deeply", code="bad_json")


def _listed(whole: object) -> Iterator[Fields | InvalidInput]:
    if isinstance(whole, Mapping) and _CONVERSATIONS in whole:
        whole = cast("Fields", whole)[_CONVERSATIONS]
    entries = cast("list[object]", whole) if isinstance(whole, list) else [cast("object", whole)]
    for entry in entries:
        try:
            yield _fields(entry)
        except InvalidInput as problem:
            yield problem


def _fields(entry: object) -> Fields:
    if not isinstance(entry, Mapping):
        raise InvalidInput(
            f"a message is a JSON object, not {type(entry).__name__}", code="bad_message"
        )
    return cast("Fields", entry)


def _messages_of(entry: Fields, default: str) -> tuple[str, Iterable[_RawMessage]]:
    """Return the conversation of an entry and its messages."""
    if not any(name in entry for name in _MESSAGES):
        return _session_id(entry.get("session") or entry.get("conversation_id") or default), [
            _plain(entry)
        ]
    name = entry.get("conversation_id") or entry.get("uuid") or entry.get("id")
    if isinstance(entry.get("mapping"), Mapping):
        return _session_id(f"chatgpt-{name}" if name else default), _from_chatgpt(entry)
    if isinstance(entry.get("chat_messages"), list):
        return _session_id(f"claude-{name}" if name else default), _from_claude(entry)
    said = entry.get("messages")
    if not isinstance(said, list):
        raise InvalidInput("its messages are not a list", code="bad_message")
    session = _session_id(entry.get("session") or name or default)
    return session, [_plain(_fields(message)) for message in cast("list[object]", said)]


def _plain(entry: Fields) -> _RawMessage:
    role = entry.get("role") or entry.get("sender")
    if not isinstance(role, str) or not role:
        raise InvalidInput("it has no role", code="bad_message")
    given = entry.get("id") or entry.get("uuid")
    return _RawMessage(
        role=_ROLES.get(role, role),
        content=entry["content"] if "content" in entry else entry.get("text"),
        id=given if isinstance(given, str) else "",
        time=next((entry[name] for name in _TIMES if entry.get(name) is not None), None),
        more={name: entry[name] for name in _KEPT_FIELDS if entry.get(name)},
    )


def path_in_chatgpt(conversation: Fields) -> list[Fields]:
    """Return the nodes from the one shown last back to the first; the file holds them as a tree."""
    nodes = {name: _fields(node) for name, node in _in(conversation, "mapping").items()}
    place = conversation.get("current_node")
    if place not in nodes:
        place = next((name for name in reversed([*nodes]) if not nodes[name].get("children")), None)
    path: list[Fields] = []
    seen: set[object] = set()
    while isinstance(place, str) and place in nodes and place not in seen:
        seen.add(place)
        path.append(nodes[place])
        place = nodes[place].get("parent")
    return path


def _from_chatgpt(conversation: Fields) -> Iterator[_RawMessage]:
    """Yield the messages from the first to the one shown last."""
    begun = conversation.get("create_time")
    for node in reversed(path_in_chatgpt(conversation)):
        message = _in(node, "message")
        if not message:
            continue
        yield _RawMessage(
            role=_role_in_chatgpt(message),
            content=_words_in_chatgpt(_in(message, "content")),
            id=str(message.get("id") or node.get("id") or ""),
            time=message.get("create_time") or begun,
            more={},
        )
        begun = None


def _role_in_chatgpt(message: Fields) -> str:
    """Return who speaks; tool calls, their results and hidden prompts have no role."""
    role = _in(message, "author").get("role")
    is_hidden = _in(message, "metadata").get("is_visually_hidden_from_conversation")
    is_said = role in ("user", "assistant") and message.get("recipient", "all") == "all"
    return str(role) if is_said and not is_hidden else ""


def _words_in_chatgpt(content: Fields) -> str:
    if content.get("content_type") not in ("text", "multimodal_text"):
        return ""
    return _join(map(_text_in, _listed_in(content, "parts")))


def _from_claude(conversation: Fields) -> Iterator[_RawMessage]:
    begun = conversation.get("created_at")
    for message in map(_fields, _listed_in(conversation, "chat_messages")):
        words = _join(map(_text_in, filter(_is_text, _listed_in(message, "content"))))
        sender = str(message.get("sender") or "")
        yield _RawMessage(
            role=_ROLES.get(sender, sender),
            content=words or message.get("text"),
            id=str(message.get("uuid") or ""),
            time=message.get("created_at") or begun,
            more={},
        )
        begun = None


def _is_text(block: object) -> bool:
    return isinstance(block, Mapping) and cast("Fields", block).get("type") == "text"


def _text_in(part: object) -> str:
    text = cast("Fields", part).get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else ""


def _in(fields: Fields, name: str) -> Fields:
    """Return the object of this name, or an empty one."""
    inner = fields.get(name)
    return cast("Fields", inner) if isinstance(inner, Mapping) else {}


def _listed_in(fields: Fields, name: str) -> list[object]:
    inner = fields.get(name)
    return cast("list[object]", inner) if isinstance(inner, list) else []


def _join(texts: Iterable[str]) -> str:
    return "\n".join(text for text in texts if text.strip())


def _moment(time: object) -> datetime:
    """Parse a time: ISO text, local if it has no zone, or a number of seconds."""
    try:
        if isinstance(time, int | float) and not isinstance(time, bool):
            return datetime.fromtimestamp(time / (1_000 if time > _MIN_MILLISECONDS else 1), UTC)
        if isinstance(time, str):
            moment = datetime.fromisoformat(time)
            return moment.astimezone() if moment.tzinfo is None else moment
    except (ValueError, OverflowError, OSError):
        pass
    raise InvalidInput(f"its time {time!r} cannot be read", code="bad_time")


def _hash_of(conversation: str, said: _RawMessage) -> str:
    content = json.dumps([conversation, said.role, said.content, said.time], sort_keys=True)
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def session_name(source: str | Path | BinaryIO) -> str:
    """Return the session for messages without a conversation."""
    return Path(source).name.partition(".")[0] if isinstance(source, str | Path) else "chat"


def _session_id(session: object) -> str:
    return str(session)[:MAX_LABEL] or "chat"


# --- Chat histories: files of messages, ChatGPT and Claude, imported once as turns ----------------

_BATCH_MESSAGES: Final = 100
_MAX_LISTED_PROBLEMS: Final = 100


class ChatImporter:
    """The import of a file's messages in batches, one conversation after another.

    Each batch is durable before the next one starts, so that a second run continues where the first
    one ended.
    """

    def __init__(self, store: Store, observer: Observer, clock: Clock) -> None:
        self._store = store
        self._observer = observer
        self._clock = clock

    async def import_from(
        self,
        caller: Caller,
        source: str | Path | BinaryIO,
        *,
        session: str | None = None,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> ImportedChats:
        """Store the messages that are not stored yet; stop at a bad one, or skip it."""
        file = await in_thread(lambda: read_chats(source, session))
        return await self.add(caller, file, skip_bad=skip_bad, progress=progress)

    async def add(
        self,
        caller: Caller,
        file: ChatFile,
        *,
        skip_bad: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportedChats:
        """Store the messages that are not stored yet; with `dry_run` only count them."""
        conversations: dict[str, list[ChatMessage]] = {}
        for message in file.messages:
            conversations.setdefault(message.session, []).append(message)
        bad: list[Unreadable] = [*file.unreadable]
        if bad and not skip_bad:
            raise _refused(bad[0], "nothing was added")
        done = ImportedChats(conversations=len(conversations), empty=file.empty)
        for name, messages in conversations.items():
            known = await self._known(caller, name)
            new = iter([message for message in messages if message.id not in known])
            done = replace(
                done, known=done.known + sum(message.id in known for message in messages)
            )
            while batch := [*islice(new, _BATCH_MESSAGES)]:
                turns = [*self._turns(caller, batch, bad)]
                if len(bad) > len(file.unreadable) and not skip_bad:
                    raise _refused(bad[-1], f"{done.added} messages before it were added")
                if not dry_run:
                    await self._observer.observe(caller, turns, session=name, new_session=name)
                done = replace(done, added=done.added + len(turns))
                if progress is not None:
                    progress(done.added + done.known + len(bad), len(file.messages))
        return replace(
            done, bad=len(bad), problems=tuple(map(_line_problem, bad[:_MAX_LISTED_PROBLEMS]))
        )

    async def _known(self, caller: Caller, session: str) -> set[str | None]:
        """Return the ids of the messages that were imported before."""
        turns = await self._store.turns([caller.scope], Filter(session=session))
        return {given_id(turn) for turn in turns}

    def _turns(
        self, caller: Caller, messages: Iterable[ChatMessage], bad: list[Unreadable]
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the turn of each message; add those that cannot be stored to `bad`."""
        now = self._clock.now()
        for message in messages:
            try:
                turns = [*_as_turns(message)]
                for turn in turns:
                    new_turn(turn, caller.scope, message.session, now, None)
            except RecollectError as problem:
                bad.append(Unreadable(place=message.place, problem=problem))
            else:
                yield from turns


def _as_turns(message: ChatMessage) -> Sequence[dict[str, Any]]:
    given = {**message.message, "id": message.id, "at": message.at}
    return [as_turn(incoming) for incoming in read_messages(cast("Mapping[str, Any]", given))]


def _line_problem(bad: Unreadable) -> LineProblem:
    return LineProblem(line=bad.place, code=bad.problem.code, message=bad.problem.message)


def _refused(bad: Unreadable, kept: str) -> InvalidInput:
    return InvalidInput(
        f"Entry {bad.place} of the file cannot be stored: {bad.problem.message}; {kept}",
        code=bad.problem.code,
        hint="Fix it and run this again: nothing is added twice. Or skip bad entries.",
    )
