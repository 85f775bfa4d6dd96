"""Choosing, listing and checking embedders."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.domain.embedding import EmbedderChoice
from recollect.errors import NotAvailable, SettingsError
from recollect.models import local_model
from recollect.models.catalogue import check, list_embedders, open_embedder
from recollect.models.onnx_embedder import OnnxEmbedder
from recollect.models.openai_endpoint import OpenAIEmbedder
from tests.fakes import write_sealed
from tests.unit.models.tiny_model import DIMENSION, tiny_graph, tiny_tokenizer, write_folder


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a machine where no package carries the model."""
    monkeypatch.setattr(local_model, "package_folder", lambda package: None)
    return tmp_path / "models"


def test_no_embedder_is_a_choice():
    assert open_embedder(EmbedderChoice(model="none")) is None


@pytest.mark.parametrize("model", ["", "local", "recollect-bilingual"])
def test_the_default_has_several_names(model: str):
    embedder = open_embedder(EmbedderChoice(model=model))

    assert embedder is not None
    assert embedder.dimension == 384


@pytest.mark.parametrize("form", ["folder:{}", "{}"])
def test_a_folder_is_named_by_its_path(form: str, tmp_path: Path):
    folder = write_folder(tmp_path / "my-model")

    embedder = open_embedder(EmbedderChoice(model=form.format(folder)))

    assert isinstance(embedder, OnnxEmbedder)
    assert embedder.model.startswith("my-model/")


async def test_an_openai_name_needs_no_more_when_it_is_known():
    embedder = open_embedder(EmbedderChoice(model="text-embedding-3-small", api_key="k"))

    assert isinstance(embedder, OpenAIEmbedder)
    assert embedder.dimension == 1536
    await embedder.close()


def test_an_unknown_remote_model_needs_its_length():
    with pytest.raises(NotAvailable) as problem:
        open_embedder(EmbedderChoice(model="openai:bge-m3"))
    assert problem.value.code == "dimension_unknown"
    assert open_embedder(EmbedderChoice(model="openai:bge-m3", dimension=1024)) is not None


@pytest.mark.parametrize("model", ["word2vec", "cohere:embed-v4", "folder"])
def test_an_unknown_name_lists_what_there_is(model: str):
    with pytest.raises(SettingsError) as problem:
        open_embedder(EmbedderChoice(model=model))
    assert problem.value.code == "unknown_embedder"
    assert "openai:NAME" in problem.value.hint


def test_the_list_says_what_each_needs(bare: Path):
    states = {state.name: state for state in list_embedders(EmbedderChoice(folder=bare))}

    assert states["local"].condition == "not_found"
    assert states["local"].hint == "pip install recollect-embedder"
    assert states["openai:NAME"].condition == "ready"
    assert states["fastembed:NAME"].condition == "not_installed"
    assert "recollect[fastembed]" in states["fastembed:NAME"].hint


def test_the_list_tells_a_ready_model_from_a_damaged_one(bare: Path):
    write_sealed(bare, {"embedder.onnx": tiny_graph(), "tokenizer.json": tiny_tokenizer()})
    assert list_embedders(EmbedderChoice(folder=bare))[0].condition == "ready"
    assert list_embedders(EmbedderChoice(folder=bare))[0].where == str(bare)

    (bare / "tokenizer.json").write_bytes(b"")
    assert list_embedders(EmbedderChoice(folder=bare))[0].condition == "damaged"


def test_the_list_knows_the_folder_that_is_in_use(tmp_path: Path):
    model = f"folder:{write_folder(tmp_path)}"

    folder = list_embedders(EmbedderChoice(model=model))[1]

    assert (folder.condition, folder.where) == ("ready", str(tmp_path))


async def test_checking_a_folder_measures_it(tmp_path: Path):
    report = await check(EmbedderChoice(model=str(write_folder(tmp_path / "tiny"))))

    assert report.works
    assert report.dimension == DIMENSION
    assert report.query_ms > 0
    assert report.first_ms >= report.query_ms


async def test_checking_reports_problems_instead_of_raising(tmp_path: Path):
    missing = await check(EmbedderChoice(model=f"folder:{tmp_path}"))
    wrong = await check(EmbedderChoice(model=str(write_folder(tmp_path / "tiny")), dimension=99))

    assert not missing.works
    assert "tokenizer.json" in missing.problem
    assert not wrong.works
    assert "wrong_dimension" in wrong.problem
    assert wrong.hint


async def test_checking_no_embedder_says_what_that_means():
    report = await check(EmbedderChoice(model="none"))

    assert report.works
    assert "keywords" in report.notes[0]
