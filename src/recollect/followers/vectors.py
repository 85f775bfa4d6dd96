"""Keeps a vector store equal to the vectors of large scopes in the database."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, bindparam, func, select

from recollect.backends.local.scope_changes import Changes
from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.full_text import UNIT_BITS
from recollect.backends.sql.models import models_by_number
from recollect.backends.sql.portable import listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.scopes import ScopeRow, read_scope
from recollect.domain.followers import Difference, Place
from recollect.followers.copies import FollowedCopies
from recollect.followers.following import Following
from recollect.ports.units import Ids, Vectors
from recollect.ports.vector_sink import Space, VectorSink

# In one step: some 4 MB of vectors.
_BATCH_UNITS: Final = 4_000
_MOST_CHANGES: Final = 4_000
_PAGE_UNITS: Final = 10_000
_NO_UNITS: Final[Ids] = np.empty(0, np.int64)
_NO_VECTORS: Final[Vectors] = np.empty((0, 0), np.float32)
_COUNTER: Final = (1 << UNIT_BITS) - 1

_VECTORS: Final = schema.vectors.c
_CHANGES: Final = schema.changes.c
_OF_MODEL: Final = (
    select(_VECTORS.unit_id, _VECTORS.vector)
    .where(_VECTORS.model_id == bindparam("model"))
    .order_by(_VECTORS.unit_id)
)
_NEXT: Final = PreparedStatement(
    _OF_MODEL.where(_VECTORS.unit_id.between(bindparam("first"), bindparam("last"))).limit(
        _BATCH_UNITS
    )
)
_THESE: Final = PreparedStatement(_OF_MODEL.where(_VECTORS.unit_id.in_(listed_numbers("units"))))
_NUMBERS: Final = PreparedStatement(
    select(_VECTORS.unit_id)
    .where(_VECTORS.model_id == bindparam("model"))
    .where(_VECTORS.unit_id.between(bindparam("first"), bindparam("last")))
    .order_by(_VECTORS.unit_id)
)
# The versions up to which there are some changes.
_SOME_CHANGES: Final = (
    select(_CHANGES.version)
    .where(_CHANGES.scope_id == bindparam("scope"), _CHANGES.version > bindparam("seen"))
    .order_by(_CHANGES.version, _CHANGES.seq)
    .limit(_MOST_CHANGES)
    .subquery()
)
_REACH: Final = PreparedStatement(
    select(func.min(_SOME_CHANGES.c.version), func.max(_SOME_CHANGES.c.version), func.count())
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What to do in the store, and where the follower is after it."""

    after: Place
    space: Space | None = None
    units: Ids = field(default_factory=lambda: _NO_UNITS)
    vectors: Vectors = field(default_factory=lambda: _NO_VECTORS)
    removed: Ids = field(default_factory=lambda: _NO_UNITS)
    begins: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStore:
    """A vector store, and what keeps it equal to the database."""

    sink: VectorSink
    following: Following

    @property
    def copies(self) -> FollowedCopies:
        return FollowedCopies(self.following)


class VectorFollower:
    """A `Follower` that stores the vectors of the model that serves each scope."""

    kind = "vectors"

    def __init__(self, database: Database, sink: VectorSink, fewest_units: int) -> None:
        self._database = database
        self._sink = sink
        self.fewest_units = fewest_units
        self.name = f"{self.kind} {sink.name}"[:190]
        # A space of each model whose index is to be made, and the models whose index this process
        # has seen to. One that a killed process left unmade is made with the next write, or by
        # `reconcile`; until then every vector is compared.
        self._unfinished: dict[int, Space] = {}
        self._finished: set[int] = set()

    async def advance(self, place: Place) -> Place:
        step = await self._database.read(lambda connection: _next_step(connection, place))
        sink, space = self._sink, step.space
        if step.begins:
            await sink.drop(place.scope)
        if space is not None:
            if len(step.removed):
                await sink.remove(space, step.removed)
            if len(step.units):
                await sink.put(space, step.units, step.vectors)
            if step.ends or space.model not in self._finished:
                self._unfinished[space.model] = space
        return step.after

    async def finish(self) -> None:
        """Have the store make the index of each model in which scopes were built."""
        while self._unfinished:
            model, space = next(iter(self._unfinished.items()))
            await self._sink.finish(space)
            del self._unfinished[model]
            self._finished.add(model)

    async def drop(self, scope: int) -> None:
        await (self._sink.drop(scope) if scope else self._sink.clear())

    async def check(self) -> None:
        await self._sink.check()

    async def compare(self, place: Place, *, repair: bool) -> Difference:
        wanted = await self._database.read(lambda connection: _wanted(connection, place))
        if wanted is None:
            return Difference()
        held = await self._held(wanted.space)
        missing = np.setdiff1d(wanted.units, np.union1d(held, wanted.unsettled))
        extra = np.setdiff1d(held, np.union1d(wanted.units, wanted.unsettled))
        if repair:
            await self._put_right(wanted.space, missing, extra)
            self._unfinished[wanted.space.model] = wanted.space
        return Difference(items=len(wanted.units), missing=len(missing), extra=len(extra))

    async def space(self, place: Place) -> Space | None:
        """Return where the store has the vectors of a scope."""
        return await self._database.read(
            lambda connection: space_of(connection, read_scope(connection, place.scope))
        )

    async def _held(self, space: Space) -> Ids:
        pages = [_NO_UNITS]
        while True:
            last = int(pages[-1][-1]) if len(pages[-1]) else 0
            page = await self._sink.units(space, last, _PAGE_UNITS)
            if not len(page):
                return np.concatenate(pages)
            pages.append(page)

    async def _put_right(self, space: Space, missing: Ids, extra: Ids) -> None:
        if len(extra):
            await self._sink.remove(space, extra)
        for start in range(0, len(missing), _BATCH_UNITS):
            some = missing[start : start + _BATCH_UNITS]
            units, vectors = await self._database.read(partial(_vectors, space=space, units=some))
            await self._sink.put(space, units, vectors)
            # What was forgotten while it was put must not come back.
            left, _ = await self._database.read(partial(_vectors, space=space, units=units))
            if len(gone := np.setdiff1d(units, left)):
                await self._sink.remove(space, gone)


