"""What `VectorSink` promises, in Qdrant, pgvector, Milvus and the example of another store."""

import fcntl
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from recollect.backends.vectors import open_sink
from recollect.errors import NotAvailable, StoreAway
from recollect.ports.vector_sink import VectorSink
from recollect.testing import VectorSinkContract
from tests.vector_stores import MilvusServer, offer_example, pgvector_url

pytestmark = pytest.mark.sqlite(reason="no database takes part")


class _Suite(VectorSinkContract):
    @pytest.fixture
    async def sink(self, place: str) -> AsyncIterator[VectorSink]:
        opened = open_sink(place, lambda: "sqlite-00000001")
        await opened.clear()
        yield opened
        await opened.close()

    @pytest.fixture
    async def neighbour(self, sink: VectorSink, place: str) -> AsyncIterator[VectorSink]:
        opened = open_sink(place, lambda: "sqlite-00000002")
        yield opened
        await opened.clear()
        await opened.close()


class TestQdrantFolder(_Suite):
    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return f"qdrant://{tmp_path}/vectors"


class TestQdrantFolderWithACollectionForEachNamespace(_Suite):
    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return f"qdrant://{tmp_path}/vectors?collections=namespace"


class TestPgvector(_Suite):
    @pytest.fixture
    def place(self, postgresql: str) -> str:
        return postgresql


class TestTheExampleOfAnother(_Suite):
    @pytest.fixture
    def place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
        offer_example(tmp_path, monkeypatch)
        return f"table://{tmp_path}/vectors.db"


@pytest.mark.soak
class TestMilvus(_Suite):
    @pytest.fixture
    def place(self, milvus: str) -> str:
        return milvus


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    with pgvector_url() as url:
        yield url


@pytest.fixture(scope="module")
def milvus() -> Iterator[str]:
    server = MilvusServer()
    yield server.url
    server.stop()


@pytest.mark.parametrize(
    "place",
    [
        "qdrant://127.0.0.1:1/",
        "postgresql://nobody@127.0.0.1:1/nothing",
        pytest.param("milvus://127.0.0.1:1", marks=pytest.mark.soak),
    ],
)
async def test_a_store_that_does_not_answer_is_away(place: str):
    sink = open_sink(place, lambda: "sqlite-00000001")
    with pytest.raises(StoreAway, match="does not answer"):
        await sink.check()
    await sink.close()


async def test_a_store_of_others_that_cannot_be_loaded_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    offer_example(tmp_path, monkeypatch)
    monkeypatch.setitem(sys.modules, "own_vector_store", None)
    with pytest.raises(NotAvailable, match="table:// of own-vector-store cannot be loaded"):
        open_sink("table:///nowhere", lambda: "sqlite-1")


async def test_a_folder_that_another_program_has_open_is_away(tmp_path: Path):
    (tmp_path / "vectors").mkdir()
    with (tmp_path / "vectors" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sink = open_sink(f"qdrant://{tmp_path}/vectors", lambda: "sqlite-1")
        with pytest.raises(StoreAway, match="another process"):
            await sink.check()
    await sink.check()
    await sink.close()
