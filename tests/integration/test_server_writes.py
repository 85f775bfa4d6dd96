"""Writes over HTTP: decided on what was seen, done once, and done to many."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.server.app import create_app
from tests.serving import calling

ANN = {"user": "ann"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(
        create_app(tmp_path / "memory.db"), headers={"Content-Type": "application/json"}, params=ANN
    ) as opened:
        yield opened


async def saved(client: httpx.AsyncClient, content: str, **fields: Any) -> dict[str, Any]:
    response = await client.post("/v1/records", json={"content": content, **fields})
    assert response.status_code == 201, response.text
    return response.json()


async def test_a_change_is_made_only_to_the_version_that_was_seen(client: httpx.AsyncClient):
    record = await saved(client, "port 80")
    path = f"/v1/records/{record['id']}"
    seen = (await client.get(path)).headers["etag"]
    first = await client.patch(path, json={"content": "port 81"}, headers={"If-Match": seen})
    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    for method, url, body in (
        ("PATCH", path, {"content": "port 82"}),
        ("DELETE", path, None),
        ("POST", f"{path}/undo", None),
    ):
        late = await client.request(method, url, json=body, headers={"If-Match": seen})
        told = late.json()
        assert (late.status_code, told["code"]) == (412, "stale_version")
        assert told["current_version"] == 2
    known = await client.get(path, headers={"If-None-Match": '"2"'})
    assert (known.status_code, known.content) == (304, b"")
    odd = await client.patch(path, json={"content": "x"}, headers={"If-Match": "junk"})
    assert (odd.status_code, odd.json()["code"]) == (422, "bad_etag")
    gone = await client.delete(path, headers={"If-Match": '"2"'})
    assert gone.json()["status"] == "deleted"


async def test_a_shared_record_is_guarded_too(client: httpx.AsyncClient):
    body = {"type": "convention", "content": "Commits are squashed"}
    proposal = (await client.post("/v1/proposals", json=body)).json()
    approved = await client.post(f"/v1/proposals/{proposal['id']}/approve")
    path = f"/v1/shared/{approved.json()['record']}"
    seen = (await client.get(path)).headers["etag"]
    change = {"content": "Commits are squashed and signed"}
    assert (await client.patch(path, json=change, headers={"If-Match": seen})).status_code == 200
    late = await client.delete(path, headers={"If-Match": seen})
    assert (late.status_code, late.json()["current_version"]) == (412, 2)


async def test_every_write_happens_once_under_its_key(client: httpx.AsyncClient):
    record = await saved(client, "tea")
    path = f"/v1/records/{record['id']}"
    key = {"Idempotency-Key": "used-1"}
    answers = await asyncio.gather(*(client.post(f"{path}/used", headers=key) for _ in range(4)))
    assert [it.json()["helped"] for it in answers] == [1, 1, 1, 1]
    other = await client.post(f"{path}/used", json={"success": False}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_mismatch")
    said = {"messages": [{"role": "user", "content": "hello"}]}
    for _ in range(2):
        heard = await client.post(
            "/v1/sessions/s/observe", json=said, headers={"Idempotency-Key": "said-1"}
        )
        assert heard.status_code == 201
    assert len((await client.get("/v1/turns")).json()["items"]) == 1
    for _ in range(2):
        gone = await client.delete(path, headers={"Idempotency-Key": "gone-1"})
        assert (gone.status_code, gone.json()["status"]) == (200, "deleted")
        assert gone.headers["etag"] == '"2"'
    proposal = {"type": "adr", "content": "Use SQLite"}
    first, again = [
        await client.post("/v1/proposals", json=proposal, headers={"Idempotency-Key": "p"})
        for _ in range(2)
    ]
    assert first.json() == again.json()
    assert first.headers["location"] == again.headers["location"]


async def test_a_kept_answer_is_forgotten_with_what_it_told(client: httpx.AsyncClient):
    record = await saved(client, "the lantern opens with 4711")
    path = f"/v1/records/{record['id']}"
    key = {"Idempotency-Key": "k"}
    await client.post(f"{path}/used", headers=key)
    forgotten = await client.post("/v1/forget", json={"records": [record["id"]], "verify": True})
    assert forgotten.json()["verification"]["traces"] == []
    again = await client.post(f"{path}/used", headers=key)
    assert "4711" not in again.text
    assert again.status_code == 409


async def test_the_progress_of_a_forgetting_is_streamed(client: httpx.AsyncClient):
    items = [{"content": f"note {number}"} for number in range(30)]
    await client.post("/v1/records/batch", json={"items": items})

    body = {"user": "ann", "verify": True}
    answer = await client.post("/v1/forget/stream", json=body)

    *steps, last = [json.loads(line) for line in answer.text.splitlines()]
    done = [step["progress"]["done"] for step in steps]
    assert done == sorted(done)
    assert steps[-1]["progress"] == {"done": 30, "total": 30}
    assert last["forgotten"]["counts"]["records"] == 30
    assert last["forgotten"]["verification"]["traces"] == []


async def test_a_streamed_forgetting_that_is_refused_is_a_problem(client: httpx.AsyncClient):
    refused = await client.post("/v1/forget/stream", json={"user": "ann", "session": "s"})

    assert (refused.status_code, refused.json()["code"]) == (422, "what_to_forget")


async def test_many_records_are_saved_tagged_edited_and_deleted(client: httpx.AsyncClient):
    items = [{"content": f"note {number}", "tags": ["old"]} for number in range(3)]
    made = (await client.post("/v1/records/batch", json={"items": items})).json()["items"]
    ids = [it["id"] for it in made]
    others = await client.post("/v1/records", json={"content": "Bob's"}, params={"user": "bob"})
    edit = {
        "ids": [*ids, others.json()["id"], "mem_nothing"],
        "add_tags": ["new"],
        "remove_tags": ["old"],
        "category": "decision",
        "reason": "sorted",
    }
    done = (await client.post("/v1/records/bulk-edit", json=edit)).json()
    assert [(it["tags"], it["category"]) for it in done["changed"]] == [(["new"], "decision")] * 3
    assert [it["code"] for it in done["failed"]] == ["not_found", "not_found"]
    history = (await client.get(f"/v1/records/{ids[0]}/history")).json()["items"]
    assert [it["reason"] for it in history] == ["", "sorted"]
    nothing = await client.post("/v1/records/bulk-edit", json={"ids": ids})
    assert (nothing.status_code, nothing.json()["code"]) == (422, "nothing_to_change")
    gone = (await client.post("/v1/records/bulk-delete", json={"ids": ids})).json()
    assert {it["status"] for it in gone["changed"]} == {"deleted"}
    assert (await client.get("/v1/records")).json()["items"] == []
    bad = {"items": [{"content": "fine"}, {"content": ""}]}
    assert (await client.post("/v1/records/batch", json=bad)).status_code == 422
    assert (await client.get("/v1/records")).json()["items"] == []


async def test_a_history_comes_in_pages(client: httpx.AsyncClient):
    record = await saved(client, "version 1")
    path = f"/v1/records/{record['id']}"
    for number in range(2, 6):
        await client.patch(path, json={"content": f"version {number}"})
    seen: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await client.get(f"{path}/history", params={"limit": 2, **cursor})).json()
        seen += [it["number"] for it in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == [1, 2, 3, 4, 5]
