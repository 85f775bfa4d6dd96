"""Search for the passages of documents that answer a question.

Chunks are searched by words and by meaning, and so are the summaries of sections and documents; a
chunk scores higher if its section and document fit too. Each hit is extended by its neighbours,
adjacent hits become one passage, and every passage has a citation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from recollect.domain.document import (
    DOCUMENT_TYPES,
    Citation,
    Document,
    DocumentType,
    Passage,
    Passages,
)
from recollect.domain.scope import Scope
from recollect.domain.times import aware
from recollect.domain.unit import DOCUMENT, UNIT_OWNERS
from recollect.errors import InvalidInput
from recollect.knowledge.rewriting import Rewriter, Rewritten
from recollect.knowledge.splitting import FIRST_SUMMARY
from recollect.language.analysis import query_terms, term_keys
from recollect.language.intent import without_asking
from recollect.ports.documents import Documents, LocatedChunk
from recollect.ports.embedder import AskedQuestion, VectorSource
from recollect.ports.language_model import TokenCounter
from recollect.ports.runtime import Clock
from recollect.ports.units import Matches, Nearest, UnitIndex, VectorIndex

_DOCUMENT: Final = UNIT_OWNERS.index(DOCUMENT)
_MAX_ATTEMPTS: Final = 3

# The weight of a rewritten query, compared with the question itself.
_REWRITTEN_WEIGHT: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOptions:
    """The parameters of document search; the defaults were measured (docs/decisions)."""

    candidates: int = 200
    keyword_weight: float = 1.0
    vector_weight: float = 1.0
    section_weight: float = 0.1
    document_weight: float = 0.05
    reach: int = 1
    passage_tokens: int = 240
    """The size up to which a passage is extended by its neighbours."""
    joined_tokens: int = 360
    """The size up to which adjacent hits become one passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """A filter of documents; an empty field matches any."""

    types: frozenset[DocumentType] = frozenset()
    tags: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_empty(self) -> bool:
        return self == DocumentFilter()

    def accepts(self, document: Document) -> bool:
        """Return whether a document matches the filter."""
        return (
            (not self.types or document.type in self.types)
            and self.tags.issubset(document.tags)
            and (not self.documents or document.id in self.documents)
            and (self.since is None or document.updated_at >= self.since)
            and (self.until is None or document.updated_at < self.until)
        )


