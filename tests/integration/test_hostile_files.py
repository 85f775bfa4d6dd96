"""Files that were made to hurt: each is refused, and the server goes on."""

import asyncio
import functools
import gzip
import io
import json
import zipfile
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory
from recollect.domain.sections import KnowledgeSettings
from recollect.errors import InvalidInput
from recollect.knowledge.parser import Parser
from recollect.server.app import create_app
from tests.serving import calling, served

LINE = json.dumps({"role": "user", "content": "I like tea", "session": "monday"}).encode() + b"\n"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(create_app(tmp_path / "data")) as opened:
        yield opened


def _bomb(megabytes: int) -> bytes:
    """Return gzip of so many megabytes, made without having them."""
    packing = zlib.compressobj(9, wbits=31)
    start = packing.compress(b'{"role": "user", "content": "') + packing.flush(zlib.Z_FULL_FLUSH)
    spaces = _repeated(packing, b" " * 2**20, megabytes)
    return start + spaces + packing.compress(b'"}\n') + packing.flush()


def _repeated(packing: Any, piece: bytes, times: int) -> bytes:
    """Return a piece so many times, packed once: a flushed block depends on nothing before it."""
    return (packing.compress(piece) + packing.flush(zlib.Z_FULL_FLUSH)) * times


def _archive(**files: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def _memory_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


async def _imported(client: httpx.AsyncClient, body: bytes) -> tuple[int, Any]:
    answer = await client.put("/v1/import/chat", content=body, timeout=120)
    return answer.status_code, answer.json()


async def test_a_small_file_that_unpacks_to_more_than_the_memory_is_refused(
    client: httpx.AsyncClient,
):
    bomb = _bomb(600)
    assert len(bomb) < 700_000
    before = _memory_mb()
    status, told = await _imported(client, bomb)
    assert (status, told["code"]) == (422, "unpacked_too_large")
    assert _memory_mb() - before < 200
    packed = _archive(**{"conversations.json": b" " * 80 * 2**20})
    status, told = await _imported(client, packed)
    assert (status, told["code"]) == (422, "unpacked_too_large")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"[" * 200_000, "not_a_chat"),
        (b'{"a":' * 200_000, "not_a_chat"),
        (_archive(**{f"{number}.json": b"{}" for number in range(10_001)}), "import_too_large"),
        (
            _archive(**{"conversations.json": _archive(**{"conversations.json": LINE})}),
            "not_a_chat",
        ),
    ],
    ids=["lists", "objects", "files", "archives"],
)
async def test_what_is_nested_or_counted_without_end_is_refused(
    client: httpx.AsyncClient, body: bytes, code: str
):
    status, told = await _imported(client, body)
    assert (status, told["code"]) == (422, code)


async def test_what_people_export_is_read_as_before(client: httpx.AsyncClient):
    listed = b"[" + b",\n".join(LINE.strip().replace(b"tea", b"tea %d" % it) for it in range(9))
    for body, added in (
        (LINE, 1),
        (LINE * 3, 2),
        (gzip.compress(LINE.replace(b"tea", b"rye")), 1),
        (listed + b"]", 9),
        (_archive(**{"conversations.json": listed.replace(b"tea", b"jam") + b"]"}), 9),
        (b'{\n"conversations": [{"messages": [%s]}]\n}' % LINE.strip().replace(b"tea", b"cake"), 1),
    ):
        status, told = await _imported(client, body)
        assert (status, told["added"]) == (200, added), (body[:60], told)


async def test_a_line_without_an_end_is_not_held_in_memory(client: httpx.AsyncClient):
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 2**20

    before = _memory_mb()
    answer = await client.put("/v1/import", content=endless(), timeout=120)
    assert answer.json()["code"] == "line_too_long"
    assert _memory_mb() - before < 300


async def _stalled(address: httpx.URL) -> bytes:
    """Begin to send a file and stop; return what is answered meanwhile."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(
        b"PUT /v1/import/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999\r\n\r\n" + LINE
    )
    try:
        return await reader.readline()
    finally:
        writer.close()


async def test_imports_that_stall_hold_up_nobody_else(tmp_path: Path):
    async with (
        served(tmp_path / "data") as address,
        httpx.AsyncClient(base_url=address, timeout=60) as client,
    ):
        await client.post("/v1/records", json={"content": "I like tea"})
        waiting = [asyncio.create_task(_stalled(httpx.URL(address))) for _ in range(40)]
        # Only a few are let in; whoever comes later is told so.
        first = [await it for _, it in zip(range(36), asyncio.as_completed(waiting), strict=False)]
        assert {*first} == {b"HTTP/1.1 429 Too Many Requests\r\n"}
        async with asyncio.timeout(20):
            saved = await client.post("/v1/records", json={"content": "I like rye"})
            found = await client.post("/v1/recall", json={"query": "x" * 3_000 + " rye"})
        assert (saved.status_code, found.status_code) == (201, 200)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _pdf_bomb() -> bytes:
    """Return a PDF whose one page is a gigabyte of drawing orders."""
    packing, orders, times = zlib.compressobj(9, wbits=-15), b"0 0 m 9 9 l S " * 75_000, 1_000
    checksum = functools.reduce(lambda sum_, _: zlib.adler32(orders, sum_), range(times), 1)
    packed = _repeated(packing, orders, times) + packing.flush()
    stream = b"\x78\xda" + packed + checksum.to_bytes(4)
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    body, places = b"%PDF-1.4\n", list[int]()
    for number, part in enumerate(parts, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % it for it in places)
    return body + (
        b"xref\n0 5\n0000000000 65535 f \n%strailer << /Size 5 /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF" % (table, len(body))
    )


@pytest.fixture
async def parser() -> AsyncIterator[Parser]:
    # The memory ends what has no end, as soon as it is used up; no machine is too slow for that.
    opened = Parser(KnowledgeSettings(parse_seconds=250, parse_memory_mb=600))
    yield opened
    await opened.close()


async def test_a_pdf_that_unpacks_without_end_costs_only_its_reader(parser: Parser):
    with pytest.raises(InvalidInput) as told:
        await parser.parse(_pdf_bomb(), "pdf", "bomb.pdf")
    assert told.value.code == "unreadable_document"
    assert (await parser.parse(b"<p>tea", "html", "page.html")).text == "tea"


async def test_an_office_file_that_unpacks_without_end_is_refused(parser: Parser):
    bomb = _archive(**{"word/document.xml": b" " * 600 * 2**20})
    with pytest.raises(InvalidInput) as told:
        await parser.parse(bomb, "docx", "bomb.docx")
    assert told.value.code == "unpacked_too_large"


def _pages() -> Iterator[tuple[str, bytes]]:
    for name in ("undefined", "punycode", "idna", "hex", "unicode_escape", "no-such-charset"):
        yield f"{name}.html", f'<meta charset="{name}"><p>Whales sing at night</p>'.encode()


@pytest.mark.parametrize(("name", "page"), [*_pages()])
async def test_a_page_in_an_encoding_that_is_none_is_read_all_the_same(
    client: httpx.AsyncClient, name: str, page: bytes
):
    answer = await client.post("/v1/knowledge?wait=true", files={"file": (name, page)}, timeout=120)
    (item,) = answer.json()["items"]
    assert (answer.status_code, item["error"]) == (200, "")
    assert item["document"]["status"] != "pending"


async def test_a_file_that_no_reader_expects_does_not_wait_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("recollect.knowledge.parser.parse_text", fail)
    async with Memory.open(tmp_path / "memory.db") as memory:
        document = await memory.knowledge.add("tea", "tea.txt", wait=True)
    assert "ZeroDivisionError" in document.error
