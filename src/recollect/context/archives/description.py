"""The metadata of an archived tool result, including the sources that it names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from recollect.context.archives.passages import passage_size
from recollect.context.archives.summary import (
    MAX_QUERY,
    canonical_input,
    parsed,
    query_of,
    summary_of,
)
from recollect.context.placeholder import one_line
from recollect.domain.archive import Archive, Content
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.ids import new_id
from recollect.domain.scope import Scope

MOST_SOURCES: Final = 10
_MAX_SOURCE_CHARS: Final = 200
# A long result names its sources early or repeatedly.
_MAX_READ_CHARS: Final = 20_000
_MAX_DEPTH: Final = 6

# Fields that name a source, the most reliable first.
_NAMES: Final = (
    *("source", "sources", "url", "link", "href", "uri", "permalink"),
    *("file_path", "filepath", "file_name", "filename", "file", "path", "doc_name", "document"),
    *("doc_title", "reference", "title", "name", "来源", "出处", "链接", "文件", "文档", "标题"),
)
# Fields in which result formats keep the description of an item.
_INNER: Final = ("metadata", "meta", "source", "document", "_source", "payload", "fields")

_LABELLED: Final = re.compile(
    r"[ \t>*#-]*(?:sources?|url|file|document|reference|来源|出处|参考文献|文件|文档|链接)"
    r"(?:\*\*)?[ \t]*[:：][ \t]*(.+)",
    re.IGNORECASE,
)
_LINK: Final = re.compile(
    r"\[[^\]\n]{1,200}\]\((https?://[^)\s]+)\)|(https?://[^\s\"'<>)\]，。；]+)"
)
_GREP_LINE: Final = re.compile(r"([\w./\\-]{1,200}\.\w{1,8})[:-]\d+[:-]")
_FILE_HEAD: Final = re.compile(r"(?:=+>?|#+|-{3,}|\+{3}) *([\w./\\-]{1,200}\.\w{1,8})\b")


def sources_of(text: str, value: object = None) -> tuple[str, ...]:
    """Return the sources that a result names, in order; `value` is the result parsed as JSON."""
    found = _of_value(value, 0) if value is not None else _of_text(text[:_MAX_READ_CHARS])
    sources: dict[str, None] = {}
    for source in found:
        line = one_line(source.strip(" \t\"'*`"), _MAX_SOURCE_CHARS)
        if line:
            sources[line] = None
        if len(sources) == MOST_SOURCES:
            break
    return tuple(sources)


def _of_value(value: object, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _of_value(item, depth + 1)
    elif isinstance(value, dict):
        mapping = cast("dict[str, object]", value)
        named = _of_item(mapping)
        yield from named
        # The other fields of an item are its content; only containers are searched further.
        if not named:
            for inner in mapping.values():
                yield from _of_value(inner, depth + 1)


def _of_item(item: Mapping[str, object]) -> list[str]:
    """Return the best names that an item or its description gives to its source."""
    inner = [item[name] for name in _INNER if isinstance(item.get(name), dict)]
    for described in (item, *cast("list[dict[str, Any]]", inner)):
        for name in _NAMES:
            named = described.get(name)
            several = cast("list[object]", named) if isinstance(named, list) else [named]
            texts = [text for text in several if isinstance(text, str) and text.strip()]
            if texts:
                return texts
    return []


def _of_text(text: str) -> Iterator[str]:
    """Yield sources from labelled lines, then links, then files in a search result or listing."""
    # Line by line: a multi-line search in the whole text is several times slower.
    lines = text.split("\n")
    yield from _at_beginnings(_LABELLED, lines)
    if "://" in text:
        yield from (found[1] or found[2].rstrip(".,;:") for found in _LINK.finditer(text))
    yield from _at_beginnings(_GREP_LINE, lines)
    yield from _at_beginnings(_FILE_HEAD, lines)


def _at_beginnings(pattern: re.Pattern[str], lines: Sequence[str]) -> Iterator[str]:
    return (found[1] for found in map(pattern.match, lines) if found)


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
    """Return a new archive for a result."""
    asked = canonical_input(origin.input)
    query = query_of(origin.input)
    text = content.text or ""
    value = parsed(content)
    return Archive(
        id=new_id("arc"),
        scope=origin.scope,
        session=origin.session,
        thread=origin.thread,
        tool=origin.tool,
        input=asked,
        input_hash=hash_of(asked.encode()),
        query=one_line(query, MAX_QUERY),
        summary=summary_of(content, value, query),
        sources=sources_of(text, value),
        form=content.form,
        content_hash=hash_of(content.data),
        chars=len(text),
        lines=text.count("\n") + 1 if text else 0,
        bytes=len(content.data),
        indexed_chars=min(len(text), indexed_passages * passage_size(text)),
        created_at=now,
        expires_at=expires_at,
    )


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
