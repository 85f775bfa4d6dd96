"""Where the default model is looked for, and what is said when it is not there or not whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.errors import NotAvailable
from recollect.models import minilm, places
from recollect.models.chinese import dictionary
from recollect.models.faults import ModelDamaged
from recollect.models.minilm import FOLDER, LocalModel
from recollect.models.places import Places, find_or_make
from recollect.models.sealed_folder import read_sealed, write_sealed
from tests.unit.models.tiny_model import tiny_graph, tiny_tokenizer

FILES = {"model.onnx": tiny_graph(), "tokenizer.json": tiny_tokenizer()}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """Places on a machine where no package carries the model."""
    monkeypatch.setattr(minilm, "package_folder", lambda package: None)
    monkeypatch.setattr(places, "package_folder", lambda package: None)
    return Places(given=tmp_path / "given", cache=tmp_path / "cache")


def put_weights(folder: Path, content: bytes = b"other weights") -> Path:
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(content)
    (folder / "tokenizer.json").write_bytes(b"{}")
    return folder


def test_without_weights_it_is_not_found_and_says_how_to_get_it(here: Places):
    model = LocalModel(here)

    assert model.condition() == "not_found"
    assert model.where() is None
    with pytest.raises(NotAvailable) as problem:
        model.open()
    assert problem.value.code == "model_not_found"
    assert "recollect models fetch" in problem.value.hint


def test_the_given_folder_goes_before_the_package_and_the_cache(
    here: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("given", "package", "cache"):
        write_sealed(tmp_path / name / FOLDER, FILES | {"from": name.encode()})
    monkeypatch.setattr(places, "package_folder", lambda package: tmp_path / "package")

    def found() -> bytes:
        return find_or_make(here, FOLDER, lambda: {"from": b"made"}).files["from"]

    for name in ("given", "package", "cache"):
        assert found() == name.encode()
        (tmp_path / name / FOLDER / "sha256.json").unlink()
    assert found() == b"made"


def test_a_damaged_model_is_passed_over_and_named(here: Places, tmp_path: Path):
    write_sealed(tmp_path / "given" / FOLDER, FILES)
    write_sealed(tmp_path / "cache" / FOLDER, FILES)
    (tmp_path / "given" / FOLDER / "model.onnx").write_bytes(b"rubbish")

    model = LocalModel(here)

    assert model.files().graph == FILES["model.onnx"]
    assert any("given" in note and "damaged" in note for note in model.notes())


def test_weights_that_are_not_the_official_ones_are_refused_by_name(here: Places, tmp_path: Path):
    put_weights(tmp_path / "given")

    model = LocalModel(here)
    assert model.condition() == "unprepared"
    with pytest.raises(ModelDamaged, match=r"given.tokenizer\.json is not the official one"):
        model.files()


def test_every_source_is_tried_before_giving_up(here: Places, tmp_path: Path):
    put_weights(tmp_path / "given")
    put_weights(tmp_path / "cache" / "all-MiniLM-L6-v2")

    with pytest.raises(ModelDamaged, match=r"given.*; .*all-MiniLM-L6-v2"):
        LocalModel(here).files()


def test_a_cache_that_cannot_be_written_is_told_and_nothing_stops(here: Places, tmp_path: Path):
    (tmp_path / "cache").write_text("a file stands where the folder should be")

    prepared = find_or_make(here, FOLDER, lambda: dict(FILES))

    assert prepared.files == FILES
    assert "cannot be written" in prepared.notes[0]
    assert "embedding.cache_dir" in prepared.notes[0]


def test_what_was_made_is_kept_and_a_damaged_copy_replaced(here: Places, tmp_path: Path):
    assert find_or_make(here, FOLDER, lambda: dict(FILES)).notes == ()
    (tmp_path / "cache" / FOLDER / "model.onnx").write_bytes(b"")

    find_or_make(here, FOLDER, lambda: dict(FILES))

    assert read_sealed(tmp_path / "cache" / FOLDER) == FILES


def test_without_the_dictionary_it_reads_english_only_and_says_so(
    here: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_sealed(tmp_path / "cache" / FOLDER, FILES)
    monkeypatch.setattr(dictionary, "source", lambda: None)

    embedder = LocalModel(here).open()

    assert embedder.model == "all-MiniLM-L6-v2/int8-1"
    assert embedder.trust("where is the key")
    assert not embedder.trust("钥匙在哪里")
    assert any("Chinese" in note for note in embedder.notes())


def test_with_the_dictionary_it_reads_both_languages(here: Places, tmp_path: Path):
    write_sealed(tmp_path / "cache" / FOLDER, FILES)

    embedder = LocalModel(here).open()

    assert embedder.model == "all-MiniLM-L6-v2/int8-1+cedict-2"
    assert embedder.trust("钥匙在哪里")
    assert embedder.trust("鑰匙在哪裡")
    assert not embedder.trust("鍵はどこですか")
    assert not embedder.trust("где ключ")
    assert embedder.notes() == ()