def make_filter(
    *,
    types: Sequence[str] = (),
    tags: Sequence[str] = (),
    documents: Sequence[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
) -> DocumentFilter:
    """Return the filter for a caller's arguments."""
    unknown = [name for name in types if name not in DOCUMENT_TYPES]
    if unknown:
        raise InvalidInput(
            f"types {unknown[0]!r} is none of: {', '.join(DOCUMENT_TYPES)}", code="unknown_value"
        )
    return DocumentFilter(
        types=frozenset(name for name in DOCUMENT_TYPES if name in types),
        tags=frozenset(tags),
        documents=frozenset(documents),
        since=None if since is None else aware(since, "since"),
        until=None if until is None else aware(until, "until"),
    )


@dataclass(slots=True)
class _Candidate:
    """A unit that was found, with its score by each path."""

    owner: str
    ordinal: int
    start: int
    end: int
    keyword: float = 0.0
    vector: float = 0.0
    around: float = 0.0
    score: float = 0.0


@dataclass(slots=True)
class _Group:
    """Hits of one section that become one passage."""

    chunk: LocatedChunk
    score: float
    parts: dict[str, float]
    span: tuple[int, int]
    matched: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    @property
    def place(self) -> tuple[str, int]:
        return self.chunk.place


class Retriever:
    """A search in collections."""

    def __init__(
        self,
        documents: Documents,
        units: UnitIndex,
        vectors: VectorIndex,
        meaning: VectorSource,
        tokens: TokenCounter,
        clock: Clock,
        options: RetrievalOptions,
        rewriter: Rewriter | None = None,
    ) -> None:
        self._documents = documents
        self._units = units
        self._vectors = vectors
        self._meaning = meaning
        self._tokens = tokens
        self._clock = clock
        self._options = options
        self._rewriter = rewriter

    async def search(
        self,
        scopes: Sequence[Scope],
        query: str,
        *,
        limit: int,
        min_score: float = 0.0,
        max_tokens: int | None = None,
        where: DocumentFilter | None = None,
    ) -> Passages:
        """Return the best passages of these collections, within a token budget."""
        if not scopes or not query.strip():
            return Passages(passages=())
        rewritten = Rewritten()
        if self._rewriter is not None:
            rewritten = await self._rewriter.rewrite(query)
        where = where or DocumentFilter()
        wanted, attempts = self._options.candidates, 1
        found, degraded = await self._find(scopes, query, rewritten, wanted)
        groups, is_short = await self._locate(found, where, limit, min_score)
        # The filter may have removed too many hits: search further.
        while is_short and not where.is_empty and attempts < _MAX_ATTEMPTS and len(found) >= wanted:
            wanted, attempts = wanted * 8, attempts + 1
            found, degraded = await self._find(scopes, query, rewritten, wanted)
            groups, is_short = await self._locate(found, where, limit, min_score)
        passages = self._read(groups, limit, max_tokens)
        return Passages(passages=passages, queries=(query, *rewritten.queries), degraded=degraded)

    async def _find(
        self, scopes: Sequence[Scope], query: str, rewritten: Rewritten, wanted: int
    ) -> tuple[list[tuple[int, _Candidate]], tuple[str, ...]]:
        """Return chunks by score, best first, and the problems of the paths."""
        units: dict[int, _Candidate] = {}
        degraded = dict.fromkeys(filter(None, (rewritten.problem,)))
        searches = [self._ask(scopes, text, wanted) for text in (query, *rewritten.queries)]
        if rewritten.answer:
            # Its words are made up, so it is searched by meaning only.
            searches.append(self._ask(scopes, rewritten.answer, wanted, by_words=False))
        for number, (by_words, nearest, problems) in enumerate(await asyncio.gather(*searches)):
            trust = 1.0 if number == 0 else _REWRITTEN_WEIGHT
            _add_matches(units, by_words, "keyword", trust)
            _add_matches(units, nearest.matches, "vector", trust)
            degraded |= dict.fromkeys(problems)
        has_vectors = any(found.vector for found in units.values())
        return self._score_chunks(units, has_vectors=has_vectors), tuple(degraded)

    async def _ask(
        self, scopes: Sequence[Scope], query: str, wanted: int, *, by_words: bool = True
    ) -> tuple[Matches, Nearest, tuple[str, ...]]:
        """Search by words and by meaning at the same time."""
        now = self._clock.now()
        matches, (nearest, problems) = await asyncio.gather(
            self._by_words(scopes, query if by_words else "", wanted, now),
            self._by_meaning(scopes, query, wanted, now),
        )
        return matches, nearest, problems

    async def _by_words(
        self, scopes: Sequence[Scope], query: str, wanted: int, now: datetime
    ) -> Matches:
        terms = list(dict.fromkeys(term_keys(query_terms(without_asking(query)))))
        if not terms:
            return Matches.none()
        return await self._units.search(scopes, terms, wanted, now=now)

    async def _by_meaning(
        self, scopes: Sequence[Scope], query: str, wanted: int, now: datetime
    ) -> tuple[Nearest, tuple[str, ...]]:
        if self._meaning.model is None:
            return Nearest(matches=Matches.none()), (self._meaning.absence,)
        models = self._meaning.answering(scopes)
        asked = await self._meaning.ask(query, models)
        nearest = await self._nearest(scopes, asked, wanted, now)
        if not nearest.models.issubset(models):
            asked = await self._meaning.ask(query, nearest.models)
            nearest = await self._nearest(scopes, asked, wanted, now)
        self._meaning.notice(scopes, nearest.models)
        return nearest, asked.problems

    async def _nearest(
        self, scopes: Sequence[Scope], asked: AskedQuestion, wanted: int, now: datetime
    ) -> Nearest:
        return await self._vectors.search(scopes, asked.vectors, wanted, now=now)

    def _score_chunks(
        self, units: dict[int, _Candidate], *, has_vectors: bool
    ) -> list[tuple[int, _Candidate]]:
        """Return the chunks, scored with their section and document, best first."""
        options = self._options
        documents: dict[str, float] = {}
        summaries: dict[str, list[_Candidate]] = {}
        chunks: list[tuple[int, _Candidate]] = []
        for unit, found in units.items():
            found.score = self._own_score(found, has_vectors=has_vectors)
            if found.ordinal == 0:
                documents[found.owner] = found.score
            elif found.ordinal >= FIRST_SUMMARY:
                summaries.setdefault(found.owner, []).append(found)
            else:
                chunks.append((unit, found))
        most = 1 + options.section_weight + options.document_weight
        for _, found in chunks:
            found.around = options.document_weight * documents.get(found.owner, 0.0)
            if within := summaries.get(found.owner):
                scores = [
                    summary.score
                    for summary in within
                    if summary.start <= found.start and found.end <= summary.end
                ]
                found.around += options.section_weight * max(scores, default=0.0)
            found.score = (found.score + found.around) / most
        chunks.sort(key=lambda chunk: (-chunk[1].score, chunk[0]))
        return chunks

    def _own_score(self, found: _Candidate, *, has_vectors: bool) -> float:
        options = self._options
        # If nothing is found by meaning, words alone must be able to reach the full score.
        total = options.keyword_weight + has_vectors * options.vector_weight
        return (
            options.keyword_weight * found.keyword + options.vector_weight * found.vector
        ) / total

    async def _locate(
        self,
        found: Sequence[tuple[int, _Candidate]],
        where: DocumentFilter,
        limit: int,
        min_score: float,
    ) -> tuple[list[_Group], bool]:
        """Return the best hits, adjacent ones combined, and whether there are too few."""
        good = [(unit, candidate) for unit, candidate in found if candidate.score >= min_score]
        # Hits that are combined leave room for more.
        step = 3 * limit
        groups: list[_Group] = []
        for first in range(0, len(good), step):
            batch = good[first : first + step]
            located = await self._documents.locate(
                [unit for unit, _ in batch], reach=self._options.reach
            )
            for unit, candidate in batch:
                chunk = located.get(unit)
                if chunk is None or not where.accepts(chunk.document):
                    continue
                # Once there are enough, a hit can only add to a passage of its section.
                if len(groups) < limit or any(group.place == chunk.place for group in groups):
                    self._add(groups, chunk, candidate)
            if len(groups) >= limit:
                return groups, False
        return groups, True

    def _add(self, groups: list[_Group], chunk: LocatedChunk, found: _Candidate) -> None:
        """Add a hit to an adjacent passage, or as a passage of its own."""
        span = self._extended_span(chunk)
        for group in groups:
            touches = span[0] <= group.span[1] and group.span[0] <= span[1]
            if group.place == chunk.place and touches:
                joined = (min(span[0], group.span[0]), max(span[1], group.span[1]))
                if self._cost(chunk, joined) <= self._options.joined_tokens:
                    group.span = joined
                    group.matched.append(chunk.span)
                    return
                # Without its neighbours, which the other passage has already.
                span = chunk.span
        groups.append(
            _Group(
                chunk=chunk,
                score=found.score,
                parts={
                    "keyword": round(found.keyword, 4),
                    "vector": round(found.vector, 4),
                    "around": round(found.around, 4),
                },
                span=span,
                matched=[chunk.span],
            )
        )

    def _extended_span(self, chunk: LocatedChunk) -> tuple[int, int]:
        """Return the span of a hit with as many neighbours as fit into a passage."""
        start, end = chunk.span
        others = [span for span in chunk.neighbours if span != chunk.span]
        for near in sorted(others, key=lambda span: abs(span[0] - chunk.span[0])):
            wider = (min(start, near[0]), max(end, near[1]))
            if self._cost(chunk, wider) <= self._options.passage_tokens:
                start, end = wider
        return start, end

    def _cost(self, chunk: LocatedChunk, span: tuple[int, int]) -> int:
        return self._tokens.count(_text(chunk, span))

    def _read(
        self, groups: Sequence[_Group], limit: int, max_tokens: int | None
    ) -> tuple[Passage, ...]:
        passages: list[Passage] = []
        left = max_tokens
        for group in groups[:limit]:
            if left is not None:
                cost = self._cost(group.chunk, group.span)
                if cost > left and passages:
                    continue
                left -= cost
            passages.append(_passage(group))
        return tuple(passages)


def _add_matches(units: dict[int, _Candidate], matches: Matches, path: str, trust: float) -> None:
    """Add the matches of a path; of several queries the best score counts."""
    names = ("unit", "kind", "owner", "ordinal", "start", "end")
    columns = (*(matches.column(name) for name in names), matches.scores)
    # Plain values: numpy's own are slow one by one.
    rows: Iterable[tuple[Any, ...]] = zip(*(column.tolist() for column in columns), strict=True)
    for unit, kind, owner, ordinal, start, end, score in rows:
        if kind != _DOCUMENT:
            continue
        found = units.get(unit)
        if found is None:
            found = units[unit] = _Candidate(owner=owner, ordinal=ordinal, start=start, end=end)
        setattr(found, path, max(getattr(found, path), trust * score))


def _text(chunk: LocatedChunk, span: tuple[int, int]) -> str:
    start = chunk.section.start
    return chunk.section.text[span[0] - start : span[1] - start]


def _passage(group: _Group) -> Passage:
    document, section = group.chunk.document, group.chunk.section
    return Passage(
        content=_text(group.chunk, group.span),
        score=min(1.0, group.score),
        citation=Citation(
            document=document.id,
            collection=document.collection,
            title=document.title,
            source=document.source,
            path=section.path,
            page=section.page,
            start=group.span[0],
            end=group.span[1],
            content_hash=document.content_hash,
        ),
        type=document.type,
        matched=tuple(sorted(group.matched)),
        explanation=group.parts,
    )
