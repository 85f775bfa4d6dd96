"""The contract of `recollect.ports.vector_sink.VectorSink`."""

from __future__ import annotations

from typing import Final

import numpy as np

from recollect.ports.units import Ids, Vectors
from recollect.ports.vector_sink import Space, VectorSink

_DIMENSION: Final = 32
_UNIT_BITS: Final = 32
# Approximate: so many of the ten nearest are found.
_LEAST_FOUND: Final = 9


def _space(scope: int, model: int = 1) -> Space:
    return Space(scope=scope, model=model, dimension=_DIMENSION)


def _units(scope: int, count: int, first: int = 1) -> Ids:
    return (scope << _UNIT_BITS) + np.arange(first, first + count, dtype=np.int64)


def _vectors(count: int, seed: int) -> Vectors:
    made = np.random.default_rng(seed).normal(size=(count, _DIMENSION)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


class VectorSinkContract:
    """Provide the fixtures `sink`: an empty store, and `neighbour`: another database's there."""

    async def test_the_nearest_vectors_are_found(self, sink: VectorSink) -> None:
        space, units, vectors = _space(7), _units(7, 800), _vectors(800, 1)
        await sink.put(space, units, vectors)
        await sink.finish(space)
        for question in _vectors(5, 2):
            nearest = set(units[np.argsort(-(vectors @ question))[:10]].tolist())
            found = await sink.search(space, question, 10)
            assert len(found) == 10
            assert len(nearest & set(found.tolist())) >= _LEAST_FOUND

    async def test_what_is_written_is_visible_to_the_next_search(self, sink: VectorSink) -> None:
        space, units, vectors = _space(7), _units(7, 50), _vectors(50, 1)
        for start in range(0, 50, 10):
            part = slice(start, start + 10)
            await sink.put(space, units[part], vectors[part])
            found = await sink.search(space, vectors[start + 9], 1)
            assert found.tolist() == [units[start + 9]]
            assert await sink.count(space) == start + 10
        await sink.remove(space, units[:10])
        assert await sink.count(space) == 40
        assert units[0] not in await sink.search(space, vectors[0], 40)

    async def test_a_search_never_leaves_its_scope(self, sink: VectorSink) -> None:
        (question,) = _vectors(1, 3)
        near = np.tile(question, (300, 1))
        await sink.put(_space(1), _units(1, 300), near)
        await sink.put(_space(2), _units(2, 20), _vectors(20, 4))
        await sink.finish(_space(1))
        await sink.finish(_space(2))
        found = await sink.search(_space(2), question, 50)
        assert sorted(found.tolist()) == _units(2, 20).tolist()

    async def test_models_of_a_scope_are_apart(self, sink: VectorSink) -> None:
        units, vectors = _units(5, 10), _vectors(10, 1)
        await sink.put(_space(5, model=1), units, vectors)
        await sink.put(_space(5, model=2), units[:3], vectors[:3])
        assert await sink.count(_space(5, model=1)) == 10
        assert await sink.count(_space(5, model=2)) == 3
        await sink.drop(5)
        assert await sink.count(_space(5, model=1)) == 0
        assert await sink.count(_space(5, model=2)) == 0

    async def test_putting_again_replaces(self, sink: VectorSink) -> None:
        space, units, vectors = _space(3), _units(3, 20), _vectors(20, 1)
        await sink.put(space, units, vectors)
        await sink.put(space, units, np.roll(vectors, 1, axis=0))
        assert await sink.count(space) == 20
        assert (await sink.search(space, vectors[0], 1)).tolist() == [units[1]]

    async def test_units_are_listed_in_order(self, sink: VectorSink) -> None:
        space, units = _space(4), _units(4, 95)
        assert not len(await sink.units(space, 0, 10))
        await sink.put(space, units[::-1].copy(), _vectors(95, 1))
        await sink.put(_space(5), _units(5, 10), _vectors(10, 2))
        listed: list[int] = []
        while len(page := await sink.units(space, listed[-1] if listed else 0, 40)):
            listed += page.tolist()
        assert listed == units.tolist()

    async def test_dropping_a_scope_leaves_the_others(self, sink: VectorSink) -> None:
        await sink.put(_space(1), _units(1, 30), _vectors(30, 1))
        await sink.put(_space(2), _units(2, 30), _vectors(30, 2))
        await sink.drop(1)
        assert await sink.count(_space(1)) == 0
        assert await sink.count(_space(2)) == 30
        await sink.drop(99)

    async def test_removing_ignores_unknown_units(self, sink: VectorSink) -> None:
        await sink.remove(_space(1), _units(1, 3))
        await sink.put(_space(1), _units(1, 3), _vectors(3, 1))
        await sink.remove(_space(1), _units(1, 3, first=3))
        assert (await sink.units(_space(1), 0, 10)).tolist() == _units(1, 2).tolist()

    async def test_another_database_in_the_same_place_is_untouched(
        self, sink: VectorSink, neighbour: VectorSink
    ) -> None:
        for store in (sink, neighbour):
            await store.put(_space(1), _units(1, 5), _vectors(5, 1))
        await sink.remove(_space(1), _units(1, 1))
        await sink.drop(1)
        await sink.clear()
        assert await sink.count(_space(1)) == 0
        assert await neighbour.count(_space(1)) == 5

    async def test_it_reports_its_version(self, sink: VectorSink) -> None:
        report = await sink.check()
        assert report.version
        assert report.index
        assert not report.problems
