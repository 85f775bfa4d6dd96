"""The HTTP face: every route, one form for errors, and who may ask."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.domain.context import ContextFields
from recollect.domain.fields import RecordFields
from recollect.domain.filters import FilterFields
from recollect.errors import RecollectError, StorageBusy, StorageError
from recollect.models.onnx_embedder import OnnxEmbedder
from recollect.server.app import MOST_BYTES, create_app
from recollect.server.bodies import ChangedRecord, Filters, NewRecord, Prompt
from recollect.settings import Settings
from tests.serving import calling
from tests.unit.models.tiny_model import write_folder

JSON = {"Content-Type": "application/json"}


@asynccontextmanager
async def serving(where: Path | Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(create_app(where), headers=JSON) as client:
        yield client


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(tmp_path / "data") as opened:
        yield opened


async def saved(client: httpx.AsyncClient, content: str, **fields: Any) -> dict[str, Any]:
    response = await client.post("/v1/records", json={"content": content, **fields})
    assert response.status_code == 201, response.text
    return response.json()


def problem_of(response: httpx.Response) -> tuple[int, str]:
    told = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    known = {"type", "title", "status", "detail", "code", "hint"}
    assert told.keys() - {"current_version"} == known
    assert told["status"] == response.status_code
    assert told["type"].endswith(told["code"])
    assert told["detail"]
    return response.status_code, told["code"]


async def listed(client: httpx.AsyncClient, **filters: Any) -> list[str]:
    response = await client.get("/v1/records", params=filters)
    assert response.status_code == 200, response.text
    return [item["content"] for item in response.json()["items"]]


async def test_health_tells_the_version_and_that_the_database_answers(client: httpx.AsyncClient):
    told = (await client.get("/health")).json()
    assert (told["status"], told["database"]) == ("ok", "ok")
    assert told["version"]


async def test_the_model_begins_to_load_before_the_first_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    expected: list[str] = []
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", f"folder:{write_folder(tmp_path / 'tiny')}")
    monkeypatch.setattr(OnnxEmbedder, "expect", lambda _, text: expected.append(text))
    async with serving(tmp_path / "data"):
        assert expected == ["hello 你好"]


async def test_what_is_saved_is_recalled_in_chinese_and_english(client: httpx.AsyncClient):
    record = await saved(client, "登录页面的按钮是蓝色的", tags=["ui"], importance=0.9)
    await saved(client, "Ann prefers green tea")
    found = (await client.post("/v1/recall", json={"query": "登录", "tags": "ui"})).json()
    (hit,) = found["hits"]
    assert (hit["id"], hit["record"]["importance"]) == (record["id"], 0.9)
    assert 0 < hit["score"] <= 1
    assert "登录" in hit["explanation"]["matched_terms"]
    english = (await client.post("/v1/recall", json={"query": "Ann tea", "limit": 1})).json()
    assert english["hits"][0]["passage"] == "Ann prefers green tea"
    none = await client.post("/v1/recall", json={"query": "quantum chromodynamics"})
    assert (none.status_code, none.json()["hits"]) == (200, [])


async def test_a_recall_says_what_it_was_taken_for_and_what_it_left_out(
    client: httpx.AsyncClient,
):
    for number in range(3):
        await saved(client, f"Ann drank green tea number {number}")
    question = {"query": "what green tea did Ann prefer?", "limit": 1, "min_score": 0}
    found = (await client.post("/v1/recall", json=question)).json()
    assert found["intent"] in {"question", "preference"}
    assert found["intent_reason"]
    assert [set(missed) for missed in found["near_misses"]] == [{"id", "score", "reason"}] * 2
    (hit,) = found["hits"]
    assert {"surroundings", "factor", "sureness", "relevance", "boosts"} < set(hit["explanation"])


async def test_a_block_is_made_for_a_message(client: httpx.AsyncClient):
    record = await saved(client, "安妮喜欢喝绿茶", category="preference")
    message = {"message": "安妮喜欢什么茶？"}
    made = (await client.post("/v1/context", json=message)).json()
    assert made["text"].startswith("<memory>")
    assert (made["ids"], made["left_out"], made["place"]) == ([record["id"]], [], "system")
    assert made["recall_id"].startswith("recall_")
    window = [{"role": "user", "content": "安妮喜欢喝绿茶"}]
    told = (await client.post("/v1/context", json={**message, "window": window})).json()
    assert told["left_out"] == [{"id": record["id"], "reason": "in_window"}]
    english = {**message, "form": "flat", "language": "en", "max_tokens": 500}
    flat = (await client.post("/v1/context", json=english)).json()
    assert flat["text"].startswith("<memory-context>\nLong-term memory")
    nothing = (await client.post("/v1/context", json={"message": "量子色动力学"})).json()
    assert (nothing["text"], nothing["ids"]) == ("", [])
    refused = await client.post("/v1/context", json={**message, "form": "xml"})
    assert problem_of(refused) == (422, "unknown_value")


async def test_agents_of_one_run_share_the_items_of_a_block_out(client: httpx.AsyncClient):
    await saved(client, "Ann prefers green tea", category="user-profile")
    asked = {"message": "which tea does Ann prefer", "run": "r1"}
    counts: list[int] = []
    for agent in ("writer", "critic", "writer"):
        made = await client.post("/v1/context", json=asked, params={"agent": agent})
        counts.append(len(made.json()["ids"]))
    assert counts == [1, 0, 1]


async def test_what_helped_and_what_did_not_is_counted(client: httpx.AsyncClient):
    record = await saved(client, "Deploy with make ship", kind="procedural")
    path = f"/v1/records/{record['id']}"
    await client.post(f"{path}/used")
    used = (await client.post(f"{path}/used", json={"success": False})).json()
    assert (used["helped"], used["rejected"], used["usage_count"]) == (1, 1, 2)
    rejected = (await client.post(f"{path}/rejected")).json()
    assert (rejected["rejected"], rejected["success_rate"], rejected["version"]) == (2, 0.5, 1)
    turns = await client.post("/v1/observe", json={"messages": [{"role": "user", "content": "x"}]})
    turn = turns.json()["items"][0]["id"]
    for how in ("used", "rejected"):
        refused = await client.post(f"/v1/records/{turn}/{how}")
        assert problem_of(refused) == (422, "not_a_record")
        assert problem_of(await client.post(f"/v1/records/mem_1/{how}")) == (404, "not_found")
    stats = (await client.get("/v1/stats")).json()
    assert stats["recall_cache"].keys() == {"hits", "misses", "entries", "hit_rate"}


async def test_a_new_record_can_be_fetched_from_its_location(client: httpx.AsyncClient):
    response = await client.post(
        "/v1/records",
        json={
            "content": "Release went out",
            "kind": "episodic",
            "participants": ["Ann"],
            "timestamp": "2026-01-02T10:00:00+08:00",
            "evidence": [{"turn": "turn_1", "start": 0, "end": 4}],
            "metadata": {"build": 42},
        },
    )
    record = (await client.get(response.headers["location"])).json()
    assert record == response.json()
    assert (record["participants"], record["timestamp"]) == (["Ann"], "2026-01-02T02:00:00Z")
    assert record["evidence"] == [{"turn": "turn_1", "start": 0, "end": 4}]
    assert record["metadata"] == {"build": 42}


async def test_a_record_is_changed_undone_deleted_and_purged(client: httpx.AsyncClient):
    record = await saved(client, "port 80", valid_to="2030-01-01T00:00:00Z")
    path = f"/v1/records/{record['id']}"
    change = {"content": "port 8080", "valid_to": None, "reason": "moved", "expected_version": 1}
    changed = (await client.patch(path, json=change)).json()
    assert (changed["content"], changed["valid_to"], changed["version"]) == ("port 8080", None, 2)
    before = await client.get(path, params={"as_of": record["recorded_at"]})
    assert before.json()["content"] == "port 80"
    assert problem_of(await client.patch(path, json=change)) == (409, "stale_version")

    first, second = (await client.get(f"{path}/history")).json()["items"]
    assert (first["record"]["content"], second["reason"]) == ("port 80", "moved")

    assert (await client.post(f"{path}/undo")).json()["content"] == "port 80"
    assert problem_of(await client.post(f"{path}/purge")) == (409, "not_deleted")
    gone = (await client.delete(path, params={"reason": "wrong"})).json()
    assert gone["status"] == "deleted"
    assert problem_of(await client.get(path)) == (404, "deleted")
    assert (await client.post(f"{path}/purge")).status_code == 204
    assert problem_of(await client.get(f"{path}/history")) == (404, "not_found")


async def test_messages_are_kept_in_order(client: httpx.AsyncClient):
    messages = [
        {"role": "user", "name": "Ann", "content": "我下周去上海", "at": "2026-01-02T03:04:05Z"},
        {"role": "assistant", "content": "好的", "tool_calls": [{"id": "1"}]},
    ]
    body = {"messages": messages, "session": "s1"}
    first, second = (await client.post("/v1/observe", json=body)).json()["items"]
    assert (first["ordinal"], first["speaker"], first["at"]) == (1, "Ann", "2026-01-02T03:04:05Z")
    assert (second["ordinal"], second["payload"]) == (2, {"tool_calls": [{"id": "1"}]})
    (hit,) = (await client.post("/v1/recall", json={"query": "上海"})).json()["hits"]
    assert hit["turn"]["id"] == first["id"]
    assert (await client.get(f"/v1/turns/{first['id']}")).json() == first
    assert problem_of(await client.get("/v1/turns/turn_nothing")) == (404, "not_found")
    assert problem_of(await client.get("/v1/turns?sesion=s1")) == (422, "unknown_field")
    page = (await client.get("/v1/turns", params={"session": "s1", "limit": 1})).json()
    assert page["items"] == [first]
    rest = {"session": "s1", "cursor": page["next_cursor"]}
    assert (await client.get("/v1/turns", params=rest)).json()["items"] == [second]
    assert (await client.get("/v1/turns", params={"user": "bo"})).json()["items"] == []


async def test_a_body_nested_without_end_does_not_spoil_the_listing(client: httpx.AsyncClient):
    await saved(client, "harmless")
    for depth in (300, 100_000):
        deep = b'{"a":' * depth + b"1" + b"}" * depth
        for url, body in (
            ("/v1/records", b'{"content": "x", "metadata": %b}' % deep),
            ("/v1/observe", b'{"messages": [{"role": "user", "content": "x", "more": %b}]}' % deep),
        ):
            refused = await client.post(url, content=body, headers=JSON)
            assert 400 <= problem_of(refused)[0] < 500
    assert await listed(client) == ["harmless"]
    assert (await client.get("/v1/turns")).json()["items"] == []


async def test_filters_and_pages_of_a_listing(client: httpx.AsyncClient):
    for day in range(1, 6):
        moment = f"2026-01-0{day}T00:00:00Z"
        kind = "procedural" if day == 5 else "semantic"
        await saved(client, f"note {day}", created_at=moment, kind=kind, tags=[f"t{day % 2}"])
    assert await listed(client, kind="procedural") == ["note 5"]
    assert await listed(client, kind=["procedural", "episodic"]) == ["note 5"]
    assert await listed(client, tags="t0") == ["note 4", "note 2"]
    assert await listed(client, since="2026-01-04T00:00:00Z") == ["note 5", "note 4"]
    assert await listed(client, status="deleted") == []
    page = (await client.get("/v1/records", params={"limit": 3})).json()
    rest = await listed(client, cursor=page["next_cursor"])
    assert [item["content"] for item in page["items"]] + rest == [
        f"note {day}" for day in (5, 4, 3, 2, 1)
    ]


async def test_the_scope_comes_from_the_query_and_is_a_wall(client: httpx.AsyncClient):
    bo = {"user": "bo", "agent": "sql", "workspace": "w", "org": "o"}
    response = await client.post("/v1/records", params=bo, json={"content": "Bo's own"})
    record = response.json()
    assert record["scope"] == {"org": "o", "workspace": "w", "agent": "sql", "user": "bo"}
    path = f"/v1/records/{record['id']}"
    assert (await client.get(path, params=bo)).status_code == 200
    for foreign in ({}, {"user": "bo"}, {**bo, "user": "ann"}, {**bo, "agent": "chat"}):
        assert problem_of(await client.get(path, params=foreign)) == (404, "not_found")
        recalled = await client.post("/v1/recall", params=foreign, json={"query": "Bo"})
        assert recalled.json()["hits"] == []
    assert (await client.get("/v1/stats", params=bo)).json()["store"]["records"] == 1
    assert (await client.get("/v1/stats")).json()["store"]["records"] == 0
    assert problem_of(await client.get("/v1/records?user=a/b")) == (422, "bad_scope")


async def test_the_default_scope_is_that_of_the_settings(tmp_path: Path):
    settings = Settings.load({"data_dir": tmp_path, "scope": {"user": "ann", "agent": "chat"}})
    async with serving(settings) as client:
        assert (await saved(client, "x"))["scope"] == {
            "org": "local",
            "workspace": "default",
            "agent": "chat",
            "user": "ann",
        }


async def test_a_repeated_key_saves_once_and_another_body_is_refused(client: httpx.AsyncClient):
    key = {"Idempotency-Key": "k1"}
    first = await client.post("/v1/records", json={"content": "once"}, headers=key)
    again = await client.post("/v1/records", json={"content": "once"}, headers=key)
    assert again.json()["id"] == first.json()["id"]
    other = await client.post("/v1/records", json={"content": "twice"}, headers=key)
    assert problem_of(other) == (409, "idempotency_mismatch")
    assert await listed(client) == ["once"]
    message = {"messages": [{"role": "user", "content": "hello"}], "session": "s"}
    for _ in range(2):
        turns = await client.post("/v1/observe", json=message, headers={"Idempotency-Key": "k2"})
        assert turns.status_code == 201
    assert (await client.get("/v1/stats")).json()["store"]["turns"] == 1


async def test_writing_where_one_may_only_read_is_forbidden(client: httpx.AsyncClient):
    record = await saved(client, "the user's own")
    response = await client.patch(
        f"/v1/records/{record['id']}", params={"agent": "sql"}, json={"content": "changed"}
    )
    assert problem_of(response) == (403, "not_allowed")


_BAD: list[tuple[dict[str, Any], int, str]] = [
    ({"json": {"content": ""}}, 422, "empty_text"),
    ({"json": {"content": " \n"}}, 422, "empty_text"),
    ({"json": {}}, 422, "missing_field"),
    ({"json": {"content": 42}}, 422, "wrong_type"),
    ({"json": ["content"]}, 422, "wrong_type"),
    ({"json": {"content": "x", "colour": "red"}}, 422, "unknown_field"),
    ({"json": {"content": "x", "recorded_at": "2026-01-01T00:00:00Z"}}, 422, "unknown_field"),
    ({"json": {"content": "x", "kind": "dream"}}, 422, "unknown_value"),
    ({"json": {"content": "x", "steps": ["a"]}}, 422, "wrong_kind_fields"),
    ({"json": {"content": "x", "confidence": 2}}, 422, "out_of_range"),
    ({"json": {"content": "x", "created_at": "2026-01-01T00:00:00"}}, 422, "naive_datetime"),
    ({"json": {"content": "x", "created_at": "soon"}}, 422, "wrong_type"),
    ({"json": {"content": "x", "namespace": "user_profile/bo"}}, 403, "not_allowed"),
    ({"json": {"content": "x" * 100_001}}, 422, "text_too_large"),
    ({"json": {"content": "x" * MOST_BYTES}}, 413, "body_too_large"),
    ({"content": b'{"content": "caf\xe9"}', "headers": JSON}, 400, "invalid_utf8"),
    ({"content": b'{"content": "a\\u0000b"}', "headers": JSON}, 422, "nul_byte"),
    ({"content": b'{"content": "a\\ud800b"}', "headers": JSON}, 422, "invalid_unicode"),
    ({"content": b'{"content": ', "headers": JSON}, 422, "invalid_json"),
    (
        {"content": b'{"content": "x"}', "headers": {"Content-Type": "text/plain"}},
        415,
        "content_type_needed",
    ),
]


async def test_bad_records_have_a_code_and_change_nothing(client: httpx.AsyncClient):
    told = [
        (request, *problem_of(await client.post("/v1/records", **request)))
        for request, _, _ in _BAD
    ]
    assert told == _BAD
    assert await listed(client) == []


async def test_a_body_without_an_announced_end_is_cut_off(client: httpx.AsyncClient):
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 10 * MOST_BYTES:
            sent += 100_000
            yield b" " * 100_000

    response = await client.post("/v1/records", content=endless(), headers=JSON)
    assert problem_of(response) == (413, "body_too_large")
    assert sent < 2 * MOST_BYTES


async def test_other_bad_requests_are_problems_too(client: httpx.AsyncClient):
    for method, url, body, expected in (
        ("POST", "/v1/recall", {"query": " "}, (422, "empty_text")),
        ("POST", "/v1/recall", {"query": "x", "limit": -1}, (422, "bad_limit")),
        ("POST", "/v1/recall", {"query": "x", "since": "2026-01-01"}, (422, "naive_datetime")),
        ("POST", "/v1/recall", {"query": "x", "user": "bo"}, (422, "unknown_field")),
        ("POST", "/v1/observe", {"messages": [{"content": "x"}]}, (422, "missing_field")),
        ("GET", "/v1/records?limit=0", None, (422, "bad_limit")),
        ("GET", "/v1/records?limit=many", None, (422, "wrong_type")),
        ("GET", "/v1/records?cursor=junk", None, (422, "bad_cursor")),
        ("GET", "/v1/records?kind=dream", None, (422, "unknown_value")),
        ("GET", "/v1/records?categry=x", None, (422, "unknown_field")),
        ("GET", "/v1/records/mem_nothing", None, (404, "not_found")),
        ("POST", "/v1/records/mem_nothing/undo", None, (404, "not_found")),
        ("GET", "/v1/nothing", None, (404, "no_such_route")),
        ("PUT", "/v1/records", {}, (405, "method_not_allowed")),
    ):
        response = await client.request(method, url, json=body)
        assert (method, url, problem_of(response)) == (method, url, expected)


async def test_an_unknown_field_is_answered_with_those_there_are(client: httpx.AsyncClient):
    async def hint(route: str, body: dict[str, Any]) -> str:
        return (await client.post(f"/v1/{route}", json=body)).json()["hint"]

    message = {"role": "user", "content": "我喜欢绿茶"}
    whose = await hint("recall", {"query": "绿茶", "user": "安妮"})
    assert whose.startswith("Choose the scope with query parameters: /v1/recall?user=…. The body")
    assert "takes: messages, session, task." in await hint(
        "observe", {"messages": [message], "session_id": "s"}
    )
    assert "query, " in await hint("recall", {"q": "green tea"})
    assert "Nothing was changed." in await hint("observe", {"messages": [{"content": "x"}]})


async def test_who_may_not_forget_a_user_is_told_how_over_http(client: httpx.AsyncClient):
    refused = await client.post("/v1/forget?user=bob", json={"user": "ann"})
    assert problem_of(refused) == (403, "not_allowed")
    assert "?user=ann over HTTP" in refused.json()["hint"]


async def test_search_operators_in_a_question_are_only_text(client: httpx.AsyncClient):
    await saved(client, "a harmless note")
    for query in ('"', "a* OR b", "NEAR(a b)", "'; DROP TABLE records; --"):
        response = await client.post("/v1/recall", json={"query": query})
        assert response.status_code == 200
    assert await listed(client) == ["a harmless note"]


async def test_pages_and_names_of_others_are_refused(client: httpx.AsyncClient):
    for host in (
        "evil.example",
        "testserver",
        "127.0.0.1.evil.example",
        "",
        "[::1",
        "localhost@evil.example",
        "evil@127.0.0.1",
        "evil.example:x@127.0.0.1:7077",
        "127.0.0.1:7077@evil.example",
        "127.0.0.1/evil",
        "127.0.0.1?evil",
        "127.0.0.1#evil",
        "127.0.0.1:port",
        "127.0.0.1:",
    ):
        refused = await client.get("/health", headers={"Host": host})
        assert (host, problem_of(refused)) == (host, (400, "foreign_host"))
    for host in ("localhost", "LOCALHOST:7077", "127.0.0.1:1", "[::1]:7077"):
        assert (await client.get("/health", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://evil.example:7077",
        "null",
        "",
        "http://localhost:5173",  # another program of this machine
        "http://localhost",
        "http://localhost:70770",
        "https://localhost:7077",
        "http://evil@localhost:7077",
        "http://localhost:7077/",
        "localhost:7077",
    ],
)
async def test_only_pages_of_this_very_server_may_use_it(client: httpx.AsyncClient, origin: str):
    asked = {"Origin": origin}
    refused = await client.post("/v1/records", json={"content": "x"}, headers=asked)
    assert problem_of(refused) == (403, "foreign_origin")
    assert await listed(client) == []


@pytest.mark.parametrize("origin", ["http://127.0.0.1:7077", "http://LOCALHOST:7077"])
async def test_a_page_of_this_server_may_use_it(client: httpx.AsyncClient, origin: str):
    own = await client.get("/v1/records", headers={"Origin": origin})
    assert own.json()["items"] == []


@pytest.mark.parametrize(
    "sent_as",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=application/json",
        "text/plain; application/json",
    ],
)
async def test_a_post_that_a_form_could_send_is_refused(client: httpx.AsyncClient, sent_as: str):
    record = await saved(client, "tea")
    path = f"/v1/records/{record['id']}"
    await client.delete(path)
    for address in (f"{path}/purge", f"{path}/undo", "/v1/upkeep/sweep", "/v1/forget"):
        refused = await client.post(address, headers={"Content-Type": sent_as})
        assert problem_of(refused) == (415, "content_type_needed")
    assert (await client.post(f"{path}/undo")).json()["content"] == "tea"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Exception]]:
    """Makes the next read of the facade fail with an error put into the list."""
    errors: list[Exception] = []

    async def fail(*_: object, **__: object) -> None:
        raise errors[-1]

    monkeypatch.setattr("recollect.memory.Memory.list", fail)
    return errors


async def test_a_failing_store_is_told_with_a_fitting_status(
    client: httpx.AsyncClient, failing: list[Exception]
):
    cases: list[tuple[Exception, int, str]] = [
        (StorageBusy("busy"), 503, "storage_busy"),
        (StorageError("away", code="database_unreachable"), 503, "database_unreachable"),
        (StorageError("full", code="disk_full"), 507, "disk_full"),
        (StorageError("broken", code="database_corrupt"), 500, "database_corrupt"),
        (RecollectError("odd"), 500, "error"),
        (ZeroDivisionError(), 500, "unexpected"),
    ]
    for error, status, code in cases:
        failing.append(error)
        for url in ("/health", "/v1/records"):
            response = await client.get(url)
            assert problem_of(response) == (status, code)
            assert ("retry-after" in response.headers) == (status == 503)


def test_bodies_have_exactly_the_fields_of_the_library():
    own = {"content", "reason", "namespace"}
    assert NewRecord.model_fields.keys() - own == RecordFields.__annotations__.keys()
    assert ChangedRecord.model_fields.keys() - {*own, "expected_version"} == (
        RecordFields.__annotations__.keys()
    )
    assert Filters.model_fields.keys() == FilterFields.__annotations__.keys()
    assert Prompt.model_fields.keys() - {"message"} == ContextFields.__annotations__.keys()


@pytest.mark.parametrize(
    ("method", "route", "body"),
    [
        ("POST", "records", {"content": "Ann's secret"}),
        ("POST", "recall", {"query": "secret"}),
        ("POST", "observe", {"messages": [{"role": "user", "content": "x"}]}),
        ("POST", "forget", {"everything": True}),
        ("GET", "stats", None),
        ("DELETE", "records/mem_nothing", None),
    ],
)
async def test_whose_memory_it_is_must_be_spelled_right(
    client: httpx.AsyncClient, method: str, route: str, body: dict[str, Any] | None
):
    # Other systems say user_id: without a word everybody would share one memory.
    response = await client.request(method, f"/v1/{route}?user_id=ann", json=body)
    assert problem_of(response) == (422, "unknown_field")
    assert "user_id" in response.json()["detail"]
    assert "agent, " in response.json()["hint"]
    assert "user, " in response.json()["hint"]
    assert await listed(client) == []
