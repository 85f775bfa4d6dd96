"""A second look at the best candidates, by a model in a folder or behind an address."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.errors import SettingsError
from recollect.settings import Settings
from tests.unit.models.test_reranker_endpoint import Server
from tests.unit.models.tiny_reranker import write_folder

_TOLD = {
    "en": ("key key the key of the old harbour", "in the drawer is the key", "where is the key"),
    "zh": ("钥匙钥匙，旧港口的钥匙", "钥匙在抽屉", "钥匙在哪"),
}
_ANSWERS = ("drawer", "抽屉")


class _Judge(Server):
    """Knows which texts answer."""

    def score(self, text: str) -> float:
        return 0.95 if any(it in text for it in _ANSWERS) else 0.02


@pytest.fixture
def judge() -> Iterator[_Judge]:
    with _Judge() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@asynccontextmanager
async def _memory(path: Path, rerank: dict[str, Any], **recall: Any) -> AsyncIterator[Memory]:
    chosen = {"storage": {"path": path}, "rerank": rerank, "recall": {"gap": 0.0, **recall}}
    async with Memory.open(Settings.load(chosen)) as memory:
        yield memory


def _remote(judge: _Judge) -> dict[str, Any]:
    return {"model": "endpoint:judge", "base_url": judge.url, "retries": 0}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_remote_model_has_a_say_in_the_order(
    database_path: Path, judge: _Judge, language: str
):
    distraction, answer, question = _TOLD[language]
    async with _memory(database_path, _remote(judge)) as memory:
        await memory.remember_many([distraction, answer])
        recalled = await memory.recall(question, min_score=0.0)
    assert [hit.content for hit in recalled] == [answer, distraction]
    assert not any("reranker" in note for note in recalled.degraded)
    (boost,) = [it for it in recalled[0].explanation.boosts if "reranker" in it.reason]
    assert boost.reason == "reranker endpoint:judge says 0.95"
    told = recalled[0].explanation
    assert recalled[0].score == pytest.approx(0.5 * told.relevance + 0.5 * 0.95, rel=0.05)
    assert judge.bodies[0]["query"] == question


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_model_in_a_folder_has_a_say_in_the_order(
    database_path: Path, tmp_path: Path, language: str
):
    _, answer, question = _TOLD[language]
    folder = write_folder(tmp_path / "tiny")
    rerank = {"model": f"folder:{folder}", "weight": 1.0}
    async with _memory(database_path, rerank) as memory:
        await memory.remember_many([answer, "harbour", "港口"])
        (first, *_) = await memory.recall(question, min_score=0.0)
    assert first.content == answer
    assert any("says 1.00" in it.reason for it in first.explanation.boosts)


async def test_what_it_judges_away_is_not_shown_and_told(database_path: Path, judge: _Judge):
    distraction, answer, question = _TOLD["en"]
    async with _memory(database_path, {**_remote(judge), "weight": 1.0}) as memory:
        await memory.remember_many([distraction, answer])
        recalled = await memory.recall(question, min_score=0.3)
        assert [hit.content for hit in recalled] == [answer]
        assert [miss.reason for miss in recalled.near_misses] == ["below min_score"]


async def test_it_reads_so_many_candidates_and_no_more(database_path: Path, judge: _Judge):
    distraction, answer, question = _TOLD["en"]
    async with _memory(database_path, {**_remote(judge), "candidates": 2}) as memory:
        await memory.remember_many([distraction, answer, "a key for Bo", "Cy has one key"])
        await memory.recall(question, limit=1, min_score=0.0)
        assert [len(body["documents"]) for body in judge.bodies] == [2]


async def test_when_it_fails_the_order_stays_and_that_is_said(database_path: Path, judge: _Judge):
    distraction, answer, question = _TOLD["en"]
    async with _memory(database_path, _remote(judge)) as memory:
        await memory.remember_many([distraction, answer])
        judge.faults = [(500, {}, b"broken")]
        failed = await memory.recall(question, min_score=0.0)
        assert any("reranker endpoint:judge failed" in note for note in failed.degraded)
        assert not any("reranker" in it.reason for it in failed[0].explanation.boosts)
        assert {hit.content for hit in failed} == {distraction, answer}
        again = await memory.recall(question, min_score=0.0)
        assert [hit.content for hit in again] == [answer, distraction]


async def test_when_it_is_slow_it_is_left_out(database_path: Path, judge: _Judge):
    distraction, answer, question = _TOLD["en"]
    judge.delay = 0.5
    async with _memory(database_path, _remote(judge), patience=0.05) as memory:
        await memory.remember_many([distraction, answer])
        recalled = await memory.recall(question, min_score=0.0)
    assert any("did not answer within 0.05 s" in note for note in recalled.degraded)
    assert len(recalled) == 2


async def test_without_a_name_there_is_none_and_an_unknown_one_is_refused(database_path: Path):
    async with _memory(database_path, {}) as memory:
        await memory.remember("in the drawer is the key")
        (hit,) = await memory.recall("where is the key")
        assert not any("reranker" in it.reason for it in hit.explanation.boosts)
    with pytest.raises(SettingsError, match="unknown_reranker"):
        async with _memory(database_path, {"model": "nonsense:x"}):
            pass
