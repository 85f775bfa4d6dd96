"""Real vector stores for tests."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.database_servers import PostgresqlServer, Running, free_port

_Connect = Callable[[], Coroutine[Any, Any, tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
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
    """Stands between a memory and a database server, and cuts the connections when told to.

    It runs in a thread of its own, since a memory may wait for its server in the event loop.
    """

    def __init__(self, connect: _Connect, url: str) -> None:
        self._connect = connect
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_cut = False
        self._loop = asyncio.new_event_loop()
        self.url = url

    @classmethod
    @contextmanager
    def to(cls, url: str) -> Iterator[Proxy]:
        """Yield a proxy to the server at a URL, whose socket may be in a folder that it names."""
        parts, port = urlsplit(url), free_port()
        if folders := parse_qs(parts.query).get("host"):
            connect = partial(asyncio.open_unix_connection, f"{folders[0]}/.s.PGSQL.5432")
        else:
            connect = partial(asyncio.open_connection, parts.hostname, parts.port)
        user = parts.username or "postgres"
        its = cls(connect, f"{parts.scheme}://{user}@127.0.0.1:{port}{parts.path}")
        thread = threading.Thread(target=its._loop.run_forever, daemon=True)
        thread.start()
        try:
            its._wait(its._begin(port))
            yield its
        finally:
            its._wait(its._end())
            its._loop.call_soon_threadsafe(its._loop.stop)
            thread.join(10)
            its._loop.close()

    def cut(self) -> None:
        """Break every connection, and accept none until `mend`."""
        self._wait(self._cut())

    def mend(self) -> None:
        self._is_cut = False

    async def _begin(self, port: int) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)

    async def _end(self) -> None:
        self._server.close()
        await self._cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # What was aborted is closed in the next turn of the loop.
        await asyncio.sleep(0)

    async def _cut(self) -> None:
        self._is_cut = True
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()

    def _wait(self, work: Coroutine[Any, Any, Any]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._is_cut:
                raise ConnectionRefusedError
            far_reader, far_writer = await self._connect()
        except OSError:
            writer.transport.abort()
            return
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
