"""A client that never finishes its request holds no connection of the real server for ever."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import uvicorn

from recollect.server.app import create_app
from recollect.server.wire import ProblemProtocol

POST = b"POST /v1/records HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
BODY = b'{"content": "tea"}'


class ImpatientProtocol(ProblemProtocol):
    """The server's own protocol, in less time."""

    patience = 1.0


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[int]:
    app = create_app(tmp_path / "data")
    server = uvicorn.Server(uvicorn.Config(app, http=ImpatientProtocol, ws="none", log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield listener.getsockname()[1]
        server.should_exit = True
        await serving


async def answer_to(port: int, *parts: bytes) -> bytes:
    """All that the server says until it closes, to parts sent with a pause after each."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = asyncio.create_task(_read_all(reader))
    for part in parts:
        if not answer.done():
            writer.write(part)
            await asyncio.sleep(0.1)
    said = await asyncio.wait_for(answer, 30)
    writer.close()
    return said


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    """Read until the server closes; it resets the connection if more was sent than it read."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := await reader.read(1 << 16):
            said += piece
    return said


def last_of(answer: bytes) -> tuple[bytes, str]:
    """The status and the code of the last response, which ends the connection."""
    _, _, last = answer.rpartition(b"HTTP/1.1 ")
    head, _, body = last.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    assert b"connection: close" in head.lower()
    return head[:3], json.loads(body)["code"]


@pytest.mark.parametrize(
    "parts",
    [
        [b"GET /health HT"],
        [POST],
        [POST + b"Content-Length: 18\r\n\r\n"],
        [POST + b"Content-Length: 18\r\n\r\n", BODY[:5]],
        [POST + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\n" + BODY[:5]],
        [HEALTH, b"GET /hea"],  # the second request of a connection
        [HEALTH + b"GET /hea"],
    ],
    ids=["line", "headers", "body", "half", "chunks", "second", "pipelined"],
)
async def test_a_request_that_does_not_arrive_is_told_and_its_connection_closed(
    port: int, parts: list[bytes]
):
    assert last_of(await answer_to(port, *parts)) == (b"408", "request_too_slow")


async def test_a_drop_now_and_then_buys_no_time(port: int):
    drops = (POST + b"Content-Length: 1000\r\n\r\n", *[b" "] * 30)
    assert last_of(await answer_to(port, *drops)) == (b"408", "request_too_slow")


async def test_a_connection_that_says_nothing_is_closed(port: int):
    assert await answer_to(port) == b""


async def test_who_is_refused_early_cannot_hold_on_with_the_rest_of_the_body(port: int):
    foreign = POST + b"Origin: http://evil.example\r\nContent-Length: 1000\r\n\r\n"
    answer = await answer_to(port, foreign, *[b" "] * 30)
    assert answer.split()[1] == b"403"


async def test_a_request_in_several_parts_and_one_after_another_are_answered(port: int):
    whole = POST + b"Content-Length: 18\r\n\r\n"
    answer = await answer_to(port, whole[:20], whole[20:], BODY, HEALTH, HEALTH)
    assert [answer.count(status) for status in (b" 201 ", b" 200 ", b" 408 ")] == [1, 2, 0]


async def test_a_large_body_that_keeps_arriving_may_take_its_time(port: int):
    said = b'{"content": "' + b"tea " * 20_000 + b'"}'
    head = POST + b"Content-Length: %d\r\n\r\n" % len(said)
    # Longer than the patience, and far quicker than the least that is asked for.
    pieces = [said[start : start + 6_000] for start in range(0, len(said), 6_000)]
    answer = await answer_to(port, head, *pieces)
    assert answer.split()[1] == b"201"
