"""Rules for session notes: which tool feeds which notes, declared without code.

A rule finds values by paths. A path starts at `arguments`, `result`, or `item` (one of several
results); `.name` enters a mapping and `[]` goes through a list: `result.hits[].text`. Of several
paths separated by `|` the first that leads to a value counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Literal, cast, get_args

from recollect.domain.fields import checked_share
from recollect.domain.notes import ChunkType
from recollect.errors import InvalidInput

_PATH: Final = re.compile(r"(arguments|result|item)((?:\.[^.\[\]|]+|\[\])*)")
_STEP: Final = re.compile(r"\.([^.\[\]|]+)|(\[\])")
_MAX_NUMBER: Final = 1e15
_SIGNS_OF_FAILURE: Final = ("error", "isError", "is_error")
Feeds = Literal["structure", "search_results", "page"]
_NEEDED: Final[Mapping[Feeds, tuple[str, ...]]] = {
    "structure": ("document", "content"),
    "search_results": ("items", "content"),
    "page": ("content",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContent:
    """The arguments and the result of a call, in which paths are followed."""

    arguments: object = None
    result: object = None
    item: object = None

    @classmethod
    def of(cls, arguments: object, result: object = None) -> CallContent:
        """Return a call from values, JSON texts or lists of text parts."""
        return cls(arguments=_from_json(arguments), result=_unwrap(result))

    @property
    def has_failed(self) -> bool:
        """Return whether the result reports an error."""
        return _tells_of_failure(self.result)

    def items(self, paths: str) -> list[CallContent]:
        """Return the call once for each of its results."""
        return [replace(self, item=item) for item in self.all(paths)]

    def all(self, paths: str) -> list[object]:
        """Return every value of the first path that leads to any."""
        for root, steps in parsed_paths(paths) if paths else ():
            found = [value for value in _follow(getattr(self, root), steps) if value is not None]
            if found:
                return found
        return []

    def structure(self, paths: str) -> Mapping[str, Any] | list[Any] | None:
        """Return the first non-empty mapping or list there."""
        for found in self.all(paths):
            if isinstance(found, Mapping | list) and found:
                return cast("Mapping[str, Any] | list[Any]", found)
        return None

    def text(self, paths: str) -> str:
        """Return the texts and whole numbers there, one per line."""
        for one in paths.split("|"):
            found = [_readable(str(value)) for value in self.all(one) if _is_text(value)]
            if text := "\n".join(found).strip():
                return text
        return ""

    def share(self, paths: str) -> float | None:
        """Return the first number there, limited to 0 to 1."""
        found = (value for one in paths.split("|") for value in self.all(one))
        return next((_within_share(value) for value in found if _is_number(value)), None)


@lru_cache
def parsed_paths(paths: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the root and the steps of each path; an empty step goes through a list."""
    parsed: list[tuple[str, tuple[str, ...]]] = []
    for path in paths.split("|"):
        whole = _PATH.fullmatch(path)
        if whole is None:
            raise InvalidInput(
                f"{path!r} is not a path into a tool call",
                code="bad_notes_rule",
                hint="Write it like 'result.hits[].text', starting at arguments, result or item.",
            )
        parsed.append((whole[1], tuple(step[1] or "" for step in _STEP.finditer(whole[2]))))
    return tuple(parsed)


def _follow(value: object, steps: tuple[str, ...]) -> Iterator[object]:
    if not steps:
        yield value
    elif steps[0]:
        yield from _follow(_mapping(value).get(steps[0]), steps[1:])
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            yield from _follow(inner, steps[1:])


def _unwrap(value: object) -> object:
    """Return a result without the list of text parts that may wrap it."""
    parts = _mapping(value).get("content", value)
    if isinstance(parts, list) and parts and not _tells_of_failure(value):
        found = [_mapping(part) for part in cast("list[object]", parts)]
        if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in found):
            return _from_json("\n".join(cast("str", part["text"]) for part in found))
    return _from_json(value)


def _from_json(value: object) -> object:
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _tells_of_failure(result: object) -> bool:
    return any(_mapping(result).get(sign) for sign in _SIGNS_OF_FAILURE)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and _is_number(value))


def _is_number(value: object) -> bool:
    """Return whether it is a finite number, not a boolean, of a usable size."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(cast("float", value)) < _MAX_NUMBER


def _within_share(number: object) -> float:
    return min(max(float(cast("float", number)), 0.0), 1.0)


def _readable(text: str) -> str:
    """Return the text without what can be neither stored nor shown."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesRule:
    """The kind of a tool's results, and the paths to their parts."""

    feeds: Feeds
    content: str
    document: str = ""
    items: str = ""
    source: str = ""
    score: str = ""
    chapter: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    # The relevance of content without a score; without this only pages are kept, with the default
    # relevance of `add_page_content`.
    relevance: float | None = None
    chunk_type: ChunkType | None = None

    def __post_init__(self) -> None:
        if self.feeds not in get_args(Feeds):
            raise InvalidInput(
                f"A tool cannot feed {self.feeds!r}, only: {', '.join(get_args(Feeds))}",
                code="bad_notes_rule",
            )
        for name in _NEEDED[self.feeds]:
            if not getattr(self, name):
                raise InvalidInput(
                    f"A rule for {self.feeds} needs the path of its {name}", code="bad_notes_rule"
                )
        if self.relevance is not None:
            checked_share(self.relevance, "relevance")
        named = (self.content, self.document, self.items, self.source, self.score, self.chapter)
        for paths in filter(None, (*named, *self.metadata.values())):
            parsed_paths(paths)


GET_TOC: Final = NotesRule(
    feeds="structure",
    document="arguments.reg_id|arguments.doc_id|arguments.document_id"
    "|result.reg_id|result.doc_id|result.document_id",
    content="result",
)
SMART_SEARCH: Final = NotesRule(
    feeds="search_results",
    items="result.results[]|result.hits[]|result[]",
    content="item.content|item.text|item.snippet",
    source="item.source|item.reg_id|item.title|item.url",
    score="item.score|item.relevance_score|item.relevance",
    chapter="item.chapter|item.chapter_id|item.section",
    metadata={"page": "item.page_num|item.page"},
)
READ_PAGE_RANGE: Final = NotesRule(
    feeds="page",
    content="result.content_markdown|result.content|result.pages[].content|result.text|result",
    source="result.source|arguments.reg_id|arguments.doc_id|arguments.document_id",
)
PRESETS: Final[Mapping[str, NotesRule]] = {
    "get_toc": GET_TOC,
    "smart_search": SMART_SEARCH,
    "read_page_range": READ_PAGE_RANGE,
}
