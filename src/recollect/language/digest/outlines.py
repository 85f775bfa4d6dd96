"""Outlines: headings of Markdown and HTML, symbols of source code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Final

from recollect.language.characters import one_line
from recollect.language.digest.findings import Finding
from recollect.language.digest.lines import Lines
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

_HEADING: Final = re.compile(
    r"^(#{1,6}) +(\S.*)"
    r"|^(第[一二三四五六七八九十百零\d]{1,5}[章节部篇].*|[一二三四五六七八九十]{1,3}、\S.*)"
)
_SYMBOL: Final = re.compile(
    r"^\s{0,8}"
    r"(?:export |default |public |private |protected |static |async |pub |final |abstract )*"
    r"(?:(?P<kind>def|class|function|func|fn|struct|impl|interface|enum|trait|type|module|namespace)"
    r"\s+(?:\([^)]{0,60}\)\s*)?(?P<name>[\w$.:<>*]+)"
    r"|const (?P<arrow>[\w$]+) = (?:async )?(?:\(|function)"
    r"|(?:[\w<>\[\],.?]{1,60} )?(?P<method>[a-z_$][\w$]{1,60})\([^;()]{0,200}\)"
    r"(?: throws [\w, ]{1,80})?(?::? [\w<>\[\]]{1,40})? \{\s*$"
    r"|(?P<statement>(?i:CREATE (?:TABLE|VIEW|(?:UNIQUE )?INDEX|FUNCTION|TYPE)|DROP TABLE|"
    r"ALTER TABLE))\s+(?i:IF (?:NOT )?EXISTS )?(?P<table>[\w.\"`]+))"
)
# What holds in a whole file: constants, variables, its package.
_GLOBAL: Final = re.compile(
    r"^(?:export |pub |public |private |static |final )*"
    r"(?:(?:const|var|let|val|static|package|namespace)\s+(?:mut )?(?P<named>[A-Za-z_]\w*)"
    r"|(?P<constant>[A-Z][A-Z0-9_]{2,})(?=\s*(?::[^=]{1,60})?=[^=]))"
)
_NO_METHODS: Final = frozenset(("if", "for", "while", "switch", "catch", "return", "with"))
_TAG: Final = re.compile(r"<[a-zA-Z!/][^>]{0,500}>")
_END_TAG: Final = re.compile(r"</[a-z][a-z0-9]{0,10}>")
_HTML_HEADING: Final = re.compile(
    r"<(title|h[1-4])\b[^>]{0,300}>(.{0,300}?)</\1>", re.IGNORECASE | re.DOTALL
)
_PREFORMATTED: Final = re.compile(r"<pre\b|</pre>", re.IGNORECASE)
_UNSHOWN: Final = re.compile(r"<(/?)(script|style)\b", re.IGNORECASE)
_MAX_HEADINGS: Final = 400
# Headings and symbols that are told together.
_IN_ONE: Final = 4
_MAX_HEADING_CHARS: Final = 50
_DIGITS: Final = re.compile(r"\d+")
_ALIKE: Final = 4


class Outlines(Observer):
    """Reads headings."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._headings: list[tuple[int, str, int]] = []

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether there are two headings."""
        return sum(_HEADING.match(line) is not None for line in sample.lines) >= 2

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        if (found := _HEADING.match(line)) and len(self._headings) < _MAX_HEADINGS:
            level = len(found[1]) if found[1] else 2
            heading = (found[2] or found[3]).strip(" #*")
            self._headings.append((level, heading, number))
            self._lines.parts.append((number, heading))
            return True
        return False

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the title, and the headings of the highest levels."""
        levels = sorted({level for level, _, _ in self._headings})
        if not levels:
            return
        shown = list(
            dict.fromkeys(text for level, text, _ in self._headings if level in levels[:2])
        )
        yield from outline(shown, say)


