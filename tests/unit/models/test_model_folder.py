"""A model in a folder is described by its own files, and by what is given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recollect.domain.embedding import EmbedderChoice
from recollect.errors import NotAvailable
from recollect.models.faults import ModelDamaged
from recollect.models.model_folder import open_folder, read_traits
from tests.unit.models.tiny_model import DIMENSION, tiny_graph, write_folder

E5_LIKE = {
    "config.json": {"hidden_size": DIMENSION, "max_position_embeddings": 514},
    "sentence_bert_config.json": {"max_seq_length": 128},
    "1_Pooling/config.json": {
        "word_embedding_dimension": DIMENSION,
        "pooling_mode_cls_token": True,
        "pooling_mode_mean_tokens": False,
    },
    "config_sentence_transformers.json": {
        "prompts": {"query": "query: ", "document": "passage: "},
    },
}


def traits(folder: Path, **given):
    return read_traits(folder, folder / "model.onnx", EmbedderChoice(**given))


async def test_a_folder_embeds_as_it_says(tmp_path: Path):
    embedder = open_folder(write_folder(tmp_path / "tiny"), EmbedderChoice())

    vectors = await embedder.embed(["one two", "one", "two"], "passage")

    assert embedder.dimension == DIMENSION
    assert vectors[0] @ (vectors[1] + vectors[2]) > 0
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    await embedder.close()


def test_pooling_prefixes_and_length_are_read(tmp_path: Path):
    read = traits(write_folder(tmp_path, E5_LIKE))

    assert (read.pooling, read.longest, read.dimension) == ("cls", 128, DIMENSION)
    assert (read.query_prefix, read.passage_prefix) == ("query: ", "passage: ")


def test_what_is_given_goes_first(tmp_path: Path):
    given = traits(
        write_folder(tmp_path, E5_LIKE),
        pooling="mean",
        longest=64,
        query_prefix="",
        passage_prefix="text: ",
    )

    assert (given.pooling, given.longest) == ("mean", 64)
    assert (given.query_prefix, given.passage_prefix) == ("", "text: ")


def test_without_any_description_the_usual_is_assumed(tmp_path: Path):
    read = traits(write_folder(tmp_path))

    assert (read.pooling, read.longest, read.query_prefix) == ("mean", 512, "")


def test_a_length_that_means_no_limit_is_not_taken(tmp_path: Path):
    settings = {
        "config.json": {"hidden_size": 6},
        "tokenizer_config.json": {"model_max_length": 1e30},
    }

    assert traits(write_folder(tmp_path, settings)).longest == 512


def test_an_unknown_pooling_is_told_not_guessed(tmp_path: Path):
    settings = {
        "1_Pooling/config.json": {"word_embedding_dimension": 6, "pooling_mode_max_tokens": True}
    }

    with pytest.raises(NotAvailable, match="max_tokens"):
        traits(write_folder(tmp_path, settings))


def test_a_folder_that_does_not_say_its_length_needs_it_given(tmp_path: Path):
    folder = write_folder(tmp_path, {"other.json": {}})

    with pytest.raises(NotAvailable) as problem:
        traits(folder)
    assert problem.value.code == "dimension_unknown"
    assert traits(folder, dimension=DIMENSION).dimension == DIMENSION


def test_the_name_changes_with_the_model_and_with_how_it_is_used(tmp_path: Path):
    one = write_folder(tmp_path / "a" / "bge")
    twin = write_folder(tmp_path / "b" / "bge")
    other = write_folder(tmp_path / "c" / "bge")
    (other / "model.onnx").write_bytes(tiny_graph(inputs=("input_ids",)))

    assert traits(one).name == traits(twin).name
    names = {traits(one).name, traits(other).name, traits(one, query_prefix="q: ").name}
    assert len(names) == 3
    assert all(name.startswith("bge/") for name in names)


def test_repositories_keep_the_graph_in_a_folder_of_its_own(tmp_path: Path):
    folder = write_folder(tmp_path)
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")

    assert open_folder(folder, EmbedderChoice()).dimension == DIMENSION


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_an_incomplete_folder_says_what_is_needed(tmp_path: Path, name: str):
    folder = write_folder(tmp_path)
    (folder / name).unlink()

    with pytest.raises(NotAvailable, match=r"model\.onnx and tokenizer\.json"):
        open_folder(folder, EmbedderChoice())


@pytest.mark.parametrize("content", ["{", "[]", "\ud800"])
def test_a_damaged_description_is_named(tmp_path: Path, content: str):
    folder = write_folder(tmp_path)
    (folder / "config.json").write_bytes(content.encode("utf-8", "surrogatepass"))

    with pytest.raises(ModelDamaged, match=r"config\.json"):
        traits(folder)


def test_languages_are_assumed_to_be_any_unless_given(tmp_path: Path):
    folder = write_folder(tmp_path)

    assert open_folder(folder, EmbedderChoice()).reads("ключ")
    assert open_folder(folder, EmbedderChoice(languages=("en", "ru"))).reads("ключ")
    chinese = open_folder(folder, EmbedderChoice(languages=("zh",)))
    assert chinese.reads("钥匙")
    assert not chinese.reads("key")
