"""A recall: search by every path, fuse, fetch what was found, keep what the filter accepts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recollect.domain.fields import checked_share, checked_text
from recollect.domain.filters import Filter
from recollect.domain.hit import Hit, Recalled
from recollect.domain.page import checked_limit
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.recall.fuse import Fused, Weights, fuse
from recollect.recall.paths import Found, Path
from recollect.recall.question import Question
from recollect.recall.scan import Scan

MAX_QUERY: Final = 20_000
MAX_LIMIT: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """Defaults of a recall."""

    limit: int
    min_score: float
    candidates: int
    weights: Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """Hits, and whether the filter left too few of them."""

    hits: list[Hit]
    needs_more: bool


class Recaller:
    """Answers questions from the records and turns of some scopes."""

    def __init__(
        self,
        store: Store,
        paths: Sequence[Path],
        scan: Scan,
        clock: Clock,
        options: RecallOptions,
    ) -> None:
        self._store = store
        self._paths = paths
        self._scan = scan
        self._clock = clock
        self._options = options

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
        options = self._options
        question = Question(
            text=checked_text(text, "query", MAX_QUERY),
            scopes=scopes,
            where=where,
            limit=checked_limit(options.limit if limit is None else limit, MAX_LIMIT),
            min_score=options.min_score if min_score is None else checked_share(min_score),
            now=self._clock.now(),
        )
        if question.where.is_indexed:
            return await self._search(question)
        return Recalled(hits=tuple(await self._scan.search(question)))

    async def _search(self, question: Question) -> Recalled:
        """Search the index; only when the filter takes away too much, search inside the filter."""
        wanted = max(self._options.candidates, 2 * question.limit)
        found = await self._ask(question, wanted, within=None)
        answer = await self._fetch(question, found)
        if answer.needs_more and any(it.is_cut_off for it in found):
            found = await self._ask(question, wanted, within=question.where)
            answer = await self._fetch(question, found)
        degraded = tuple(note for it in found for note in it.degraded)
        return Recalled(hits=tuple(answer.hits[: question.limit]), degraded=degraded)

    async def _ask(self, question: Question, limit: int, within: Filter | None) -> list[Found]:
        asked = (path.search(question, limit, within) for path in self._paths)
        return list(await asyncio.gather(*asked))

    async def _fetch(self, question: Question, found: Sequence[Found]) -> _Answer:
        """The owners that were found and pass the filter, as hits."""
        fused = fuse(found, self._options.weights)
        good = [it for it in fused if it.score >= question.min_score and it.score > 0]
        hits: list[Hit] = []
        looked_at = 0
        # Few of the candidates are wanted as a rule, so they are fetched in slices.
        step = question.limit
        for start in range(0, len(good), step):
            chosen = good[start : start + step]
            items = await self._items(question, chosen)
            looked_at += len(chosen)
            hits.extend(
                Hit(
                    item=items[it.best.owner_id],
                    score=it.score,
                    span=it.best.span,
                    explanation=it.explanation(question.terms),
                )
                for it in chosen
                if it.best.owner_id in items
            )
            if len(hits) >= question.limit:
                break
        # Only what the filter took away can be made up for by searching inside it.
        is_filtered = len(hits) < looked_at
        return _Answer(hits=hits, needs_more=is_filtered and len(hits) < question.limit)

    async def _items(self, question: Question, fused: Sequence[Fused]) -> dict[str, Record | Turn]:
        """The owners themselves, as far as the filter accepts them."""
        where = question.where
        records = [it.best.owner_id for it in fused if it.best.owner_kind == "record"]
        turns = [it.best.owner_id for it in fused if it.best.owner_kind == "turn"]
        items: dict[str, Record | Turn] = {}
        if records and where.wants_records:
            for record in await self._store.records(
                question.scopes, where, now=question.now, ids=records
            ):
                items[record.id] = record
        if turns and where.wants_turns:
            for turn in await self._store.turns(question.scopes, where, ids=turns):
                items[turn.id] = turn
        return items
