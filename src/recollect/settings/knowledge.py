"""Settings of the knowledge base."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from recollect.domain.document import MAX_FILE_BYTES
from recollect.settings.sections import Section, Share


class KnowledgeSettings(Section):
    """How documents are read, searched and put into a prompt."""

    context_tokens: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=800, description="how much of a prompt's block documents may take; 0 = none"
    )
    context_passages: Annotated[int, Field(ge=1, le=50)] = Field(
        default=3, description="how many passages at most"
    )
    min_score: Share = Field(
        default=0.3, description="a passage that fits less well does not enter a prompt"
    )
    rewrite: bool = Field(
        default=True,
        description="let the `models.classify` model, if there is one, ask in other words too",
    )
    max_file_mb: Annotated[int, Field(ge=1, le=MAX_FILE_BYTES // 2**20)] = Field(
        default=256, description="how large a file may be"
    )
    parse_seconds: Annotated[float, Field(gt=0, le=3600)] = Field(
        default=120, description="how long reading one PDF or Office file may take"
    )
    parse_memory_mb: Annotated[int, Field(ge=256, le=65_536)] = Field(
        default=4_096, description="and how much memory"
    )

    @property
    def max_file_bytes(self) -> int:
        """Return how large a file may be, in bytes."""
        return self.max_file_mb * 2**20
