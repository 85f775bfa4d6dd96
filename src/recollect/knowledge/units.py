"""The units of a document: its chunks with their headings, and its summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from recollect.domain.document import Chunk, Document, Section
from recollect.domain.unit import OwnerUnits, Unit
from recollect.knowledge.splitting import split_chunks
from recollect.language.analysis import ANALYZER_VERSION, term_keys, terms

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
