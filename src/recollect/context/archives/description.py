"""The description of an archived tool result: its metadata and its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, cast

from recollect.context.archives.passages import passage_size
from recollect.domain.archive import Archive, Content, Summariser
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.ids import new_id
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput
from recollect.language.characters import one_line
from recollect.language.digest import Digest, digest, digest_of_bytes
from recollect.ports.language_model import TokenCounter

MAX_QUERY: Final = 500
# A longer text is digested in the background; until then by its beginning and its end.
DIGESTED_AT_ONCE: Final = 60_000
_SAMPLE_CHARS: Final = 20_000

_QUERY_NAMES: Final = (
    *("query", "q", "question", "search_query", "search", "keywords", "keyword", "topic"),
    *("pattern", "prompt", "text", "command", "sql", "url", "path", "file_path", "file"),
    *("查询", "问题", "关键词", "关键字"),
)


def canonical_input(tool_input: object) -> str:
    """Return the input as JSON that is equal for equal inputs, whatever the key order."""
    try:
        return json.dumps(tool_input, sort_keys=True, separators=(",", ":"), default=str)
    except (TypeError, ValueError, RecursionError) as unusable:
        raise InvalidInput(
            f"The tool's input cannot be written as JSON: {unusable}", code="wrong_type"
        ) from None


def query_of(tool_input: object) -> str:
    """Return what the tool was asked, as far as its input has a name for it."""
    if not isinstance(tool_input, Mapping):
        return "" if tool_input is None else str(tool_input)
    named = cast("Mapping[str, object]", tool_input)
    for name in _QUERY_NAMES:
        asked = named.get(name)
        several = cast("list[object]", asked) if isinstance(asked, list) else [asked]
        words = " ".join(word for word in several if isinstance(word, str))
        if words.strip():
            return words
    return ", ".join(f"{name}: {value}" for name, value in named.items())


def digest_of(content: Content, query: str, room: int, tokens: TokenCounter) -> Digest:
    """Return the digest of a content."""
    if content.text is None:
        return digest_of_bytes(content.data)
    return digest(content.text, room, tokens.count, query=query)


def sample_of(content: Content) -> Content:
    """Return the beginning and the end of a long text."""
    text = content.text or ""
    sample = f"{text[:_SAMPLE_CHARS]}\n{text[-_SAMPLE_CHARS:]}"
    return replace(content, data=b"", text=sample)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a result comes from: the tool, its input and the conversation."""

    scope: Scope
    session: str
    thread: str | None
    tool: str
    input: object

    def __post_init__(self) -> None:
        checked_text(self.tool, "tool_name", MAX_LABEL)
        checked_text(self.session, "conversation_id", MAX_LABEL)
        if self.thread is not None:
            checked_text(self.thread, "thread_id", MAX_LABEL)


def describe(
    content: Content,
    origin: Origin,
    *,
    now: datetime,
    expires_at: datetime | None,
    indexed_passages: int,
) -> Archive:
    """Return a new archive for a result, without a digest."""
    asked = canonical_input(origin.input)
    text = content.text or ""
    return Archive(
        id=new_id("arc"),
        scope=origin.scope,
        session=origin.session,
        thread=origin.thread,
        tool=origin.tool,
        input=asked,
        input_hash=hash_of(asked.encode()),
        query=one_line(query_of(origin.input), MAX_QUERY),
        summary="",
        sources=(),
        form=content.form,
        content_hash=hash_of(content.data),
        chars=len(text),
        lines=text.count("\n") + 1 if text else 0,
        bytes=len(content.data),
        indexed_chars=min(len(text), indexed_passages * passage_size(text)),
        created_at=now,
        expires_at=expires_at,
    )


def with_digest(archive: Archive, told: Digest, by: Summariser) -> Archive:
    """Return the archive with the summary and the sources of a digest."""
    return replace(archive, summary=str(told), sources=told.sources, summarised_by=by)


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
