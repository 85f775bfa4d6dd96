"""What changes is told as it happens, and after a break from where it broke."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory
from recollect.errors import InvalidInput
from tests.serving import served

ANN = {"user": "ann"}


async def told(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    event: dict[str, Any] = {}
    async for line in response.aiter_lines():
        name, _, value = line.partition(": ")
        if line and name:
            event[name] = value
        elif "data" in event:
            yield {**event, "data": json.loads(event["data"])}
            event = {}


async def next_change(events: AsyncIterator[dict[str, Any]]) -> dict[str, Any]:
    return await anext(it async for it in events if it["event"] == "change")


async def test_changes_arrive_and_go_on_after_a_break(tmp_path: Path):
    async with (
        served(tmp_path / "memory.db") as address,
        httpx.AsyncClient(base_url=address, params=ANN, timeout=30) as client,
    ):
        async with client.stream("GET", "/v1/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            events = told(stream)
            assert (await anext(events))["event"] == "ready"
            first = (await client.post("/v1/records", json={"content": "one"})).json()
            await client.post("/v1/records", json={"content": "Bob's"}, params={"user": "bob"})
            seen = await next_change(events)
            assert seen["data"]["changes"] == [{"entity": "record", "id": first["id"], "op": "put"}]
        missed = (await client.post("/v1/records", json={"content": "two"})).json()
        again = {"Last-Event-ID": seen["id"]}
        async with client.stream("GET", "/v1/events", headers=again) as stream:
            change = await next_change(told(stream))
            assert [it["id"] for it in change["data"]["changes"]] == [missed["id"]]
        bad = await client.get("/v1/events", headers={"Last-Event-ID": "junk"})
        assert (bad.status_code, bad.json()["code"]) == (422, "bad_mark")


async def test_jobs_are_told_with_their_states(tmp_path: Path):
    async with (
        served(tmp_path / "memory.db") as address,
        httpx.AsyncClient(base_url=address, params=ANN, timeout=30) as client,
        client.stream("GET", "/v1/events", params={"jobs": True}) as stream,
    ):
        events = told(stream)
        await anext(events)
        messages = [{"role": "user", "content": f"I like tea {it}"} for it in range(10)]
        await client.post("/v1/observe", json={"session": "s", "messages": messages})
        states: list[str] = []
        async for event in events:
            if event["event"] == "job" and event["data"]["kind"] == "extract":
                states.append(event["data"]["state"])
                if states[-1] == "done":
                    break
        assert states[0] in {"waiting", "running", "done"}


async def test_a_mark_is_good_in_another_process_and_only_for_its_caller(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        ann = memory.scope(user="ann")
        mark = (await ann.changes()).mark
        kept = [await ann.remember(f"note {number}") for number in range(5)]
    async with Memory.open(tmp_path / "memory.db") as memory:
        ann = memory.scope(user="ann")
        seen: list[str] = []
        while (found := await ann.changes(mark, limit=2)).items:
            seen += [change.id for item in found.items for change in item.changes]
            mark = found.mark
        assert seen == [record.id for record in kept]
        waited = await ann.changes(mark, wait=0.3)
        assert (waited.items, waited.mark) == ((), mark)
        with pytest.raises(InvalidInput, match="is not a mark of"):
            await memory.scope(user="ann", agent="sql").changes(mark)
