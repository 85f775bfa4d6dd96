"""Sections of a text, the chunks that are searched, and their units.

A chunk depends on its section alone, so that the index can be rebuilt from the sections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from semantic_text_splitter import MarkdownSplitter, TextSplitter

from recollect.domain.document import MAX_SECTION_CHARACTERS, Chunk, Document, DocumentType, Section
from recollect.domain.unit import OwnerUnits, Unit
from recollect.knowledge.parsing import Heading, ParsedText
from recollect.language.analysis import ANALYZER_VERSION, term_keys, terms
from recollect.language.characters import script_share

# The desired and the maximum number of characters of a chunk. A character of a script without
# spaces says as much as three letters.
CHUNK_CHARACTERS: Final = (500, 900)
_WIDE_SHARE: Final = 0.2
_WIDE_FACTOR: Final = 3
_MARKDOWN_TYPES: Final = frozenset({"markdown", "docx", "pptx", "xlsx", "pdf"})
_BREAKS: Final = ("\n\n", "\n", "。", ". ", " ")


def split_sections(parsed: ParsedText) -> tuple[Section, ...]:
    """Split a text into sections, one per heading; long ones and pages are split further."""
    sections: list[Section] = []
    for heading, path, start, end in _spans(parsed):
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
    """Split all sections into chunks, numbered from 1."""
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
        least, most = least // _WIDE_FACTOR, most // _WIDE_FACTOR
    splitter = MarkdownSplitter if kind in _MARKDOWN_TYPES else TextSplitter
    return splitter((least, most)).chunk_indices(text)


def _spans(
    parsed: ParsedText,
) -> Iterator[tuple[Heading | None, tuple[str, ...], int, int]]:
    """Yield the text from heading to heading, each with the headings above it."""
    length = len(parsed.text)
    first = parsed.headings[0].start if parsed.headings else length
    if first > 0:
        yield None, (), 0, first
    above: list[Heading] = []
    ends = [*(heading.start for heading in parsed.headings), length][1:]
    for heading, end in zip(parsed.headings, ends, strict=True):
        above = [*(outer for outer in above if outer.level < heading.level), heading]
        yield heading, tuple(outer.title for outer in above), heading.start, end


def _parts(parsed: ParsedText, start: int, end: int) -> Iterator[tuple[int, int, int | None]]:
    """Split a span at page starts and where it is too long; yield each part with its page."""
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
    """Split after a paragraph, line, sentence or word, as late as possible."""
    most = MAX_SECTION_CHARACTERS
    while end - start > most:
        stop = start + most
        for mark in _BREAKS:
            at = text.rfind(mark, start + most // 2, stop)
            if at >= 0:
                stop = at + len(mark)
                break
        yield start, stop
        start = stop
    if end > start:
        yield start, end


# --- The units of a document: its chunks with their headings, and its summaries -------------------

# The number of chunks from which a section gets a summary of its own.
SUMMARISED_FROM: Final = 3
# The summary of a section has this number plus the section's; no document has so many chunks.
FIRST_SUMMARY: Final = 10_000_000


def document_units(document: Document, sections: Sequence[Section]) -> OwnerUnits:
    """Return the units of a document.

    Unit 0 is the document with its title and summary, 1 to `document.chunks` are its chunks, and
    from FIRST_SUMMARY on come the summaries of its longer sections.
    """
    chunks = split_chunks(sections, document.type)
    by_ordinal = {section.ordinal: section for section in sections}
    end = sections[-1].end if sections else 0
    units = [_unit(0, 0, end, _lines(document.title, document.summary))]
    for chunk in chunks:
        about = headline(document, by_ordinal[chunk.section])
        units.append(_unit(chunk.ordinal, chunk.start, chunk.end, _lines(about, chunk.text)))
    for section in summarised(sections, chunks):
        about = headline(document, section)
        text = _lines(about, section.summary)
        units.append(_unit(FIRST_SUMMARY + section.ordinal, section.start, section.end, text))
    return OwnerUnits(
        scope=document.scope,
        owner_kind="document",
        owner_id=document.id,
        observed_at=document.updated_at,
        analyzer=ANALYZER_VERSION,
        version=document.version,
        units=tuple(units) if chunks else (),
    )


def summarised(sections: Sequence[Section], chunks: Sequence[Chunk]) -> list[Section]:
    """Return the sections that have a summary in the index."""
    counts = Counter(chunk.section for chunk in chunks)
    return [
        section
        for section in sections
        if section.summary and counts[section.ordinal] >= SUMMARISED_FROM
    ]


def headline(document: Document, section: Section) -> str:
    """Return the title of the document and the headings above a chunk."""
    names = [document.title, *section.path]
    return " › ".join(dict.fromkeys(filter(None, names)))


def _unit(ordinal: int, start: int, end: int, text: str) -> Unit:
    return Unit(ordinal=ordinal, start=start, end=end, text=text, terms=term_keys(terms(text)))


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
