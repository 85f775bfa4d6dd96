"""`prepare` of an agent's loop while what it tells is read in the background, beside a quiet loop.

Forty turns are observed and prepared with the local models, as an agent does it: a user message, a
prompt, an answer. One loop runs with the background work of its memory (vectors, extraction,
judging); the quiet one has none under way. With `--busy`, both run beside two processes that keep
the cores busy. Rounds alternate.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from pathlib import Path

from recollect import Memory

TURNS = 40
ROUNDS = 2
# An agent's model takes longer, which would only make this run last longer.
ANSWER_SECONDS = 0.15
TOPICS = [
    ("my sister Clara moved to {city} with her two cats", "Where does Clara live now?"),
    ("I work as a nurse in {city} and start at seven", "When does my work start?"),
    ("the invoice of the {city} garage was 230 euros", "How much was the garage?"),
    ("please answer in short sentences when I ask about {city}", "How should you answer?"),
    ("我下个月要去{city}出差，住三个晚上", "我下个月去哪里出差？"),
    ("我对花生过敏，在{city}吃饭要注意", "我对什么过敏？"),
    ("我们在{city}的项目改用 PostgreSQL 了", "项目用什么数据库？"),
]
CITIES = ["Oslo", "Rome", "Lima", "Kyoto", "Quito", "上海", "成都", "西安", "杭州", "青岛"]


def message(number: int) -> str:
    told, asked = TOPICS[number % len(TOPICS)]
    city = CITIES[number % len(CITIES)]
    return asked if number % 3 == 2 else f"Day {number}: {told.format(city=city)}."


async def agent_loop(memory: Memory, session_id: str, *, waits: bool) -> list[float]:
    """Return the milliseconds that each `prepare` took."""
    took: list[float] = []
    async with memory.session(session_id) as session:
        for number in range(TURNS):
            said = message(number)
            await session.observe({"role": "user", "content": said})
            if waits:
                await memory.drain()
            start = time.perf_counter()
            await session.prepare(said)
            took.append((time.perf_counter() - start) * 1e3)
            await asyncio.sleep(ANSWER_SECONDS)
            answer = f"Noted for turn {number}; tell me more about it when you like."
            await session.observe({"role": "assistant", "content": answer})
    return took


async def one_round(folder: str, *, waits: bool) -> list[float]:
    async with Memory.open(Path(folder) / "memory.db") as memory:
        # Background work starts after a moment.
        await asyncio.sleep(3.2)
        return await agent_loop(memory, "loop", waits=waits)


def spin() -> None:
    while True:
        pass


def figures_of(name: str, took: list[float]) -> dict[str, float]:
    took = sorted(took)
    return {
        f"{name}_p50_ms": round(statistics.median(took), 1),
        f"{name}_p95_ms": round(took[int(len(took) * 0.95)], 1),
        f"{name}_max_ms": round(took[-1], 1),
    }


async def main() -> None:
    took: dict[str, list[float]] = {"beside": [], "quiet": []}
    for _ in range(ROUNDS):
        for name, measured in took.items():
            with tempfile.TemporaryDirectory() as folder:
                measured += await one_round(folder, waits=name == "quiet")
    figures = figures_of("beside", took["beside"]) | figures_of("quiet", took["quiet"])
    figures["ratio_p50"] = round(figures["beside_p50_ms"] / figures["quiet_p50_ms"], 2)
    print(
        "prepare beside background reading: {beside_p50_ms} ms (p95 {beside_p95_ms}, max "
        "{beside_max_ms}); quiet: {quiet_p50_ms} ms (p95 {quiet_p95_ms}, max "
        "{quiet_max_ms}); ratio {ratio_p50}".format(**figures)
    )
    if "--json" in sys.argv:
        print(json.dumps(figures))


if __name__ == "__main__":
    spinning = [multiprocessing.Process(target=spin, daemon=True) for _ in range(2)]
    for process in spinning if "--busy" in sys.argv else []:
        process.start()
    asyncio.run(main())
