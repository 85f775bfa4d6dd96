"""The text of a file: its type, encoding, headings and pages."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from importlib.resources import files
from pathlib import PurePath
from typing import Final

from recollect.domain.document import MAX_HEADING, DocumentType
from recollect.errors import InvalidInput

# --- Decoding of text files in any encoding -------------------------------------------------------

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_\-]+)", re.IGNORECASE)
# The two bytes of a common Chinese character in GB2312 and its successors.
_CHINESE_PAIR: Final = re.compile(rb"[\xb0-\xf7][\xa1-\xfe]")
_HIGH_BYTE: Final = re.compile(rb"[\x80-\xff]")
_CONTROLS: Final = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_NO_CHARSETS: Final = frozenset(
    {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
)
_SAMPLE_SIZE: Final = 65_536
_DECLARATION_BYTES: Final = 2_048
# Text has hardly any control characters.
_MAX_CONTROL_SHARE: Final = 0.02
_MIN_CHINESE_SHARE: Final = 0.6


def decode(data: bytes, *, declared: bool = False) -> str:
    """Return the text of these bytes; with `declared` the file may name its own encoding.

    A byte order mark is left out; a NUL character becomes U+FFFD.
    """
    text = _decode(data, declared=declared)
    sample = text[:_SAMPLE_SIZE]
    if len(_CONTROLS.findall(sample)) > _MAX_CONTROL_SHARE * len(sample):
        raise InvalidInput(
            "The file is not text",
            code="not_text",
            hint="Give a text file, or install recollect[documents] for PDF and Office files.",
        )
    return text.replace("\x00", "\ufffd")


def _decode(data: bytes, *, declared: bool) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if encoding := _wide_encoding(data[:_SAMPLE_SIZE]):
        return data.decode(encoding, "replace")
    named = _DECLARED.search(data[:_DECLARATION_BYTES]) if declared else None
    candidates = [named[1].decode("ascii")] if named else []
    candidates = [candidate for candidate in candidates if _is_charset(candidate)]
    for encoding in (*candidates, "utf-8"):
        try:
            return data.decode(encoding)
        except (UnicodeError, LookupError):  # some named encodings are no encodings of text
            continue
    if _is_chinese(data[:_SAMPLE_SIZE]):
        return data.decode("gb18030", "replace")
    # UTF-8 with a few broken bytes, else the common single-byte encoding.
    lenient = data.decode("utf-8", "replace")
    if lenient.count("\ufffd") <= len(_HIGH_BYTE.findall(data)) // 10:
        return lenient
    return data.decode("cp1252", "replace")


def _is_charset(name: str) -> bool:
    """Return whether a name is one of an encoding of texts, not of something in a text."""
    try:
        return codecs.lookup(name).name not in _NO_CHARSETS
    except LookupError:
        return False


def _wide_encoding(sample: bytes) -> str | None:
    """Return UTF-16 if every other byte of mostly Latin text is zero."""
    pairs = len(sample) // 2
    if pairs < 2:
        return None
    if sample[1::2].count(0) > pairs * 0.4 and sample[0::2].count(0) < pairs * 0.1:
        return "utf-16-le"
    if sample[0::2].count(0) > pairs * 0.4 and sample[1::2].count(0) < pairs * 0.1:
        return "utf-16-be"
    return None


def _is_chinese(sample: bytes) -> bool:
    high = len(_HIGH_BYTE.findall(sample))
    return high > 0 and 2 * len(_CHINESE_PAIR.findall(sample)) >= _MIN_CHINESE_SHARE * high


# --- The headings of a text: their positions, levels and titles -----------------------------------

_FENCE: Final = re.compile(r" {0,3}(```+|~~~+)")
_ATX: Final = re.compile(r" {0,3}(#{1,6})[ \t]++(.*)")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_MAX_LINE_CHARS: Final = 100
_SEPARATOR: Final = re.compile(r"[,;\t|]")
_MIN_COLUMNS: Final = 2
_ENDS_LIKE_A_SENTENCE: Final = tuple("。；，,;.!！?？:：")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading: the start of its line, its level from 1, and its title."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class _Rules:
    numbered: tuple[tuple[int, re.Pattern[str]], ...]
    framed: tuple[re.Pattern[str], ...]
    code: re.Pattern[str]


def markdown_headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of Markdown, except those inside code."""
    return tuple(_markdown(text))


