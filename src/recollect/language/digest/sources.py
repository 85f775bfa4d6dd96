"""The sources that a tool result names: fields for sources, URLs, and paths with line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from recollect.language.characters import one_line

MOST_SOURCES: Final = 10
_MAX_SOURCE_CHARS: Final = 200
# A long result names its sources early or repeatedly.
_MAX_READ_CHARS: Final = 20_000
_MAX_DEPTH: Final = 6

# Fields that name a source, the most reliable first.
_NAMES: Final = (
    *("source", "sources", "url", "link", "href", "html_url", "uri", "permalink"),
    *("file_path", "filepath", "file_name", "filename", "file", "path", "doc_name", "document"),
    *("doc_title", "reference", "来源", "出处", "链接", "文件", "文档"),
)
_TITLES: Final = ("title", "标题")
# Beside one of these a title names the page that they are from.
_EXCERPTS: Final = (
    *("snippet", "content", "text", "excerpt", "body", "passage", "page_content", "score"),
    *("summary", "description", "摘要", "内容", "正文"),
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
_PATH: Final = r"(?:[A-Za-z]:)?[\w./\\@+~-]{1,200}\.[A-Za-z]\w{0,7}"
_PLACE: Final = re.compile(
    rf"(?P<match>{_PATH})[:(-](?P<line>\d+)[:),-]"
    rf"|\s*File \"(?P<python>[^\"]{{1,200}})\", line (?P<python_line>\d+)"
    rf"|(?:=++>?|#++|-{{3,}}+|\+{{3}}) *+(?:[ab]/)?(?P<head>{_PATH})\b"
    rf"|\s*--> (?P<rust>{_PATH}):(?P<rust_line>\d+)"
)
_FILE: Final = re.compile(_PATH)
# Unlike "N/A", 3/4 and 12/05/2026.
_FOLDER: Final = re.compile(r"^[/~.]|[^\W\d_]{2}")
# What could be an id, a number or a single word of a log names no source.
_SPACED: Final = re.compile(r"\S(?:\s+《?|《)[^\s《=:\w]*\w|[^\x00-\x7f]{2}")


def sources_of_value(value: object) -> tuple[str, ...]:
    """Return the sources that a JSON value names, in order."""
    return _first(_of_value(value, 0))


def sources_of_text(text: str) -> tuple[str, ...]:
    """Return the sources of a text: labelled lines, then links, then places in files."""
    head = text[:_MAX_READ_CHARS]
    # Line by line: a multi-line search in the whole text is several times slower.
    lines = head.split("\n")
    return _first(_of_lines(head, lines))


def _first(found: Iterable[str]) -> tuple[str, ...]:
    sources: dict[str, str] = {}
    for source in found:
        line = one_line(source.strip(" \t\"'*`"), _MAX_SOURCE_CHARS)
        if line:
            # Of a file the first place.
            sources.setdefault(re.sub(r":\d+$", "", line), line)
        if len(sources) == MOST_SOURCES:
            break
    return tuple(sources.values())


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
        is_excerpt = any(name in described for name in _EXCERPTS)
        for name in (*_NAMES, *(_TITLES if is_excerpt else ())):
            named = described.get(name)
            several = cast("list[object]", named) if isinstance(named, list) else [named]
            texts = [text for text in several if isinstance(text, str) and _is_source(text, name)]
            if texts:
                return texts
    return []


def _is_source(text: str, name: str) -> bool:
    """Return whether a value is an address, a path, a file or a title, but no id."""
    value = text.strip()
    if "://" in value or _FILE.fullmatch(value) or ("/" in value and _FOLDER.search(value)):
        return True
    if name in _TITLES:
        return bool(value)
    return _SPACED.search(value) is not None


def _of_lines(head: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        if (label := _LABELLED.match(line)) and _is_source(label[1], ""):
            yield label[1]
    if "://" in head:
        yield from (found[1] or found[2].rstrip(".,;:") for found in _LINK.finditer(head))
    for line in lines:
        if place := _PLACE.match(line):
            path = place["match"] or place["python"] or place["head"] or place["rust"]
            number = place["line"] or place["python_line"] or place["rust_line"]
            yield f"{path}:{number}" if number else path
