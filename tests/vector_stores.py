"""Real vector stores for tests."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from tests.database_servers import PostgresqlServer, Running, free_port

_MILVUS = Path(__file__).parent / "databases" / ".venv-milvus"
_START = """
import sys
from milvus import MilvusServer
server = MilvusServer()
server.set_base_dir(sys.argv[1])
server.listen_port = int(sys.argv[2])
server.start()
print("ready", flush=True)
sys.stdin.read()
server.stop()
"""


@contextmanager
def pgvector_url() -> Iterator[str]:
    """Start PostgreSQL, unless the run of the tests has one, and return an empty database."""
    running = Running.server
    server = running if isinstance(running, PostgresqlServer) else PostgresqlServer()
    server.run("CREATE DATABASE vectors", "postgres")
    try:
        yield server.url("vectors")
    finally:
        server.drop("vectors")
        if server is not running:
            server.stop()


class MilvusServer:
    """Milvus from its package, in an environment and a folder of its own."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-milvus-"))
        self.port = free_port()

    @cached_property
    def _process(self) -> subprocess.Popen[str]:
        python = _MILVUS / "bin" / "python"
        assert python.exists(), "Milvus is not installed: sh tools/setup.sh server milvus"
        run = [str(python), "-c", _START, str(self.folder), str(self.port)]
        with (self.folder / "server.log").open("wb") as log:
            process = subprocess.Popen(
                run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert process.stdout is not None
        while line := process.stdout.readline():
            if line.strip() == "ready":
                return process
        process.kill()
        raise AssertionError((self.folder / "server.log").read_text()[-2_000:])

    @property
    def url(self) -> str:
        assert self._process.poll() is None, "the server ended"
        return f"milvus://127.0.0.1:{self.port}"

    def stop(self) -> None:
        if "_process" in vars(self):
            # It ends with its standard input.
            self._process.communicate(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)
