"""It never calls home: no look-up, no connection, no file outside the folders it was given.

Each program runs with an empty home, under a filter of the kernel that kills it at its first
attempt to reach the network, whichever library makes it.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests import sealed
from tests.processes import Child

RECOLLECT = ("-c", "from recollect.cli import main; main()")
# onnxruntime's report, were it on, would look its host up about eight seconds after the model is
# loaded.
REPORT_AFTER = 12
COMMANDS = """
from recollect.cli.app import run
assert run(["remember", "Ann prefers window seats"]) == 0
assert run(["recall", "where does she like to sit on a plane?"]) == 0
assert run(["models", "check"]) == 0
assert run(["doctor"]) == 0
"""
# All that an installation with every part brings along, loaded as recollect loads it.
EVERY_DEPENDENCY = """
import importlib, re
from importlib import metadata
import recollect.models.onnx_model as onnx
onnx.session_errors()
wanted = {re.match(r"[\\w.-]+", it)[0].lower() for it in metadata.requires("recollect")}
wanted |= {"anthropic", "openai"}  # what pydantic-ai speaks through
for module, distributions in metadata.packages_distributions().items():
    if wanted & {it.lower() for it in distributions} and not module.startswith("_"):
        print(importlib.import_module(module).__name__)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home, which is also where the programs run and put what is temporary."""
    made = tmp_path / "empty"
    made.mkdir()
    return made


@pytest.fixture
def environment(home: Path, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        # PyMySQL asks who is logged in, which without this goes through a local socket.
        "USER": "ann",
        "TMPDIR": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RECOLLECT_DATA_DIR": str(tmp_path / "data"),
    }


def run_sealed(
    *arguments: str, environment: dict[str, str], home: Path
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, sealed.__file__, sys.executable, *arguments],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def left_behind(home: Path) -> list[str]:
    return sorted(str(it.relative_to(home)) for it in home.rglob("*"))


def test_the_seal_kills_what_looks_a_name_up(environment: dict[str, str], home: Path):
    looking_up = "import socket; socket.getaddrinfo('recollect.example', 443)"
    done = run_sealed("-c", looking_up, environment=environment, home=home)
    assert done.returncode == -signal.SIGSYS


def test_remembering_and_recalling_by_meaning_reach_for_nothing(
    environment: dict[str, str], home: Path
):
    done = run_sealed("-c", COMMANDS, environment=environment, home=home)
    assert done.returncode == 0, done
    assert left_behind(home) == []


def test_no_dependency_reaches_for_anything_when_it_is_loaded(
    environment: dict[str, str], home: Path
):
    done = run_sealed("-c", EVERY_DEPENDENCY, environment=environment, home=home)
    assert done.returncode == 0, done
    assert {"onnxruntime", "openai", "pydantic_ai", "obstore", "uvicorn"} <= {*done.stdout.split()}
    assert left_behind(home) == []


def test_a_server_that_runs_for_a_while_reaches_for_nothing(
    environment: dict[str, str], home: Path
):
    with Child(
        [sys.executable, sealed.__file__, sys.executable, *RECOLLECT, "serve", "--port", "0"],
        env=environment,
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        address = next(word for word in server.stdout.readline().split() if "://" in word).rstrip(
            ";.,"
        )
        with httpx.Client(base_url=address, timeout=60) as client:
            saved = client.post("/v1/records", json={"content": "Ann prefers window seats"})
            found = client.post("/v1/recall", json={"query": "where does she like to sit?"})
        time.sleep(REPORT_AFTER)
        alive = server.poll() is None
        server.terminate()
        server.communicate(timeout=60)
    assert alive, "something in the server reached for the network"
    assert [hit["id"] for hit in found.json()["hits"]] == [saved.json()["id"]]
    assert left_behind(home) == []
