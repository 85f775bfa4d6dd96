"""What was prepared once is used only while it is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.models.faults import ModelDamaged
from recollect.models.sealed_folder import SealedFiles, is_whole
from tests.fakes import write_sealed

FILES = {"model.onnx": b"weights" * 1000, "tokenizer.json": b"{}"}


def test_what_is_written_is_read_again(tmp_path: Path):
    write_sealed(tmp_path / "deep" / "model", FILES)

    assert dict(SealedFiles(tmp_path / "deep" / "model")) == FILES


def test_a_folder_that_is_not_there_is_not_whole(tmp_path: Path):
    assert not is_whole(tmp_path / "model")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_one_changed_byte_is_found_and_the_file_is_named(tmp_path: Path, name: str):
    write_sealed(tmp_path / "model", FILES)
    data = bytearray((tmp_path / "model" / name).read_bytes())
    data[0] ^= 1
    (tmp_path / "model" / name).write_bytes(data)

    with pytest.raises(ModelDamaged, match=name):
        dict(SealedFiles(tmp_path / "model"))


def test_a_missing_file_is_named(tmp_path: Path):
    write_sealed(tmp_path / "model", FILES)
    (tmp_path / "model" / "model.onnx").unlink()

    with pytest.raises(ModelDamaged, match=r"lacks model\.onnx"):
        dict(SealedFiles(tmp_path / "model"))


@pytest.mark.parametrize("seal", [b"", b"not json", b"[1]", b"\xff", b'{"model.onnx": 1}'])
def test_a_damaged_seal_is_an_error_of_ours(tmp_path: Path, seal: bytes):
    write_sealed(tmp_path / "model", FILES)
    (tmp_path / "model" / "sha256.json").write_bytes(seal)

    with pytest.raises(ModelDamaged):
        dict(SealedFiles(tmp_path / "model"))
