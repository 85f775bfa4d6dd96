"""A vector store of your own: a table in a SQLite file, compared with numpy.

Recollect finds it by an entry point of your package, whose name is the scheme of the URL:

    [project.entry-points."recollect.backends"]
    table = "own_vector_store:open_table"

Then `storage.vectors = "table:///srv/vectors.db"` chooses it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from recollect.errors import StoreAway
from recollect.ports.units import Ids, Vector, Vectors
from recollect.ports.vector_sink import SinkReport, Space

_TABLE = """
CREATE TABLE IF NOT EXISTS vectors (
    owner TEXT, scope INTEGER, model INTEGER, unit INTEGER, vector BLOB,
    PRIMARY KEY (owner, scope, model, unit)
) WITHOUT ROWID
"""
_SPACE = "owner = ? AND scope = ? AND model = ?"


def open_table(url: str, owner: Callable[[], str]) -> TableSink:
    """Return the store at a URL, without opening it yet: memory opens while a store is away.

    `owner` returns the identity of the database, known only later; several may use one store.
    """
    return TableSink(unquote(urlsplit(url).path), owner)


class TableSink:
    """A `VectorSink`."""

    def __init__(self, path: str, owner: Callable[[], str]) -> None:
        self._path = path
        self._owner = owner

    @property
    def name(self) -> str:
        # Without options that may be secret: it is shown to people.
        return f"table://{self._path}"

    async def put(self, space: Space, units: Ids, vectors: Vectors) -> None:
        place = self._place(space)
        rows = [
            (*place, unit, vector.astype("<f2").tobytes())
            for unit, vector in zip(units.tolist(), vectors, strict=True)
        ]
        await self._write("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", rows)

    async def finish(self, space: Space) -> None:
        """An index would be made here; there is none, since every vector is compared."""

    async def remove(self, space: Space, units: Ids) -> None:
        place = self._place(space)
        rows = [(*place, unit) for unit in units.tolist()]
        await self._write(f"DELETE FROM vectors WHERE {_SPACE} AND unit = ?", rows)

    async def drop(self, scope: int) -> None:
        its = (self._owner(), scope)
        await self._write("DELETE FROM vectors WHERE owner = ? AND scope = ?", [its])

    async def clear(self) -> None:
        await self._write("DELETE FROM vectors WHERE owner = ?", [(self._owner(),)])

    async def count(self, space: Space) -> int:
        query = f"SELECT count(*) FROM vectors WHERE {_SPACE}"
        return (await self._read(query, self._place(space)))[0][0]

    async def units(self, space: Space, after: int, limit: int) -> Ids:
        query = f"SELECT unit FROM vectors WHERE {_SPACE} AND unit > ? ORDER BY unit LIMIT ?"
        rows = await self._read(query, (*self._place(space), after, limit))
        return np.array([unit for (unit,) in rows], np.int64)

    async def search(self, space: Space, vector: Vector, limit: int) -> Ids:
        query = f"SELECT unit, vector FROM vectors WHERE {_SPACE}"
        rows = await self._read(query, self._place(space))
        units = np.array([unit for unit, _ in rows], np.int64)
        stored = np.frombuffer(b"".join(content for _, content in rows), "<f2")
        scores = stored.reshape(len(units), space.dimension).astype(np.float32) @ vector
        return units[np.argsort(-scores)[:limit]]

    async def check(self) -> SinkReport:
        """Say what the store is; `recollect doctor` shows it, with what it may not do."""
        await self._write("DELETE FROM vectors WHERE owner = ?", [("nobody",)])
        return SinkReport(version=f"SQLite {sqlite3.sqlite_version}", index="every one compared")

    async def close(self) -> None:
        """Nothing is kept open between calls."""

    def _place(self, space: Space) -> tuple[str, int, int]:
        return self._owner(), space.scope, space.model

    async def _write(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        await asyncio.to_thread(self._run, lambda it: it.executemany(statement, rows))

    async def _read(self, query: str, given: Sequence[Any]) -> list[Any]:
        return await asyncio.to_thread(self._run, lambda it: it.execute(query, given).fetchall())

    def _run(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        try:
            with closing(sqlite3.connect(self._path, timeout=2)) as connection, connection:
                connection.execute(_TABLE)
                return work(connection)
        except sqlite3.Error as problem:
            # Whatever keeps the store from answering: recall goes on without it, and says so.
            raise StoreAway(f"{self.name} does not answer: {problem}") from problem
