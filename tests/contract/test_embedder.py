"""What an `Embedder` promises: the default model, a tiny one, and the fake of other tests."""

from collections.abc import AsyncIterator

import pytest

from recollect.domain.embedding import EmbedderChoice
from recollect.models.catalogue import open_embedder
from recollect.models.onnx_embedder import ModelTraits, OnnxEmbedder
from recollect.ports.embedder import Embedder
from recollect.testing import EmbedderContract
from tests.fakes import FakeEmbedder
from tests.unit.models.tiny_model import DIMENSION, tiny_files

pytestmark = pytest.mark.sqlite(reason="no database takes part")


class TestDefaultModel(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        opened = open_embedder(EmbedderChoice())
        assert opened is not None
        yield opened
        await opened.close()


class TestOnnxEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        opened = OnnxEmbedder(ModelTraits(name="tiny", dimension=DIMENSION, longest=8), tiny_files)
        yield opened
        await opened.close()


class TestFakeEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return FakeEmbedder()