def text_headings(text: str) -> tuple[Heading, ...]:
    """Return the numbered (Chinese and English) and framed headings of plain text."""
    return tuple(_plain(text))


def code_headings(text: str) -> tuple[Heading, ...]:
    """Return the unindented definitions in source code as headings."""
    pattern = _rules().code
    return tuple(
        Heading(start=start, level=1, title=found[1][:MAX_HEADING])
        for start, line in _lines(text)
        if (found := pattern.match(line))
    )


def table_headings(text: str) -> tuple[Heading, ...]:
    """Return the first line of a table as its heading, if it names the columns.

    A row says little without the names of its columns. A line with a number in it is a row itself.
    """
    start, line = next(((start, line) for start, line in _lines(text) if line.strip()), (0, ""))
    cells = [cell.strip().strip('"') for cell in _SEPARATOR.split(line)]
    if len(cells) < _MIN_COLUMNS or any(not cell or _is_number(cell) for cell in cells):
        return ()
    return (Heading(start=start, level=1, title=line.strip()[:MAX_HEADING]),)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _markdown(text: str) -> Iterator[Heading]:
    fence = ""
    before: tuple[int, str] | None = None
    for start, line in _lines(text):
        marked = _FENCE.match(line)
        if marked and (not fence or marked[1].startswith(fence)):
            fence = "" if fence else marked[1][:3]
            before = None
            continue
        if fence:
            continue
        atx = _ATX.fullmatch(line)
        if atx and (title := _without_closing(atx[2])):
            yield Heading(start=start, level=len(atx[1]), title=title[:MAX_HEADING])
            before = None
            continue
        underline = _UNDERLINE.fullmatch(line)
        if underline and before is not None and len(before[1]) <= _MAX_LINE_CHARS:
            level = 1 if underline[1].startswith("=") else 2
            yield Heading(start=before[0], level=level, title=before[1][:MAX_HEADING])
        is_words = bool(line.strip()) and not line.startswith((" ", "\t", "-", "*", ">", "|", "+"))
        before = (start, line.strip()) if is_words and before is None else None


def _without_closing(title: str) -> str:
    """Return the title without the signs that may close it, as in `## Title ##`."""
    return title.rstrip(" \t").rstrip("#").rstrip(" \t")


def _plain(text: str) -> Iterator[Heading]:
    rules = _rules()
    for start, line in _lines(text):
        words = line.strip()
        if not words or len(words) > _MAX_LINE_CHARS:
            continue
        if framed := next(
            (found for rule in rules.framed if (found := rule.fullmatch(words))), None
        ):
            yield Heading(
                start=start, level=framed[1].count("="), title=framed[2].strip()[:MAX_HEADING]
            )
        elif not words.endswith(_ENDS_LIKE_A_SENTENCE):
            # The deepest match is the most specific: 1.1.1 also matches 1.1.
            levels = [level for level, rule in rules.numbered if rule.match(words)]
            if levels:
                yield Heading(start=start, level=max(levels), title=words[:MAX_HEADING])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their start positions, without line endings."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start:end].removesuffix("\r")
        start = end + 1


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    data = tomllib.loads(
        files("recollect.knowledge").joinpath("headings.toml").read_text(encoding="utf-8")
    )
    return _Rules(
        numbered=tuple((rule["level"], re.compile(rule["pattern"])) for rule in data["numbered"]),
        framed=tuple(re.compile(rule["pattern"]) for rule in data["framed"]),
        code=re.compile(data["code"]["pattern"]),
    )


# --- Extraction of a file's text, with its headings and pages -------------------------------------

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
        case "csv":
            return ParsedText(text=text, headings=table_headings(text))
        case _:
            return ParsedText(text=text)


def parse_html(source: str) -> ParsedText:
    """Return the visible text of an HTML page with its headings."""
    reader = _PageReader()
    reader.read(source)
    return ParsedText(
        text=reader.text, headings=tuple(reader.headings), title=reader.title.strip()[:MAX_HEADING]
    )


# The names are compared with those above only.
_TAG_NAME: Final = re.compile(r"[A-Za-z][^\s/>]{0,40}")
# What may hold a `>` that does not end the tag, and that which does.
_TAG_PART: Final = re.compile(r"=\s*+(?:\"[^\"]*+\"|'[^']*+')|>")
_RAW_END: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")
}


