"""No text stops the server: while one is read, others are answered."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.serving import served

# Of processor time, so that a busy machine decides nothing.
MOST_SECONDS = 1.0


@asynccontextmanager
async def nothing_waits() -> AsyncIterator[None]:
    """Fail if the event loop, which answers everybody, stands still in between."""
    longest = 0.0

    async def look() -> None:
        nonlocal longest
        while True:
            began = time.process_time()
            await asyncio.sleep(0.005)
            longest = max(longest, time.process_time() - began)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
    assert longest < MOST_SECONDS


@pytest.mark.parametrize(
    "query",
    [
        "where\n" + 1_000 * " " + "x",
        "where\n" + 19_000 * " " + "x",
        "你好，" * 5_000 + "x",
        "a-" * 9_000,
        "1." * 9_000,
        "|" + " |" * 9_000 + "x",
    ],
    ids=lambda query: f"{query[:6]!r} {len(query)}",
)
async def test_a_question_of_any_shape_lets_others_be_answered(tmp_path: Path, query: str):
    async with served(tmp_path / "data") as address, httpx.AsyncClient(base_url=address) as client:
        await client.post("/v1/recall", json={"query": "tea"}, timeout=60)
        async with nothing_waits():
            answer = await client.post("/v1/recall", json={"query": query}, timeout=120)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("heading.md", "# a" + 1_200 * " " + "b"),
        ("headings.md", ("# a" + 1_200 * " " + "b\n") * 300),
        ("comments.html", "<p>tea</p>" + "<!--" * 20_000),
        ("tags.html", "<a href='" * 8_000),
        ("frames.txt", ("= " + 80 * " " + "x\n") * 1_000),
        ("digits.html", "<p>&#" + "1" * 5_000),
    ],
)
async def test_a_document_of_any_shape_lets_others_be_answered(
    tmp_path: Path, name: str, content: str
):
    async with served(tmp_path / "data") as address, httpx.AsyncClient(base_url=address) as client:
        await client.post("/v1/recall", json={"query": "tea"}, timeout=60)
        async with nothing_waits():
            answer = await client.post(
                "/v1/knowledge?wait=true", files={"file": (name, content.encode())}, timeout=120
            )
    assert [it["error"] for it in answer.json()["items"]] == [""]
