"""Vectors in Qdrant: on a server, or in a folder of this machine."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from recollect.backends.vectors.client import Address, Client, own_names
from recollect.ports.units import Ids, Vector, Vectors
from recollect.ports.vector_sink import SinkReport, Space

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.http.models import Filter

_PORT: Final = 6333
_BATCH: Final = 500
_WRITE_SECONDS: Final = 60.0
_FOLDER_SECONDS: Final = 600.0
_KEY: Final = "scope"
_INDEX: Final = "HNSW for each scope, half-precision vectors, int8 quantisation"


class _Folders:
    """The folders that are open in this process: Qdrant lets a folder be opened only once."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._clients: dict[str, QdrantClient] = {}
        self._users: Counter[str] = Counter()

    def enter(self, path: str) -> QdrantClient:
        from qdrant_client import QdrantClient

        with self.lock:
            if path not in self._clients:
                _require_unused(Path(path))
                opened = QdrantClient(path=path, force_disable_check_same_thread=True)
                self._clients[path] = opened
            self._users[path] += 1
            return self._clients[path]

    def leave(self, client: QdrantClient) -> None:
        with self.lock:
            for path, its in list(self._clients.items()):
                if its is client:
                    self._users[path] -= 1
                    if not self._users[path]:
                        del self._clients[path]
                        client.close()


def _require_unused(folder: Path) -> None:
    """Raise an error if another process has the folder open; the client would keep a file open."""
    import portalocker

    if not folder.exists():
        return
    try:
        flags = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
        with portalocker.Lock(folder / ".lock", timeout=0, flags=flags):
            pass
    except portalocker.exceptions.LockException:
        raise RuntimeError("another process has this folder open") from None


_FOLDERS: Final = _Folders()


