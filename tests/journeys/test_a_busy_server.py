"""Many clients at once, and a server that is killed under them: what was answered is there."""

import asyncio
import json
import random
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory
from tests.database_servers import place_of
from tests.processes import RECOLLECT, Child
from tests.reports import write_report

_CONNECTIONS = 32
_RECORDS = 10_000
_USERS = 20
_LOAD_SECONDS = 60
_FLAT_SECONDS = 600
_FLAT_STEPS = 10
_HEALTH_SECONDS = 10
# How much a process may grow while its caches fill, in bytes, and what the index holds of a write.
_MOST_GROWTH = 20_000_000
_INDEX_OF_ONE = 1_500


@dataclass
class Load:
    """What clients were answered."""

    # Records with the version that was answered last, and turns.
    records: dict[str, int] = field(default_factory=dict[str, int])
    turns: list[str] = field(default_factory=list[str])
    milliseconds: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])
    has_saved: asyncio.Event = field(default_factory=asyncio.Event)


@contextmanager
def _server(database: Path) -> Iterator[tuple[str, int, Child[str]]]:
    command = [*RECOLLECT, "serve", "--port", "0", "--json", "--data", place_of(database)]
    with Child(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["address"], process.pid, process
        finally:
            process.kill()


async def _use(load: Load, address: str, seconds: float, connections: int) -> None:
    """Save, edit, observe, recall and list until the time is over or nobody is there."""
    limits = httpx.Limits(max_connections=connections)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=120) as client:
        until = time.monotonic() + seconds

        async def one(number: int) -> None:
            choose = random.Random(number)
            own: list[tuple[str, str]] = []
            for step in range(1_000_000):
                if time.monotonic() > until:
                    return
                user = f"user{choose.randrange(_USERS)}"
                began = time.perf_counter()
                try:
                    answer = await _ask(client, choose, user, f"{number}-{step}", own)
                except httpx.TransportError as gone:
                    load.errors.append(type(gone).__name__)
                    return
                load.milliseconds.append((time.perf_counter() - began) * 1_000)
                if not answer.is_success:
                    load.errors.append(f"{answer.status_code} {answer.text[:200]}")
                elif "version" in (told := answer.json()):
                    load.records[told["id"]] = told["version"]
                    if answer.status_code == 201:
                        own.append((told["id"], user))
                    load.has_saved.set()
                elif answer.status_code == 201:
                    load.turns += [it["id"] for it in told["items"]]

        await asyncio.gather(*map(one, range(connections)))


async def _ask(
    client: httpx.AsyncClient,
    choose: random.Random,
    user: str,
    name: str,
    own: list[tuple[str, str]],
) -> httpx.Response:
    match choose.randrange(6):
        case 0:
            body = {"content": f"parcel {name} on shelf {choose.randrange(99)} 第{name}号"}
            return await client.post(f"/v1/records?user={user}", json=body)
        case 1:
            body = {"query": f"which parcel is on shelf {choose.randrange(99)}?"}
            return await client.post(f"/v1/recall?user={user}", json=body)
        case 2:
            body = {"message": "Where is the parcel?"}
            return await client.post(f"/v1/context?user={user}", json=body)
        case 3:
            said = {"role": "user", "content": f"The parcel {name} has arrived"}
            body = {"messages": [said], "session": f"{user}-{name[:1]}"}
            return await client.post(f"/v1/observe?user={user}", json=body)
        case 4 if own:
            record, user = choose.choice(own)
            body = {"content": f"parcel {name} went to shelf {choose.randrange(99)}"}
            return await client.patch(f"/v1/records/{record}?user={user}", json=body)
        case _:
            return await client.get(f"/v1/records?user={user}&limit=10")


async def _lost(database: Path, load: Load) -> list[str]:
    """What was answered and is not there, or only in an older version."""
    versions: dict[str, int] = {}
    turns: set[str] = set()
    async with Memory.open(database) as memory:
        for number in range(_USERS):
            somebody = memory.scope(user=f"user{number}")
            cursor = None
            while True:
                page = await somebody.list(limit=1_000, cursor=cursor)
                versions |= {record.id: record.version for record in page}
                if (cursor := page.next_cursor) is None:
                    break
            while True:
                heard = await somebody.turns(limit=1_000, cursor=cursor)
                turns.update(turn.id for turn in heard)
                if (cursor := heard.next_cursor) is None:
                    break
    older = [it for it, version in load.records.items() if versions.get(it, 0) < version]
    return [*older, *(set(load.turns) - turns)]


