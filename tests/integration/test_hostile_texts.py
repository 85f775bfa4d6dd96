"""No text stops the server: while one is read, others are answered."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from recollect import Memory
from recollect.errors import InvalidInput
from recollect.knowledge.parsing import ParsedText
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


async def test_a_short_document_that_is_read_for_ever_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    goes_on = threading.Event()

    def hang(*_: object) -> ParsedText:
        goes_on.wait(60)
        raise InvalidInput("it came to an end")

    monkeypatch.setattr("recollect.knowledge.parser.parse_text", hang)
    monkeypatch.setattr("recollect.knowledge.parser._MAX_INLINE_SECONDS", 0.2)
    try:
        async with Memory.open(tmp_path / "memory.db") as memory:
            began = time.monotonic()
            # More than threads: each is read elsewhere, where it can be ended.
            for number in range(4):
                added = await memory.knowledge.add(
                    f"# Tea {number}\n\nIt is green.", f"{number}.md"
                )
                assert (added.status, added.error) == ("ready", "")
            assert time.monotonic() - began < 30
    finally:
        goes_on.set()
