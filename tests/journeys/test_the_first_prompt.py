"""The first prompt of a long conversation has all that it needs, whoever held it before."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect import Memory
from recollect.domain.memory_tools import memory_guide
from recollect.settings import Settings
from tests.chat_server import chat_server, openai_text
from tests.fakes import FakeEmbedder

_FOUND = {"decisions": ["the harbour opens in May"]}


def _talk(number: int, first: int = 0) -> list[dict[str, str]]:
    return [
        message
        for n in range(first, first + number)
        for message in (
            {"role": "user", "content": f"We decided that pier {n} is built in week {n}."},
            {"role": "assistant", "content": f"Pier {n} goes into the plan."},
        )
    ]


def _text(sent: Any) -> str:
    return json.dumps(sent, ensure_ascii=False)


async def test_it_has_summaries_the_guide_and_what_memory_knows(memory: Memory):
    await memory.remember("Ann pays for the harbour piers.")
    session = memory.session("harbour", context_tokens=8_000)
    prompt = {"role": "system", "content": "You plan harbours."}
    await session.observe([prompt, *_talk(60)])

    sent = await session.prepare("Who pays for the harbour piers?")

    system = sent[0]["content"]
    assert system.startswith("You plan harbours.\n\n" + memory_guide("en"))
    assert "Ann pays for the harbour piers." in system
    assert session.usage.level == 2
    assert "pier 3 is built in week 3" in _text(sent[1]), "the beginning is summarised"
    assert "Outside this window: 1" not in _text(sent), "nothing is left out without a word"
    # A tool loop goes on with the same words, and who has no tools can do without the guide.
    assert memory_guide("en") in (await session.prepare())[0]["content"]
    assert memory_guide("en") not in _text(await session.prepare("Ann?", with_guide=False))


async def test_an_agent_without_memory_gets_no_guide(tmp_path: Path):
    tree = {"data_dir": tmp_path, "agents": {"clerk": {"enabled": False}}}
    async with Memory.open(Settings.load(tree), embedder=FakeEmbedder()) as memory:
        session = memory.scope(agent="clerk").session("s")
        await session.observe({"role": "user", "content": "Who pays?"})
        assert await session.prepare("Who pays?") == [{"role": "user", "content": "Who pays?"}]


async def test_it_does_not_wait_for_ever_and_says_what_is_missing(tmp_path: Path):
    with chat_server() as server:
        server.answers = [replace(openai_text(json.dumps(_FOUND)), delay=0.4)] * 40
        tree = {
            "data_dir": tmp_path,
            "session": {"patience": 0.1, "context_tokens": 8_000},
            "models": {
                "summarise": "openai:small",
                "providers": {"openai": {"base_url": f"{server.url}/v1"}},
            },
        }
        async with Memory.open(Settings.load(tree), embedder=FakeEmbedder()) as memory:
            session = memory.session("harbour")
            await session.observe(_talk(60))
            first = await session.prepare("When does the harbour open?")
            assert "summaries_late" in session.usage.degraded
            assert "Outside this window" in _text(first), "the model is told too"
            await session.settle()
            again = await session.prepare("When does the harbour open?")
            assert "summaries_late" not in session.usage.degraded
            assert "the harbour opens in May" in _text(again)


async def test_a_session_that_goes_from_process_to_process_is_compressed(tmp_path: Path):
    """Each of them says a little, asks for the prompt once and is gone."""
    tree = {"data_dir": tmp_path, "session": {"context_tokens": 8_000}}
    covered = [0]
    for turn in range(8):
        async with Memory.open(Settings.load(tree), embedder=FakeEmbedder()) as memory:
            async with memory.session("harbour") as session:
                await session.observe(_talk(10, first=10 * turn))
                await session.prepare("When is pier 3 built?")
            covered.append(max((it.end for it in session.summaries), default=0))
    assert covered == sorted(covered), "nothing that was summarised is summarised anew"
    assert 160 - 48 <= covered[-1] <= 150
