"""The two wheels: what is in them, and that they are enough in an empty folder elsewhere."""

import asyncio
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import TextContent

from tests.processes import Child
from tools import dist

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


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What `make dist` builds."""
    built = dist.build(tmp_path_factory.mktemp("dist"))
    return {wheel.name.split("-")[0]: wheel for wheel in built}


@pytest.fixture(scope="module")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the content of both."""
    folder = tmp_path_factory.mktemp("installed")
    for wheel in wheels.values():
        with zipfile.ZipFile(wheel) as files:
            files.extractall(folder)
    return folder


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
        console = "recollect/server/console_files"
        assert f"{console}/index.html" in wheel.namelist()
        assert [it for it in wheel.namelist() if it.startswith(f"{console}/assets/index-")]
        (about,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
        needed = [it for it in wheel.read(about).decode().splitlines() if "Requires-Dist" in it]
        always = {it.split()[1].split(">")[0] for it in needed if "extra ==" not in it}
        assert {"fastapi", "onnxruntime", "recollect-embedder", "uvicorn"} <= always
        assert "file:" not in "".join(needed), "a wheel goes to other machines"


def test_a_wheel_without_the_console_is_not_built(tmp_path: Path):
    clone = tmp_path / "clone"
    left_out = shutil.ignore_patterns("console_files", "__pycache__")
    for name in ("src", "docs", "tools"):
        shutil.copytree(_ROOT / name, clone / name, ignore=left_out)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(_ROOT / name, clone)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    told = subprocess.run(command, cwd=clone, check=False, capture_output=True, text=True)
    assert told.returncode != 0
    assert "make console" in told.stderr
    assert not list(clone.rglob("*.whl"))


def test_both_wheels_together_answer_by_meaning_without_a_network(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("RECOLLECT_EMBEDDING__MODEL", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    command = [sys.executable, "-c", _OFFLINE, str(installed), str(tmp_path / "memory.db")]
    told = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "'vector'" in told.stdout
    assert "recollect-bilingual/" in told.stdout


# --- The rehearsal: both wheels in an empty folder, without the repository ------------------------


def _rehearse(recollect: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
    """Do in a folder what the first hour is about: remember, recall, serve, look, use MCP."""
    data = ("--data", str(folder / "memory.db"))

    def run(*arguments: str) -> str:
        command = [*recollect, *arguments, *data]
        done = subprocess.run(
            command, cwd=folder, env=environment, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("remember", "备用钥匙挂在厨房门后面", "--user", "ann")
    found = json.loads(run("recall", "Where did I put the extra key?", "--user", "ann", "--json"))
    assert found["hits"][0]["passage"] == "备用钥匙挂在厨房门后面", "only its meaning leads to it"
    serve = [*recollect, "serve", "--port", "0", "--json", *data]
    with Child(serve, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = json.loads(server.stdout.readline())["address"]
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as browser:
            page = browser.get("/").text
            script = page.split('type="module" crossorigin src="')[1].split('"')[0]
            answer = browser.get(script, headers={"Accept-Encoding": "gzip"})
            assert answer.headers["content-encoding"] == "gzip"
            assert len(answer.text) > 100_000, "the console is there, and whole"
            hits = browser.post("/v1/recall?user=ann", json={"query": "备用钥匙"}).json()["hits"]
            assert hits[0]["passage"] == "备用钥匙挂在厨房门后面"
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    command = StdioServerParameters(
        command=recollect[0], args=[*recollect[1:], "mcp", "--user", "ann", *data], env=environment
    )
    assert "厨房门后面" in asyncio.run(_recalled_over_mcp(command))


async def _recalled_over_mcp(command: StdioServerParameters) -> str:
    async with Client(command) as client:
        recalled = await client.call_tool("memory_recall", {"query": "备用钥匙"})
        return "".join(it.text for it in recalled.content if isinstance(it, TextContent))


def _elsewhere(folder: Path, **more: str) -> dict[str, str]:
    """The variables of somebody who has a home folder and nothing else of ours."""
    mine = ("RECOLLECT_", "PYTHON", "VIRTUAL_ENV", "XDG_")
    kept = {name: it for name, it in os.environ.items() if not name.startswith(mine)}
    return {**kept, "HOME": str(folder), **more}


def test_the_wheels_serve_show_remember_and_speak_mcp(installed: Path, tmp_path: Path):
    recollect = [sys.executable, "-m", "recollect"]
    _rehearse(recollect, tmp_path, _elsewhere(tmp_path, PYTHONPATH=str(installed)))


@pytest.mark.soak
def test_pip_installs_both_wheels_from_a_folder_into_an_empty_environment(
    wheels: dict[str, Path], tmp_path: Path
):
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    package, models = (str(wheels[name]) for name in ("recollect", _DATA))
    subprocess.run([*pip, f"{package}[mcp]", models], check=True, cwd=tmp_path)
    _rehearse([str(environment / "bin" / "recollect")], tmp_path, _elsewhere(tmp_path))


@pytest.mark.soak
def test_pip_installs_a_clone(tmp_path: Path):
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", f"{_ROOT}[mcp]"]
    subprocess.run(pip, check=True, cwd=tmp_path)
    _rehearse([str(environment / "bin" / "recollect")], tmp_path, _elsewhere(tmp_path))