class QdrantSink:
    """One collection for each model; the scope is an indexed payload.

    With `?collections=namespace` every scope has collections of its own.
    """

    def __init__(self, url: str, owner: Callable[[], str]) -> None:
        self._address = address = Address.of(url)
        self.name = address.name
        self._is_local = not address.parts.netloc
        self._is_apart = address.options.get("collections") == "namespace"
        self._owner = owner
        self._known: set[str] = set()
        alone = _FOLDERS.lock if self._is_local else None
        self._client = Client(self.name, self._open, extra="qdrant", faults=_faults, alone=alone)

    async def put(self, space: Space, units: Ids, vectors: Vectors) -> None:
        from qdrant_client.http.models import Batch

        payload = {_KEY: str(space.scope)}

        def put(client: QdrantClient) -> None:
            name = self._collection(space)
            self._make(client, name, space.dimension)
            for start in range(0, len(units), _BATCH):
                ids = units[start : start + _BATCH].tolist()
                rows = vectors[start : start + _BATCH].tolist()
                points = Batch(ids=ids, vectors=rows, payloads=[payload] * len(ids))
                client.upsert(name, points, wait=True)

        # The folder is synced for every vector.
        await self._client.call(put, _FOLDER_SECONDS if self._is_local else _WRITE_SECONDS)

    async def finish(self, space: Space) -> None:
        """Do nothing: Qdrant indexes while it is written to."""

    async def remove(self, space: Space, units: Ids) -> None:
        from qdrant_client.http.models import PointIdsList

        def remove(client: QdrantClient) -> None:
            name = self._collection(space)
            if self._has(client, name):
                client.delete(name, PointIdsList(points=units.tolist()), wait=True)

        await self._client.call(remove)

    async def drop(self, scope: int) -> None:
        from qdrant_client.http.models import FilterSelector

        own = f"_s{scope}"

        def drop(client: QdrantClient) -> None:
            for name in self._collections(client):
                if name.endswith(own):
                    self._known.discard(name)
                    client.delete_collection(name)
                elif "_s" not in name.removeprefix(self._prefix):
                    client.delete(name, FilterSelector(filter=_of_scope(scope)), wait=True)

        await self._client.call(drop)

    async def clear(self) -> None:
        def clear(client: QdrantClient) -> None:
            for name in self._collections(client):
                client.delete_collection(name)
            self._known.clear()

        await self._client.call(clear)

    async def count(self, space: Space) -> int:
        def count(client: QdrantClient) -> int:
            name = self._collection(space)
            if not self._has(client, name):
                return 0
            return client.count(name, count_filter=_of_scope(space.scope), exact=True).count

        return await self._client.call(count)

    async def units(self, space: Space, after: int, limit: int) -> Ids:
        def page(client: QdrantClient) -> Ids:
            name = self._collection(space)
            if not self._has(client, name):
                return np.empty(0, np.int64)
            points, _ = client.scroll(
                name,
                scroll_filter=_of_scope(space.scope),
                offset=after + 1,
                limit=limit,
                with_payload=False,
                with_vectors=False,
            )
            return np.array([point.id for point in points], np.int64)

        return await self._client.call(page)

    async def search(self, space: Space, vector: Vector, limit: int) -> Ids:
        def search(client: QdrantClient) -> Ids:
            name = self._collection(space)
            found = client.query_points(
                name,
                query=vector.tolist(),
                query_filter=_of_scope(space.scope),
                limit=limit,
                with_payload=False,
            )
            return np.array([point.id for point in found.points], np.int64)

        return await self._client.call(search, self._address.search_seconds)

    async def check(self) -> SinkReport:
        def check(client: QdrantClient) -> SinkReport:
            client.get_collections()
            if self._is_local:
                return SinkReport(version="local mode", index="none: every vector is compared")
            version = client.info().version
            # A key that may only read is noticed before something is to be erased.
            trial = f"{self._prefix}trial"
            self._make(client, trial, 1)
            client.delete_collection(trial)
            self._known.discard(trial)
            return SinkReport(version=version, index=_INDEX)

        return await self._client.call(check, 5 * self._address.search_seconds)

    async def close(self) -> None:
        await self._client.close(_FOLDERS.leave if self._is_local else lambda it: it.close())

    @cached_property
    def _prefix(self) -> str:
        # Asked in a thread: the database may have to be read for it.
        return own_names(self._owner())

    def _collection(self, space: Space) -> str:
        name = f"{self._prefix}m{space.model}"
        return f"{name}_s{space.scope}" if self._is_apart else name

    def _collections(self, client: QdrantClient) -> list[str]:
        return [
            it.name
            for it in client.get_collections().collections
            if it.name.startswith(self._prefix)
        ]

    def _has(self, client: QdrantClient, name: str) -> bool:
        if name not in self._known and client.collection_exists(name):
            self._known.add(name)
        return name in self._known

    def _make(self, client: QdrantClient, name: str, dimension: int) -> None:
        if self._has(client, name):
            return
        from qdrant_client.http import models

        client.create_collection(
            name,
            vectors_config=models.VectorParams(
                size=dimension,
                distance=models.Distance.COSINE,
                datatype=None if self._is_local else models.Datatype.FLOAT16,
            ),
            # A graph for each scope instead of one for all: a search costs what its scope holds.
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
            quantization_config=models.ScalarQuantization(
                scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
            ),
        )
        if not self._is_local:
            its = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
            client.create_payload_index(name, _KEY, field_schema=its, wait=True)
        self._known.add(name)

    def _open(self) -> QdrantClient:
        from qdrant_client import QdrantClient

        address = self._address
        if self._is_local:
            return _FOLDERS.enter(address.parts.path)
        options: dict[str, Any] = {"api_key": address.key or None}
        return QdrantClient(
            host=address.parts.hostname,
            port=address.parts.port or _PORT,
            https=address.is_encrypted,
            prefix=address.parts.path.strip("/") or None,
            timeout=60,
            check_compatibility=False,
            **options,
        )


def _of_scope(scope: int) -> Filter:
    from qdrant_client.http.models import FieldCondition, Filter, MatchValue

    return Filter(must=[FieldCondition(key=_KEY, match=MatchValue(value=str(scope)))])


def _faults() -> tuple[type[Exception], ...]:
    from qdrant_client.http.exceptions import ApiException, ResponseHandlingException

    # A folder that another process has open is told by a RuntimeError.
    return ApiException, ResponseHandlingException, RuntimeError, ValueError
