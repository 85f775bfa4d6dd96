"""Servers beside the database are killed, paused, restarted and cut off under load."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.domain.notes import ScratchpadUpdate
from recollect.settings import Settings
from tests.cutting_proxy import CuttingProxy
from tests.integration.test_redis import mirror, settings_for, until
from tests.redis_servers import RedisServer
from tests.reports import write_report
from tests.s3_servers import S3Server

_REPLICAS = 3
_SECONDS = 20


@asynccontextmanager
async def _replicas(settings: Settings) -> AsyncIterator[list[Memory]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Memory.open(settings)) for _ in range(_REPLICAS)]


class Load:
    """What replicas do at the same time, and what was acknowledged."""

    def __init__(self, replicas: list[Memory]) -> None:
        self._replicas = replicas
        self.acknowledged: list[str] = []
        self.stale = 0
        self.recalls = 0
        self.slowest = 0.0

    async def run(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        await asyncio.gather(*(self._one(n, ends) for n in range(len(self._replicas))))

    async def _one(self, number: int, ends: float) -> None:
        mine, other = self._replicas[number], self._replicas[number - 1]
        count = 0
        while time.monotonic() < ends:
            began = time.monotonic()
            name = f"key{number}x{count}"
            record = await mine.remember(f"The number of {name} is {count}")
            self.acknowledged.append(record.id)
            found = await other.recall(f"what is the number of {name}", limit=3)
            self.recalls += 1
            self.stale += record.id not in [hit.id for hit in found]
            pad = mine.session(f"s{number}").scratchpad
            await pad.update(ScratchpadUpdate(current_goal=name))
            seen = await other.session(f"s{number}").scratchpad.read()
            self.stale += seen.current_goal != name
            self.slowest = max(self.slowest, time.monotonic() - began)
            count += 1


@pytest.mark.soak
async def test_nothing_is_lost_or_stale_whatever_happens_to_redis(database_path: Path):
    redis = RedisServer("--save", "1", "1")
    figures: dict[str, Any] = {}

    async def restart() -> None:
        redis.kill()
        await asyncio.sleep(2)
        await asyncio.to_thread(redis.start)

    async def pause() -> None:
        redis.pause()
        await asyncio.sleep(2)
        redis.go_on()

    try:
        async with CuttingProxy(redis.port) as proxy:

            async def cut() -> None:
                proxy.cut()

            faults: dict[str, Callable[[], Awaitable[None]]] = {
                "none": lambda: asyncio.sleep(0),
                "killed": restart,
                "paused": pause,
                "cut": cut,
            }
            url = f"redis://127.0.0.1:{proxy.port}/0"
            for name, fault in faults.items():
                path = database_path.with_name(f"{name}.db")
                settings = settings_for(path, url, storage={"state_prefix": name})
                async with _replicas(settings) as replicas:
                    load = Load(replicas)
                    running = asyncio.create_task(load.run(_SECONDS))
                    while not running.done():
                        await asyncio.wait([running], timeout=2)
                        if not running.done():
                            await fault()
                    await running
                    back = time.monotonic()
                    await until(lambda replicas=replicas: _all_are_back(replicas), seconds=60)
                    await mirror(replicas[0])
                    stored = {it.id async for it in _every(replicas[0])}
                    figures[name] = {
                        "acknowledged": len(load.acknowledged),
                        "lost": len(set(load.acknowledged) - stored),
                        "doubled": len(load.acknowledged) - len(set(load.acknowledged)),
                        "recalls": load.recalls,
                        "stale": load.stale,
                        "slowest_round_s": round(load.slowest, 2),
                        "seconds_to_recover": round(time.monotonic() - back, 2),
                    }
    finally:
        redis.stop()
    write_report("redis_faults", figures)
    for name, figure in figures.items():
        assert (figure["lost"], figure["doubled"], figure["stale"]) == (0, 0, 0), (name, figure)
        assert figure["acknowledged"] > 20


async def _all_are_back(replicas: list[Memory]) -> bool:
    for number, memory in enumerate(replicas):
        await memory.session(f"probe{number}").scratchpad.update(ScratchpadUpdate(current_goal="x"))
    stats = [(await memory.stats()).redis for memory in replicas]
    return all(it is not None and not it.is_away for it in stats)


async def _every(memory: Memory) -> AsyncIterator[Any]:
    cursor = None
    while True:
        page = await memory.list(limit=500, cursor=cursor)
        for item in page.items:
            yield item
        cursor = page.next_cursor
        if cursor is None:
            return


@pytest.mark.soak
async def test_no_archived_result_is_lost_whatever_happens_to_the_bucket(database_path: Path):
    s3 = S3Server()
    texts: dict[str, str] = {}
    slowest = 0.0
    try:
        storage = {"path": str(database_path)}
        given = {**s3.settings(), "storage": storage, "data_dir": str(database_path.parent)}
        settings = Settings.load(given)
        async with _replicas(settings) as replicas:

            async def archive(number: int, ends: float) -> None:
                nonlocal slowest
                count = 0
                while time.monotonic() < ends:
                    text = f"result {number} {count}\n" * 1_000
                    session = replicas[number].session(f"s{number}x{count}")
                    began = time.monotonic()
                    await session.archive.process_tool_result("t", {"q": count}, text, session.id)
                    slowest = max(slowest, time.monotonic() - began)
                    texts[session.id] = text
                    count += 1
                    await asyncio.sleep(0.05)

            ends = time.monotonic() + 2 * _SECONDS
            running = asyncio.gather(*(archive(number, ends) for number in range(_REPLICAS)))
            await asyncio.sleep(2)
            s3.pause()
            await asyncio.sleep(5)
            s3.go_on()
            await asyncio.sleep(3)
            s3.kill()
            await asyncio.sleep(3)
            await asyncio.to_thread(s3.start)
            await running
            back = time.monotonic()
            outbox = database_path.with_name("memory.db-outbox")
            await until(lambda: not [it for it in outbox.rglob("*") if it.is_file()], seconds=180)
            recovered = time.monotonic() - back
            lost = 0
            archives = [it async for it in _archives(replicas[0])]
            for archive_ in archives:
                loaded = await replicas[0].session("x").archive.load_tool_result(archive_.id)
                lost += loaded != texts[archive_.session]
            lost += len(texts) - len(archives)
    finally:
        with suppress(ProcessLookupError):
            s3.stop()
    figures = {"acknowledged": len(texts), "lost": lost, "slowest_turn_s": round(slowest, 2)}
    write_report("bucket_faults", {**figures, "seconds_to_recover": round(recovered, 2)})
    assert lost == 0
    assert slowest < 10


async def _archives(memory: Memory) -> AsyncIterator[Any]:
    cursor = None
    while True:
        page = await memory.archives.list(limit=100, cursor=cursor)
        for item in page.items:
            yield item
        cursor = page.next_cursor
        if cursor is None:
            return
