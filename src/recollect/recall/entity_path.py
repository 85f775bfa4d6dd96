"""The entity path: one hop from the best hits to what names the same people, places and things.

A question that needs several records often names only what the first of them is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import numpy as np

from recollect.language.units import entity_keys
from recollect.ports.units import Matches, UnitIndex
from recollect.recall.paths import Found, PathName
from recollect.recall.question import Question

# What names as much as this names nothing in particular.
_MOST: Final = 64
# Names stand where a text says what it is about.
_READ: Final = 2_000
# What was found before is found again.
_named_in: Final = lru_cache(maxsize=1_024)(entity_keys)


class EntityPath:
    """Units that name what the best hits name and the question does not."""

    name: PathName = "entity"

    def __init__(self, units: UnitIndex) -> None:
        self._units = units

    async def search(
        self, question: Question, seeds: Mapping[str, str], limit: int
    ) -> Found | None:
        """What the names in these texts, given by their owners, lead to, beside themselves."""
        names = {key for text in seeds.values() for key in _named_in(text[:_READ])}
        if names:
            names -= set(_named_in(question.text[:_READ]))
        if not names or len(names) > _MOST:
            return None
        matches = await self._units.search(question.scopes, sorted(names), limit, now=question.now)
        others = np.flatnonzero(~np.isin(matches.column("owner"), list(seeds)))
        if not len(others):
            return None
        led_to = Matches(
            rows=matches.rows.take(others), raw=matches.raw[others], scores=matches.scores[others]
        )
        return Found(path=self.name, matches=led_to)
