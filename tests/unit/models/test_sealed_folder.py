"""What was prepared once is used only while it is whole."""

from __future__ import annotations

import hashlib
import os
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


def test_a_file_that_was_read_through_is_not_read_again_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("recollect.models.read_files._SETTLED_NS", 0)
    (tmp_path / "cache" / "recollect").mkdir(parents=True)
    write_sealed(tmp_path / "model", FILES)
    SealedFiles(tmp_path / "model").place("model.onnx")
    read: list[object] = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *it: read.append(it) or digest(*it))

    SealedFiles(tmp_path / "model").place("model.onnx")

    assert not read
    changed = tmp_path / "model" / "model.onnx"
    before = changed.stat()
    changed.write_bytes(b"weightz" * 1000)
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ModelDamaged, match=r"model\.onnx"):
        SealedFiles(tmp_path / "model").place("model.onnx")


def test_what_was_read_a_moment_after_it_was_written_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache" / "recollect").mkdir(parents=True)
    write_sealed(tmp_path / "model", FILES)

    SealedFiles(tmp_path / "model").place("model.onnx")

    assert not list((tmp_path / "cache").rglob("models/*"))
