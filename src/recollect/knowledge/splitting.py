"""From a text to its sections, and from a section to the chunks that are searched.

A chunk is a function of its section alone, so that an index can be made anew from the sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from semantic_text_splitter import MarkdownSplitter, TextSplitter

from recollect.domain.document import MAX_SECTION_CHARACTERS, Chunk, DocumentType, Section
from recollect.knowledge.headings import Heading
from recollect.knowledge.parsing import ParsedText
from recollect.language.detection import script_share

# Characters of a chunk, from when it may end at a good place to when it must. A character of a
# script without spaces says as much as three letters.
CHUNK_CHARACTERS: Final = (500, 900)
_WIDE_SHARE: Final = 0.2
_WIDE: Final = 3
_MARKED_UP: Final = frozenset({"markdown", "docx", "pptx", "xlsx", "pdf"})
_PARAGRAPH_ENDS: Final = ("\n\n", "\n", "。", ". ", " ")


def split_sections(parsed: ParsedText) -> tuple[Section, ...]:
    """Return the sections of a text, one a heading; long ones are cut, and so are pages."""
    sections: list[Section] = []
    for heading, path, start, end in _stretches(parsed):
        for first, last, page in _parts(parsed, start, end):
            sections.append(
                Section(
                    ordinal=len(sections),
                    level=0 if heading is None else heading.level,
                    path=path,
                    page=page,
                    start=first,
                    end=last,
                    text=parsed.text[first:last],
                )
            )
    return tuple(sections)


def split_chunks(sections: Sequence[Section], kind: DocumentType) -> list[Chunk]:
    """Return the chunks of all sections, numbered from 1."""
    chunks: list[Chunk] = []
    for section in sections:
        for start, text in _pieces(section.text, kind):
            chunks.append(
                Chunk(
                    ordinal=len(chunks) + 1,
                    section=section.ordinal,
                    start=section.start + start,
                    end=section.start + start + len(text),
                    text=text,
                )
            )
    return chunks


def _pieces(text: str, kind: DocumentType) -> list[tuple[int, str]]:
    if not text.strip():
        return []
    least, most = CHUNK_CHARACTERS
    if script_share(text) >= _WIDE_SHARE:
        least, most = least // _WIDE, most // _WIDE
    splitter = MarkdownSplitter if kind in _MARKED_UP else TextSplitter
    return splitter((least, most)).chunk_indices(text)


def _stretches(
    parsed: ParsedText,
) -> Iterator[tuple[Heading | None, tuple[str, ...], int, int]]:
    """Go through the text from heading to heading, each with the headings above it."""
    length = len(parsed.text)
    first = parsed.headings[0].start if parsed.headings else length
    if first > 0:
        yield None, (), 0, first
    above: list[Heading] = []
    ends = [*(heading.start for heading in parsed.headings), length][1:]
    for heading, end in zip(parsed.headings, ends, strict=True):
        above = [*(it for it in above if it.level < heading.level), heading]
        yield heading, tuple(it.title for it in above), heading.start, end


def _parts(parsed: ParsedText, start: int, end: int) -> Iterator[tuple[int, int, int | None]]:
    """Cut a stretch where pages begin and where it is too long, each part with its page."""
    page: int | None = None
    borders: list[tuple[int, int | None]] = []
    for at, number in parsed.pages:
        if at <= start:
            page = number
        elif at < end:
            borders.append((at, number))
    for border, number in [*borders, (end, None)]:
        for first, last in _cut(parsed.text, start, border):
            yield first, last, page
        start, page = border, number


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut behind a paragraph, line, sentence or word, as late as possible."""
    most = MAX_SECTION_CHARACTERS
    while end - start > most:
        stop = start + most
        for mark in _PARAGRAPH_ENDS:
            at = text.rfind(mark, start + most // 2, stop)
            if at >= 0:
                stop = at + len(mark)
                break
        yield start, stop
        start = stop
    if end > start:
        yield start, end
