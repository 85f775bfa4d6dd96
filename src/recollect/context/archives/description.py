"""The description of an archived tool result: its metadata, its sources and a summary."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, cast

from recollect.context.archives.passages import Needles, passage_size
from recollect.context.placeholder import one_line
from recollect.domain.archive import Archive, Content
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.ids import new_id
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput

# --- Summaries of the input and the result of a tool in a few lines, without a model --------------

MIN_SUMMARY: Final = 200
MAX_SUMMARY: Final = 500
MAX_QUERY: Final = 500
_HEAD_CHARS: Final = 110
# A summary is made while a turn waits, so only a part of a long text is read.
_MAX_SUMMARISED_CHARS: Final = 30_000
_MAX_LINES: Final = 400
_MAX_LINE_CHARS: Final = 160
# Longer JSON is summarised like any text: parsing it would take too long.
MAX_PARSED: Final = 2_000_000

_QUERY_NAMES: Final = (
    *("query", "q", "question", "search_query", "search", "keywords", "keyword", "topic"),
    *("pattern", "prompt", "text", "command", "sql", "url", "path", "file_path", "file"),
    *("查询", "问题", "关键词", "关键字"),
)
_HEADING: Final = re.compile(
    r"#{1,6} \S|第[一二三四五六七八九十百零\d]{1,5}[章节条步部]|[一二三四五六七八九十]{1,3}、|"
    r"\d{1,2}(?:\.\d{1,2}){0,3}[.、)）] ?\S|\*\*[^*]+\*\*\s*$|【[^】]+】"
)
_SIGNAL_WORDS: Final = re.compile(
    "总结|结论|结果|注意|重要|必须|错误|失败|警告|"
    "summary|conclu|result|note:|important|must |error|fail|warn"
)
_MAGIC: Final = {
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
    b"%PDF": "PDF",
    b"PK\x03\x04": "ZIP",
    b"\x1f\x8b": "GZIP",
    b"RIFF": "RIFF",
}


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


def parsed(content: Content) -> object:
    """Return the result parsed as JSON, or None."""
    text = content.text
    if text is None or len(text) > MAX_PARSED or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def summary_of(content: Content, value: object, query: str) -> str:
    """Return 200 to 500 characters of the result: its structure, beginning and main lines.

    `value` is the result parsed as JSON, if it is JSON.
    """
    if content.text is None:
        return _of_bytes(content.data)
    if isinstance(value, dict | list):
        told = _of_structure(cast("dict[str, object] | list[object]", value))
        return _fill(one_line(told, MAX_SUMMARY), content.text)
    return _summary_of_text(content.text[:_MAX_SUMMARISED_CHARS], query)


def _fill(told: str, text: str) -> str:
    """Return the summary, extended with the beginning of the text if it is short."""
    missing = MIN_SUMMARY - len(told)
    return told if missing <= 0 else f"{told} | {one_line(text, missing)}"


def _summary_of_text(text: str, query: str) -> str:
    """Return the beginning, then the most informative lines in order."""
    lines = [one_line(line, _MAX_LINE_CHARS) for line in islice(text.split("\n"), _MAX_LINES)]
    lines = [line for line in lines if line]
    head = one_line(" ".join(lines[:3]), _HEAD_CHARS)
    room = MAX_SUMMARY - len(head)
    chosen: list[int] = []
    for index in _most_informative(lines, Needles.of(query)):
        if len(lines[index]) + 3 <= room and lines[index] not in head:
            chosen.append(index)
            room -= len(lines[index]) + 3
    told = " | ".join([head, *(lines[index] for index in sorted(chosen))])
    # A text in one long line has nothing to choose from: use more of its beginning.
    return _fill(told, text) if chosen else one_line(text, MAX_SUMMARY)


def _most_informative(lines: Sequence[str], needles: Needles) -> list[int]:
    worth = needles.scores(lines)
    for index, line in enumerate(lines):
        if _SIGNAL_WORDS.search(line.lower()):
            worth[index] += 0.3
        if _HEADING.match(line):
            worth[index] += 0.5
    telling = [index for index, score in enumerate(worth) if score > 0]
    seen: set[str] = set()
    unique = [index for index in telling if not (lines[index] in seen or seen.add(lines[index]))]
    return sorted(unique, key=lambda index: (-worth[index], index))


def _of_structure(value: dict[str, object] | list[object]) -> str:
    """Return the names and counts of a JSON value, then its first items."""
    if isinstance(value, list):
        return f"[{len(value)}] {_first_items(value)}"
    parts = [f"{name}{_size(inner)}" for name, inner in value.items()]
    samples = (
        f"{name}: {_first_items(cast('list[object]', inner), 2)}"
        if isinstance(inner, list)
        else f"{name}: {_brief(inner)}"
        for name, inner in value.items()
    )
    return f"{{{', '.join(parts)}}} {'; '.join(islice(samples, 12))}"


def _size(value: object) -> str:
    if isinstance(value, list):
        return f"[{len(cast('list[object]', value))}]"
    return f"{{{len(cast('dict[str, object]', value))}}}" if isinstance(value, dict) else ""


def _first_items(items: Iterable[object], most: int = 3) -> str:
    return " | ".join(_brief(item) for item in islice(items, most))


def _brief(value: object) -> str:
    if isinstance(value, dict):
        pairs = islice(cast("dict[str, object]", value).items(), 4)
        return ", ".join(f"{name}={_brief_leaf(inner)}" for name, inner in pairs)
    return _brief_leaf(value)


def _brief_leaf(value: object) -> str:
    told = value if isinstance(value, str) else _size(value) or json.dumps(value)
    return one_line(told, 60)


def _of_bytes(data: bytes) -> str:
    kind = next((name for mark, name in _MAGIC.items() if data.startswith(mark)), "binary")
    return f"{kind}, {len(data):,} bytes"


# --- The description of an archived tool result: its metadata, its sources and a summary ----------

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
    r"\[[^\]\n]{1,200}\]\((https?://[^)\s]{1,2000})\)|(https?://[^\s\"'<>)\]，。；]+)"
)
_GREP_LINE: Final = re.compile(r"([\w./\\-]{1,200}\.\w{1,8})[:-]\d+[:-]")
_FILE_HEAD: Final = re.compile(r"(?:=++>?|#++|-{3,}+|\+{3}) *+([\w./\\-]{1,200}\.\w{1,8})\b")


def sources_of(text: str, value: object = None) -> tuple[str, ...]:
    """Return the sources that a result names, in order; `value` is the result parsed as JSON."""
    found = _of_value(value, 0) if value is not None else _sources_of_text(text[:_MAX_READ_CHARS])
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


def _sources_of_text(text: str) -> Iterator[str]:
    """Yield sources from labelled lines, then links, then files in a search result or listing."""
    # Line by line: a multi-line search in the whole text is several times slower.
    lines = text.split("\n")
    yield from _at_beginnings(_LABELLED.match, lines)
    if "://" in text:
        yield from (found[1] or found[2].rstrip(".,;:") for found in _LINK.finditer(text))
    yield from _at_beginnings(_GREP_LINE.match, lines)
    yield from _at_beginnings(_FILE_HEAD.match, lines)


def _at_beginnings(
    begins: Callable[[str], re.Match[str] | None], lines: Sequence[str]
) -> Iterator[str]:
    return (found[1] for found in map(begins, lines) if found)


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
