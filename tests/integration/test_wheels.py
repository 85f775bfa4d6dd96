"""The two wheels: what is in them, and that they are enough, without a network."""

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_DATA = "recollect_embedder"
_OFFLINE = """
import asyncio, socket, sys
from pathlib import Path

def refuse(*given, **named):
    raise OSError("no network here")

socket.create_connection = socket.getaddrinfo = refuse

import recollect, recollect_embedder
from recollect import Memory

for package in (recollect, recollect_embedder):
    assert Path(sys.argv[1]) in Path(package.__file__).parents, package.__file__

async def main():
    async with Memory.open(Path(sys.argv[2])) as memory:
        await memory.remember("备用钥匙挂在厨房门后面")
        hits = await memory.recall("Where did I put the extra key?", min_score=0)
        assert hits.degraded == (), hits.degraded
        print({path.path for path in hits[0].explanation.paths}, (await memory.stats()).embedder)

asyncio.run(main())
"""


def build(package: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=package, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    packages = {"recollect": _ROOT, _DATA: _ROOT / "packages" / "recollect-embedder"}
    return {
        name: build(package, tmp_path_factory.mktemp(name)) for name, package in packages.items()
    }


def test_the_data_wheel_has_every_file_and_they_are_whole(wheels: dict[str, Path]):
    with zipfile.ZipFile(wheels[_DATA]) as wheel:
        names = {name for name in wheel.namelist() if name.startswith(f"{_DATA}/")}
        source = _ROOT / "packages" / "recollect-embedder" / "src"
        assert names == {
            file.relative_to(source).as_posix()
            for file in (source / _DATA).iterdir()
            if file.is_file()
        }
        sums = json.loads(wheel.read(f"{_DATA}/sha256.json"))
        assert {f"{_DATA}/{name}" for name in sums} < names
        for name, digest in sums.items():
            assert hashlib.sha256(wheel.read(f"{_DATA}/{name}")).hexdigest() == digest
        (about,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
        assert "# recollect-embedder" in wheel.read(about).decode(), "the card goes with it"
        licences = about.replace("METADATA", "licenses")
        told = {
            f"{licences}/{name}" for name in ("NOTICE", "LICENSING.md", "LICENSES/CC-BY-4.0.txt")
        }
        assert told <= set(wheel.namelist()), "attributions and licences go with it"


def test_the_wheel_of_recollect_holds_neither_weights_nor_the_recipe(wheels: dict[str, Path]):
    with zipfile.ZipFile(wheels["recollect"]) as wheel:
        parts = {name.split("/")[0] for name in wheel.namelist()}
        assert {it for it in parts if not it.endswith(".dist-info")} == {"recollect"}
        assert not [name for name in wheel.namelist() if name.endswith((".onnx", ".npy"))]


def test_both_wheels_together_answer_by_meaning_without_a_network(
    wheels: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("RECOLLECT_EMBEDDING__MODEL", raising=False)
    installed = tmp_path / "installed"
    for wheel in wheels.values():
        with zipfile.ZipFile(wheel) as files:
            files.extractall(installed)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    command = [sys.executable, "-c", _OFFLINE, str(installed), str(tmp_path / "memory.db")]
    told = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "'vector'" in told.stdout
    assert "recollect-bilingual/" in told.stdout