async def _kill_under_load(folder: Path, times: int, connections: int) -> dict[str, Any]:
    database = folder / "busy.db"
    load = Load()
    for _ in range(times):
        with _server(database) as (address, _, process):
            load.has_saved.clear()
            using = asyncio.create_task(_use(load, address, 300, connections))
            saving = asyncio.create_task(load.has_saved.wait())
            await asyncio.wait([saving, using], return_when=asyncio.FIRST_COMPLETED)
            assert load.has_saved.is_set(), load.errors
            await asyncio.sleep(random.uniform(0.2, 1.5))
            process.kill()
            await using
    return {
        "kills": times,
        "acknowledged": len(load.records) + len(load.turns),
        # Whoever waits when the server is killed hears nothing; everybody else hears no error.
        "errors": [it for it in load.errors if it[0].isdigit()],
        "lost": len(await _lost(database, load)),
    }


async def test_what_was_answered_survives_a_kill_under_load(tmp_path: Path):
    outcome = await _kill_under_load(tmp_path, times=1, connections=8)
    assert outcome["acknowledged"] > 0
    assert (outcome["errors"], outcome["lost"]) == ([], 0)


@pytest.mark.soak
async def test_what_was_answered_survives_ten_kills_under_load(tmp_path: Path):
    outcome = await _kill_under_load(tmp_path, times=10, connections=_CONNECTIONS)
    write_report("server-kill-9", outcome)
    assert (outcome["errors"], outcome["lost"]) == ([], 0)


@pytest.mark.soak
async def test_a_busy_server_answers_everybody_and_does_not_grow(tmp_path: Path):
    database = tmp_path / "busy.db"
    async with Memory.open(database) as memory:
        for user in range(_USERS):
            drafts = [f"parcel {user}-{it} on shelf {it % 99}" for it in range(_RECORDS // _USERS)]
            await memory.scope(user=f"user{user}").remember_many(drafts)
    with _server(database) as (address, pid, _):
        load, health = Load(), Load()
        await _use(load, address, _LOAD_SECONDS, _CONNECTIONS)
        await _ask_for_health(health, address)
        # The writes of the ten minutes are indexed too, so what was held is told with their count.
        held = [{"written": 0, "megabytes": _held_megabytes(pid)}]
        longer = Load()
        for _ in range(_FLAT_STEPS):
            await _use(longer, address, _FLAT_SECONDS / _FLAT_STEPS, _CONNECTIONS)
            written = len(longer.records) + len(longer.turns)
            held.append({"written": written, "megabytes": _held_megabytes(pid)})
    lost = [*await _lost(database, load), *await _lost(database, longer)]
    per_second = len(load.milliseconds) / _LOAD_SECONDS
    health_per_second = len(health.milliseconds) / _HEALTH_SECONDS
    write_report(
        "server-load",
        {
            "records": _RECORDS,
            "connections": _CONNECTIONS,
            "requests": len(load.milliseconds) + len(longer.milliseconds),
            "errors": len(load.errors) + len(longer.errors),
            "lost": len(lost),
            "requests_per_s": round(per_second, 1),
            "health_per_s": round(health_per_second, 1),
            "requests_per_s_to_health": round(per_second / health_per_second, 3),
            "p95_ms": round(_p95(load), 1),
            "health_p95_ms": round(_p95(health), 1),
            "p95_to_health": round(_p95(load) / _p95(health), 2),
            "held": held,
        },
    )
    assert load.errors + longer.errors == []
    assert lost == []
    grown = (held[-1]["megabytes"] - held[0]["megabytes"]) * 1_000_000
    assert grown < _MOST_GROWTH + _INDEX_OF_ONE * held[-1]["written"]


async def _ask_for_health(health: Load, address: str) -> None:
    """Ask what costs least, from as many connections."""
    limits = httpx.Limits(max_connections=_CONNECTIONS)
    async with httpx.AsyncClient(base_url=address, limits=limits) as client:
        until = time.monotonic() + _HEALTH_SECONDS

        async def one() -> None:
            while time.monotonic() < until:
                began = time.perf_counter()
                (await client.get("/health")).raise_for_status()
                health.milliseconds.append((time.perf_counter() - began) * 1_000)

        await asyncio.gather(*(one() for _ in range(_CONNECTIONS)))


def _p95(load: Load) -> float:
    return statistics.quantiles(load.milliseconds, n=20)[-1]


def _held_megabytes(pid: int) -> float:
    """What the process holds for itself, without the files that it maps."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    held = next(it for it in status.splitlines() if it.startswith("RssAnon"))
    return int(held.split()[1]) * 1_024 / 1_000_000
