"""Settings of the knowledge base."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from recollect.domain.document import MAX_FILE_BYTES
from recollect.settings.sections import Section, Share


class KnowledgeSettings(Section):
    """How documents are processed, searched and put into a prompt."""

    context_tokens: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=800, description="share of the memory block that documents may take; 0 = none"
    )
    context_passages: Annotated[int, Field(ge=1, le=50)] = Field(
        default=3, description="maximum number of passages"
    )
    min_score: Share = Field(default=0.3, description="minimum score of a passage in a prompt")
    rewrite: bool = Field(
        default=True,
        description="let the `models.classify` model, if there is one, rephrase questions",
    )
    max_file_mb: Annotated[int, Field(ge=1, le=MAX_FILE_BYTES // 2**20)] = Field(
        default=256, description="maximum size of a file"
    )
    parse_seconds: Annotated[float, Field(gt=0, le=3600)] = Field(
        default=120, description="time limit for reading one PDF or Office file"
    )
    parse_memory_mb: Annotated[int, Field(ge=256, le=65_536)] = Field(
        default=4_096, description="memory limit for reading it"
    )

    @property
    def max_file_bytes(self) -> int:
        """Return the maximum size of a file in bytes."""
        return self.max_file_mb * 2**20
