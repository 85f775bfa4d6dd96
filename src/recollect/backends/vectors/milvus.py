"""Vectors in Milvus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np

from recollect.backends.vectors.client import Address, Client, own_names
from recollect.ports.units import Ids, Vector, Vectors
from recollect.ports.vector_sink import SinkReport, Space

_PORT: Final = 19530
_BATCH: Final = 1_000
# A query returns no more.
_MOST_ROWS: Final = 16_000
_GRAPH: Final = {"M": 16, "efConstruction": 128}
_INDEX: Final = "HNSW, partitioned by scope"
# Sees every write before it; a search sees at least what such a query has seen before.
_STRONG: Final = "Strong"
_EVENTUALLY: Final = "Eventually"


class _Milvus(Protocol):
    """What is used of `pymilvus.MilvusClient`, whose own types say little."""

    def create_collection(self, name: str, /, *, schema: Any, index_params: Any) -> None: ...
    def create_schema(self, *, auto_id: bool, enable_dynamic_field: bool) -> Any: ...
    def prepare_index_params(self) -> Any: ...
    def load_collection(self, name: str, /) -> None: ...
    def drop_collection(self, name: str, /) -> None: ...
    def list_collections(self) -> Sequence[str]: ...
    def get_server_version(self) -> str: ...
    def insert(self, name: str, rows: Sequence[Mapping[str, Any]], /) -> object: ...
    def delete(self, name: str, /, *, ids: Sequence[int]) -> object: ...
    def query(
        self, name: str, /, *, filter: str, output_fields: Sequence[str], **options: Any
    ) -> Sequence[Mapping[str, int]]: ...
    def search(
        self, name: str, vectors: Sequence[Any], /, *, filter: str, **options: Any
    ) -> Sequence[Sequence[Mapping[str, Any]]]: ...
    def close(self) -> None: ...


class MilvusSink:
    """One collection for each model; the scope is its partition key."""

    def __init__(self, url: str, owner: Callable[[], str]) -> None:
        self._address = address = Address.of(url)
        self.name = address.name
        self._owner = owner
        self._known: set[str] = set()
        # With several replicas in Milvus, one may be behind the one that was asked before.
        consistency = address.options.get("consistency", _EVENTUALLY)
        self._consistency = consistency.capitalize()
        self._client = Client(self.name, self._open, extra="milvus", faults=_faults)

    async def put(self, space: Space, units: Ids, vectors: Vectors) -> None:
        def put(client: _Milvus) -> None:
            name = self._collection(space)
            self._make(client, name, space.dimension)
            for start in range(0, len(units), _BATCH):
                some, its = units[start : start + _BATCH], vectors[start : start + _BATCH]
                rows = [
                    {"unit": unit, "scope": space.scope, "vector": vector}
                    for unit, vector in zip(some.tolist(), its.tolist(), strict=True)
                ]
                # Not `upsert`, by which Milvus 2.3 loses rows of a collection with a partition key.
                client.delete(name, ids=some.tolist())
                client.insert(name, rows)
            self._settle(client, name)

        await self._client.call(put)

    async def finish(self, space: Space) -> None:
        """Do nothing: Milvus indexes segments as they become full."""

    async def remove(self, space: Space, units: Ids) -> None:
        def remove(client: _Milvus) -> None:
            name = self._collection(space)
            if self._has(client, name):
                for start in range(0, len(units), _BATCH):
                    client.delete(name, ids=units[start : start + _BATCH].tolist())
                self._settle(client, name)

        await self._client.call(remove)

    async def drop(self, scope: int) -> None:
        def drop(client: _Milvus) -> None:
            for name in self._collections(client):
                self._load(client, name)
                while found := self._query(client, name, f"scope == {scope}", _MOST_ROWS):
                    client.delete(name, ids=found)
                self._settle(client, name)

        await self._client.call(drop)

    async def clear(self) -> None:
        def clear(client: _Milvus) -> None:
            for name in self._collections(client):
                client.drop_collection(name)
            self._known.clear()

        await self._client.call(clear)

    async def count(self, space: Space) -> int:
        def count(client: _Milvus) -> int:
            name = self._collection(space)
            if not self._has(client, name):
                return 0
            found = client.query(
                name,
                filter=f"scope == {space.scope}",
                output_fields=["count(*)"],
                consistency_level=_STRONG,
            )
            return found[0]["count(*)"]

        return await self._client.call(count)

    async def units(self, space: Space, after: int, limit: int) -> Ids:
        def page(client: _Milvus) -> Ids:
            name = self._collection(space)
            if not self._has(client, name):
                return np.empty(0, np.int64)
            wanted = f"scope == {space.scope} and unit > {after}"
            return np.sort(np.array(self._query(client, name, wanted, limit), np.int64))

        return await self._client.call(page)

    async def search(self, space: Space, vector: Vector, limit: int) -> Ids:
        effort = {"metric_type": "IP", "params": {"ef": max(2 * limit, 100)}}

        def search(client: _Milvus) -> Ids:
            name = self._collection(space)
            (found,) = client.search(
                name,
                [vector.tolist()],
                filter=f"scope == {space.scope}",
                limit=min(limit, _MOST_ROWS),
                output_fields=["unit"],
                search_params=effort,
                consistency_level=self._consistency,
            )
            return np.array([hit["entity"]["unit"] for hit in found], np.int64)

        return await self._client.call(search, self._address.search_seconds)

    async def check(self) -> SinkReport:
        def check(client: _Milvus) -> SinkReport:
            client.list_collections()
            return SinkReport(version=f"Milvus {client.get_server_version()}", index=_INDEX)

        return await self._client.call(check, 5 * self._address.search_seconds)

    async def close(self) -> None:
        await self._client.close(lambda client: client.close())

    @cached_property
    def _prefix(self) -> str:
        # Asked in a thread: the database may have to be read for it.
        return own_names(self._owner())

    def _collection(self, space: Space) -> str:
        return f"{self._prefix}m{space.model}"

    def _collections(self, client: _Milvus) -> list[str]:
        return [name for name in client.list_collections() if name.startswith(self._prefix)]

    def _has(self, client: _Milvus, name: str) -> bool:
        if name not in self._known and name in self._collections(client):
            self._load(client, name)
        return name in self._known

    def _load(self, client: _Milvus, name: str) -> None:
        """Load a collection into memory, in which alone it is searched."""
        if name not in self._known:
            client.load_collection(name)
            self._known.add(name)

    def _make(self, client: _Milvus, name: str, dimension: int) -> None:
        if self._has(client, name):
            return
        from pymilvus import DataType

        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("unit", DataType.INT64, is_primary=True)
        schema.add_field("scope", DataType.INT64, is_partition_key=True)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
        indexes = client.prepare_index_params()
        indexes.add_index("vector", index_type="HNSW", metric_type="IP", params=_GRAPH)
        client.create_collection(name, schema=schema, index_params=indexes)
        self._load(client, name)

    def _query(self, client: _Milvus, name: str, wanted: str, limit: int) -> list[int]:
        """Return the lowest units that an expression accepts."""
        found = client.query(
            name,
            filter=wanted,
            output_fields=["unit"],
            limit=min(limit, _MOST_ROWS),
            consistency_level=_STRONG,
        )
        return [row["unit"] for row in found]

    def _settle(self, client: _Milvus, name: str) -> None:
        """Wait until what was written can be seen: later searches then need not wait."""
        client.query(name, filter="unit == 0", output_fields=["unit"], consistency_level=_STRONG)

    def _open(self) -> _Milvus:
        from pymilvus import MilvusClient

        address = self._address
        scheme = "https" if address.is_encrypted else "http"
        access: dict[str, Any] = {}
        if address.user:
            access = {"user": address.user, "password": address.key}
        elif address.key:
            access = {"token": address.key}
        client: Any = MilvusClient(
            uri=f"{scheme}://{address.parts.hostname}:{address.parts.port or _PORT}",
            db_name=address.parts.path.strip("/"),
            timeout=10,
            **access,
        )
        return client


def _faults() -> tuple[type[Exception], ...]:
    from grpc import FutureTimeoutError, RpcError
    from pymilvus import MilvusException

    return MilvusException, RpcError, FutureTimeoutError
