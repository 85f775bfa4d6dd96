"""Extraction of a file's text, with its headings and pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Final

from recollect.domain.document import MAX_HEADING, DocumentType
from recollect.knowledge.encodings import decode
from recollect.knowledge.headings import Heading, code_headings, markdown_headings, text_headings

_SKIPPED: Final = frozenset({"script", "style", "noscript", "template", "svg", "nav", "iframe"})
_BLOCKS: Final = frozenset(
    {
        "p",
        "div",
        "section",
        "article",
        "header",
        "footer",
        "main",
        "aside",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "tr",
        "blockquote",
        "pre",
        "figure",
        "figcaption",
        "form",
        "fieldset",
        "br",
        "hr",
    }
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedText:
    """The text of a file; `pages` has the start and the number of each page, if there are any."""

    text: str
    headings: tuple[Heading, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    title: str = ""


def parse_text(data: bytes, kind: DocumentType) -> ParsedText:
    """Return the text of a file of a type that needs no other library.

    Except for HTML the text is the file itself, so that character positions stay the same.
    """
    if kind == "html":
        return parse_html(decode(data, declared=True))
    text = decode(data)
    match kind:
        case "markdown":
            return ParsedText(text=text, headings=markdown_headings(text))
        case "code":
            return ParsedText(text=text, headings=code_headings(text))
        case "text":
            return ParsedText(text=text, headings=text_headings(text))
        case _:
            return ParsedText(text=text)


def parse_html(source: str) -> ParsedText:
    """Return the visible text of an HTML page with its headings."""
    reader = _PageReader()
    reader.feed(source)
    reader.close()
    return ParsedText(
        text=reader.text, headings=tuple(reader.headings), title=reader.title.strip()[:MAX_HEADING]
    )


class _PageReader(HTMLParser):
    """A parser that collects the text of a page in one pass, without a tree."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._length = 0
        self._skipping = 0
        self._preformatted = 0
        self._in_title = False
        # The start of the current heading, as part and as character index, and its level.
        self._heading: tuple[int, int, int] | None = None
        self.title = ""
        self.headings: list[Heading] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED:
            self._skipping += 1
        elif tag == "title":
            self._in_title = True
        elif tag in _HEADINGS:
            self._break(2)
            self._heading = (len(self._parts), self._length, _HEADINGS[tag])
        elif tag in ("td", "th"):
            self._append("| ")
        elif tag in _BLOCKS:
            self._break(1 if tag in ("li", "tr", "br", "dt", "dd") else 2)
            self._preformatted += tag == "pre"
            if tag == "li":
                self._append("- ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self._skipping = max(0, self._skipping - 1)
        elif tag == "title":
            self._in_title = False
        elif tag in _HEADINGS:
            self._end_heading()
            self._break(2)
        elif tag in ("td", "th"):
            self._append(" ")
        elif tag in _BLOCKS:
            self._preformatted = max(0, self._preformatted - (tag == "pre"))
            self._break(1 if tag in ("li", "tr", "br") else 2)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._skipping:
            self._append(data if self._preformatted else _SPACE.sub(" ", data))

    def _end_heading(self) -> None:
        if self._heading is not None:
            first, start, level = self._heading
            title = "".join(self._parts[first:]).strip()[:MAX_HEADING]
            if title:
                self.headings.append(Heading(start=start, level=level, title=title))
            self._heading = None

    def _append(self, text: str) -> None:
        if not self._preformatted and (not self._parts or self._parts[-1].endswith((" ", "\n"))):
            text = text.lstrip(" ")
        if text:
            self._parts.append(text.replace("\x00", "\ufffd"))
            self._length += len(text)

    def _break(self, lines: int) -> None:
        """End the line; with `lines=2` leave one empty line, never more."""
        if not self._parts:
            return
        end = "".join(self._parts[-2:])
        missing = lines - (len(end) - len(end.rstrip("\n")))
        if missing > 0:
            self._parts.append("\n" * missing)
            self._length += missing