class _PageReader:
    """Collects the text of a page in one pass, without a tree.

    Every search goes on where the last one ended, and one that finds nothing ends the page: the
    parser of the standard library looks for the end of each comment and tag anew.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        # How many line breaks the text ends with.
        self._breaks = 0
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

    def read(self, source: str) -> None:
        """Read a whole page."""
        at = 0
        while at < len(source):
            begin = source.find("<", at)
            self._show(source[at : begin if begin >= 0 else len(source)])
            if begin < 0:
                return
            at = self._read_markup(source, begin)

    def _read_markup(self, source: str, begin: int) -> int:
        """Read what begins with `<`; return where it ends."""
        if source.startswith("<!--", begin):
            return _behind(source, "-->", begin + 4)
        if source.startswith(("<!", "<?"), begin):
            return _behind(source, ">", begin)
        is_end = source.startswith("</", begin)
        name = _TAG_NAME.match(source, begin + 1 + is_end)
        if name is None:
            self._show("<")
            return begin + 1
        end = _end_of_tag(source, name.end())
        if end is None:
            self._show(source[begin:])
            return len(source)
        tag = name[0].lower()
        if is_end:
            self._end_tag(tag)
        else:
            self._start_tag(tag)
            if tag in _RAW_END:
                closing = _RAW_END[tag].search(source, end)
                return len(source) if closing is None else closing.start()
        return end

    def _start_tag(self, tag: str) -> None:
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

    def _end_tag(self, tag: str) -> None:
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

    def _show(self, source: str) -> None:
        data = _unescaped(source)
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
            ended = len(text) - len(text.rstrip("\n"))
            self._breaks = ended + (self._breaks if ended == len(text) else 0)

    def _break(self, lines: int) -> None:
        """End the line; with `lines=2` leave one empty line, never more."""
        missing = lines - self._breaks
        if self._parts and missing > 0:
            self._parts.append("\n" * missing)
            self._length += missing
            self._breaks = lines


def _unescaped(source: str) -> str:
    try:
        return unescape(source)
    except ValueError:  # `&#` and more digits than Python makes a number of
        return source


def _behind(source: str, mark: str, start: int) -> int:
    """Return where a mark ends; the end of the page if there is none."""
    found = source.find(mark, start)
    return len(source) if found < 0 else found + len(mark)


def _end_of_tag(source: str, start: int) -> int | None:
    """Return where a tag ends; a `>` in a quoted value does not end it."""
    for part in _TAG_PART.finditer(source, start):
        if part[0] == ">":
            return part.end()
    return None


# --- The type of a file, by its name and its first bytes ------------------------------------------

BINARY_TYPES: Final[frozenset[DocumentType]] = frozenset({"pdf", "docx", "pptx", "xlsx"})


@dataclass(frozen=True, slots=True)
class _Formats:
    types: Mapping[str, DocumentType]
    unreadable: frozenset[str]
    media: Mapping[DocumentType, str]


def type_of(name: str, data: bytes = b"") -> DocumentType:
    """Return the type of a file; raise an error if it cannot be read."""
    ending = _ending(name)
    if data.startswith(b"%PDF-"):
        return "pdf"
    formats = _formats()
    if ending in formats.unreadable:
        raise _unknown(name)
    if ending in formats.types:
        return formats.types[ending]
    if data[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "html"
    return "text"


def is_readable(name: str) -> bool:
    """Return whether a file has a type that the knowledge base can read."""
    return _ending(name) in _formats().types


def media_type(kind: DocumentType) -> str:
    """Return the media type of a document type, for the library that reads it."""
    return _formats().media[kind]


def _ending(name: str) -> str:
    path = PurePath(name)
    return (path.suffix.removeprefix(".") or path.name).lower()


@lru_cache(maxsize=1)
def _formats() -> _Formats:
    data = tomllib.loads(
        files("recollect.knowledge").joinpath("formats.toml").read_text(encoding="utf-8")
    )
    return _Formats(
        types={ending: kind for kind, endings in data["types"].items() for ending in endings},
        unreadable=frozenset(data["unreadable"]["endings"]),
        media=data["media"],
    )


def _unknown(name: str) -> InvalidInput:
    return InvalidInput(
        f"{PurePath(name).name} has a type that cannot be read; it was not stored",
        code="unknown_type",
        hint="Use Markdown, text, HTML, source code, JSON or CSV, or with "
        "recollect[documents] PDF, DOCX, PPTX or XLSX.",
    )
