"""Where a tool result comes from: the sources that common shapes of results name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from recollect.context.placeholder import one_line

MOST_SOURCES: Final = 10
_LONGEST: Final = 200
# A long result names its sources early or again and again.
_LOOKED_AT: Final = 20_000
_DEEPEST: Final = 6

# From what names a source best to what is only likely to.
_NAMES: Final = (
    *("source", "sources", "url", "link", "href", "uri", "permalink"),
    *("file_path", "filepath", "file_name", "filename", "file", "path", "doc_name", "document"),
    *("doc_title", "reference", "title", "name", "来源", "出处", "链接", "文件", "文档", "标题"),
)
# Where shapes keep the description of an item.
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
    """The sources a result names, each once, in order; `value` is the result read as JSON."""
    found = _of_value(value, 0) if value is not None else _of_text(text[:_LOOKED_AT])
    sources: dict[str, None] = {}
    for source in found:
        line = one_line(source.strip(" \t\"'*`"), _LONGEST)
        if line:
            sources[line] = None
        if len(sources) == MOST_SOURCES:
            break
    return tuple(sources)


def _of_value(value: object, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _of_value(item, depth + 1)
    elif isinstance(value, dict):
        mapping = cast("dict[str, object]", value)
        named = _of_item(mapping)
        yield from named
        # What an item holds besides is its content; only containers are looked into.
        if not named:
            for inner in mapping.values():
                yield from _of_value(inner, depth + 1)


def _of_item(item: Mapping[str, object]) -> list[str]:
    """The best name that an item or its description gives to its source."""
    inner = [item[name] for name in _INNER if isinstance(item.get(name), dict)]
    for described in (item, *cast("list[dict[str, Any]]", inner)):
        for name in _NAMES:
            named = described.get(name)
            several = cast("list[object]", named) if isinstance(named, list) else [named]
            texts = [it for it in several if isinstance(it, str) and it.strip()]
            if texts:
                return texts
    return []


def _of_text(text: str) -> Iterator[str]:
    """Labelled lines first, then links, then files that a search or a listing names."""
    # Line by line: looking for the beginnings of lines in the whole is several times slower.
    lines = text.split("\n")
    yield from _at_beginnings(_LABELLED, lines)
    if "://" in text:
        yield from (found[1] or found[2].rstrip(".,;:") for found in _LINK.finditer(text))
    yield from _at_beginnings(_GREP_LINE, lines)
    yield from _at_beginnings(_FILE_HEAD, lines)


def _at_beginnings(pattern: re.Pattern[str], lines: Sequence[str]) -> Iterator[str]:
    return (found[1] for found in map(pattern.match, lines) if found)
