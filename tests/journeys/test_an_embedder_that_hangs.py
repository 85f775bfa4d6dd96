"""An embedding endpoint that accepts connections and never answers does not hold up writing."""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from recollect import Memory
from recollect.settings import Settings

_DIMENSION = 16


class _Endpoint:
    """A real HTTP server with OpenAI's /embeddings, which hangs as long as a test wants."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.requests = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    int(line.partition(b":")[2])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                texts = json.loads(await reader.readexactly(length))["input"]
                self.requests += 1
                await self.answers.wait()
                rows = [{"index": at, "embedding": _row(text)} for at, text in enumerate(texts)]
                body = json.dumps({"data": rows}).encode()
                start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                writer.write(start + b"Content-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def _row(text: str) -> list[float]:
    return [byte / 255 for byte in hashlib.blake2b(text.encode(), digest_size=_DIMENSION).digest()]


@asynccontextmanager
async def _hanging() -> AsyncIterator[_Endpoint]:
    endpoint = _Endpoint()
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.port = server.sockets[0].getsockname()[1]
    try:
        yield endpoint
    finally:
        endpoint.answers.set()
        server.close()


def _settings(place: Path, endpoint: _Endpoint, **embedding: Any) -> Settings:
    return Settings.load(
        {
            "storage": {"path": place},
            "embedding": {
                "model": "openai:any",
                "dimension": _DIMENSION,
                "base_url": f"http://127.0.0.1:{endpoint.port}/v1",
                "api_key": "key",
                **embedding,
            },
        }
    )


async def test_what_is_written_is_stored_and_gets_its_vectors_later(database_path: Path):
    async with _hanging() as endpoint:
        settings = _settings(database_path, endpoint)
        assert settings.embedding.patience == 1
        async with Memory.open(settings) as memory:
            began = time.monotonic()
            saved = await memory.remember("the harbour master keeps the keys")
            assert time.monotonic() - began < 3
            assert endpoint.requests

            began = time.monotonic()
            await memory.remember("the lighthouse is painted white")
            assert time.monotonic() - began < 0.5, "it is not waited for again"

            recalled = await memory.recall("harbour keys")
            assert recalled[0].id == saved.id
            assert any("did not answer within 1 s" in note for note in recalled.degraded)
            endpoint.answers.set()
            await _found_by_vector(memory, "harbour keys", saved.id)


async def test_closing_does_not_wait_for_it(database_path: Path):
    async with _hanging() as endpoint:
        async with Memory.open(_settings(database_path, endpoint, patience=0.2)) as memory:
            await memory.remember("the harbour master keeps the keys")
            began = time.monotonic()
        assert time.monotonic() - began < 5


async def _found_by_vector(memory: Memory, question: str, record: str) -> None:
    """Wait until a job has made the vectors."""
    for _ in range(100):
        await memory.work()
        recalled = await memory.recall(question, min_score=0)
        paths = {it.path for hit in recalled if hit.id == record for it in hit.explanation.paths}
        if "vector" in paths and not recalled.degraded:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"no vectors were made: {recalled.degraded}")
