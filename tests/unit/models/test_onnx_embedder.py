"""An embedder over a real, very small model; a fake session where one must die."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import Closed, NotAvailable
from recollect.models.faults import EmbeddingFailed, ModelDamaged
from recollect.models.onnx_embedder import ModelFiles, ModelTraits, OnnxEmbedder
from recollect.models.onnx_model import WORKERS, Session, open_session
from tests.unit.models.tiny_model import DIMENSION, tiny_files, tiny_graph, tiny_tokenizer

TRAITS = ModelTraits(name="tiny", dimension=DIMENSION, longest=8)


async def began(session: FakeSlowSession, runs: int) -> None:
    """Wait until so many more runs of the session are under way."""
    for _ in range(runs):
        assert await asyncio.to_thread(session.began.acquire, timeout=10)


class FakeDyingSession:
    """A session that fails once, in the middle of a call, as a real one out of memory does."""

    deaths = 0

    def __init__(self, graph: bytes | Path, *, dies_at: int) -> None:
        self._real = open_session(graph)
        self._runs_left = dies_at

    def get_inputs(self):
        return self._real.get_inputs()

    def get_outputs(self):
        return self._real.get_outputs()

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any]) -> Any:
        self._runs_left -= 1
        if self._runs_left == 0:
            FakeDyingSession.deaths += 1
            raise RuntimeError("bad_alloc\nstack trace")
        return self._real.run(output_names, input_feed)


class FakeSlowSession(FakeDyingSession):
    """A session whose runs take until a test lets them go on."""

    def __init__(self, graph: bytes | Path, gate: threading.Event) -> None:
        super().__init__(graph, dies_at=-1)
        self.gate = gate
        self.runs = 0
        self.began = threading.Semaphore(0)

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any]) -> Any:
        self.runs += 1
        self.began.release()
        self.gate.wait(60)
        return super().run(output_names, input_feed)


@pytest.fixture
async def embedder():
    opened = OnnxEmbedder(TRAITS, tiny_files)
    yield opened
    await opened.close()


async def test_what_reads_an_expected_text_is_loaded_before_it_comes():
    loaded = threading.Event()

    def load() -> ModelFiles:
        loaded.set()
        return tiny_files()

    embedder = OnnxEmbedder(TRAITS, load)
    assert not loaded.is_set()
    embedder.expect("one two")
    assert await asyncio.to_thread(loaded.wait, 10)
    await embedder.close()


async def test_an_expected_text_that_cannot_be_read_fails_only_when_it_comes():
    def load() -> ModelFiles:
        raise ModelDamaged("no graph")

    embedder = OnnxEmbedder(TRAITS, load)
    embedder.expect("one two")
    with pytest.raises(ModelDamaged):
        await embedder.embed(["one two"], "query")
    await embedder.close()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["one", "two", "three", "?"]), max_size=12), max_size=40))
def test_any_list_of_texts_gives_a_row_a_text(lists: list[list[str]]):
    async def run() -> None:
        embedder = OnnxEmbedder(TRAITS, tiny_files)
        texts = [" ".join(words) for words in lists]
        vectors = await embedder.embed(texts, "passage")
        assert vectors.shape == (len(texts), DIMENSION)
        same = {}
        for text, vector in zip(texts, vectors, strict=True):
            np.testing.assert_allclose(vector, same.setdefault(text, vector), atol=1e-5)
        await embedder.close()

    asyncio.run(run())


async def test_texts_are_cut_at_the_models_length_not_at_the_files(embedder: OnnxEmbedder):
    eight, nine = "one " * 7 + "two", "one " * 7 + "two three"
    vectors = await embedder.embed([eight, nine, "one one"], "passage")

    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)
    assert not np.allclose(vectors[0], vectors[2])


async def test_progress_ends_with_all_texts_done(embedder: OnnxEmbedder):
    seen: list[tuple[int, int]] = []

    await embedder.embed(["one two"] * 700, "passage", lambda done, of: seen.append((done, of)))

    assert seen[-1] == (700, 700)
    assert len(seen) > 1
    assert seen == sorted(seen)


async def test_half_a_surrogate_pair_does_not_stop_it(embedder: OnnxEmbedder):
    assert (await embedder.embed(["one \ud83d two"], "query")).shape == (1, DIMENSION)


async def test_questions_and_passages_get_their_own_prefix():
    traits = ModelTraits(
        name="tiny", dimension=DIMENSION, longest=8, query_prefix="query: ", passage_prefix=""
    )
    embedder = OnnxEmbedder(traits, tiny_files)

    query = await embedder.embed(["one"], "query")
    passage = await embedder.embed(["one", "query: one"], "passage")

    np.testing.assert_allclose(query[0], passage[1], atol=1e-6)
    assert not np.allclose(query[0], passage[0])


async def test_the_first_token_alone_counts_with_cls_pooling():
    traits = ModelTraits(name="tiny", dimension=DIMENSION, longest=8, pooling="cls")

    vectors = await OnnxEmbedder(traits, tiny_files).embed(["one two", "one three"], "passage")

    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)


async def test_models_that_want_token_types_get_them():
    graph = tiny_graph(inputs=("input_ids", "attention_mask", "token_type_ids"))
    files = ModelFiles(graph=graph, tokenizer=tiny_tokenizer())

    assert (await OnnxEmbedder(TRAITS, lambda: files).embed(["one"], "query")).shape[0] == 1


async def test_text_is_translated_before_it_is_read():
    embedder = OnnxEmbedder(TRAITS, tiny_files, translate=lambda text: text.replace("eins", "one"))

    vectors = await embedder.embed(["eins two", "one two"], "passage")

    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)


async def test_a_text_in_a_language_it_does_not_read_is_not_understood():
    english = ModelTraits(name="tiny", dimension=DIMENSION, longest=8, languages=frozenset({"en"}))
    embedder = OnnxEmbedder(english, tiny_files)

    assert embedder.reads("where is the key")
    assert not embedder.reads("钥匙在哪里")
    assert not embedder.reads("鍵はどこですか")
    assert OnnxEmbedder(TRAITS, tiny_files).reads("где ключ")


async def test_a_session_that_dies_in_a_batch_is_told_and_the_next_call_works():
    loads: list[int] = []

    def open_dying(graph: bytes | Path) -> Session:
        loads.append(1)
        return FakeDyingSession(graph, dies_at=2 if len(loads) == 1 else -1)

    embedder = OnnxEmbedder(TRAITS, tiny_files, open_session=open_dying)
    texts = ["one two three four"] * 600

    with pytest.raises(EmbeddingFailed, match="bad_alloc") as failure:
        await embedder.embed(texts, "passage")
    assert failure.value.retryable
    assert failure.value.hint
    assert "stack trace" not in failure.value.message

    assert (await embedder.embed(texts, "passage")).shape == (600, DIMENSION)
    assert len(loads) == 2


async def test_cancelling_takes_effect_at_once_and_stops_the_rest():
    gate = threading.Event()
    session = FakeSlowSession(tiny_graph(), gate)
    embedder = OnnxEmbedder(TRAITS, tiny_files, open_session=lambda graph: session)
    work = asyncio.create_task(embedder.embed(["one two three four"] * 2000, "passage"))
    await began(session, WORKERS)

    work.cancel()
    async with asyncio.timeout(30):
        with pytest.raises(asyncio.CancelledError):
            await work
    under_way = session.runs
    gate.set()

    # Everything else still works, and no batch of the cancelled call comes after.
    await embedder.embed(["one"], "query")
    assert session.runs <= under_way + 1
    await embedder.close()


async def test_a_question_does_not_wait_for_a_long_import():
    gate = threading.Event()
    session = FakeSlowSession(tiny_graph(), gate)
    embedder = OnnxEmbedder(TRAITS, tiny_files, open_session=lambda graph: session)
    long_import = asyncio.create_task(embedder.embed(["one two three four"] * 2000, "passage"))
    await began(session, WORKERS)

    question = asyncio.create_task(embedder.embed(["one"], "query"))
    await began(session, 1)  # although no run of the import has ended
    gate.set()

    assert (await question).shape == (1, DIMENSION)
    await long_import
    await embedder.close()


async def test_imports_share_the_cores_whoever_asks_for_them():
    gate = threading.Event()
    session = FakeSlowSession(tiny_graph(), gate)
    embedder = OnnxEmbedder(TRAITS, tiny_files, open_session=lambda graph: session)
    texts = ["one two three four"] * 400
    await asyncio.to_thread(embedder._tokens, texts[:1], "passage")
    imports = [asyncio.create_task(embedder.embed(texts, "passage")) for _ in range(3)]
    await began(session, WORKERS)

    assert not await asyncio.to_thread(session.began.acquire, timeout=0.2)
    gate.set()
    assert all(vectors.shape == (400, DIMENSION) for vectors in await asyncio.gather(*imports))
    await embedder.close()


async def test_closing_ends_its_threads():
    embedder = OnnxEmbedder(TRAITS, tiny_files)
    # In threads that all models share.
    await embedder.embed(["one"], "query")
    before = set(threading.enumerate())
    await embedder.embed(["one", "two"], "passage")
    own = set(threading.enumerate()) - before
    assert own

    await embedder.close()
    for thread in own:
        await asyncio.to_thread(thread.join, 10)
    assert not any(thread.is_alive() for thread in own)


async def test_another_length_than_configured_is_an_error_with_its_cure():
    traits = ModelTraits(name="tiny", dimension=DIMENSION + 2, longest=8)

    with pytest.raises(NotAvailable) as problem:
        await OnnxEmbedder(traits, tiny_files).embed(["one"], "query")

    assert problem.value.code == "wrong_dimension"
    assert str(DIMENSION) in problem.value.hint


@pytest.mark.parametrize(
    "files",
    [
        ModelFiles(graph=b"garbage", tokenizer=tiny_tokenizer()),
        ModelFiles(graph=tiny_graph(), tokenizer=b"{}"),
        ModelFiles(graph=tiny_graph(), tokenizer=b"\xff"),
        ModelFiles(graph=Path("nowhere.onnx"), tokenizer=tiny_tokenizer()),
    ],
    ids=["graph", "tokenizer", "bytes", "path"],
)
async def test_damaged_files_are_an_error_of_ours(files: ModelFiles):
    with pytest.raises(ModelDamaged):
        await OnnxEmbedder(TRAITS, lambda: files).embed(["one"], "query")


async def test_after_closing_it_says_so(embedder: OnnxEmbedder):
    await embedder.embed(["one"], "query")
    await embedder.close()

    with pytest.raises(Closed):
        await embedder.embed(["one"], "query")
