"""The ways a question can be answered, each on its own; they run at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Protocol

from recollect.domain.filters import Filter
from recollect.ports.units import UnitIndex, UnitMatch
from recollect.ports.vectors import VectorIndex
from recollect.recall.meaning import Meaning
from recollect.recall.question import Question

PathName = Literal["keyword", "vector", "recent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one path found, best first, and what kept it from finding more."""

    path: PathName
    matches: tuple[UnitMatch, ...] = ()
    is_cut_off: bool = False
    degraded: tuple[str, ...] = ()


class Path(Protocol):
    """One way to find units."""

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found: ...


class KeywordPath:
    """Units that have the question's words."""

    def __init__(self, units: UnitIndex) -> None:
        self._units = units

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        if not question.terms:
            return Found(path="keyword")
        matches = await self._units.search(
            question.scopes, list(question.terms), limit, now=question.now, within=within
        )
        return Found(path="keyword", matches=tuple(matches), is_cut_off=len(matches) >= limit)


class VectorPath:
    """Units that mean something alike."""

    def __init__(self, meaning: Meaning, vectors: VectorIndex) -> None:
        self._meaning = meaning
        self._vectors = vectors

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        model = self._meaning.model
        if model is None:
            return Found(path="vector", degraded=(self._meaning.absence,))
        if not self._meaning.understands(question.text):
            return Found(path="vector")
        asked = await self._meaning.of_question(question.text)
        if asked is None:
            return Found(path="vector", degraded=(self._meaning.absence,))
        nearest = await self._vectors.search(
            question.scopes, model, asked, limit, now=question.now, within=within
        )
        return Found(
            path="vector",
            matches=nearest.matches,
            is_cut_off=len(nearest.matches) >= limit,
            degraded=_told(nearest.missing, model.name),
        )


class RecentPath:
    """What happened last, whatever the words: it is often what a follow-up is about."""

    def __init__(self, units: UnitIndex, *, days: float, limit: int) -> None:
        self._units = units
        self._reach = timedelta(days=days)
        self._limit = limit

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        matches = await self._units.recent(
            question.scopes,
            question.now - self._reach,
            min(limit, self._limit),
            now=question.now,
        )
        return Found(path="recent", matches=tuple(matches))


def _told(missing: int, model: str) -> tuple[str, ...]:
    if not missing:
        return ()
    return (
        f"{missing} pieces have no vector of {model} yet and are found by their words only; "
        "`recollect reindex` makes the missing ones",
    )
