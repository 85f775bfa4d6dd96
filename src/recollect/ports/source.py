"""Other sources of context for a prompt, besides records and turns."""

from __future__ import annotations

from typing import Protocol

from recollect.domain.document import Passages
from recollect.domain.scope import Caller


class PassageSource(Protocol):
    """A source of passages with citations, such as documents."""

    async def passages(self, caller: Caller, question: str, *, max_tokens: int) -> Passages:
        """Return the passages that answer a question well enough, within a budget of tokens."""
        ...
