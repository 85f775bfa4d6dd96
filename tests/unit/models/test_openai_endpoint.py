"""Embeddings over HTTP, against a real server in this process that misbehaves on request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from recollect.errors import NotAvailable
from recollect.models import openai_endpoint
from recollect.models.faults import EmbeddingFailed
from recollect.models.openai_endpoint import Endpoint, OpenAIEmbedder
from tests.unit.models.model_service import ModelService, running

KEY = "sk-very-secret"


class Server(ModelService):
    """Answers with the vector (length of the text, 1, 1)."""

    tokens: int | None = None

    def answer(self, body: dict[str, Any]) -> Any:
        rows = [
            {"index": index, "embedding": [float(len(text)), 1.0, 1.0]}
            for index, text in enumerate(body["input"])
        ]
        # The order of an answer is not promised; the index is.
        answer: dict[str, Any] = {"data": rows[::-1]}
        if self.tokens is not None:
            answer["usage"] = {"prompt_tokens": self.tokens}
        return answer


@pytest.fixture
def server() -> Iterator[Server]:
    with running(Server()) as server:
        yield server


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_endpoint, "_FIRST_PAUSE_SECONDS", 0.01)


def embedder(server: Server, **changes: Any) -> OpenAIEmbedder:
    given = {"model": "bge-m3", "dimension": 3, "base_url": server.url, "api_key": KEY}
    return OpenAIEmbedder(Endpoint(**(given | changes)))


async def test_rows_come_normalised_and_in_order_over_several_batches(server: Server):
    remote = embedder(server, batch_size=2)
    seen: list[tuple[int, int]] = []

    vectors = await remote.embed(
        ["a", "bb", "ccc", "", "eeeee"], "passage", lambda *x: seen.append(x)
    )
    await remote.close()

    expected = np.array([[n, 1, 1] for n in (1, 2, 3, 1, 5)], np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert [len(body["input"]) for body in server.bodies] == [2, 2, 1]
    assert seen == [(2, 5), (4, 5), (5, 5)]
    assert server.requests[0][1] == f"Bearer {KEY}"


async def test_half_a_surrogate_pair_is_sent_as_a_question_mark(server: Server):
    remote = embedder(server)
    await remote.embed(["a\ud83d"], "passage")
    await remote.close()

    assert server.bodies[0]["input"] == ["a?"]


async def test_prefixes_and_shortened_vectors_are_asked_for(server: Server):
    remote = embedder(server, model="text-embedding-3-small", query_prefix="query: ")

    await remote.embed(["x"], "query")
    await remote.close()

    assert server.bodies == [
        {"model": "text-embedding-3-small", "input": ["query: x"], "dimensions": 3}
    ]


async def test_a_model_that_may_not_know_the_option_is_not_asked_to_shorten(server: Server):
    remote = embedder(server)
    await remote.embed(["x"], "passage")
    await remote.close()

    assert "dimensions" not in server.bodies[0]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_endpoint_is_tried_again(server: Server, status: int):
    server.faults = [(status, {"retry-after": "0"}, b""), (status, {}, b"")]
    remote = embedder(server)

    assert (await remote.embed(["a"], "query")).shape == (1, 3)
    assert len(server.bodies) == 3
    await remote.close()


async def test_an_endpoint_that_stays_down_is_a_failure_worth_a_later_try(server: Server):
    server.faults = [(503, {}, b"")] * 3
    remote = embedder(server, retries=2)

    with pytest.raises(EmbeddingFailed, match="503") as failure:
        await remote.embed(["a"], "query")
    assert failure.value.retryable
    assert len(server.bodies) == 3
    await remote.close()


async def test_nobody_listening_is_told(server: Server):
    remote = embedder(server, base_url="http://127.0.0.1:9/v1", retries=1)

    with pytest.raises(EmbeddingFailed, match=r"127\.0\.0\.1:9"):
        await remote.embed(["a"], "query")
    await remote.close()


async def test_a_slow_endpoint_is_given_up_in_time(server: Server):
    server.delay = 60
    remote = embedder(server, timeout=0.05, retries=1)

    async with asyncio.timeout(15):
        with pytest.raises(EmbeddingFailed, match="Timeout"):
            await remote.embed(["a"], "query")
    await remote.close()


async def test_waiting_for_an_answer_can_be_cancelled(server: Server):
    server.delay = 60
    remote = embedder(server)
    work = asyncio.create_task(remote.embed(["a"], "query"))
    await asyncio.sleep(0.1)

    work.cancel()
    async with asyncio.timeout(15):
        with pytest.raises(asyncio.CancelledError):
            await work
    await remote.close()


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_a_refusal_is_not_tried_again_and_says_what_to_check(server: Server, status: int):
    server.faults = [(status, {}, b'{"error": {"message": "no such model"}}')]
    remote = embedder(server)

    with pytest.raises(NotAvailable, match="no such model") as refusal:
        await remote.embed(["a"], "query")
    assert not refusal.value.retryable
    assert "api_key" in refusal.value.hint
    assert len(server.bodies) == 1
    await remote.close()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"<html>hello</html>", "bad_vectors"),
        (b"{}", "bad_vectors"),
        (b'{"data": 5}', "bad_vectors"),
        (b'{"data": [null, null]}', "bad_vectors"),
        (b'{"data": [{"embedding": [1, 2, 3]}]}', "bad_vectors"),
        (b'{"data": [{"embedding": [1, 2, 3]}, {"embedding": [1, 2]}]}', "bad_vectors"),
        (b'{"data": [{"embedding": [1, 2]}, {"embedding": [1, 2]}]}', "wrong_dimension"),
        (b'{"data": [{"embedding": [1, 2, NaN]}, {"embedding": [1, 2, 3]}]}', "bad_vectors"),
        (b'{"data": [{"embedding": [0, 0, 0]}, {"embedding": [1, 2, 3]}]}', "bad_vectors"),
        (b'{"data": [{"embedding": "AAAA"}, {"embedding": "AAAA"}]}', "bad_vectors"),
    ],
)
async def test_garbage_is_never_handed_on(server: Server, content: bytes, code: str):
    server.faults = [(200, {}, content)]
    remote = embedder(server)

    with pytest.raises(NotAvailable) as problem:
        await remote.embed(["a", "b"], "query")
    assert problem.value.code == code
    await remote.close()


async def test_the_key_is_shown_nowhere(server: Server, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    server.faults = [(401, {}, b"{}")]
    remote = embedder(server)

    with pytest.raises(NotAvailable) as problem:
        await remote.embed(["a"], "query")
    await remote.close()

    shown = f"{problem.value!s} {problem.value.hint} {caplog.text} {remote._endpoint!r}"
    assert KEY not in shown
