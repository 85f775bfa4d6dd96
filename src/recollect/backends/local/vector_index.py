"""Exact nearest neighbours over each scope's own vectors, packed in this process.

A scope is packed by its first search and then follows the list of changes. One beyond the memory
budget is read again for each search, which is slower but just as exact.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

import numpy as np
from sqlalchemy import Connection, bindparam, select

from recollect.backends.local.byte_vectors import (
    ByteVectors,
    Product,
    SplitVector,
    plain_product,
)
from recollect.backends.local.filtered_search import best_within
from recollect.backends.local.ranking import Ranking
from recollect.backends.local.scope_cache import Shelf
from recollect.backends.local.scope_changes import Changes
from recollect.backends.local.segment import Ids
from recollect.backends.local.unit_metadata import Catalogue
from recollect.backends.local.unit_rows import read_allowed
from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.models import find_model, models_by_number
from recollect.backends.sql.portable import listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.scopes import ScopeRow, read_scopes
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.filters import Filter
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats
from recollect.ports.units import Matches, Nearest, Vector

_MAX_ATTEMPTS: Final = 3


class _Overtaken(Exception):
    """Another thread has updated a scope beyond this snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedVectors:
    """The vectors of a scope at one version."""

    version: int
    last_unit: int
    matrix: PackedMatrix

    @property
    def units(self) -> int:
        return self.matrix.units

    @property
    def bytes(self) -> int:
        return self.matrix.bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """A scope that a model answers in, and the question as a vector of this model."""

    row: ScopeRow
    model: EmbeddingModel
    vector: Vector


class Scored(Protocol):
    """The vectors of one scope, compared with a question."""

    @property
    def units(self) -> int:
        """Return how many units have a vector."""
        ...

    @property
    def ranking(self) -> Ranking:
        """Return the units that may be among the best."""
        ...

    def within(self, connection: Connection, allowed: Ids) -> Ranking:
        """Return the ranking of these units of the scope only."""
        ...