def space_of(connection: Connection, row: ScopeRow) -> Space | None:
    """Return where the store has the vectors that answer in a scope; None if no model does."""
    if row.model is None:
        return None
    model = models_by_number(connection, [row.model])[row.model]
    return Space(scope=row.id, model=row.model, dimension=model.dimension)


def _next_step(connection: Connection, place: Place) -> _Step:
    row = read_scope(connection, place.scope)
    space = space_of(connection, row)
    if space is None:
        # There is nothing to store until a model serves the scope, which is a change.
        return _Step(after=Place(scope=place.scope, version=row.version), begins=True)
    seen = place.version or place.target
    if seen and not Changes(connection, seen, row).are_of_one_model:
        return _Step(after=Place(scope=place.scope), begins=True)
    if place.version:
        return _following(connection, place, row, space)
    return _building(connection, place, row, space)


def _building(connection: Connection, place: Place, row: ScopeRow, space: Space) -> _Step:
    """Return the step that stores the next vectors of a scope, in the order of their numbers."""
    base = row.id << UNIT_BITS
    target = place.target or row.version
    after = base | max(place.position, row.first_unit - 1)
    given = {"model": space.model, "first": after + 1, "last": row.last_unit}
    units, vectors = _arrays(_NEXT.rows(connection, given), space.dimension)
    begins = not place.target
    if len(units) == _BATCH_UNITS:
        position = int(units[-1]) & _COUNTER
        following = Place(scope=row.id, target=target, position=position)
        return _Step(after=following, space=space, units=units, vectors=vectors, begins=begins)
    # What was changed since the build began is applied like every later change.
    built = Place(scope=row.id, version=target)
    return _Step(after=built, space=space, units=units, vectors=vectors, begins=begins, ends=True)


def _following(connection: Connection, place: Place, row: ScopeRow, space: Space) -> _Step:
    """Return the step that applies the next changes of a scope."""
    given = {"scope": row.id, "seen": place.version}
    ((first, last, count),) = _REACH.rows(connection, given)
    reached = row.version
    if count == _MOST_CHANGES:
        # Up to the last version that is there as a whole, or one that has many changes.
        reached = max(first, last - 1)
    changes = Changes(connection, place.version, replace(row, version=reached))
    wanted = np.union1d(changes.added_units, changes.filled_in_units)
    units, vectors = _vectors(connection, space, wanted)
    return _Step(
        after=replace(place, version=reached),
        space=space,
        units=units,
        vectors=vectors,
        removed=changes.removed_units,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """The units of a scope that the store should have, and those that are changing."""

    space: Space
    units: Ids
    unsettled: Ids


def _wanted(connection: Connection, place: Place) -> _Wanted | None:
    row = read_scope(connection, place.scope)
    space = space_of(connection, row)
    changes = Changes(connection, place.version, row)
    if space is None or not place.version or not changes.are_of_one_model:
        # It is built anew.
        return None
    given = {"model": space.model, **row.numbers()}
    units = [unit for rows in _NUMBERS.slices(connection, given) for (unit,) in rows]
    parts = (changes.added_units, changes.filled_in_units, changes.removed_units)
    unsettled = np.concatenate(parts)
    return _Wanted(space=space, units=np.array(units, np.int64), unsettled=unsettled)


def _vectors(connection: Connection, space: Space, units: Ids) -> tuple[Ids, Vectors]:
    """Return those of these units that the scope still has, and their vectors."""
    row = read_scope(connection, space.scope)
    if row.model != space.model:
        return _NO_UNITS, _NO_VECTORS
    given = {"model": space.model, "units": str(units.tolist())}
    return _arrays(_THESE.rows(connection, given), space.dimension)


def _arrays(rows: Any, dimension: int) -> tuple[Ids, Vectors]:
    units = np.array([row[0] for row in rows], np.int64)
    read = np.frombuffer(b"".join([row[1] for row in rows]), "<f2")
    return units, read.reshape(len(units), dimension).astype(np.float32)
