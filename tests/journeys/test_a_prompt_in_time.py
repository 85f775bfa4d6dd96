"""A prompt comes in time: what is late is left out and told, and the next one has it."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from recollect import Memory
from recollect.adapters.plain import wrap
from recollect.assemble import embedding as assembling_embedder
from recollect.domain.embedding import GAP_LASTS
from recollect.ports.embedder import Progress, Purpose
from recollect.server.app import create_app
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.fakes import FakeEmbedder
from tests.services import services

# A busy machine finds by words in this time, once everything is loaded.
_LIMIT = 0.5
_QUESTION = "What does Clara's cat eat?"
_LATE = "the vector path did not answer in time"


class HangingFakeEmbedder(FakeEmbedder):
    """Answers no question until it is told to: whoever waits for it waits forever."""

    def __init__(self) -> None:
        super().__init__()
        self.is_quick = asyncio.Event()

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        if purpose == "query":
            await self.is_quick.wait()
        return await super().embed(texts, purpose, progress)


def settings_at(data: Path, **session: Any) -> Settings:
    wanted = {"prepare_seconds": _LIMIT, **session}
    return Settings.load({"data_dir": data, "session": wanted, "recall": {"read_hits": 0}})


def said() -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "shop", "arguments": "{}"}}
    return [
        {"role": "user", "content": "Look up cat food, please."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "tins, 3 euros"},
        {"role": "assistant", "content": "Tins cost 3 euros."},
        {"role": "user", "content": _QUESTION},
    ]


async def told_before(memory: Memory) -> None:
    async with memory.session("before") as session:
        await session.observe({"role": "user", "content": "Clara's cat eats only chicken."})


async def test_a_model_that_hangs_costs_no_prompt_its_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    embedder = HangingFakeEmbedder()
    async with Memory.open(settings_at(tmp_path), embedder=embedder) as memory:
        await told_before(memory)
        session = memory.session("now")
        await session.observe(said())
        embedder.is_quick.set()
        await session.prepare("What loads is loaded?")
        embedder.is_quick.clear()
        for _ in range(2):
            prompt = await session.prepare(_QUESTION)
            assert [message["role"] for message in prompt[1:]] == [
                message["role"] for message in said()
            ], "what was said comes through, in order, each result with its call"
            assert prompt[-1]["content"] == _QUESTION
            assert prompt[3]["tool_call_id"] == prompt[2]["tool_calls"][0]["id"] == "c1"
            assert "eats only chicken" in prompt[0]["content"], "what words find is there"
            assert session.usage.degraded == (_LATE,)
        told = [it for it in caplog.records if it.levelno >= logging.WARNING]
        assert [it.getMessage() for it in told] == [
            f"a prompt was made without all that is remembered: {_LATE} (session.prepare_seconds)"
        ], "told once"
        assert memory.meter.totals()["late_prompts", ""] == 2

        embedder.is_quick.set()
        # What was late goes on by itself.
        while services(memory).understanding.embedding.waits(_QUESTION, ()):  # noqa: ASYNC110
            await asyncio.sleep(0)
        calls = embedder.calls
        await session.prepare(_QUESTION)
        assert session.usage.degraded == ()
        assert embedder.calls == calls, "its vector is there already"


async def test_where_nothing_is_ready_the_conversation_itself_comes_through(tmp_path: Path):
    settings = settings_at(tmp_path, prepare_seconds=1e-6)
    async with Memory.open(settings, embedder=FakeEmbedder()) as memory:
        await told_before(memory)
        session = memory.session("now")
        await session.observe(said())
        prompt = await session.prepare(_QUESTION, with_guide=False)
        assert [message["role"] for message in prompt] == [message["role"] for message in said()]
        assert session.usage.degraded == ("recall did not end in time",)


async def test_the_first_prompt_waits_for_models_that_are_loading(tmp_path: Path):
    embedder = HangingFakeEmbedder()
    settings = settings_at(tmp_path, patience=30)
    async with Memory.open(settings, embedder=embedder) as memory:
        await told_before(memory)
    async with Memory.open(settings, embedder=embedder) as memory:
        session = memory.session("now")
        await session.observe(said())
        preparing = asyncio.ensure_future(session.prepare(_QUESTION))
        done, _ = await asyncio.wait([preparing], timeout=2 * _LIMIT)
        assert not done, "longer than any other prompt"
        embedder.is_quick.set()
        assert "eats only chicken" in (await preparing)[0]["content"]
        assert session.usage.degraded == ()


async def test_without_a_limit_a_prompt_waits(tmp_path: Path):
    embedder = HangingFakeEmbedder()
    settings = settings_at(tmp_path, prepare_seconds=0)
    async with Memory.open(settings, embedder=embedder) as memory:
        await told_before(memory)
        session = memory.session("now")
        await session.observe(said())
        preparing = asyncio.ensure_future(session.prepare(_QUESTION))
        done, _ = await asyncio.wait([preparing], timeout=2 * _LIMIT)
        assert not done
        embedder.is_quick.set()
        assert "eats only chicken" in (await preparing)[0]["content"]
        assert session.usage.degraded == ()


async def test_over_http_and_in_a_chat_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        assembling_embedder, "wanted_embedder", lambda settings: HangingFakeEmbedder()
    )
    app = create_app(settings_at(tmp_path))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:7077"
        ) as client,
    ):
        await client.post("/v1/sessions/now/observe", json={"messages": said()})
        answer = await client.post("/v1/sessions/now/prepare", json={"query": _QUESTION})
        assert answer.json()["usage"]["degraded"] == [_LATE]
        assert answer.json()["messages"][-1]["content"] == _QUESTION

    async with Memory.open(settings_at(tmp_path / "chat")) as memory:
        messages = said()
        async with wrap(memory, messages, session="now") as talk:
            sent = await talk.to_send()
            assert sent[-1]["content"] == _QUESTION


async def test_the_first_prompt_of_a_session_finds_the_models_loaded(
    tmp_path: Path, real_model: None
):
    async with Memory.open(settings_at(tmp_path)) as memory:
        await told_before(memory)
    async with Memory.open(settings_at(tmp_path)) as memory:
        await memory.session("now")
        loading = services(memory).lifetime._loading
        assert loading is not None, "loading begins when a session is opened"
        await asyncio.wait([loading])
        calls = services(memory).understanding.usage()[0].calls
        assert calls, "the model has read something before the first prompt"


async def test_units_that_get_their_vectors_by_themselves_are_no_problem(
    tmp_path: Path, clock: TurnedClock, nobody_works: None
):
    embedder = FakeEmbedder()
    settings = settings_at(tmp_path, prepare_seconds=0)
    async with Memory.open(settings, embedder=embedder, clock=clock) as memory:
        embedder.is_broken = True
        await told_before(memory)
        await services(memory).late_vectors.settled()
        recalled = await memory.recall(_QUESTION)
        assert "the embedding model failed" in " ".join(recalled.degraded), "it fails: told"

        embedder.is_broken = False
        clock.turn(minutes=1)
        assert (await memory.recall(_QUESTION)).degraded == (), "a job makes it: not told"

        for job in (await memory.jobs.list()).items:
            await memory.jobs.cancel(job.id)
        assert (await memory.recall("Clara's cat?")).degraded == (), "perhaps somebody does"
        clock.turn(seconds=GAP_LASTS.total_seconds() + 1)
        (note,) = (await memory.recall(_QUESTION)).degraded
        assert note.startswith("1 unit has no vector"), "nobody makes it: told"
        assert "recollect reindex" in note
