"""Nearest neighbours where large scopes are searched in a vector store, and small ones exactly.

What the store finds is as of the version that its follower has reached. What was written since is
compared exactly, so a search sees every write before it, however far behind the store is. The
scores come from the vectors in the database: they are the same whichever store is used, and what is
gone from the database is not found any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import numpy as np
from sqlalchemy import Connection, bindparam, select

from recollect.backends.local.ranking import Ranking
from recollect.backends.local.scope_changes import Changes
from recollect.backends.local.segment import Ids
from recollect.backends.local.vector_index import (
    Answering,
    LocalVectorIndex,
    PackedMatrix,
    Scored,
    read_vectors,
)
from recollect.backends.sql import schema
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.filters import Filter
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats
from recollect.errors import RecollectError
from recollect.followers.vectors import VectorStore
from recollect.ports.units import Nearest, Vector
from recollect.ports.vector_sink import Space

# As many are filtered as by the exact search.
_REACH_OF_A_FILTER: Final = 10
# A store that is so many changes behind is not asked: comparing those takes longer.
_MOST_CHANGED: Final = 20_000
_ATTEMPTS: Final = 4

_ROWS: Final = schema.followers.c
_VERSION: Final = PreparedStatement(
    select(_ROWS.version).where(
        _ROWS.name == bindparam("name"), _ROWS.scope_id == bindparam("scope")
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the store has found in a scope, at least as of a version; None if it was not asked."""

    version: int
    units: Ids | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What a store is to be asked: the nearest in a space, of which so many may be gone."""

    store: VectorStore
    space: Space
    version: int
    vector: Vector
    gone: int


class _AskStore(Exception):
    """The store has to be asked before the search can go on."""

    def __init__(self, wanted: Sequence[_Wanted]) -> None:
        super().__init__()
        self.wanted = wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class _FarScores:
    """The units of a scope that may be among the best, compared with a question."""

    index: LocalVectorIndex
    asked: Answering
    units: int
    ranking: Ranking

    def within(self, connection: Connection, allowed: Ids) -> Ranking:
        return _compared(self.index, connection, self.asked, allowed)


class FollowedVectorIndex:
    """A `VectorIndex` over a vector store that follows the database."""

    def __init__(
        self,
        local: LocalVectorIndex,
        stores: Sequence[VectorStore],
        *,
        fewest_units: int,
        most_exact: int,
    ) -> None:
        """Smaller scopes than `fewest_units` are searched by `local`, and larger ones up to
        `most_exact` while no store can be asked. The first store that answers is asked."""
        self._local = local
        self._stores = stores
        self._fewest = fewest_units
        self._most_exact = most_exact

    async def search(
        self,
        scopes: Sequence[Scope],
        question: Mapping[EmbeddingModel, Vector],
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
    ) -> Nearest:
        """Return the units nearest to the question; with `within`, only owners that it accepts."""
        found: dict[int, _Found] = {}
        problems: dict[str, None] = {}
        score = partial(self._score, found, problems)
        for _ in range(_ATTEMPTS):
            try:
                nearest = await self._local.search_with(score, scopes, question, limit, now, within)
            except _AskStore as ask:
                reach = limit * (1 if within is None else _REACH_OF_A_FILTER)
                answers = await asyncio.gather(*(self._ask(it, reach) for it in ask.wanted))
                found |= {it.space.scope: its for it, its in zip(ask.wanted, answers, strict=True)}
            else:
                return _with_problems(nearest, problems)
        return await self._local.search(scopes, question, limit, now=now, within=within)

    def stats(self) -> IndexStats:
        """Return what is packed in this process now."""
        return self._local.stats()

    async def _ask(self, wanted: _Wanted, limit: int) -> _Found:
        """Ask the store; what keeps it from answering is a note."""
        sink, breaker = wanted.store.sink, wanted.store.following.breaker
        try:
            units = await sink.search(wanted.space, wanted.vector, limit + wanted.gone)
        except RecollectError as problem:
            breaker.failed(problem.message)
            return _Found(version=wanted.version, problem=problem.message)
        breaker.answered()
        return _Found(version=wanted.version, units=units)

    def _score(
        self,
        found: Mapping[int, _Found],
        problems: dict[str, None],
        connection: Connection,
        answering: Sequence[Answering],
    ) -> list[Scored]:
        problems.clear()
        wanted = [
            it
            for asked in answering
            if asked.row.units >= self._fewest and not _has_answer(found, asked.row.id)
            if (it := self._wanted(connection, asked)) is not None
        ]
        if wanted:
            raise _AskStore(wanted)
        return [self._score_scope(found, problems, connection, it) for it in answering]

    def _wanted(self, connection: Connection, asked: Answering) -> _Wanted | None:
        """Return what to ask which store about a scope; None if none has anything useful of it.

        One that has just failed is left alone, and the next one is asked.
        """
        row = asked.row
        for store in self._stores:
            if store.following.breaker.is_open or row.model is None:
                continue
            version = _version(connection, store, row.id)
            changes = Changes(connection, version, row)
            if not version or not changes.are_of_one_model or changes.count > _MOST_CHANGED:
                continue
            space = Space(scope=row.id, model=row.model, dimension=asked.model.dimension)
            gone = len(changes.removed_units)
            return _Wanted(
                store=store, space=space, version=version, vector=asked.vector, gone=gone
            )
        return None

    def _score_scope(
        self,
        found: Mapping[int, _Found],
        problems: dict[str, None],
        connection: Connection,
        asked: Answering,
    ) -> Scored:
        row = asked.row
        if row.units < self._fewest:
            return self._local.score_packed(connection, asked)
        its = found.get(row.id)
        if its is not None and its.units is not None:
            changes = Changes(connection, its.version, row)
            units = np.concatenate([its.units, changes.added_units, changes.filled_in_units])
            return self._far(connection, asked, units)
        problem = next(filter(None, (it.following.breaker.problem for it in self._stores)), "")
        away = problem or ("" if its is None else its.problem)
        if row.units <= self._most_exact:
            if away:
                problems[f"{away}; the vectors in the database were compared instead"] = None
            return self._local.score_packed(connection, asked)
        told = away or f"{self._stores[0].sink.name} does not have all vectors yet"
        problems[f"{told}; {row.units:,} units are found by words only"] = None
        return self._far(connection, asked, self._newer(connection, asked))

    def _newer(self, connection: Connection, asked: Answering) -> Ids:
        """Return what was written after what the stores have."""
        version = max(_version(connection, it, asked.row.id) for it in self._stores)
        changes = Changes(connection, version, asked.row)
        if not changes.seen or changes.count > _MOST_CHANGED:
            return np.empty(0, np.int64)
        return np.concatenate([changes.added_units, changes.filled_in_units])

    def _far(self, connection: Connection, asked: Answering, units: Ids) -> Scored:
        ranking = _compared(self._local, connection, asked, units)
        # How many units lack a vector is not known without reading all of them.
        return _FarScores(index=self._local, asked=asked, units=asked.row.units, ranking=ranking)


def _has_answer(found: Mapping[int, _Found], scope: int) -> bool:
    return scope in found and found[scope].units is not None


def _version(connection: Connection, store: VectorStore, scope: int) -> int:
    """Return up to which version a store has a scope; 0 if it has nothing to search."""
    rows = _VERSION.rows(connection, {"name": store.following.name, "scope": scope})
    return rows[0][0] if rows else 0


def _compared(
    index: LocalVectorIndex, connection: Connection, asked: Answering, units: Ids
) -> Ranking:
    """Compare the question with those of these units that the scope has now."""
    row = asked.row
    given = row.numbers()
    its = np.unique(units[(units >= given["first"]) & (units <= given["last"])])
    assert row.model is not None, "a model answers here"
    units, vectors = read_vectors(connection, its, row.model, asked.model.dimension)
    return PackedMatrix().added(units, vectors).score(asked.vector, index.product)


def _with_problems(nearest: Nearest, problems: Mapping[str, None]) -> Nearest:
    if not problems:
        return nearest
    return Nearest(
        matches=nearest.matches,
        models=nearest.models,
        missing=nearest.missing,
        problems=tuple(problems),
    )
