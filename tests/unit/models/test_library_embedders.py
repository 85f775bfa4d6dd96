"""Other libraries behind the port. They cannot run here, so fakes with their surface do."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from recollect.errors import NotAvailable
from recollect.models.faults import EmbeddingFailed
from recollect.models.library_embedders import (
    BlockingEmbedder,
    open_fastembed,
    open_sentence_transformers,
)


class FakeTextEmbedding:
    """fastembed.TextEmbedding: iterators of vectors, one method for each purpose."""

    def __init__(self, model_name: str) -> None:
        if model_name == "no/such":
            raise ValueError("Model no/such is not supported in TextEmbedding.")

    def query_embed(self, query: Sequence[str]) -> Iterator[np.ndarray]:
        return (np.array([len(text), 1.0]) for text in query)

    def passage_embed(self, texts: Sequence[str]) -> Iterator[np.ndarray]:
        return (np.array([1.0, len(text)]) for text in texts)


class FakeSentenceTransformer:
    """sentence_transformers.SentenceTransformer: arrays, one method for each purpose."""

    def __init__(self, model_name_or_path: str) -> None:
        self.is_broken = False
        FakeSentenceTransformer.last = self

    last: FakeSentenceTransformer

    def encode_query(self, sentences: list[str], show_progress_bar: bool) -> np.ndarray:
        assert not show_progress_bar
        if self.is_broken:
            raise RuntimeError("CUDA out of memory")
        return np.array([[len(text), 1.0, 0.0] for text in sentences], np.float16)

    def encode_document(self, sentences: list[str], show_progress_bar: bool) -> np.ndarray:
        return self.encode_query(sentences, show_progress_bar)[:, ::-1]


@pytest.fixture(autouse=True)
def _fake_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    for library, kind in (
        ("fastembed", FakeTextEmbedding),
        ("sentence_transformers", FakeSentenceTransformer),
    ):
        module = types.ModuleType(library)
        setattr(module, kind.__name__.removeprefix("Fake"), kind)
        monkeypatch.setitem(sys.modules, library, module)


@pytest.mark.parametrize(
    ("open_library", "name", "dimension"),
    [
        (open_fastembed, "fastembed:BAAI/bge", 2),
        (open_sentence_transformers, "sentence-transformers:BAAI/bge", 3),
    ],
)
async def test_questions_and_passages_go_to_the_librarys_own_methods(
    open_library: Callable[[str, int | None], BlockingEmbedder], name: str, dimension: int
):
    embedder = open_library("BAAI/bge", None)
    seen: list[tuple[int, int]] = []

    query = await embedder.embed(["abc"] * 40, "query", lambda *x: seen.append(x))
    passage = await embedder.embed(["abc"], "passage")
    await embedder.close()

    assert (embedder.model, embedder.dimension) == (name, dimension)
    assert query.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(query, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(query[0][::-1], passage[0], atol=1e-3)
    assert seen == [(32, 40), (40, 40)]
    assert embedder.reads("任何语言")


async def test_an_error_of_the_library_becomes_one_of_ours():
    embedder = open_sentence_transformers("BAAI/bge", None)
    FakeSentenceTransformer.last.is_broken = True

    with pytest.raises(EmbeddingFailed, match="CUDA out of memory"):
        await embedder.embed(["a"], "query")


def test_a_model_that_the_library_does_not_know_is_told():
    with pytest.raises(NotAvailable, match="no/such") as problem:
        open_fastembed("no/such", None)
    assert problem.value.code == "model_not_found"


def test_another_length_than_configured_is_an_error():
    with pytest.raises(NotAvailable) as problem:
        open_fastembed("BAAI/bge", 384)
    assert problem.value.code == "wrong_dimension"


def test_a_library_that_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)

    with pytest.raises(NotAvailable) as problem:
        open_fastembed("BAAI/bge", None)
    assert problem.value.code == "not_installed"
    assert "recollect[fastembed]" in problem.value.hint
