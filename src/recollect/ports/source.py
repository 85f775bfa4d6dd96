"""Another source of what a prompt may hold, beside what is remembered."""

from __future__ import annotations

from typing import Protocol

from recollect.domain.document import Passages
from recollect.domain.scope import Caller


class PassageSource(Protocol):
    """Passages with their citations, such as those of documents."""

    async def passages(self, caller: Caller, question: str, *, max_tokens: int) -> Passages:
        """Return what answers a question well enough, within a budget of tokens."""
        ...
