"""Outlines: headings of Markdown and HTML, symbols of source code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

_HEADING: Final = re.compile(
    r"^(#{1,6}) +(\S.*)"
    r"|^(第[一二三四五六七八九十百零\d]{1,5}[章节部篇].*|[一二三四五六七八九十]{1,3}、\S.*)"
)
_SYMBOL: Final = re.compile(
    r"^\s{0,8}"
    r"(?:export |default |public |private |protected |static |async |pub |final |abstract )*"
    r"(def|class|function|func|fn|struct|impl|interface|enum|trait|type|module|namespace)\s+"
    r"([\w$.:<>*()]+)"
)
_TAG: Final = re.compile(r"<[a-zA-Z!/][^>]{0,500}>")
_HTML_HEADING: Final = re.compile(
    r"<(title|h[1-4])\b[^>]{0,300}>(.{0,300}?)</\1>", re.IGNORECASE | re.DOTALL
)
_UNSHOWN: Final = re.compile(r"<(/?)(script|style)\b", re.IGNORECASE)
_MAX_HEADINGS: Final = 400


class Outlines(Observer):
    """Reads headings."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, str, int]] = []

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether there are two headings."""
        return sum(_HEADING.match(line) is not None for line in sample.lines) >= 2

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        if (found := _HEADING.match(line)) and len(self._headings) < _MAX_HEADINGS:
            level = len(found[1]) if found[1] else 2
            self._headings.append((level, (found[2] or found[3]).strip(" #*"), number))
            return True
        return False

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the title, and the headings of the highest levels."""
        levels = sorted({level for level, _, _ in self._headings})
        if not levels:
            return
        shown = [text for level, text, _ in self._headings if level in levels[:2]]
        yield Finding(
            text=say.say("outline", headings=say.names(shown, 14)), weight=10.0, kind="outline"
        )


class Symbols(Observer):
    """Reads the names that source code defines."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._lines = 0

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether a part of the lines defines something."""
        lines = sample.lines
        defined = sum(_SYMBOL.match(line) is not None for line in lines)
        return defined >= 2 and defined >= 0.02 * len(lines)

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        self._lines += 1
        if (found := _SYMBOL.match(line)) and len(self._names) < _MAX_HEADINGS:
            self._names.setdefault(f"{found[1]} {found[2].partition('(')[0].rstrip(':')}", number)
            return True
        return False

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the symbols in their order."""
        yield Finding(text=say.say("code", lines=self._lines), weight=11.0, kind="code")
        named = [f"{name} L{number}" for name, number in self._names.items()]
        for place in range(0, len(named), 8):
            text = ", ".join(named[place : place + 8])
            yield Finding(
                text=say.say("symbols", names=text) if not place else text,
                weight=max(4.0, 9.0 - 0.5 * place / 8),
                kind="symbols",
            )


def without_tags(text: str) -> tuple[str, list[str]]:
    """Return the text of an HTML page, and its title and headings."""
    clean = _without_code(text)
    headings = [
        unescape(_TAG.sub(" ", found[2])).strip() for found in _HTML_HEADING.finditer(clean)
    ]
    broken = re.sub(r"</(?:p|div|li|tr|h\d|section|article|td)>|<br\s*/?>", "\n", clean)
    return unescape(_TAG.sub(" ", broken)), [" ".join(heading.split()) for heading in headings]


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


def is_html(text: str) -> bool:
    """Return whether a text is an HTML page."""
    head = text[:2_000].lstrip().lower()
    return head.startswith(("<!doctype html", "<html")) or len(_TAG.findall(head)) >= 8
