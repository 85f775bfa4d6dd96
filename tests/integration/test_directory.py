"""Who and what is in a workspace: for its operator, over HTTP and in the library."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, event

from recollect import Memory
from recollect.errors import NotAllowed
from recollect.server.app import create_app
from tests.services import database_of
from tests.serving import calling


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(create_app(tmp_path / "memory.db")) as opened:
        yield opened


async def fill(client: httpx.AsyncClient) -> None:
    people = ({"user": "ann"}, {"user": "ann", "agent": "sql"}, {"user": "安妮"})
    for number, whose in enumerate(people):
        for day in range(1, 4):
            body = {
                "content": f"note {day} of {number}",
                "category": "preference" if number else "decision",
                "tags": ["tea", f"day{day}"],
                "created_at": f"2026-0{number + 1}-0{day}T00:00:00Z",
                "kind": "episodic" if day == 3 else "semantic",
            }
            assert (await client.post("/v1/records", json=body, params=whose)).is_success
    for session in ("monday", "tuesday"):
        said = {"session": session, "messages": [{"role": "user", "content": "hi"}] * 2}
        assert (await client.post("/v1/observe", json=said, params={"user": "ann"})).is_success
    elsewhere = {"user": "eve", "workspace": "other"}
    await client.post("/v1/records", json={"content": "not here"}, params=elsewhere)


async def got(client: httpx.AsyncClient, path: str, **params: Any) -> dict[str, Any]:
    response = await client.get(f"/v1/{path}", params=params)
    assert response.status_code == 200, response.text
    return response.json()


async def all_pages(client: httpx.AsyncClient, path: str, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await got(client, path, limit=2, **params, **cursor)
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


async def test_a_workspace_tells_who_is_in_it_and_how_much(client: httpx.AsyncClient):
    await fill(client)
    scopes = await all_pages(client, "workspace/scopes")
    assert [it["contents"]["records"] for it in scopes if it["scope"]["user"]] == [3, 3, 3]
    assert {it["scope"]["workspace"] for it in scopes} == {"default"}
    users = {it["name"]: it for it in await all_pages(client, "workspace/users")}
    assert users.keys() == {"ann", "安妮"}
    assert (users["ann"]["scopes"], users["ann"]["contents"]["records"]) == (2, 6)
    assert (users["ann"]["contents"]["turns"], users["ann"]["contents"]["sessions"]) == (4, 2)
    assert [it["name"] for it in (await got(client, "workspace/agents"))["items"]] == ["sql"]
    other = await got(client, "workspace/users", workspace="other")
    assert [it["name"] for it in other["items"]] == ["eve"]


async def test_sessions_tags_and_categories_come_in_pages(client: httpx.AsyncClient):
    await fill(client)
    mine = await all_pages(client, "sessions", user="ann")
    assert [(it["id"], it["turns"]) for it in mine] == [("tuesday", 2), ("monday", 2)]
    assert await all_pages(client, "sessions", user="安妮") == []
    assert await all_pages(client, "workspace/sessions") == mine
    tags = await all_pages(client, "workspace/tags")
    assert [(it["name"], it["records"]) for it in tags] == [
        ("tea", 9),
        ("day1", 3),
        ("day2", 3),
        ("day3", 3),
    ]
    assert (await got(client, "tags", user="安妮"))["items"][0] == {"name": "tea", "records": 3}
    named = await got(client, "workspace/categories", agent="-")
    assert {it["name"]: it["records"] for it in named["items"]} == {"decision": 3, "preference": 3}


async def test_records_of_all_scopes_are_listed_with_total_and_facets(client: httpx.AsyncClient):
    await fill(client)
    listed = await all_pages(client, "workspace/records")
    assert len({it["id"] for it in listed}) == 9
    moments = [it["first_observed"] for it in listed]
    assert moments == sorted(moments, reverse=True)
    page = await got(client, "workspace/records", facets=True, tags="day3", limit=1)
    assert (page["total"], len(page["items"])) == (3, 1)
    assert page["facets"]["kinds"] == {"episodic": 3}
    assert page["facets"]["users"] == {"ann": 2, "安妮": 1}
    assert page["facets"]["agents"] == {"-": 2, "sql": 1}
    only = await got(client, "workspace/records", user="ann", agent="sql")
    assert (only["total"], only["facets"]) == (3, None)


@pytest.mark.sqlite(reason="the plan is SQLite's")
async def test_the_first_page_of_a_workspace_does_not_read_all_of_it(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        await memory.remember("Ann's own")
        operator = memory.scope(user=None)
        asked: list[tuple[str, Any]] = []

        def listen(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
            asked.append((statement, parameters))

        database: Any = database_of(memory)
        event.listen(database._reading, "before_cursor_execute", listen)
        await operator.workspace.records()
        event.remove(database._reading, "before_cursor_execute", listen)
        statement, parameters = next(it for it in asked if "records.content" in it[0])

        def plan(connection: Connection) -> str:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            return " ".join(row[3] for row in rows)

        assert "ix_records_scope_id_observed_at_id" in await database.read(plan)


async def test_each_look_is_audited_and_an_agent_may_not_look(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        await memory.scope(user="ann").remember("Ann's own")
        operator = memory.scope(user=None)
        found = await operator.workspace.records()
        assert [it.content for it in found] == ["Ann's own"]
        entries = await operator.audit.tail(action="inspect")
        assert [it.target for it in entries] == ["records"]
        # A page that refreshes itself adds nothing; another view or another person does.
        await operator.workspace.records()
        await operator.workspace.records(user="ann")
        await operator.scope(principal="bob").workspace.records()
        entries = await operator.audit.tail(action="inspect")
        told = [(it.actor, it.payload["user"]) for it in entries]
        assert sorted(told, key=str) == [("bob", None), ("local", "ann"), ("local", None)]
        for other in (memory.scope(user="bob"), memory.scope(agent="sql")):
            with pytest.raises(NotAllowed):
                await other.workspace.records()
            with pytest.raises(NotAllowed):
                await other.workspace.users()
