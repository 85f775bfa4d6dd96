"""Notes on tool calls: what a session learned from its tools, and advice before a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from recollect.domain.fields import (
    MAX_CONTENT,
    MAX_METADATA,
    MAX_TITLE,
    checked_json,
    checked_share,
    checked_text,
)
from recollect.errors import InvalidInput

ChunkType = Literal["search_result", "page_content", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentChunk:
    """A piece of content, its source, and its relevance (0–1)."""

    content: str
    source: str
    relevance_score: float
    chunk_type: ChunkType = "search_result"
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def __post_init__(self) -> None:
        checked_text(self.content, "content", MAX_CONTENT)
        checked_text(self.source, "source", MAX_TITLE)
        checked_share(self.relevance_score, "relevance_score")
        checked_json(self.metadata, "metadata", MAX_METADATA)
        if self.chunk_type not in get_args(ChunkType):
            raise InvalidInput(
                f"chunk_type {self.chunk_type!r} is none of: {', '.join(get_args(ChunkType))}",
                code="unknown_chunk_type",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A note for the model that a structure is already known; the call may still be made."""

    document: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cached:
    """The result of an earlier, identical call, to use instead of a new call."""

    document: str
    result: Any
