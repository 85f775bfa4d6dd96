"""A configured model is slow, refuses, talks nonsense or is gone: memory goes on, and says so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.settings import Settings
from tests.chat_server import Answer, ChatServer, chat_server, openai_text, refusal

if TYPE_CHECKING:
    from tests.conftest import TurnedClock
    from tests.real_model import RealModelServer

pytest_plugins = ("tests.real_model",)

_SAID = "Heron is where staging lives."
_MISBEHAVIOUR: dict[str, Answer] = {
    "is slow": replace(openai_text("{}"), delay=30.0),
    "fails": refusal(500),
    "refuses": refusal(401, "no such key"),
    "talks nonsense": openai_text("I would rather talk about the weather."),
    "answers with a page": Answer(body=b"<html>welcome to the hotel network</html>"),
    "breaks off": Answer(body=b'{"id": "x", "cho', promised_bytes=400),
}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def _settings(path: Path, base_url: str, *tiers: str, seconds: float = 0.5) -> Settings:
    return Settings.load(
        {
            "storage": {"path": path},
            "models": {
                **dict.fromkeys(tiers, "openai:small"),
                "providers": {"openai": {"base_url": base_url}},
                "seconds": dict.fromkeys(tiers, seconds),
                "retries": 0,
            },
        }
    )


@pytest.mark.parametrize("trouble", [*_MISBEHAVIOUR])
async def test_a_write_is_done_by_rules_within_the_budget(
    server: ChatServer, database_path: Path, clock: TurnedClock, trouble: str
):
    server.answers = [_MISBEHAVIOUR[trouble]] * 20
    settings = _settings(database_path, f"{server.url}/v1", "classify")
    async with Memory.open(settings, clock=clock) as memory:
        await memory.write("The client is imported by the first call.")
        # Four calls, each with half a second: the third failure pauses the tier.
        async with asyncio.timeout(20):
            written = [await memory.write(f"{_SAID} Part {part}.") for part in range(4)]
        (usage,) = (await memory.stats()).models

    assert all(it.status == "created" and it.degraded for it in written)
    assert written[-1].degraded == "model_paused"
    assert usage.failures == 3
    assert usage.skipped >= 1
    assert usage.paused_until is not None
    assert usage.last_error


async def test_turns_that_rules_read_in_an_outage_are_read_again_by_the_model(
    server: ChatServer, database_path: Path, clock: TurnedClock
):
    said = "the old box in the cellar hosts staging. From now on use metric units."
    form = {
        "statements": [
            {
                "category": "project",
                "content": "The old box in the cellar hosts staging.",
                "turn": 1,
                "quote": "the old box in the cellar hosts staging",
            }
        ],
        "events": [],
        "procedures": [],
    }
    server.answers = [refusal(503)] * 3
    settings = _settings(database_path, f"{server.url}/v1", "extract", seconds=20)
    async with Memory.open(settings, clock=clock) as memory:
        await memory.observe([{"role": "user", "content": said}], session="s")
        by_rules = await memory.extract("s")
        assert any(it.degraded == "model_unavailable" for it in by_rules)
        assert [it.content for it in await memory.list() if "cellar" in it.content] == []
        await memory.drain()
        assert len(server.bodies) == 1

        clock.turn(minutes=2)
        await memory.drain()
        assert len(server.bodies) == 2

        server.answers = [openai_text(json.dumps(form))]
        clock.turn(hours=1)
        await memory.drain()
        clock.turn(days=1)
        await memory.drain()
        contents = [it.content for it in await memory.list()]

    assert len(server.bodies) == 3
    assert "The old box in the cellar hosts staging." in contents
    assert sum("metric" in it for it in contents) == 1


async def test_doctor_asks_each_tier_and_tells_which_does_not_answer(
    server: ChatServer, database_path: Path
):
    server.answers = [openai_text("yes")]
    found = await diagnose(_settings(database_path, f"{server.url}/v1", "classify"))
    (well,) = [it for it in found.findings if it.part == "classify model"]
    assert well.verdict == "ok"

    server.answers = [refusal(401, "no such key")]
    found = await diagnose(_settings(database_path, f"{server.url}/v1", "classify"))
    (ill,) = [it for it in found.findings if it.part == "classify model"]
    assert (ill.verdict, ill.figures["code"]) == ("warning", "model_refused")
    assert "rules are used instead" in ill.message


async def test_a_real_model_that_is_too_slow_or_gone_costs_no_more_than_its_budget(
    mortal_language_server: RealModelServer, database_path: Path, clock: TurnedClock
):
    """The first call imports the client, which is outside the budget."""
    settings = _settings(
        database_path, mortal_language_server.base_url, "extract", "classify", seconds=0.05
    )
    async with Memory.open(settings, clock=clock) as memory:
        slow = [await memory.write(_SAID), await memory.write("Ibis is where testing lives.")]
        mortal_language_server.kill()
        gone = await memory.write("Crane is where the demo lives.")
        paused = await memory.write("Stork is where nobody lives.")
        await memory.observe([{"role": "user", "content": "记住：我住在杭州。"}], session="s")
        (read,) = await memory.extract("s")
        usage: dict[str, Any] = {it.task: it for it in (await memory.stats()).models}

    assert [it.degraded for it in slow] == ["model_timeout"] * 2
    assert gone.degraded in {"model_unavailable", "model_timeout"}
    assert paused.degraded == "model_paused"
    assert all(it.status == "created" for it in (*slow, gone, paused, read))
    assert read.degraded in {"model_unavailable", "model_timeout"}
    assert usage["classify"].paused_until is not None
    assert usage["extract"].paused_until is None
