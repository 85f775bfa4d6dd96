"""What is asked, where, and how much of an answer is wanted."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from recollect.domain.filters import Filter
from recollect.domain.scope import Scope
from recollect.text.analysis import query_terms, term_key


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question, asked at a moment."""

    text: str
    scopes: tuple[Scope, ...]
    where: Filter = field(default_factory=Filter)
    limit: int
    min_score: float
    now: datetime

    @cached_property
    def terms(self) -> dict[int, str]:
        """The question's terms by their keys."""
        return {term_key(term): term for term in query_terms(self.text)}
