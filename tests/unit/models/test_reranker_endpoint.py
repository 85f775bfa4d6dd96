"""Reranking over HTTP, against a real server in this process that misbehaves on request."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.domain.sections import RerankSettings
from recollect.errors import Closed, NotAvailable
from recollect.models.rerankers import (
    EndpointReranker,
    RerankingFailed,
    open_reranker,
)
from tests.unit.models.model_service import ModelService, running

KEY = "sk-very-secret"


class Server(ModelService):
    """Scores a text by its length in tenths."""

    gives_logits = False

    def answer(self, body: dict[str, Any]) -> Any:
        """Best first, as these services answer."""
        is_tei = "texts" in body
        scored = enumerate(map(self.score, body["texts" if is_tei else "documents"]))
        ranked = sorted(scored, key=lambda item: -item[1])
        if is_tei:
            return [{"index": at, "score": score} for at, score in ranked]
        return {"results": [{"index": at, "relevance_score": score} for at, score in ranked]}

    def score(self, text: str) -> float:
        return len(text) - 5.0 if self.gives_logits else len(text) / 10


@pytest.fixture
def server() -> Iterator[Server]:
    with running(Server()) as server:
        yield server


def opened(server: Server, model: str = "cohere:rerank-v3.5", **changes: Any) -> EndpointReranker:
    given = {"base_url": server.url, "api_key": KEY} | changes
    reranker = open_reranker(RerankSettings(model=model, **given))
    assert isinstance(reranker, EndpointReranker)
    return reranker


def probabilities(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    return 1 / (1 + np.exp(-logits))


async def test_scores_come_in_the_order_of_the_texts(server: Server):
    remote = opened(server)
    logits = await remote.logits("钥匙在哪里？", ["a", "在抽屉里", "bb"])
    await remote.close()

    assert logits.dtype == np.float32
    np.testing.assert_allclose(probabilities(logits), [0.1, 0.4, 0.2], rtol=1e-5)
    assert server.requests == [("/v1/rerank", f"Bearer {KEY}")]
    assert server.bodies == [
        {
            "model": "rerank-v3.5",
            "query": "钥匙在哪里？",
            "documents": ["a", "在抽屉里", "bb"],
            "top_n": 3,
        }
    ]


async def test_text_embeddings_inference_is_asked_in_its_own_form(server: Server):
    remote = opened(server, "tei:bge", api_key="")
    logits = await remote.logits("q", ["a", "ccc"])
    await remote.close()

    np.testing.assert_allclose(probabilities(logits), [0.1, 0.3], rtol=1e-5)
    assert server.requests == [("/v1/rerank", None)]
    assert server.bodies == [{"query": "q", "texts": ["a", "ccc"], "truncate": True}]


async def test_many_texts_go_in_batches(server: Server):
    remote = opened(server, "endpoint:bge", batch_size=2)
    logits = await remote.logits("q", ["a", "bb", "ccc", "", "eeeee"])
    await remote.close()

    np.testing.assert_allclose(probabilities(logits), [0.1, 0.2, 0.3, 0.1, 0.5], rtol=1e-5)
    assert [len(body["documents"]) for body in server.bodies] == [2, 2, 1]
    assert [body["top_n"] for body in server.bodies] == [2, 2, 1]


@pytest.mark.parametrize(("model", "requests"), [("tei:bge", 4), ("endpoint:bge", 1)])
async def test_a_batch_is_as_large_as_the_kind_usually_takes(
    server: Server, model: str, requests: int
):
    remote = opened(server, model)
    assert (await remote.logits("q", ["a"] * 100)).shape == (100,)
    await remote.close()

    assert len(server.bodies) == requests


async def test_no_texts_need_no_request(server: Server):
    remote = opened(server)

    assert (await remote.logits("q", [])).shape == (0,)
    assert server.bodies == []


async def test_half_a_surrogate_pair_is_sent_as_a_question_mark(server: Server):
    remote = opened(server)
    await remote.logits("q\ud83d", ["a\ud83d"])
    await remote.close()

    assert (server.bodies[0]["query"], server.bodies[0]["documents"]) == ("q?", ["a?"])


async def test_logits_are_taken_as_they_are(server: Server):
    server.gives_logits = True
    remote = opened(server, "endpoint:bge", batch_size=2)
    logits = await remote.logits("q", ["aaaaaaaaaa", "aaaaa", "aaaaaa"])
    later = await remote.logits("q", ["aaaaaa"])
    await remote.close()

    np.testing.assert_allclose(logits, [5.0, 0.0, 1.0], rtol=1e-5)
    # Alone it would pass for a probability; the server is known by now.
    assert later[0] == logits[2]


async def test_a_probability_at_its_end_is_a_number_too(server: Server):
    server.faults = [(200, {}, results(1.0000002, -0.0000001))]
    remote = opened(server)

    yes, no = await remote.logits("q", ["a", "b"])
    assert yes == pytest.approx(-no, rel=1e-4) == pytest.approx(9.2, abs=0.1)
    await remote.close()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_endpoint_is_tried_again(server: Server, status: int):
    server.faults = [(status, {"retry-after": "0"}, b"")]
    remote = opened(server)

    assert (await remote.logits("q", ["a"])).shape == (1,)
    assert len(server.bodies) == 2
    await remote.close()


async def test_an_endpoint_that_stays_down_is_a_failure_worth_a_later_try(server: Server):
    server.faults = [(503, {}, b"")] * 2
    remote = opened(server)

    with pytest.raises(RerankingFailed, match="503") as failure:
        await remote.logits("q", ["a"])
    assert failure.value.code == "rerank_endpoint_failed"
    assert failure.value.retryable
    assert len(server.bodies) == 2
    assert (await remote.logits("q", ["a"])).shape == (1,)
    await remote.close()


async def test_an_endpoint_that_asks_for_a_long_pause_does_not_get_it(server: Server):
    server.faults = [(429, {"retry-after": "3600"}, b"")] * 2
    remote = opened(server, retries=1)

    async with asyncio.timeout(30):
        with pytest.raises(RerankingFailed, match="429"):
            await remote.logits("q", ["a"])
    await remote.close()


async def test_nobody_listening_is_told(server: Server):
    remote = opened(server, base_url="http://127.0.0.1:9/v1")

    with pytest.raises(RerankingFailed, match=r"127\.0\.0\.1:9"):
        await remote.logits("q", ["a"])
    await remote.close()


async def test_all_batches_and_tries_together_keep_the_time(server: Server):
    server.delay = 0.15
    remote = opened(server, timeout=0.4, batch_size=1, retries=5)

    async with asyncio.timeout(15):
        with pytest.raises(RerankingFailed, match=r"0\.4 s") as failure:
            await remote.logits("q", ["a"] * 200)
    assert failure.value.code == "rerank_endpoint_failed"
    await remote.close()


async def test_waiting_for_an_answer_can_be_cancelled(server: Server):
    server.delay = 60
    remote = opened(server)
    work = asyncio.create_task(remote.logits("q", ["a"]))
    await asyncio.sleep(0.1)

    work.cancel()
    async with asyncio.timeout(15):
        with pytest.raises(asyncio.CancelledError):
            await work
    await remote.close()


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (401, b'{"message": "no such key"}'),
        (404, b'{"error": {"message": "no such key"}}'),
        (413, b'{"error": "no such key", "error_type": "validation"}'),
        (422, b'{"detail": "no such key"}'),
    ],
    ids=["cohere", "gateway", "tei", "jina"],
)
async def test_a_refusal_is_not_tried_again_and_is_told_in_its_words(
    server: Server, status: int, content: bytes
):
    server.faults = [(status, {}, content)]
    remote = opened(server)

    with pytest.raises(NotAvailable, match=f"{status} no such key") as refusal:
        await remote.logits("q", ["a"])
    assert refusal.value.code == "rerank_refused"
    assert not refusal.value.retryable
    assert "rerank.api_key" in refusal.value.hint
    assert len(server.bodies) == 1
    await remote.close()


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"detail": [{"msg": "x"}]}'])
async def test_a_refusal_without_words_is_told_by_its_number(server: Server, content: bytes):
    server.faults = [(400, {}, content)]
    remote = opened(server)

    with pytest.raises(NotAvailable, match="400"):
        await remote.logits("q", ["a"])
    await remote.close()


def results(*scores: float) -> bytes:
    told = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
    return json.dumps({"results": told}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"<html>hello</html>",
        b"{}",
        b"5",
        b'{"results": 5}',
        b'{"results": [null, null]}',
        b'{"results": [{"index": 0}, {"index": 1}]}',
        b'{"results": [{"index": 0, "relevance_score": "x"}, {"index": 1, "score": 1}]}',
        b'{"results": [{"index": 0, "score": 1}, {"index": 0, "score": 1}]}',
        b'{"results": [{"index": -1, "score": 1}, {"index": 0, "score": 1}]}',
        b'{"results": [{"index": 0, "score": 1' + b"0" * 400 + b'}, {"index": 1, "score": 1}]}',
        results(0.5),
        results(0.5, 0.5, 0.5),
        results(0.5, float("nan")),
        results(float("inf"), 0.5),
    ],
)
async def test_garbage_and_wrong_counts_are_never_handed_on(server: Server, content: bytes):
    server.faults = [(200, {}, content)]
    remote = opened(server)

    with pytest.raises(RerankingFailed) as problem:
        await remote.logits("q", ["a", "b"])
    assert problem.value.code == "bad_scores"
    await remote.close()


@pytest.mark.parametrize("changes", [{"base_url": "http://[::1"}, {"api_key": "密码"}])
async def test_an_address_or_key_that_cannot_be_sent_is_told(server: Server, changes: Any):
    remote = opened(server, **changes)

    with pytest.raises(NotAvailable, match="cannot be sent") as problem:
        await remote.logits("q", ["a"])
    assert problem.value.code == "rerank_refused"
    await remote.close()


async def test_after_closing_it_says_so(server: Server):
    asked, unasked = opened(server), opened(server)
    await asked.logits("q", ["a"])

    for remote in (asked, unasked):
        await remote.close()
        with pytest.raises(Closed):
            await remote.logits("q", ["a"])


async def test_the_key_is_shown_nowhere(server: Server, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    server.faults = [(401, {}, b"{}")]
    remote = opened(server)

    with pytest.raises(NotAvailable) as problem:
        await remote.logits("q", ["a"])
    await remote.close()

    choice = RerankSettings(model="cohere:x", api_key=KEY)
    shown = f"{problem.value!s} {problem.value.hint} {caplog.text} {remote._endpoint!r} {choice!r}"
    assert KEY not in shown
