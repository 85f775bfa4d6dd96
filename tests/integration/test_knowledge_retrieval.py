"""What a passage takes in around a hit, and which models have a say when documents are searched."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.settings import Settings
from tests.chat_server import Answer, ChatServer, chat_server, openai_text, refusal
from tests.unit.models.test_reranker_endpoint import Server

_NAMES = ("alder", "birch", "cedar", "dogwood", "elder", "fir", "ginkgo", "hazel", "ivy", "juniper")


def _manual() -> str:
    """Ten sections of one chunk each, and a long one of several chunks."""
    filler = "The gardener checks every tool and writes down what is missing. " * 9
    short = [f"## The {name}\n\nWater the {name} twice. {filler}" for name in _NAMES]
    long = "\n\n".join(f"Step {n} of pruning uses saw number {n}. {filler}" for n in range(8))
    return "\n\n".join(["# Garden", *short, "## Pruning", long])


@asynccontextmanager
async def _memory(path: Path, **settings: Any) -> AsyncIterator[Memory]:
    async with Memory.open(Settings.load({"storage": {"path": path}, **settings})) as memory:
        await memory.knowledge.add(_manual(), "garden.md")
        yield memory


async def test_every_passage_takes_in_what_stands_before_and_after_its_hit(database_path: Path):
    async with _memory(database_path) as memory:
        raw = _manual()
        widened = 0
        for name in _NAMES:
            (passage,) = await memory.knowledge.search(f"Who waters the {name}?", limit=1)
            citation = passage.citation
            assert raw[citation.start : citation.end] == passage.content
            assert citation.path == ("Garden", f"The {name}")
            ((start, end),) = passage.matched
            widened += citation.start < start or end < citation.end
        assert widened == len(_NAMES)
        (passage,) = await memory.knowledge.search("Step 4 uses saw number 4", limit=1)
        assert all(f"Step {n} of" in passage.content for n in (3, 4, 5))


async def test_no_two_passages_have_the_same_text(database_path: Path):
    async with _memory(database_path) as memory:
        found = await memory.knowledge.search("water the birch and the cedar", limit=10)
        spans = sorted((it.citation.start, it.citation.end) for it in found)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))


async def test_a_passage_is_widened_only_within_the_callers_budget(database_path: Path):
    async with _memory(database_path) as memory:
        asked = "water the birch and the ivy"
        bare = await memory.knowledge.search(asked, limit=2, max_tokens=330)
        wide = await memory.knowledge.search(asked, limit=2)
        # Hits come before their neighbours: both are there, and nothing beside them.
        assert [it.matched for it in bare] == [it.matched for it in wide]
        for passage in bare:
            assert (passage.citation.start, passage.citation.end) == passage.matched[0]
        assert all(
            len(it.content) > 2 * len(that.content) for it, that in zip(wide, bare, strict=True)
        )


@pytest.mark.parametrize("chosen", [{"neighbours": 0}, {"passage_tokens": 150}])
async def test_both_limits_are_settings(database_path: Path, chosen: dict[str, int]):
    async with _memory(database_path, knowledge=chosen) as memory:
        (passage,) = await memory.knowledge.search("Who waters the fir?", limit=1)
        assert (passage.citation.start, passage.citation.end) == passage.matched[0]


class _Judge(Server):
    """Knows which passage answers."""

    def score(self, text: str) -> float:
        return 0.95 if "the juniper" in text else 0.02


async def test_a_model_reads_passages_as_it_reads_records(database_path: Path):
    with _Judge() as judge:
        threading.Thread(target=judge.serve_forever, args=(0.02,), daemon=True).start()
        model = {"model": "endpoint:judge", "base_url": judge.url, "retries": 0}
        async with _memory(database_path, rerank=model) as memory:
            best, *rest = await memory.knowledge.search("Water the birch twice")
            assert best.citation.path == ("Garden", "The juniper")
            assert best.explanation["reader"] == 0.95
            assert all(best.score > it.score for it in rest)
            silent = await memory.knowledge.search("Water the birch twice", min_score=0.45)
            assert [it.citation.path[-1] for it in silent] == ["The juniper"]
            judge.shutdown()
        judge.server_close()


def _models(server: ChatServer, *answers: Answer, **tiers: str) -> dict[str, Any]:
    server.answers = list(answers)
    provider = {"base_url": f"{server.url}/v1", "api_key": "none"}
    return {"models": {**tiers, "retries": 0, "providers": {"openai": provider}}}


async def test_a_model_summarises_what_is_taken_in(database_path: Path):
    told = "How to prune with saws: eight steps, in order."
    with chat_server() as server:
        chosen = _models(server, openai_text(told), openai_text(told))
        chosen["models"]["summarise"] = "openai:some-model"
        async with _memory(database_path, **chosen) as memory:
            (document,) = (await memory.knowledge.list()).items
            assert document.summary.endswith(told)
            sections = await memory.knowledge.sections(document.id)
            assert [it.summary for it in sections if it.summary] == [told]
    assert len(server.bodies) == 2


async def test_without_an_answer_the_summaries_stay_extractive(database_path: Path):
    with chat_server() as server:
        chosen = _models(server, refusal(400), refusal(400))
        chosen["models"]["summarise"] = "openai:some-model"
        async with _memory(database_path, **chosen) as memory:
            (document,) = (await memory.knowledge.list()).items
            assert document.status == "ready"
            assert document.summary.startswith("Garden\n")


async def test_a_question_may_be_asked_in_the_other_language(database_path: Path):
    plan = {"queries": ["浇水次数", "树木灌溉", "how often to water the ginkgo"], "passage": ""}
    with chat_server() as server:
        chosen = _models(server, openai_text(json.dumps(plan)))
        chosen["models"]["classify"] = "openai:some-model"
        async with _memory(database_path, **chosen) as memory:
            found = await memory.knowledge.search("银杏多久浇一次水？", limit=1)
    assert found.queries[-1] == "how often to water the ginkgo"
    assert found[0].citation.path == ("Garden", "The ginkgo")
    assert "英文" in json.dumps(server.bodies[0], ensure_ascii=False)
