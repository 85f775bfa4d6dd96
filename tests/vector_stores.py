"""Real vector stores for tests."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.database_servers import PostgresqlServer, Running, free_port

_EXAMPLES = Path(__file__).parents[1] / "examples"
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


def offer_example(folder: Path, patched: pytest.MonkeyPatch) -> None:
    """Make the example of a vector store look like an installed package."""
    about = folder / "own_vector_store-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-vector-store\nVersion: 1.0\n")
    offered = "[recollect.backends]\ntable = own_vector_store:open_table\n"
    (about / "entry_points.txt").write_text(offered)
    patched.syspath_prepend(_EXAMPLES)
    patched.syspath_prepend(folder)


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


class Proxy:
    """Stands between a memory and PostgreSQL, and cuts the connections when told to."""

    def __init__(self, socket: str, url: str) -> None:
        self._socket = socket
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_cut = False
        self.url = url

    @classmethod
    @asynccontextmanager
    async def to_socket_of(cls, url: str) -> AsyncIterator[Proxy]:
        """Yield a proxy to the server whose socket is in a folder that the URL names."""
        parts = urlsplit(url)
        (folder,) = parse_qs(parts.query)["host"]
        port = free_port()
        user = parts.username or "postgres"
        its = cls(f"{folder}/.s.PGSQL.5432", f"postgresql://{user}@127.0.0.1:{port}{parts.path}")
        server = await asyncio.start_server(its._serve, "127.0.0.1", port)
        try:
            yield its
        finally:
            its.cut()
            server.close()
            for task in its._tasks:
                task.cancel()
            await asyncio.gather(*its._tasks, return_exceptions=True)

    def cut(self) -> None:
        self._is_cut = True
        for writer in self._open:
            writer.transport.abort()

    def mend(self) -> None:
        self._is_cut = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_unix_connection(self._socket)
        self._open |= {writer, far_writer}
        for source, target in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(_pass_on(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()
    except OSError:
        pass
    finally:
        target.close()