# Compares the question with the vectors of each of these scopes.
Scoring = Callable[[Connection, Sequence[Answering]], Sequence[Scored]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedScores:
    """Every vector of a scope, compared with a question."""

    units: int
    ranking: Ranking

    def within(self, connection: Connection, allowed: Ids) -> Ranking:
        return self.ranking.only(allowed)


class LocalVectorIndex:
    """A `VectorIndex` over the vectors of a SQLite database, which stays the source of truth."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        memory_budget_bytes: int,
        product: Product = plain_product,
    ) -> None:
        self._database = database
        self.product = product
        self._catalogue = catalogue
        self._shelf: Shelf[int, PackedVectors] = Shelf(memory_budget_bytes)
        self._packing = threading.Lock()

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
        return await self.search_with(self._score, scopes, question, limit, now, within)

    async def search_with(
        self,
        score: Scoring,
        scopes: Sequence[Scope],
        question: Mapping[EmbeddingModel, Vector],
        limit: int,
        now: datetime,
        within: Filter | None,
    ) -> Nearest:
        """Return the nearest units where `score` compares the question with those of each scope."""

        def search(connection: Connection) -> Nearest:
            return self._search(connection, scopes, question, limit, now, within, score)

        is_quick = within is None and self._catalogue.are_small(scopes)
        for _ in range(_MAX_ATTEMPTS):
            try:
                return await self._database.read(search, is_quick=is_quick)
            except _Overtaken:
                # A shared snapshot stays behind, so the next attempt uses its own.
                is_quick = False
        return await self._database.read(search)

    def stats(self) -> IndexStats:
        """Return what is packed now."""
        return self._shelf.stats()

    def _search(
        self,
        connection: Connection,
        scopes: Sequence[Scope],
        question: Mapping[EmbeddingModel, Vector],
        limit: int,
        now: datetime,
        within: Filter | None,
        score: Scoring,
    ) -> Nearest:
        """Run the part of a search that needs the database, in one snapshot."""
        rows = [row for row in read_scopes(connection, scopes) if row.units]
        self._catalogue.notice(scopes, rows, now)
        models = self._models(connection, {row.model for row in rows}, question)
        answering: list[Answering] = []
        missing = 0
        for row in rows:
            model = models.get(row.model)
            if model is None:
                missing += row.units
            elif model in question:
                answering.append(Answering(row=row, model=model, vector=question[model]))
        if not answering:
            matches = Matches.none()
            return Nearest(matches=matches, models=frozenset(models.values()), missing=missing)
        scored = score(connection, answering)
        missing += sum(it.row.units - its.units for it, its in zip(answering, scored, strict=True))
        best = self._best(connection, answering, scored, limit, now, within)
        matches = Matches(
            rows=self._catalogue.rows(connection, rows, best.units),
            raw=best.scores,
            # Cosines below zero mean nothing in common, like zero.
            scores=np.minimum(np.maximum(best.scores, 0.0), 1.0),
        )
        return Nearest(matches=matches, models=frozenset(models.values()), missing=missing)

    def _score(self, connection: Connection, answering: Sequence[Answering]) -> list[Scored]:
        """Compare the question with every vector of these scopes."""
        return [self.score_packed(connection, it) for it in answering]

    def score_packed(self, connection: Connection, asked: Answering) -> Scored:
        """Compare the question with every vector of a scope."""
        matrix = self._matrix(connection, asked.row, asked.model.dimension)
        return PackedScores(units=matrix.units, ranking=matrix.score(asked.vector, self.product))

    def _best(
        self,
        connection: Connection,
        answering: Sequence[Answering],
        scored: Sequence[Scored],
        limit: int,
        now: datetime,
        within: Filter | None,
    ) -> Ranking:
        everything = Ranking.of([its.ranking for its in scored])
        if within is None:
            return everything.top(limit)
        best = best_within(connection, everything, within, now, limit)
        if best is not None:
            return best
        return Ranking.of(
            its.within(connection, read_allowed(connection, it.row, within, now))
            for it, its in zip(answering, scored, strict=True)
        ).top(limit)

    def _models(
        self,
        connection: Connection,
        numbers: set[int | None],
        question: Mapping[EmbeddingModel, Vector],
    ) -> dict[int | None, EmbeddingModel]:
        """Return the models with these numbers; those of the question need no reading."""
        asked = {find_model(connection, model): model for model in question}
        known = numbers - {None}
        found: dict[int | None, EmbeddingModel] = {key: asked[key] for key in known if key in asked}
        others = {key for key in known if key is not None and key not in asked}
        return {**found, **models_by_number(connection, others)} if others else found

    def _matrix(self, connection: Connection, row: ScopeRow, dimension: int) -> PackedMatrix:
        """Return the vectors of the scope exactly as of this snapshot."""
        packed = self._shelf.get(row.id)
        if packed is None or packed.version < row.version:
            # One thread packs, and others wait for the result.
            with self._packing:
                packed = self._shelf.get(row.id)
                if packed is None or packed.version < row.version:
                    packed = self._renewed(connection, packed, row, dimension)
                    self._shelf.put(row.id, packed)
        if packed.version > row.version:
            raise _Overtaken
        return packed.matrix

    def _renewed(
        self,
        connection: Connection,
        packed: PackedVectors | None,
        row: ScopeRow,
        dimension: int,
    ) -> PackedVectors:
        """Return the current scope by applying its changes, or else from all its vectors."""
        model = row.model
        assert model is not None, "a model answers here"
        changes = None if packed is None else Changes(connection, packed.version, row)
        if packed is None or changes is None or not changes.are_of_one_model:
            return _with_newer(connection, PackedMatrix(), row, model, dimension, after=0)
        left = packed.matrix.removed(changes.removed_units)
        late = changes.filled_in_units
        if len(late):
            left = left.added(*read_vectors(connection, late, model, dimension))
        return _with_newer(connection, left, row, model, dimension, after=packed.last_unit)


def _with_newer(
    connection: Connection,
    matrix: PackedMatrix,
    row: ScopeRow,
    model: int,
    dimension: int,
    *,
    after: int,
) -> PackedVectors:
    units, vectors = read_scope_vectors(connection, row, model, dimension, after=after)
    return PackedVectors(
        version=row.version,
        last_unit=max(after, row.last_unit),
        matrix=matrix.added(units, vectors),
    )


# --- The vectors of one scope in a few matrices, which follow additions and removals --------------


# A block is merged into the one before it when it has more than 1/_STEP of its rows.
_STEP: Final = 4
# A block is compacted when more than a quarter of its vectors belong to removed units.
_WASTE: Final = 4 / 3


@dataclass(frozen=True, slots=True)
class _Block:
    """Units in ascending order, with their vectors and those of some removed units.

    Copying a whole block for one removed unit takes longer than a search, so `rows` has the rows of
    the units; None as long as nothing was removed.
    """

    units: Ids
    vectors: ByteVectors
    rows: Ids | None = None

    @property
    def bytes(self) -> int:
        rows = 0 if self.rows is None else self.rows.nbytes
        return self.units.nbytes + self.vectors.nbytes + rows

    @property
    def tidied(self) -> _Block:
        """Return the block with the vectors of its units only."""
        return self if self.rows is None else _Block(self.units, self.vectors.take(self.rows))

    def without(self, removed: Ids) -> _Block:
        kept = np.flatnonzero(~np.isin(self.units, removed))
        if len(kept) == len(self.units):
            return self
        rows = kept if self.rows is None else self.rows[kept]
        left = _Block(self.units[kept], self.vectors, rows)
        return left.tidied if len(kept) * _WASTE < len(self.vectors) else left

    def score(self, question: SplitVector, product: Product) -> Ranking:
        scores = self.vectors.cosines(question, product)
        return Ranking(self.units, scores if self.rows is None else scores[self.rows])


@dataclass(frozen=True, slots=True)
class PackedMatrix:
    """An immutable state of a scope's vectors; applying changes makes the next state."""

    blocks: tuple[_Block, ...] = ()

    @property
    def units(self) -> int:
        return sum([len(block.units) for block in self.blocks])

    @property
    def bytes(self) -> int:
        return sum(block.bytes for block in self.blocks)

    def added(self, units: Ids, vectors: ByteVectors) -> PackedMatrix:
        """Return the state with these units, in ascending order; existing ones are replaced."""
        if not len(units):
            return self
        blocks = [*self.removed(units).blocks, _Block(units, vectors)]
        while len(blocks) > 1 and len(blocks[-1].units) * _STEP > len(blocks[-2].units):
            blocks.append(_joined(blocks.pop(), blocks.pop()))
        return PackedMatrix(tuple(blocks))

    def removed(self, units: Ids) -> PackedMatrix:
        """Return the state without these units; unknown ones are ignored."""
        blocks = [block.without(units) for block in self.blocks]
        return PackedMatrix(tuple(block for block in blocks if len(block.units)))

    def score(self, question: Vector, product: Product = plain_product) -> Ranking:
        """Return the cosine of every unit with the question."""
        split = SplitVector.of(question)
        return Ranking.of([block.score(split, product) for block in self.blocks])


def _joined(second: _Block, first: _Block) -> _Block:
    units = np.concatenate([first.units, second.units])
    vectors = ByteVectors.joined([first.tidied.vectors, second.tidied.vectors])
    if (units[1:] > units[:-1]).all():
        return _Block(units, vectors)
    # Vectors that were added later belong between earlier ones.
    order = np.argsort(units, kind="stable")
    return _Block(units[order], vectors.take(order))


# --- Reading vectors from the database ------------------------------------------------------------


_TABLE: Final = schema.vectors.c
_VECTORS: Final = (
    select(_TABLE.unit_id, _TABLE.vector)
    .where(_TABLE.model_id == bindparam("model"))
    .order_by(_TABLE.unit_id)
)
_BETWEEN: Final = PreparedStatement(
    _VECTORS.where(_TABLE.unit_id.between(bindparam("first"), bindparam("last")))
)
_OF: Final = PreparedStatement(_VECTORS.where(_TABLE.unit_id.in_(listed_numbers("units"))))


def read_scope_vectors(
    connection: Connection, row: ScopeRow, model: int, dimension: int, *, after: int = 0
) -> tuple[Ids, ByteVectors]:
    """Return the units of a scope above `after` with a vector of this model, and the vectors."""
    given = {"model": model, **row.numbers(after)}
    most = min(row.units, row.last_unit - after)
    return _arrays(_BETWEEN.slices(connection, given), most, dimension)


def read_vectors(
    connection: Connection, units: Ids, model: int, dimension: int
) -> tuple[Ids, ByteVectors]:
    """Return those of these units that have a vector of this model, and the vectors."""
    given = {"model": model, "units": str(units.tolist())}
    return _arrays(_OF.slices(connection, given), len(units), dimension)


def _arrays(slices: Iterable[Sequence[Any]], most: int, dimension: int) -> tuple[Ids, ByteVectors]:
    """Return units and their vectors, rounded while reading, to save memory."""
    units = np.empty(most, np.int64)
    vectors = ByteVectors.room_for(most, dimension)
    end = 0
    for rows in slices:
        start, end = end, end + len(rows)
        units[start:end] = [unit for unit, _ in rows]
        read = np.frombuffer(b"".join([vector for _, vector in rows]), "<f2")
        vectors.put(start, read.reshape(len(rows), dimension).astype(np.float32))
    return units[:end], vectors.take(slice(0, end))
