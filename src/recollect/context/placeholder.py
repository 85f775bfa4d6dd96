"""Placeholders, which replace archived tool results in a conversation.

A placeholder can be opened: its content, or a part of it, follows in a block that states its own
length, so that it can be closed again exactly, whatever the content holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Final, Literal, TypeAlias

from recollect.language.characters import one_line

Language: TypeAlias = Literal["zh", "en"]
LengthUnit: TypeAlias = Literal["characters", "bytes"]
Shown: TypeAlias = Literal["full", "passages", "beginning", "range", "problem"]

SHOWN_QUERY: Final = 200
SHOWN_SOURCES: Final = 3
_MAX_SOURCE_CHARS: Final = 200
# More than any digest has; a placeholder is recognised up to this length.
_MAX_SUMMARY_LINES: Final = 100
_MAX_LINE_CHARS: Final = 500

_RULE: Final = "━" * 37
_ID: Final = r"[\w-]{1,64}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """The names of a placeholder's parts in one language."""

    title: str
    tool: str
    query: str
    time: str
    length: str
    units: Mapping[LengthUnit, str]
    summary: str
    sources: str
    load: str
    blocks: Mapping[Shown, str]
    end: str


_WORDS: Final[Mapping[Language, _Words]] = {
    "zh": _Words(
        title="工具结果存档",
        tool="工具",
        query="查询",
        time="时间",
        length="原始长度",
        units={"characters": "字", "bytes": "字节"},
        summary="内容摘要",
        sources="主要来源",
        load="如需查看完整内容，请调用",
        blocks={
            "full": "完整内容",
            "passages": "相关段落",
            "beginning": "未找到相关段落，开头如下",
            "range": "所选范围",
            "problem": "无法加载",
        },
        end="内容结束",
    ),
    "en": _Words(
        title="Tool result archived",
        tool="Tool",
        query="Query",
        time="Time",
        length="Original length",
        units={"characters": " characters", "bytes": " bytes"},
        summary="Summary",
        sources="Main sources",
        load="To see the full content, call",
        blocks={
            "full": "Full content",
            "passages": "Relevant passages",
            "beginning": "No relevant passage found, its beginning",
            "range": "Selected range",
            "problem": "Could not be loaded",
        },
        end="End of content",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """The visible form of an archive; texts are cut to lines of limited length."""

    id: str
    tool: str
    query: str
    time: datetime
    length: int
    unit: LengthUnit = "characters"
    summary: str
    sources: tuple[str, ...] = ()
    language: Language = "en"

    def __post_init__(self) -> None:
        sources = (one_line(source, _MAX_SOURCE_CHARS) for source in self.sources)
        shown: dict[str, object] = {
            "tool": one_line(self.tool, SHOWN_QUERY),
            "query": one_line(self.query, SHOWN_QUERY),
            "summary": _lines(self.summary),
            "sources": tuple(source for source in sources if source)[:SHOWN_SOURCES],
            "time": self.time.astimezone(UTC).replace(microsecond=0),
        }
        for name, value in shown.items():
            object.__setattr__(self, name, value)

    @property
    def told_length(self) -> str:
        """Return the length of the original in the placeholder's language."""
        return f"{self.length}{_WORDS[self.language].units[self.unit]}"

    def __str__(self) -> str:
        words = _WORDS[self.language]
        return "\n".join(
            [
                f"📎 [{words.title}: {self.id}]",
                _RULE,
                f"{words.tool}: {self.tool}",
                f"{words.query}: {self.query}",
                f"{words.time}: {self.time.replace(tzinfo=None)} UTC",
                f"{words.length}: {self.told_length}",
                _RULE,
                f"{words.summary}:",
                self.summary,
                *(["", f"{words.sources}:"] if self.sources else []),
                *(f"- {source}" for source in self.sources),
                _RULE,
                f'{words.load} load_tool_history(uuid="{self.id}")',
            ]
        )


def parse_placeholder(text: str) -> Placeholder | None:
    """Return the placeholder that a text consists of, or None."""
    for language, pattern in _PATTERNS.items():
        if (found := pattern.fullmatch(text)) is not None:
            return _placeholder(found, language)
    return None


def find_placeholders(text: str) -> Iterator[tuple[int, int, Placeholder]]:
    """Yield the placeholders in a text with their positions."""
    found = [
        (match.start(), match.end(), _placeholder(match, language))
        for language, pattern in _PATTERNS.items()
        for match in pattern.finditer(text)
    ]
    yield from sorted(found, key=lambda place: place[0])


def opened(placeholder: Placeholder, shown: Shown, content: str) -> str:
    """Return the placeholder followed by the requested content."""
    return str(placeholder) + _block(placeholder, shown, content)


def open_placeholders(text: str, contents: Mapping[str, tuple[Shown, str]]) -> str:
    """Return the text with the placeholders of these ids opened and all others closed."""
    closed = close_placeholders(text)
    pieces: list[str] = []
    at = 0
    for _, end, placeholder in find_placeholders(closed):
        pieces.append(closed[at:end])
        at = end
        if placeholder.id in contents:
            pieces.append(_block(placeholder, *contents[placeholder.id]))
    return "".join([*pieces, closed[at:]])


def renew_placeholders(text: str, current: Mapping[str, Placeholder]) -> str:
    """Return the text with these placeholders as they are now; open ones stay open."""
    pieces: list[str] = []
    at = 0
    for start, end, placeholder in find_placeholders(text):
        if placeholder.id in current:
            pieces += text[at:start], str(current[placeholder.id])
            at = end
    return "".join([*pieces, text[at:]])


def close_placeholders(text: str) -> str:
    """Return the text with every placeholder closed."""
    pieces: list[str] = []
    at = 0
    while (found := _OPENED.search(text, at)) is not None:
        pieces.append(text[at : found.start("block")])
        at = _end_of_block(text, found)
    return "".join([*pieces, text[at:]])


def _lines(text: str) -> str:
    """Return the printable lines of a text that are not empty."""
    lines = (one_line(line, _MAX_LINE_CHARS) for line in text.splitlines())
    return "\n".join(islice(filter(None, lines), _MAX_SUMMARY_LINES))


def _block(placeholder: Placeholder, shown: Shown, content: str) -> str:
    words = _WORDS[placeholder.language]
    unit = words.units["characters"]
    head = f"📂 [{words.blocks[shown]}: {placeholder.id}, {len(content)}{unit}]"
    return f"\n{head}\n{content}{_end_mark(words, placeholder.id)}"


def _end_mark(words: _Words, archive_id: str) -> str:
    return f"\n📂 [{words.end}: {archive_id}]"


def _end_of_block(text: str, found: re.Match[str]) -> int:
    """Return the end of the block, or of the text if its last line was cut off."""
    marks = [_end_mark(words, found["id"]) for words in _WORDS.values()]
    end = found.end() + int(found["length"])
    for mark in marks:
        if text.startswith(mark, end):
            return end + len(mark)
    # The content was changed meanwhile, so its length is no longer right.
    ends = [at + len(mark) for mark in marks if (at := text.find(mark, found.end())) >= 0]
    return min(ends, default=len(text))


def _pattern(words: _Words) -> re.Pattern[str]:
    units = "|".join(map(re.escape, sorted(words.units.values(), key=len, reverse=True)))
    return re.compile(
        rf"📎 \[{words.title}: (?P<id>{_ID})\]\n"
        rf"{_RULE}\n"
        rf"{words.tool}: ?(?P<tool>.*)\n"
        rf"{words.query}: ?(?P<query>.*)\n"
        rf"{words.time}: (?P<time>\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\n"
        rf"{words.length}: (?P<length>\d+)(?P<unit>{units})\n"
        rf"{_RULE}\n"
        rf"{words.summary}:\n"
        rf"(?P<summary>.*(?:\n.+){{0,{_MAX_SUMMARY_LINES - 1}}}?)\n"
        rf"(?:\n{words.sources}:\n(?P<sources>(?:- .*\n)+))?"
        rf"{_RULE}\n"
        rf'{words.load} load_tool_history\(uuid="(?P=id)"\)'
    )


_PATTERNS: Final[Mapping[Language, re.Pattern[str]]] = {
    language: _pattern(words) for language, words in _WORDS.items()
}
_BLOCK_NAMES: Final = "|".join(name for words in _WORDS.values() for name in words.blocks.values())
_BLOCK_UNITS: Final = "|".join(words.units["characters"] for words in _WORDS.values())
_OPENED: Final = re.compile(
    rf'load_tool_history\(uuid="(?P<id>{_ID})"\)'
    rf"(?P<block>\n📂 \[(?:{_BLOCK_NAMES}): (?P=id), (?P<length>\d{{1,12}})(?:{_BLOCK_UNITS})\]\n)"
)


def _placeholder(found: re.Match[str], language: Language) -> Placeholder:
    units: dict[str, LengthUnit] = {word: unit for unit, word in _WORDS[language].units.items()}
    sources = (found["sources"] or "").splitlines()
    return Placeholder(
        id=found["id"],
        tool=found["tool"],
        query=found["query"],
        time=datetime.fromisoformat(found["time"]).replace(tzinfo=UTC),
        length=int(found["length"]),
        unit=units[found["unit"]],
        summary=found["summary"],
        sources=tuple(source.removeprefix("- ") for source in sources),
        language=language,
    )
