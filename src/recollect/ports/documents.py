"""Reading documents, their sections and their passages for the knowledge base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.domain.document import Document, Section

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedChunk:
    """A passage that a search found, with its section and what stands beside it.

    `neighbours` are the spans of the passages around it, including its own, in order; `sections`
    are those that they stand in.
    """

    unit: int
    document: Document
    section: Section
    ordinal: int
    span: Span
    neighbours: tuple[Span, ...]
    sections: tuple[Section, ...]

    @property
    def place(self) -> tuple[str, int]:
        """Return the document and the section."""
        return self.document.id, self.section.ordinal
