"""Somebody has a larger model that reads hits: it decides where the local answerer would.

The model of these stories believes one thing: what has the word "zebra" answers, nothing else does.
It is a folder with a cross-encoder, and the same thing behind an address.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.errors import SettingsError
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.unit.models.test_reranker_endpoint import Server
from tests.unit.models.tiny_reranker import marker_graph, write_folder

_MARKER = "zebra"
_TOLD = {
    "en": (
        "The spare key hangs in the hall",
        "Ann lent me her key ring, a zebra",
        "Where is the key?",
    ),
    "zh": ("备用钥匙挂在门厅里", "安的备用钥匙扣 zebra", "备用钥匙在哪里？"),
}
_MANUAL = (
    "# Valve\n\nTurn the valve to the left.\n\n# Pump\n\nA zebra beside the pump holds its valve."
)


class _Endpoint(Server):
    def score(self, text: str) -> float:
        return 0.999 if _MARKER in text.lower() else 0.001


@pytest.fixture
def endpoint() -> Iterator[_Endpoint]:
    with _Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(params=["folder", "endpoint"])
def reader(request: pytest.FixtureRequest, tmp_path: Path, endpoint: _Endpoint) -> dict[str, Any]:
    if request.param == "folder":
        return {"model": f"folder:{write_folder(tmp_path / 'reader', marker_graph(_MARKER))}"}
    return _remote(endpoint)


def _remote(endpoint: _Endpoint) -> dict[str, Any]:
    return {"model": "endpoint:reader", "base_url": endpoint.url, "retries": 0}


@asynccontextmanager
async def _memory(
    path: Path, reader: dict[str, Any], clock: TurnedClock | None = None, **recall: Any
) -> AsyncIterator[Memory]:
    chosen = {"storage": {"path": path}, "rerank": reader, "recall": {"cache_seconds": 0, **recall}}
    async with Memory.open(Settings.load(chosen), clock=clock) as memory:
        yield memory


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_it_prefers_comes_first(
    database_path: Path, reader: dict[str, Any], language: str
):
    plain, marked, question = _TOLD[language]
    async with _memory(database_path, reader) as memory:
        await memory.remember_many([plain, marked])
        recalled = await memory.recall(question)
    assert recalled[0].content == marked
    assert any("answers the question" in it.reason for it in recalled[0].explanation.boosts)
    assert not any("reader" in note for note in recalled.degraded)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_where_it_sees_no_answer_memory_is_silent(
    database_path: Path, reader: dict[str, Any], language: str
):
    plain, _, question = _TOLD[language]
    async with _memory(database_path, reader) as memory:
        await memory.remember(plain)
        assert not (await memory.recall(question)).hits
    async with _memory(database_path, {}) as memory:
        assert [hit.content for hit in await memory.recall(question)] == [plain]


async def test_from_which_score_on_a_text_answers_is_a_setting(
    database_path: Path, reader: dict[str, Any]
):
    plain, _, question = _TOLD["en"]
    async with _memory(database_path, {**reader, "threshold": 0.0001}) as memory:
        await memory.remember(plain)
        assert [hit.content for hit in await memory.recall(question)] == [plain]


async def test_of_two_that_answer_the_newer_comes_first(
    database_path: Path, reader: dict[str, Any], clock: TurnedClock
):
    async with _memory(database_path, reader, clock) as memory:
        await memory.remember("The zebra key hangs in the hall")
        clock.turn(days=3)
        await memory.remember("The zebra lies under the pot")
        (first, *_) = await memory.recall("Where is the zebra key?")
    assert first.content == "The zebra lies under the pot"


async def test_it_reads_requests_and_numbers_too(database_path: Path, reader: dict[str, Any]):
    async with _memory(database_path, reader) as memory:
        await memory.remember_many(["Parcel 17 is at the office", "zebra at the door, parcel 71"])
        for asked in ("Where is parcel 17?", "Find parcel 17 for me"):
            (first, *_) = await memory.recall(asked)
            assert first.content == "zebra at the door, parcel 71"


async def test_documents_follow_it(database_path: Path, reader: dict[str, Any]):
    async with _memory(database_path, reader) as memory:
        await memory.knowledge.add(_MANUAL, "manual.md")
        asked = "Which way does the valve turn?"
        (first, *_) = await memory.knowledge.search(asked)
        assert first.citation.path == ("Pump",)
        assert not await memory.knowledge.search(asked, min_score=0.3, tags=("none",))
        shown = await memory.knowledge.search(asked, min_score=0.3)
        assert [it.citation.path for it in shown] == [("Pump",)]


@pytest.mark.parametrize("trouble", ["down", "slow", "gone"])
async def test_if_it_cannot_be_asked_the_local_model_reads_instead(
    database_path: Path, endpoint: _Endpoint, trouble: str
):
    told = [
        "The cat is eleven and deaf",
        "Mrs Lindqvist from downstairs feeds Biscuit when we travel",
        "The cat Biscuit hates to travel, said the zebra",
    ]
    question = "who looks after the cat when we travel?"
    async with _memory(database_path, _remote(endpoint), patience=2) as memory:
        await memory.remember_many(told)
        assert (await memory.recall(question))[0].content == told[2]
        if trouble == "down":
            endpoint.faults = [(500, {}, b"broken")] * 9
        elif trouble == "slow":
            endpoint.delay = 3
        else:
            endpoint.faults = [(200, {}, b"[]")] * 9
        failed = await memory.recall(question)
        assert failed[0].content == told[1]
        (note,) = [it for it in failed.degraded if "endpoint:reader" in it]
        assert note.endswith("local-answerer reads instead")
        endpoint.faults, endpoint.delay = [], 0.0
        assert (await memory.recall(question))[0].content == told[2]
        (usage,) = [it for it in (await memory.stats()).models if it.task == "rerank"]
        assert (usage.calls, usage.failures) == (3, 1)


async def test_it_reads_so_many_candidates_and_no_more(database_path: Path, endpoint: _Endpoint):
    async with _memory(database_path, {**_remote(endpoint), "candidates": 2}) as memory:
        await memory.remember_many(["The key is old", "A key for Bo", "Cy has one key", "No key"])
        await memory.recall("Where is the key?", limit=1, min_score=0.0)
    assert [len(body["documents"]) for body in endpoint.bodies] == [2]


async def test_without_the_local_model_too_it_may_fail(database_path: Path, endpoint: _Endpoint):
    plain, marked, question = _TOLD["en"]
    endpoint.faults = [(500, {}, b"broken")]
    async with _memory(database_path, _remote(endpoint), read_hits=0) as memory:
        await memory.remember_many([plain, marked])
        failed = await memory.recall(question)
        assert {hit.content for hit in failed} == {plain, marked}
        assert any("endpoint:reader failed" in note for note in failed.degraded)
        assert (await memory.recall(question))[0].content == marked


async def test_an_unknown_one_is_refused_when_memory_is_opened(database_path: Path):
    with pytest.raises(SettingsError, match="unknown_reranker"):
        async with _memory(database_path, {"model": "nonsense:x"}):
            pass
