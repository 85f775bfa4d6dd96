"""The entity path: one hop from the best hits to what names the same people, places and things.

A question that needs several records often names only what the first of them is about.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from recollect.ports.units import UnitIndex
from recollect.recall.paths import Found, PathName
from recollect.recall.question import Question
from recollect.text.searchable import entity_keys

# What names as much as this names nothing in particular.
_MOST: Final = 64
# Names stand where a text says what it is about.
_READ: Final = 2_000


class EntityPath:
    """Units that name what the best hits name and the question does not."""

    name: PathName = "entity"

    def __init__(self, units: UnitIndex) -> None:
        self._units = units

    async def search(self, question: Question, texts: Iterable[str], limit: int) -> Found | None:
        """What the names in these texts lead to; None when they name nothing new."""
        known = set(entity_keys(question.text[:_READ]))
        names = {key for text in texts for key in entity_keys(text[:_READ])} - known
        if not names or len(names) > _MOST:
            return None
        matches = await self._units.search(question.scopes, sorted(names), limit, now=question.now)
        return Found(path=self.name, matches=matches) if len(matches) else None
