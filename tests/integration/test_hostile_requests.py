"""Requests that no honest client sends: each is answered as a problem, and nothing is changed."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.server.app import create_app
from tests.serving import calling

JSON = {"Content-Type": "application/json"}
BROKEN = r"\ud83d"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(create_app(tmp_path / "data")) as opened:
        yield opened


async def told(response: httpx.Response) -> tuple[int, str]:
    problem = response.json()
    assert problem["detail"]
    assert problem["hint"]
    assert len(response.content) < 5_000
    return response.status_code, problem["code"]


async def posted(client: httpx.AsyncClient, path: str, body: str) -> tuple[int, str]:
    return await told(await client.post(path, content=body, headers=JSON))


async def stored(client: httpx.AsyncClient) -> dict[str, Any]:
    return (await client.get("/v1/stats")).json()["store"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/proposals", f'{{"content": "tea", "target": "{BROKEN}"}}'),
        ("/v1/extract", f'{{"session": "{BROKEN}"}}'),
    ],
)
async def test_a_broken_character_in_a_name_is_told(
    client: httpx.AsyncClient, path: str, body: str
):
    assert await posted(client, path, body) == (422, "invalid_unicode")


async def test_a_question_asked_at_the_ends_of_the_calendar_is_answered(client: httpx.AsyncClient):
    await client.post("/v1/records", json={"content": "I prefer green tea"})
    for moment in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"):
        asked = {"query": "what do I prefer?", "asked_at": moment}
        answer = await client.post("/v1/recall", json=asked)
        assert answer.status_code == 200, answer.text
        assert "I prefer green tea" in answer.text


async def test_a_request_chooses_no_model_that_the_settings_do_not_name(client: httpx.AsyncClient):
    for model in ("mine", "folder:~nobody", "x" * 1_000, "fastembed:somebody/their-model"):
        answer = await posted(client, "/v1/reindex", f'{{"model": "{model}"}}')
        assert answer == (403, "model_not_offered")
    assert (await client.post("/v1/reindex", json={})).status_code == 202


async def test_whose_memory_it_is_is_said_once(client: httpx.AsyncClient):
    twice = await client.post("/v1/records?user=ann&user=bob", json={"content": "green tea"})
    assert await told(twice) == (422, "repeated_field")
    assert (await stored(client))["records"] == 0
    several = await client.get("/v1/records?tags=tea&tags=green&user=ann")
    assert several.status_code == 200


async def test_users_with_broken_names_do_not_share_a_memory(client: httpx.AsyncClient):
    # Both would be read as the same replacement character.
    for user in ("%ff", "%fe"):
        answer = await client.post(f"/v1/records?user={user}", json={"content": "green tea"})
        assert await told(answer) == (422, "invalid_utf8")
    assert (await client.get("/v1/records/%ff")).json()["code"] == "invalid_utf8"


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        '{"content": "a", "metadata": ' + '{"a":' * 2_000 + "1" + "}" * 2_001,
        '{"content": "a", "metadata": {"a": ' + "9" * 5_000 + "}}",
    ],
    ids=["open", "deep", "number"],
)
async def test_json_that_cannot_be_read_is_told_as_such(client: httpx.AsyncClient, body: str):
    assert await posted(client, "/v1/records", body) == (400, "invalid_json")
    assert (await stored(client))["records"] == 0


async def test_a_length_of_thousands_of_digits_is_too_large(client: httpx.AsyncClient):
    headers = {**JSON, "Content-Length": "9" * 5_000}
    answer = await client.post("/v1/records", content=b"{}", headers=headers)
    assert await told(answer) == (413, "body_too_large")


async def test_a_problem_does_not_quote_a_whole_document(client: httpx.AsyncClient):
    long = "x" * 60_000
    assert await told(await client.get(f"/v1/records?cursor={long}")) == (422, "bad_cursor")
    assert await posted(client, "/v1/recall", f'{{"{long}": 1}}') == (422, "missing_field")
    many = '{"query": "tea", "status": [' + ",".join(["1"] * 1_000) + "]}"
    assert await posted(client, "/v1/recall", many) == (422, "unknown_value")
