"""The entity path: one hop from the best hits to units that name the same entities.

A question that needs several records often names only the subject of the first one.
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

# Texts with more names than this are about nothing in particular.
_MAX_NAMES: Final = 64
# The names that matter stand near the beginning of a text.
_READ_CHARS: Final = 2_000
# The same texts are found again and again.
_named_in: Final = lru_cache(maxsize=1_024)(entity_keys)


class EntityPath:
    """A path to units that share names with the best hits but not with the question."""

    name: PathName = "entity"

    def __init__(self, units: UnitIndex) -> None:
        self._units = units

    async def search(
        self, question: Question, seeds: Mapping[str, str], limit: int
    ) -> Found | None:
        """Return the units that share names with the seeds (owner → text), without the seeds."""
        names = {key for text in seeds.values() for key in _named_in(text[:_READ_CHARS])}
        if names:
            names -= set(_named_in(question.text[:_READ_CHARS]))
        if not names or len(names) > _MAX_NAMES:
            return None
        matches = await self._units.search(question.scopes, sorted(names), limit, now=question.now)
        others = np.flatnonzero(~np.isin(matches.column("owner"), list(seeds)))
        if not len(others):
            return None
        linked = Matches(
            rows=matches.rows.take(others), raw=matches.raw[others], scores=matches.scores[others]
        )
        return Found(path=self.name, matches=linked)
