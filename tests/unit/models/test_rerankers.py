"""Rerankers: a real, very small cross-encoder in a folder, and how each kind is opened."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.sections import RerankSettings
from recollect.errors import Closed, NotAvailable, SettingsError
from recollect.models.faults import ModelDamaged
from recollect.models.onnx_model import Session, open_session
from recollect.models.rerankers import (
    FolderReranker,
    RerankingFailed,
    open_reranker,
)
from tests.unit.models import tiny_model
from tests.unit.models.tiny_reranker import WORDS, logit, tiny_graph, write_folder


@pytest.fixture
async def reranker(tmp_path: Path):
    opened = FolderReranker(write_folder(tmp_path / "tiny"))
    yield opened
    await opened.close()


async def test_a_text_scores_by_what_it_has_to_do_with_the_question(reranker: FolderReranker):
    question = "where is the key"
    texts = ["in the drawer", "the key is in the drawer", "drawer", "the key " * 20]

    logits = await reranker.logits(question, texts)

    assert logits.dtype == np.float32
    np.testing.assert_allclose(logits, [logit(question, it) for it in texts], rtol=1e-5)


async def test_chinese_is_read_by_its_characters(reranker: FolderReranker):
    logits = await reranker.logits("钥匙在哪", ["抽屉", "钥匙在抽屉", "key"])

    np.testing.assert_allclose(logits, [-2, 7, -2], rtol=1e-5)


async def test_another_question_gives_another_order(reranker: FolderReranker):
    texts = ["the key", "the drawer"]

    about_key = await reranker.logits("key", texts)
    about_drawer = await reranker.logits("drawer", texts)

    assert about_key[0] > about_key[1]
    assert about_drawer[0] < about_drawer[1]


_texts = st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=12).map(" ".join)


@settings(max_examples=25, deadline=None)
@given(question=_texts, texts=st.lists(_texts, max_size=40))
def test_any_texts_get_their_score_whatever_stands_beside_them(question: str, texts: list[str]):
    async def run(folder: Path) -> None:
        reranker = FolderReranker(write_folder(folder))
        logits = await reranker.logits(question, texts)
        await reranker.close()
        assert logits.shape == (len(texts),)
        np.testing.assert_allclose(logits, [logit(question, text) for text in texts], rtol=1e-4)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def test_a_long_text_is_cut_and_the_question_is_not(tmp_path: Path):
    reranker = FolderReranker(write_folder(tmp_path), longest=8)

    # Three marks, one word of the question, and room for four of the text.
    logits = await reranker.logits("key", ["the the the key", "the the the the key"])

    np.testing.assert_allclose(logits, [1, -2], rtol=1e-5)


async def test_the_length_is_what_the_folder_says(tmp_path: Path):
    folder = write_folder(tmp_path)
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 8}')

    logits = await FolderReranker(folder).logits("key", ["the the the the key"])

    np.testing.assert_allclose(logits, [-2], rtol=1e-5)


async def test_a_question_longer_than_the_model_reads_is_no_error(reranker: FolderReranker):
    assert (await reranker.logits("where is the key " * 400, ["key"])) > 2.0


async def test_models_without_token_types_are_not_given_them(tmp_path: Path):
    reranker = FolderReranker(write_folder(tmp_path, tiny_graph(knows_types=False)))

    logits = await reranker.logits("key", ["key", "drawer"])

    np.testing.assert_allclose(logits, [10, 4], rtol=1e-5)


async def test_odd_texts_are_scored_as_well(reranker: FolderReranker):
    assert (await reranker.logits("key", [])).shape == (0,)
    logits = await reranker.logits("key \ud83d", ["", "key \ud83d"])
    np.testing.assert_allclose(logits, [-2, 1], rtol=1e-5)


async def test_a_session_that_dies_is_told_and_the_next_question_works(tmp_path: Path):
    opened: list[Session] = []

    def open_dying(graph: bytes | Path) -> Session:
        session = open_session(graph)
        opened.append(session)
        return FakeDeadSession(session) if len(opened) == 1 else session

    reranker = FolderReranker(write_folder(tmp_path), open_session=open_dying)

    with pytest.raises(RerankingFailed, match="bad_alloc") as failure:
        await reranker.logits("key", ["key"])
    assert failure.value.retryable
    assert "stack trace" not in failure.value.message
    np.testing.assert_allclose(await reranker.logits("key", ["key"]), [1], rtol=1e-5)
    assert len(opened) == 2


class FakeDeadSession:
    """A session out of memory."""

    def __init__(self, real: Session) -> None:
        self.get_inputs = real.get_inputs
        self.get_outputs = real.get_outputs

    def run(self, *_: object) -> list[object]:
        raise RuntimeError("bad_alloc\nstack trace")


async def test_a_model_of_another_kind_is_named_as_such(tmp_path: Path):
    classifier = FolderReranker(write_folder(tmp_path / "nli", tiny_graph(labels=3)))
    embedder = FolderReranker(tiny_model.write_folder(tmp_path / "embedder"))

    for other in (classifier, embedder):
        with pytest.raises(NotAvailable, match="is not a reranker") as problem:
            await other.logits("key", ["key", "drawer"])
        assert problem.value.code == "not_a_reranker"
        assert "cross-encoder" in problem.value.hint


async def test_numbers_that_are_none_are_never_handed_on(tmp_path: Path):
    reranker = FolderReranker(write_folder(tmp_path, tiny_graph(bias=float("nan"))))

    with pytest.raises(RerankingFailed) as problem:
        await reranker.logits("key", ["key"])
    assert problem.value.code == "bad_scores"


async def test_an_empty_folder_is_told_with_the_question_and_may_be_filled_later(tmp_path: Path):
    reranker = open_reranker(RerankSettings(model=f"folder:{tmp_path}"))
    assert reranker is not None

    with pytest.raises(NotAvailable, match=r"model\.onnx and tokenizer\.json") as problem:
        await reranker.logits("key", ["key"])
    assert problem.value.code == "model_not_found"
    assert problem.value.hint

    write_folder(tmp_path)
    np.testing.assert_allclose(await reranker.logits("key", ["key"]), [1], rtol=1e-5)
    await reranker.close()


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
async def test_damaged_files_are_an_error_of_ours(tmp_path: Path, name: str):
    (write_folder(tmp_path) / name).write_bytes(b"garbage")

    with pytest.raises(ModelDamaged):
        await FolderReranker(tmp_path).logits("key", ["key"])


async def test_after_closing_it_says_so(reranker: FolderReranker):
    await reranker.logits("key", ["key"])
    await reranker.close()

    with pytest.raises(Closed):
        await reranker.logits("key", ["key"])


async def test_several_questions_may_be_asked_at_once(reranker: FolderReranker):
    answers = await asyncio.gather(
        *(reranker.logits(word, ["key", "drawer"]) for word in ("key", "drawer") * 10)
    )

    for at, logits in enumerate(answers):
        np.testing.assert_allclose(logits, (-2, 1) if at % 2 else (1, -2), rtol=1e-5)


@pytest.mark.parametrize("model", ["", "none"])
def test_no_reranker_is_a_choice(model: str):
    assert open_reranker(RerankSettings(model=model)) is None


@pytest.mark.parametrize("model", ["bge", "folder:", "cohere", "openai:rerank"])
def test_an_unknown_name_lists_what_there_is(model: str):
    with pytest.raises(SettingsError) as problem:
        open_reranker(RerankSettings(model=model))
    assert problem.value.code == "unknown_reranker"
    assert "cohere:NAME" in problem.value.hint


@pytest.mark.parametrize("model", ["folder:/no/where", "cohere:rerank-v3.5", "tei:bge"])
def test_a_reranker_is_called_as_settings_call_it(model: str):
    reranker = open_reranker(RerankSettings(model=model))

    assert reranker is not None
    assert reranker.name == model


@pytest.mark.parametrize(
    ("model", "missing"), [("cohere:rerank-v3.5", "api_key"), ("endpoint:bge", "base_url")]
)
async def test_nothing_is_sent_before_address_and_key_are_known(model: str, missing: str):
    reranker = open_reranker(RerankSettings(model=model))
    assert reranker is not None

    with pytest.raises(NotAvailable, match=missing) as problem:
        await reranker.logits("key", ["key"])
    assert problem.value.code == "reranker_not_configured"
    assert f"rerank.{missing}" in problem.value.hint


async def test_a_missing_library_is_told_with_the_question(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    reranker = open_reranker(RerankSettings(model="cohere:rerank-v3.5", api_key="key"))
    assert reranker is not None

    with pytest.raises(NotAvailable, match="httpx") as problem:
        await reranker.logits("key", ["key"])
    assert problem.value.code == "not_installed"
