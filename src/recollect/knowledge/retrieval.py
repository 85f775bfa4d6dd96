"""Search for the passages of documents that answer a question.

Chunks are searched by words and by meaning, and so are the summaries of sections and documents; a
chunk scores higher if its section and document fit too. A configured model, if any, reads the
best. Adjacent hits become one passage, each passage is extended by its neighbours as far as the
budget allows, and every passage has a citation.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from recollect.domain.document import (
    DOCUMENT_TYPES,
    Citation,
    Document,
    DocumentType,
    Passage,
    Passages,
    Section,
)
from recollect.domain.odds import log_odds, probability
from recollect.domain.scope import Scope
from recollect.domain.sections import KnowledgeSettings
from recollect.domain.times import aware
from recollect.domain.unit import DOCUMENT, UNIT_OWNERS
from recollect.embedding.service import Asked, EmbeddingService
from recollect.errors import InvalidInput
from recollect.knowledge.rewriting import Rewriter, Rewritten
from recollect.knowledge.splitting import FIRST_SUMMARY, headline
from recollect.language.analysis import query_terms, term_keys
from recollect.language.intent import without_asking
from recollect.ports.documents import LocatedChunk, Span
from recollect.ports.language_model import TokenCounter
from recollect.ports.runtime import Clock
from recollect.ports.units import Matches, Nearest, UnitIndex, VectorIndex

if TYPE_CHECKING:
    from recollect.knowledge.rows import SqlDocuments

_DOCUMENT: Final = UNIT_OWNERS.index(DOCUMENT)
_MAX_ATTEMPTS: Final = 3

# The weight of a rewritten query, compared with the question itself.
_REWRITTEN_WEIGHT: Final = 0.9
# The weights were measured (docs/decisions).
_CANDIDATES: Final = 200
_KEYWORD_WEIGHT: Final = 1.0
_VECTOR_WEIGHT: Final = 1.0
_SECTION_WEIGHT: Final = 0.1
_DOCUMENT_WEIGHT: Final = 0.05


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
            f"types {unknown[0]!r} is not one of: {', '.join(DOCUMENT_TYPES)}", code="unknown_value"
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


class PassageReader(Protocol):
    """A model that reads the question with each of the best texts."""

    @property
    def most(self) -> int:
        """Return the number of texts to read."""
        ...

    @property
    def weight(self) -> float:
        """Return the weight of what the model says compared with the search."""
        ...

    async def logits(self, question: str, texts: Sequence[str]) -> Sequence[float] | str:
        """Return the odds that each text answers, as logarithms, or a note why there are none."""
        ...


@dataclass(slots=True)
class _Group:
    """Hits of one section that become one passage."""

    chunk: LocatedChunk
    score: float
    parts: dict[str, float]
    span: Span
    matched: dict[int, Span]
    neighbours: set[Span]
    sections: dict[int, Section]

    @property
    def document(self) -> Document:
        return self.chunk.document

    def text(self, span: Span) -> str:
        """Return the text of a span, which may go over several sections."""
        pieces: list[str] = []
        at = span[0]
        for _, section in sorted(self.sections.items()):
            start, end = max(at, section.start), min(span[1], section.end)
            if start < end:
                # What lies between two of them is blank.
                pieces += "\n" * (start - at), section.text[start - section.start :][: end - start]
                at = end
        return "".join(pieces)


@dataclass(eq=False)
class Retriever:
    """A search in collections."""

    _documents: SqlDocuments
    _units: UnitIndex
    _vectors: VectorIndex
    _embedding: EmbeddingService
    _tokens: TokenCounter
    _clock: Clock
    _settings: KnowledgeSettings
    _rewriter: Rewriter | None = None
    _reader: PassageReader | None = None

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
        wanted, attempts = _CANDIDATES, 1
        # A model reads more than is returned, and has a say in every score.
        most, least = limit, min_score
        if self._reader is not None:
            most, least = max(limit, self._reader.most), 0.0
        found, degraded = await self._find(scopes, query, rewritten, wanted)
        groups = await self._locate(found, where, most, least)
        # The filter may have removed too many hits: search further.
        while (
            len(groups) < limit
            and not where.is_empty
            and attempts < _MAX_ATTEMPTS
            and len(found) >= wanted
        ):
            wanted, attempts = wanted * 8, attempts + 1
            found, degraded = await self._find(scopes, query, rewritten, wanted)
            groups = await self._locate(found, where, most, least)
        if self._reader is not None and groups:
            note = await self._order(query, groups, self._reader)
            degraded = (*degraded, note) if note else degraded
            groups = [group for group in groups if group.score >= min_score]
        passages = self._read(groups[:limit], max_tokens)
        return Passages(passages=passages, queries=(query, *rewritten.queries), degraded=degraded)

    async def _order(self, query: str, groups: list[_Group], reader: PassageReader) -> str:
        """Put first what answers, and lower what does not; return what went wrong."""
        texts = [
            f"{headline(group.document, group.chunk.section)}\n{group.text(group.span)}"
            for group in groups
        ]
        logits = await reader.logits(query, texts)
        if isinstance(logits, str):
            return logits
        for group, logit in zip(groups, logits, strict=True):
            odds = (1 - reader.weight) * log_odds(group.score) + reader.weight * logit
            group.score = probability(odds)
            group.parts["reader"] = round(probability(logit), 4)
        groups.sort(key=lambda group: -group.score)
        return ""

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
            self._by_vectors(scopes, query, wanted, now),
        )
        return matches, nearest, problems

    async def _by_words(
        self, scopes: Sequence[Scope], query: str, wanted: int, now: datetime
    ) -> Matches:
        terms = list(dict.fromkeys(term_keys(query_terms(without_asking(query)))))
        if not terms:
            return Matches.none()
        return await self._units.search(scopes, terms, wanted, now=now)

    async def _by_vectors(
        self, scopes: Sequence[Scope], query: str, wanted: int, now: datetime
    ) -> tuple[Nearest, tuple[str, ...]]:
        if self._embedding.model is None:
            return Nearest(matches=Matches.none()), (self._embedding.absence,)
        models = self._embedding.answering(scopes)
        asked = await self._embedding.ask(query, models)
        nearest = await self._nearest(scopes, asked, wanted, now)
        if not nearest.models.issubset(models):
            asked = await self._embedding.ask(query, nearest.models)
            nearest = await self._nearest(scopes, asked, wanted, now)
        self._embedding.notice(scopes, nearest.models)
        return nearest, (*asked.problems, *nearest.problems)

    async def _nearest(
        self, scopes: Sequence[Scope], asked: Asked, wanted: int, now: datetime
    ) -> Nearest:
        return await self._vectors.search(scopes, asked.vectors, wanted, now=now)

    def _score_chunks(
        self, units: dict[int, _Candidate], *, has_vectors: bool
    ) -> list[tuple[int, _Candidate]]:
        """Return the chunks, scored with their section and document, best first."""
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
        most = 1 + _SECTION_WEIGHT + _DOCUMENT_WEIGHT
        for _, found in chunks:
            found.around = _DOCUMENT_WEIGHT * documents.get(found.owner, 0.0)
            if within := summaries.get(found.owner):
                scores = [
                    summary.score
                    for summary in within
                    if summary.start <= found.start and found.end <= summary.end
                ]
                found.around += _SECTION_WEIGHT * max(scores, default=0.0)
            found.score = (found.score + found.around) / most
        chunks.sort(key=lambda chunk: (-chunk[1].score, chunk[0]))
        return chunks

    def _own_score(self, found: _Candidate, *, has_vectors: bool) -> float:
        # If nothing is found by meaning, words alone must be able to reach the full score.
        total = _KEYWORD_WEIGHT + has_vectors * _VECTOR_WEIGHT
        return (_KEYWORD_WEIGHT * found.keyword + _VECTOR_WEIGHT * found.vector) / total

    async def _locate(
        self,
        found: Sequence[tuple[int, _Candidate]],
        where: DocumentFilter,
        limit: int,
        min_score: float,
    ) -> list[_Group]:
        """Return the best hits, adjacent ones combined."""
        good = [(unit, candidate) for unit, candidate in found if candidate.score >= min_score]
        # Hits that are combined leave room for more.
        step = 3 * limit
        groups: list[_Group] = []
        for first in range(0, len(good), step):
            batch = good[first : first + step]
            located = await self._documents.locate(
                [unit for unit, _ in batch], reach=self._settings.neighbours
            )
            for unit, candidate in batch:
                chunk = located.get(unit)
                if chunk is None or not where.accepts(chunk.document):
                    continue
                # Once there are enough, a hit can only add to a passage.
                if not self._join(groups, chunk) and len(groups) < limit:
                    groups.append(_group(chunk, candidate))
            if len(groups) >= limit:
                break
        return groups

    def _join(self, groups: Sequence[_Group], chunk: LocatedChunk) -> bool:
        """Add a hit to a passage that it is adjacent to, if there is one with room for it."""
        for group in groups:
            is_adjacent = not group.matched.keys().isdisjoint(_ordinals_beside(chunk))
            joined = _hull(group.span, chunk.span)
            if (
                is_adjacent
                and group.chunk.place == chunk.place
                and self._cost(group, joined) <= self._settings.passage_tokens
            ):
                group.span = joined
                group.matched[chunk.ordinal] = chunk.span
                group.neighbours.update(chunk.neighbours)
                group.sections |= {section.ordinal: section for section in chunk.sections}
                return True
        return False

    def _cost(self, group: _Group, span: Span) -> int:
        return self._tokens.count(group.text(span))

    def _read(self, groups: Sequence[_Group], max_tokens: int | None) -> tuple[Passage, ...]:
        """Return the passages that fit, extended by their neighbours as far as there is room."""
        chosen: list[_Group] = []
        left = math.inf if max_tokens is None else max_tokens
        for group in groups:
            cost = self._cost(group, group.span)
            if cost <= left or not chosen:
                left -= cost
                chosen.append(group)
        for group in chosen:
            left -= self._extend(group, chosen, left)
        return tuple(map(_passage, chosen))

    def _extend(self, group: _Group, others: Sequence[_Group], left: float) -> int:
        """Extend a passage by its neighbours, nearest first; return how many tokens that costs.

        What another passage has is left to it.
        """
        before = cost = self._cost(group, group.span)
        taken = [
            other.span
            for other in others
            if other is not group and other.document == group.document
        ]
        middle = sum(group.span) / 2
        for near in sorted(group.neighbours, key=lambda span: abs(sum(span) / 2 - middle)):
            wider = _hull(group.span, near)
            if wider == group.span or any(_overlap(wider, span) for span in taken):
                continue
            wanted = self._cost(group, wider)
            if wanted <= self._settings.passage_tokens and wanted - before <= left:
                group.span, cost = wider, wanted
        return cost - before


def _group(chunk: LocatedChunk, found: _Candidate) -> _Group:
    return _Group(
        chunk=chunk,
        score=found.score,
        parts={
            "keyword": round(found.keyword, 4),
            "vector": round(found.vector, 4),
            "around": round(found.around, 4),
        },
        span=chunk.span,
        matched={chunk.ordinal: chunk.span},
        neighbours=set(chunk.neighbours),
        sections={section.ordinal: section for section in chunk.sections},
    )


def _ordinals_beside(chunk: LocatedChunk) -> range:
    return range(chunk.ordinal - 1, chunk.ordinal + 2)


def _hull(one: Span, other: Span) -> Span:
    return min(one[0], other[0]), max(one[1], other[1])


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


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


def _passage(group: _Group) -> Passage:
    document, section = group.chunk.document, group.chunk.section
    return Passage(
        content=group.text(group.span),
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
        matched=tuple(sorted(group.matched.values())),
        explanation=group.parts,
    )