class Symbols(Observer):
    """Reads the names that source code defines."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._lines = 0

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether a part of the lines defines something."""
        lines = sample.lines
        defined = sum(bool(_defined(line)) for line in lines)
        return defined >= 2 and defined >= 0.02 * len(lines)

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        self._lines += 1
        if len(self._names) < _MAX_HEADINGS and (name := _defined(line)):
            self._names.setdefault(name, number)
            return True
        return False

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the symbols in their order."""
        yield Finding(text=say.say("code", lines=self._lines), weight=11.0, kind="code")
        # Names that differ in numbers only are told by the first.
        alike: Counter[str] = Counter(_DIGITS.sub("", name) for name in self._names)
        first = {_DIGITS.sub("", name): name for name in reversed(self._names)}
        named = [
            name if (count := alike[form]) < _ALIKE else f"{name} × {count}"
            for form, name in reversed(first.items())
        ]
        for place in range(0, len(named), 2 * _IN_ONE):
            text = ", ".join(named[place : place + 2 * _IN_ONE])
            yield Finding(
                text=say.say("symbols", names=text) if not place else text,
                weight=max(4.0, 11.0 - place / 8),
                kind="",
            )


def outline(headings: Sequence[str], say: Wording) -> Iterator[Finding]:
    """Yield headings, some in each finding."""
    headings = [one_line(heading, _MAX_HEADING_CHARS) for heading in headings]
    for place in range(0, len(headings), _IN_ONE):
        told = say.names(headings[place : place + _IN_ONE], _IN_ONE)
        text = told if place else say.say("outline", headings=told)
        yield Finding(text=text, weight=max(5.0, 12.0 - place / 2), kind="")


def without_tags(text: str) -> tuple[str, list[str]]:
    """Return the text of an HTML page, and its title and headings."""
    clean = _without_code(text)
    headings = [
        unescape(_TAG.sub(" ", found[2])).strip() for found in _HTML_HEADING.finditer(clean)
    ]
    # A paragraph is one line; what is preformatted keeps its lines.
    pieces = _around_preformatted(clean)
    pieces[::2] = [" ".join(piece.split()) for piece in pieces[::2]]
    broken = re.sub(
        r"</(?:p|div|li|tr|h\d|section|article|ul|pre|nav|title)>|<br\s*/?>", "\n", "".join(pieces)
    )
    return unescape(_TAG.sub(" ", broken)), [" ".join(heading.split()) for heading in headings]


def _around_preformatted(text: str) -> list[str]:
    """Return the pieces of a page, every second of them preformatted."""
    pieces: list[str] = []
    begin, inside = 0, -1
    for tag in _PREFORMATTED.finditer(text):
        is_end = tag[0].startswith("</")
        if inside < 0 and not is_end:
            inside = tag.start()
        elif inside >= 0 and is_end:
            pieces += [text[begin:inside], text[inside : tag.end()]]
            begin, inside = tag.end(), -1
    return [*pieces, text[begin:]]


def _without_code(text: str) -> str:
    """Return a page without its scripts and styles."""
    shown: list[str] = []
    begin, inside = 0, ""
    for tag in _UNSHOWN.finditer(text):
        name = tag[2].lower()
        if not inside and not tag[1]:
            shown.append(text[begin : tag.start()])
            inside = name
        elif inside == name and tag[1]:
            begin, inside = tag.end(), ""
    return " ".join([*shown, "" if inside else text[begin:]])


def _defined(line: str) -> str:
    """Return what a line of source code defines, as it is told; empty if nothing."""
    found = _SYMBOL.match(line)
    if found is None:
        held = _GLOBAL.match(line)
        return "" if held is None else held["named"] or held["constant"]
    if found["kind"]:
        name = found["name"].rstrip(":")
        is_function = found["kind"] in ("def", "fn", "func", "function")
        return f"{name}()" if is_function else f"{found['kind']} {name}"
    if found["statement"]:
        return f"{found['statement']} {found['table']}"
    name = found["arrow"] or found["method"]
    return "" if name in _NO_METHODS else f"{name}()"


def is_html(text: str) -> bool:
    """Return whether a text is an HTML page."""
    head = text[:2_000].lstrip().lower()
    return head.startswith(("<!doctype html", "<html")) or len(_END_TAG.findall(head)) >= 4
