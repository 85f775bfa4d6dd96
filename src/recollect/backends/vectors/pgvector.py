"""Vectors in PostgreSQL with the extension pgvector, in the memory's own database or another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sqlalchemy import Connection, Engine, create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from recollect.backends.vectors.client import Address, Client, own_names
from recollect.ports.units import Ids, Vector, Vectors
from recollect.ports.vector_sink import SinkReport, Space

if TYPE_CHECKING:
    from psycopg import Connection as Driver

_CONNECT_SECONDS: Final = 5
_CONNECTIONS: Final = 4
_PUT_SECONDS: Final = 600.0
_LEAST_EFFORT: Final = 100
_MOST_EFFORT: Final = 1_000
# The graph is one for all scopes, so a search passes vectors of others until it has enough.
_MOST_PASSED: Final = 200_000
_INDEX: Final = "HNSW over half-precision vectors, filtered by scope with an iterative scan"
# The oldest version of the extension with iterative scans.
_LEAST_VERSION: Final = (0, 8)
_COPY_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END: Final = b"\xff\xff"
_ROWS: Final = 2_000


class PgvectorSink:
    """One table for each model; the scope is an indexed column."""

    def __init__(self, url: str, owner: Callable[[], str]) -> None:
        self._address = address = Address.of(url)
        self._url = url
        self.name = f"pgvector at {address.name}"
        self._owner = owner
        self._known: set[str] = set()
        self._client = Client(self.name, self._open, extra="postgresql", faults=_faults)

    async def put(self, space: Space, units: Ids, vectors: Vectors) -> None:
        def put(engine: Engine) -> None:
            table = self._table(space)
            self._make(engine, space)
            with engine.begin() as connection:
                connection.exec_driver_sql(
                    f"CREATE TEMP TABLE incoming (LIKE {table}) ON COMMIT DROP"
                )
                driver: Driver[Any] = connection.connection.driver_connection  # pyright: ignore[reportAssignmentType]
                with (
                    driver.cursor() as cursor,
                    cursor.copy("COPY incoming FROM STDIN (FORMAT BINARY)") as copy,
                ):
                    for part in _packed(space.scope, units, vectors):
                        copy.write(part)
                connection.exec_driver_sql(
                    f"INSERT INTO {table} SELECT * FROM incoming "
                    "ON CONFLICT (unit) DO UPDATE SET vector = excluded.vector"
                )

        # Each goes into the graph, which takes milliseconds on a machine that is not busy.
        await self._client.call(put, within=_PUT_SECONDS)

    async def finish(self, space: Space) -> None:
        """Make the graph, which is quicker for many vectors together than one by one."""

        def index(engine: Engine) -> None:
            table = self._table(space)
            self._make(engine, space)
            with engine.begin() as connection:
                # The usual 64 MB hold a graph of 50,000 vectors.
                connection.exec_driver_sql("SET LOCAL maintenance_work_mem = '512MB'")
                connection.exec_driver_sql(
                    f"CREATE INDEX IF NOT EXISTS {table}_graph ON {table} "
                    "USING hnsw (vector halfvec_ip_ops)"
                )
            with engine.connect() as connection:
                connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.exec_driver_sql(f"ANALYZE {table}")

        await self._client.call(index, within=3_600)

    async def remove(self, space: Space, units: Ids) -> None:
        def remove(engine: Engine) -> None:
            table = self._table(space)
            with engine.begin() as connection:
                if self._has(connection, table):
                    connection.exec_driver_sql(
                        f"DELETE FROM {table} WHERE unit = ANY(%s)", (units.tolist(),)
                    )

        await self._client.call(remove)

    async def drop(self, scope: int) -> None:
        def drop(engine: Engine) -> None:
            with engine.begin() as connection:
                for table in self._tables(connection):
                    connection.exec_driver_sql(f"DELETE FROM {table} WHERE scope = %s", (scope,))

        await self._client.call(drop)

    async def clear(self) -> None:
        def clear(engine: Engine) -> None:
            with engine.begin() as connection:
                for table in self._tables(connection):
                    connection.exec_driver_sql(f"DROP TABLE {table}")
            self._known.clear()

        await self._client.call(clear)

    async def count(self, space: Space) -> int:
        def count(engine: Engine) -> int:
            table = self._table(space)
            with engine.connect() as connection:
                if not self._has(connection, table):
                    return 0
                counted = f"SELECT count(*) FROM {table} WHERE scope = %s"
                return connection.exec_driver_sql(counted, (space.scope,)).scalar_one()

        return await self._client.call(count)

    async def units(self, space: Space, after: int, limit: int) -> Ids:
        def page(engine: Engine) -> Ids:
            table = self._table(space)
            with engine.connect() as connection:
                if not self._has(connection, table):
                    return np.empty(0, np.int64)
                found = connection.exec_driver_sql(
                    f"SELECT unit FROM {table} WHERE scope = %s AND unit > %s "
                    "ORDER BY unit LIMIT %s",
                    (space.scope, after, limit),
                )
                return np.array(found.scalars().all(), np.int64)

        return await self._client.call(page)

    async def search(self, space: Space, vector: Vector, limit: int) -> Ids:
        given = (space.scope, str(vector.tolist()), limit)
        effort = min(max(2 * limit, _LEAST_EFFORT), _MOST_EFFORT)
        milliseconds = int(1000 * self._address.search_seconds)

        def search(engine: Engine) -> Ids:
            nearest = (
                f"SELECT unit FROM {self._table(space)} WHERE scope = %s "
                f"ORDER BY vector <#> %s::halfvec({space.dimension}) LIMIT %s"
            )
            with engine.begin() as connection:
                for setting, value in (
                    ("statement_timeout", milliseconds),
                    ("hnsw.ef_search", effort),
                    ("hnsw.iterative_scan", "relaxed_order"),
                    ("hnsw.max_scan_tuples", _MOST_PASSED),
                ):
                    connection.exec_driver_sql(f"SET LOCAL {setting} = {value}")
                found = connection.exec_driver_sql(nearest, given).scalars().all()
                if len(found) < limit:
                    # The scan gave up among the vectors of others, or there are not more.
                    connection.exec_driver_sql("SET LOCAL enable_indexscan = off")
                    found = connection.exec_driver_sql(nearest, given).scalars().all()
                return np.array(found, np.int64)

        return await self._client.call(search, 2 * self._address.search_seconds)

    async def check(self) -> SinkReport:
        def check(engine: Engine) -> SinkReport:
            with engine.connect() as connection:
                version = self._extension(connection)
                # Tables are made in the schema that comes first.
                may_make = connection.exec_driver_sql(
                    "SELECT has_schema_privilege(current_schema(), 'CREATE')"
                ).scalar_one()
            problems: list[str] = []
            if not version:
                problems.append(
                    "the extension vector is missing; as an administrator: CREATE EXTENSION vector"
                )
            elif _numbers(version) < _LEAST_VERSION:
                problems.append(f"pgvector {version} has no iterative scans; 0.8 or newer has")
            if not may_make:
                problems.append("the user may not make tables: GRANT CREATE ON SCHEMA public")
            return SinkReport(version=f"pgvector {version}", index=_INDEX, problems=tuple(problems))

        return await self._client.call(check, 5 * self._address.search_seconds)

    async def close(self) -> None:
        await self._client.close(lambda engine: engine.dispose())

    @cached_property
    def _prefix(self) -> str:
        # Asked in a thread: the database may have to be read for it.
        return own_names(self._owner())

    def _table(self, space: Space) -> str:
        return f"{self._prefix}m{space.model}"

    def _tables(self, connection: Connection) -> list[str]:
        found = connection.exec_driver_sql(
            "SELECT tablename FROM pg_tables WHERE schemaname = ANY(current_schemas(false)) "
            "AND starts_with(tablename, %s)",
            (self._prefix,),
        )
        return list(found.scalars())

    def _has(self, connection: Connection, table: str) -> bool:
        if table not in self._known and table in self._tables(connection):
            self._known.add(table)
        return table in self._known

    def _make(self, engine: Engine, space: Space) -> None:
        table = self._table(space)
        if table in self._known:
            return
        with engine.begin() as connection:
            if self._has(connection, table):
                return
            if not self._extension(connection):
                connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
            connection.exec_driver_sql(
                f"CREATE TABLE IF NOT EXISTS {table} (unit bigint PRIMARY KEY, "
                f"scope bigint NOT NULL, vector halfvec({space.dimension}) NOT NULL)"
            )
            connection.exec_driver_sql(
                f"CREATE INDEX IF NOT EXISTS {table}_scope ON {table} (scope, unit)"
            )
        self._known.add(table)

    def _extension(self, connection: Connection) -> str:
        """Return the version of the extension; empty if the database does not have it."""
        installed = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        return connection.exec_driver_sql(installed).scalar() or ""

    def _open(self) -> Engine:
        url = make_url(self._url).set(drivername="postgresql+psycopg")
        return create_engine(
            url,
            pool_size=_CONNECTIONS,
            pool_pre_ping=True,
            connect_args={"connect_timeout": _CONNECT_SECONDS},
        )


def _packed(scope: int, units: Ids, vectors: Vectors) -> Iterator[bytes]:
    """Yield rows in the binary form of COPY."""
    dimension = vectors.shape[1]
    row = np.dtype(
        [
            ("fields", ">i2"),
            *(("unit_bytes", ">i4"), ("unit", ">i8")),
            *(("scope_bytes", ">i4"), ("scope", ">i8")),
            *(("vector_bytes", ">i4"), ("dimension", ">i2"), ("unused", ">i2")),
            ("vector", ">f2", (dimension,)),
        ]
    )
    yield _COPY_HEADER
    for start in range(0, len(units), _ROWS):
        some = units[start : start + _ROWS]
        rows = np.zeros(len(some), row)
        rows["fields"], rows["unit_bytes"], rows["scope_bytes"] = 3, 8, 8
        rows["unit"], rows["scope"] = some, scope
        rows["vector_bytes"], rows["dimension"] = 4 + 2 * dimension, dimension
        rows["vector"] = vectors[start : start + _ROWS]
        yield rows.tobytes()
    yield _COPY_END


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _faults() -> tuple[type[Exception], ...]:
    import psycopg

    return SQLAlchemyError, psycopg.Error
