"""A recall: analyse the question, search, fetch what was found, keep what the filter accepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.domain.fields import checked_share, checked_text
from recollect.domain.filters import Filter
from recollect.domain.hit import Explanation, Hit, PathScore, Recalled
from recollect.domain.page import checked_limit
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex, UnitMatch
from recollect.text.analysis import query_terms, term_key, term_keys, terms
from recollect.text.searchable import record_text, turn_text

MAX_QUERY: Final = 20_000
MAX_LIMIT: Final = 1_000
_KEYWORD: Final = "keyword"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, where, and how much of an answer is wanted."""

    text: str
    scopes: tuple[Scope, ...]
    where: Filter
    limit: int
    min_score: float


class Recaller:
    """Answers questions from the records and turns of some scopes."""

    def __init__(
        self,
        store: Store,
        units: UnitIndex,
        clock: Clock,
        *,
        candidates: int,
        limit: int,
        min_score: float,
    ) -> None:
        self._store = store
        self._units = units
        self._clock = clock
        self._candidates = candidates
        self._limit = limit
        self._min_score = min_score

    async def recall(
        self,
        text: str,
        scopes: tuple[Scope, ...],
        where: Filter,
        *,
        limit: int | None = None,
        min_score: float | None = None,
    ) -> Recalled:
        """The best hits, each at least as good as `min_score`; none is a possible answer."""
        question = Question(
            text=checked_text(text, "query", MAX_QUERY),
            scopes=scopes,
            where=where,
            limit=checked_limit(self._limit if limit is None else limit, MAX_LIMIT),
            min_score=self._min_score if min_score is None else checked_share(min_score),
        )
        names = {term_key(term): term for term in query_terms(question.text)}
        if not names:
            return Recalled(hits=())
        now = self._clock.now()
        if question.where.is_indexed:
            hits = await self._search(question, names, now)
        else:
            hits = await self._scan(question, names, now)
        return Recalled(hits=tuple(hits[: question.limit]))

    async def _search(
        self, question: Question, names: Mapping[int, str], now: datetime
    ) -> list[Hit]:
        """Search the index; only when the filter takes away too much, search inside the filter."""
        wanted = max(self._candidates, 2 * question.limit)
        keys = list(names)
        matches = await self._units.search(question.scopes, keys, wanted, now=now)
        hits = await self._fetch(question, matches, names, now)
        if len(hits) >= question.limit or len(matches) < wanted:
            return hits
        matches = await self._units.search(
            question.scopes, keys, wanted, now=now, within=question.where
        )
        return await self._fetch(question, matches, names, now)

    async def _fetch(
        self,
        question: Question,
        matches: Sequence[UnitMatch],
        names: Mapping[int, str],
        now: datetime,
    ) -> list[Hit]:
        """The owners of these units that pass the filter, each with its best unit."""
        best: dict[str, UnitMatch] = {}
        for match in matches:
            if match.score >= question.min_score:
                best.setdefault(match.owner_id, match)
        hits: list[Hit] = []
        owners = list(best.values())
        # Few of the candidates are wanted as a rule, so they are fetched in slices.
        step = 2 * question.limit
        for start in range(0, len(owners), step):
            chosen = owners[start : start + step]
            items = await self._items(question, chosen, now)
            hits.extend(
                _hit(items[match.owner_id], match, names, start + place + 1)
                for place, match in enumerate(chosen)
                if match.owner_id in items
            )
            if len(hits) >= question.limit:
                break
        return hits

    async def _items(
        self, question: Question, matches: Sequence[UnitMatch], now: datetime
    ) -> dict[str, Record | Turn]:
        items: dict[str, Record | Turn] = {}
        records = [match.owner_id for match in matches if match.owner_kind == "record"]
        turns = [match.owner_id for match in matches if match.owner_kind == "turn"]
        if records and question.where.wants_records:
            for record in await self._store.records(
                question.scopes, question.where, now=now, ids=records
            ):
                items[record.id] = record
        if turns and question.where.wants_turns:
            for turn in await self._store.turns(question.scopes, question.where, ids=turns):
                items[turn.id] = turn
        return items

    async def _scan(self, question: Question, names: Mapping[int, str], now: datetime) -> list[Hit]:
        """Rank what is not in the index: past states and hidden records, read as they are."""
        items: list[Record | Turn] = []
        if question.where.wants_records:
            items += await self._store.records(question.scopes, question.where, now=now)
        if question.where.wants_turns:
            items += await self._store.turns(question.scopes, question.where)
        texts = [
            term_keys(terms(record_text(item) if isinstance(item, Record) else turn_text(item)))
            for item in items
        ]
        scores = await self._units.rank(list(names), texts)
        order = sorted(range(len(items)), key=lambda index: (-scores[index], items[index].id))
        return [
            Hit(
                item=items[index],
                score=scores[index],
                span=(0, len(items[index].content)),
                explanation=_explanation(
                    rank, scores[index], scores[index], _matched(names, texts[index])
                ),
            )
            for rank, index in enumerate(order, start=1)
            if scores[index] > 0 and scores[index] >= question.min_score
        ]


def _hit(item: Record | Turn, match: UnitMatch, names: Mapping[int, str], rank: int) -> Hit:
    matched = [names[key] for key in match.terms]
    return Hit(
        item=item,
        score=match.score,
        span=match.span,
        explanation=_explanation(rank, match.raw, match.score, matched),
    )


def _matched(names: Mapping[int, str], text: Sequence[int]) -> list[str]:
    present = set(text)
    return [name for key, name in names.items() if key in present]


def _explanation(rank: int, raw: float, score: float, matched: Sequence[str]) -> Explanation:
    path = PathScore(path=_KEYWORD, rank=rank, raw=raw, score=score)
    return Explanation(paths=(path,), matched_terms=tuple(matched))
