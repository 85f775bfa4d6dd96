"""A change of the model, followed and ended: in the library and over HTTP."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from recollect import Memory
from recollect.domain.embedding import EmbedderChoice
from recollect.errors import NotAvailable
from recollect.models import catalogue
from recollect.ports.embedder import Purpose
from recollect.server.app import create_app
from recollect.settings import Settings
from tests.command_line import CommandLine
from tests.fakes import FakeEmbedder

OLD, NEW = "fake:old", "fake:new"
NOTES = ["harbour keys", "钥匙 在 管理员 那里", "blue boats", "蓝色 的 船"]


@pytest.fixture
def settings(database_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Of a memory that can open two fakes as it opens real models."""
    fakes = {name: FakeEmbedder(name) for name in (OLD, NEW)}

    def open_fake(choice: EmbedderChoice) -> FakeEmbedder:
        if choice.model not in fakes:
            raise NotAvailable(f"{choice.model} is not there", code="embedder_unusable")
        return fakes[choice.model]

    monkeypatch.setattr(catalogue, "open_embedder", open_fake)
    return Settings.load(
        {
            "storage": {"path": database_path},
            "embedding": {"model": OLD},
            "server": {"offered_models": [NEW, "fake:none of ours"]},
        }
    )


def _client(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


async def test_over_http_a_change_is_begun_followed_and_ended(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    async with Memory.open(settings) as memory:
        await memory.remember_many(NOTES)
    gate = asyncio.Event()
    embed = FakeEmbedder.embed

    async def slowly(
        self: FakeEmbedder, texts: Sequence[str], purpose: Purpose, progress: object = None
    ):
        if self.model == NEW:
            await gate.wait()
        return await embed(self, texts, purpose)

    monkeypatch.setattr(FakeEmbedder, "embed", slowly)
    app = create_app(settings)
    async with app.router.lifespan_context(app), _client(app) as client:
        idle = (await client.get("/v1/reindex")).json()
        assert (idle["is_going_on"], idle["lacking"], idle["units"]) == (False, 0, 4)
        assert idle["served"] == {OLD: 4}
        begun = await client.post("/v1/reindex", json={"model": NEW})
        assert begun.status_code == 202
        assert begun.json()["is_going_on"]
        assert (begun.json()["model"], begun.json()["lacking"]) == (NEW, 4)
        ended = (await client.delete("/v1/reindex")).json()
        assert ended["stopped"]
        assert not ended["is_going_on"]
        assert not (await client.delete("/v1/reindex")).json()["stopped"]
        gate.set()
        await client.post("/v1/reindex", json={"model": NEW})
        await app.state.memory.drain()
        done = (await client.get("/v1/reindex")).json()
        assert (done["is_going_on"], done["served"]) == (False, {NEW: 4})
        refused = await client.post("/v1/reindex", json={"model": "fake:none of ours"})
        assert refused.status_code == 501
        assert refused.json()["code"] == "embedder_unusable"


async def test_a_change_that_goes_on_here_is_ended_at_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    async with Memory.open(settings) as memory:
        await memory.remember_many(NOTES)
        working, embed = asyncio.Event(), FakeEmbedder.embed

        async def never(
            self: FakeEmbedder, texts: Sequence[str], purpose: Purpose, progress: object = None
        ):
            if self.model == NEW:
                working.set()
                await asyncio.Event().wait()
            return await embed(self, texts, purpose)

        monkeypatch.setattr(FakeEmbedder, "embed", never)
        changing = asyncio.create_task(memory.reindex(model=NEW))
        await working.wait()
        assert (await memory.reindexing()).is_going_on
        assert await memory.stop_reindexing()
        with pytest.raises(NotAvailable) as told:
            await changing
        assert told.value.code == "reembedding_unfinished"
        assert dict((await memory.reindexing()).served) == {OLD: len(NOTES)}
        assert not await memory.stop_reindexing()


def test_the_command_line_tells_how_far_it_is_and_ends_it(
    database_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
):
    cli, here = CommandLine(capfdbinary), ("--data", str(database_path.parent), "--json")
    cli("remember", "harbour keys 钥匙", *here)
    told = cli("reindex", "--status", *here).json
    assert (told["is_going_on"], told["units"]) == (False, 1)
    assert cli("reindex", "--stop", *here).json["stopped"] is False
