"""Who gets into the server, and what they may do there."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from recollect import Memory
from recollect.assemble import moves
from recollect.cli.app import run
from recollect.domain.operation import OPERATIONS
from recollect.domain.scope import Role
from recollect.server.app import create_app
from recollect.server.identity import COOKIE, CSRF_HEADER
from recollect.settings import Settings
from tests.database_servers import has_text, storage_of
from tests.described_api import API
from tests.serving import calling, served


@asynccontextmanager
async def _serving(path: Path | Settings, **given: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(create_app(path, **given), "http://127.0.0.1") as client:
        yield client


async def _key(client: httpx.AsyncClient, by: str | None = None, **wanted: Any) -> str:
    made = await client.post("/v1/keys", json=wanted, headers={} if by is None else _bearer(by))
    assert made.status_code == 201, made.text
    return made.json()["secret"]


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_every_operation_says_which_role_it_needs():
    operations = [it for methods in API["paths"].values() for it in methods.values()]
    names = {it["operationId"] for it in operations}
    # MCP describes itself, in its own protocol.
    assert names | {"answer_mcp"} == OPERATIONS.keys()
    for operation in operations:
        assert operation.get("x-role") == OPERATIONS[operation["operationId"]].role


async def test_it_is_open_until_the_first_key_is_made_and_never_again(database_path: Path):
    async with _serving(database_path) as client:
        assert (await client.get("/v1/whoami")).json()["means"] == "open"
        admin = await _key(client, name="me", role="admin")
        assert _code(await client.get("/v1/records")) == (401, "not_authenticated")
        assert (await client.get("/v1/records")).headers["www-authenticate"].startswith("Bearer")
        assert (await client.get("/health")).status_code == 200

        listed = (await client.get("/v1/keys", headers=_bearer(admin))).json()["items"]
        assert [it["name"] for it in listed] == ["me"]
        assert admin not in str(listed)
        revoked = await client.delete(f"/v1/keys/{listed[0]['id']}", headers=_bearer(admin))
        assert revoked.json()["revoked_at"] is not None
        assert _code(await client.get("/v1/records", headers=_bearer(admin))) == (401, "bad_key")
        assert (await client.get("/v1/records")).status_code == 401
    assert not has_text(database_path, admin)


async def test_the_audit_says_who_made_and_revoked_a_key_and_set_up_an_agent(database_path: Path):
    async with _serving(database_path) as client:
        admin = _bearer(await _key(client, name="me", role="admin"))
        made = (
            await client.post("/v1/keys", json={"name": "theirs", "users": ["ann"]}, headers=admin)
        ).json()
        await client.delete(f"/v1/keys/{made['key']['id']}", headers=admin)
        await client.put("/v1/agents/helper", json={"enabled": False}, headers=admin)
        await client.delete("/v1/agents/helper", headers=admin)
        told = (await client.get("/v1/audit?user=-", headers=admin)).json()["items"]
    assert [(it["action"], it["actor"], it["payload"]["name"]) for it in told] == [
        ("reset_agent", "key:me", "helper"),
        ("set_agent", "key:me", "helper"),
        ("revoke_key", "key:me", "theirs"),
        ("create_key", "key:me", "theirs"),
        ("create_key", "me", "me"),
    ]


async def test_the_history_names_the_person_who_edits_in_a_browser(database_path: Path):
    async with _serving(database_path) as client:
        scope = {"agent": "travel", "user": "ann"}
        made = await client.post("/v1/records", json={"content": "Window seats"}, params=scope)
        path = f"/v1/records/{made.json()['id']}"
        person = {"X-Recollect-Person": "%E5%AE%89%E5%A6%AE"}
        await client.patch(path, json={"content": "Aisle seats"}, params=scope, headers=person)
        unreadable = await client.patch(
            path,
            json={"content": "No seats"},
            params=scope,
            headers={"X-Recollect-Person": "a%00b"},
        )
        assert _code(unreadable) == (422, "bad_name")
        refused = await client.post(
            "/v1/keys", json={"name": "x", "users": ["ann"]}, headers=person
        )
        assert _code(refused) == (403, "first_key_admin")
        admin = await _key(client, name="boss", role="admin")
        signed_in = (await client.post("/v1/sign-in", json={"key": admin})).json()
        head = {"X-CSRF-Token": signed_in["csrf_token"], **person}
        await client.patch(path, json={"content": "Any seats"}, params=scope, headers=head)
        history = (await client.get(f"{path}/history", params=scope)).json()["items"]
    assert [it["changed_by"] for it in history] == ["travel", "安妮", "boss"]


async def test_elsewhere_than_on_this_machine_nobody_gets_in_without_a_key(database_path: Path):
    async with _serving(database_path, is_open_here=False) as client:
        assert _code(await client.get("/v1/records")) == (401, "not_authenticated")
        assert (await client.post("/v1/keys", json={"name": "me"})).status_code == 401


async def test_a_key_reaches_only_what_it_is_bound_to(database_path: Path):
    async with _serving(database_path) as client:
        await client.post("/v1/records?user=bob", json={"content": "Bob hides keys in the attic"})
        anns = await _key(client, name="ann", role="writer", users=["ann"], workspaces=["default"])
        head = _bearer(anns)
        saved = await client.post("/v1/records", json={"content": "Ann likes tea"}, headers=head)
        # Who is meant follows from the key.
        assert saved.json()["scope"]["user"] == "ann"
        assert saved.json()["scope"]["workspace"] == "default"
        for address in ("user=bob", "user=-", "workspace=other&user=ann", "org=other&user=ann"):
            for method, path in (("GET", "/v1/records"), ("POST", "/v1/recall")):
                answer = await client.request(
                    method,
                    f"{path}?{address}",
                    headers={**head, "Content-Type": "application/json"},
                    content=b'{"query": "keys"}' if method == "POST" else None,
                )
                assert _code(answer) == (403, "foreign_scope"), address
        found = await client.post("/v1/recall", json={"query": "attic keys"}, headers=head)
        assert "attic" not in found.text.replace('"attic keys"', "")


@pytest.mark.parametrize("wanted", [{}, {"agents": ["sql"]}, {"workspaces": ["default"]}])
async def test_a_key_for_everybody_is_made_only_where_that_is_said(
    database_path: Path, wanted: dict[str, Any]
):
    async with _serving(database_path) as client:
        for user in ("ann", "bob"):
            await client.post(f"/v1/records?user={user}", json={"content": "Tea is green"})
        await client.post("/v1/records?user=carol&workspace=other", json={"content": "Tea is red"})
        head = _bearer(await _key(client, name="me", role="admin"))
        for role in ("reader", "writer", "coordinator"):
            asked = {"name": role, "role": role, **wanted}
            refused = await client.post("/v1/keys", json=asked, headers=head)
            assert _code(refused) == (422, "users_needed")
            assert "all_users" in refused.json()["hint"]
            both = {**asked, "all_users": True, "users": ["ann"]}
            contradicted = await client.post("/v1/keys", json=both, headers=head)
            assert _code(contradicted) == (422, "users_contradict")
            made = await client.post("/v1/keys", json={**asked, "all_users": True}, headers=head)
            # How many there are now, in the workspaces that it reaches.
            now = 2 if "workspaces" in wanted else 3
            assert made.json()["users_covered"] == now
            assert f"all users: {now} users now" in made.json()["covers"]
        named = {"name": "anns", "role": "reader", **wanted, "users": ["ann"]}
        made = (await client.post("/v1/keys", json=named, headers=head)).json()
        assert made["users_covered"] == 1
        assert made["covers"] == "It opens the memory of ann and of nobody else."
        listed = (await client.get("/v1/keys", headers=head)).json()["items"]
        assert len(listed) == 5


def test_the_command_line_says_whose_memory_a_key_opens(
    database_path: Path, capsys: pytest.CaptureFixture[str]
):
    place = ["--data", str(database_path)]
    assert run(["keys", "create", "bot", "--role", "reader", "--bind-agent", "sql", *place]) != 0
    assert "--all-users" in capsys.readouterr().err
    assert run(["keys", "create", "bot", "--bind-agent", "sql", "--all-users", *place]) == 0
    told = capsys.readouterr().out
    assert "agent sql; all users" in told
    assert "all users: 0 users now, and whoever comes later" in " ".join(told.split())


async def test_each_role_may_do_what_the_one_before_may_and_more(database_path: Path):
    async with _serving(database_path) as client:
        proposal = (
            await client.post("/v1/proposals", json={"type": "convention", "content": "Squash"})
        ).json()
        admin = await _key(client, name="admin", role="admin")
        keys = {
            role: await _key(client, admin, name=f"a-{role}", role=role, all_users=True)
            for role in Role
        }
        steps = {
            Role.READER: ("POST", "/v1/recall", {"query": "tea"}),
            Role.WRITER: ("POST", "/v1/records", {"content": "Ann likes tea"}),
            Role.COORDINATOR: ("POST", f"/v1/proposals/{proposal['id']}/approve", {}),
            Role.ADMIN: ("GET", "/v1/jobs", None),
        }
        for has, key in keys.items():
            for needs, (method, path, body) in steps.items():
                answer = await client.request(method, path, json=body, headers=_bearer(key))
                if has.includes(needs):
                    assert answer.status_code != 403, (has, needs, answer.text)
                else:
                    assert _code(answer) == (403, "role_too_low"), (has, needs)
        # A tool that writes is no way around it.
        saved = await client.post(
            "/v1/tools/memory_save", json={"content": "x"}, headers=_bearer(keys[Role.READER])
        )
        assert _code(saved) == (403, "role_too_low")


async def test_a_bound_administrator_stays_within_its_workspace(database_path: Path):
    async with _serving(database_path) as client:
        bound = await _key(client, name="team", role="admin", workspaces=["team"])
        head = _bearer(bound)
        assert (await client.get("/v1/workspace/users", headers=head)).status_code == 200
        foreign = await client.get("/v1/workspace/users?workspace=default", headers=head)
        assert _code(foreign) == (403, "foreign_scope")
        for path in ("/v1/backup", "/v1/jobs", "/v1/settings", "/v1/export?all_scopes=true"):
            assert _code(await client.get(path, headers=head)) == (403, "key_bound"), path
        too_much = await client.post("/v1/keys", json={"name": "x", "role": "admin"}, headers=head)
        assert _code(too_much) == (403, "key_bound")
        await _key(client, bound, name="x", role="admin", workspaces=["team"], users=["ann"])


async def test_a_browser_signs_in_with_a_cookie_and_writes_with_a_token(database_path: Path):
    async with _serving(database_path) as client:
        key = await _key(client, name="console", role="writer", all_users=True)
        wrong = await client.post("/v1/sign-in", json={"key": key[:-1] + "!"})
        assert _code(wrong) == (401, "bad_key")
        signed_in = await client.post("/v1/sign-in", json={"key": key})
        cookie = signed_in.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert key not in signed_in.text
        told = (await client.get("/v1/whoami")).json()
        assert (told["means"], told["role"]) == ("cookie", "writer")
        assert _code(await client.post("/v1/records", json={"content": "x"})) == (
            403,
            "csrf_token_needed",
        )
        head = {CSRF_HEADER: told["csrf_token"]}
        saved = await client.post("/v1/records", json={"content": "x"}, headers=head)
        assert saved.status_code == 201
        token = client.cookies[COOKIE]
        assert (await client.post("/v1/sign-out", json={})).status_code == 204
        assert COOKIE not in client.cookies
        again = await client.get("/v1/whoami", headers={"Cookie": f"{COOKIE}={token}"})
        assert _code(again) == (401, "signed_out")


async def test_a_key_ends_when_it_expires(database_path: Path):
    async with Memory.open(database_path) as memory:
        soon = datetime.now(UTC) + timedelta(days=1)
        made = await memory.keys.create("short", users=["ann"], expires_at=soon)
        assert (await memory.access.check(made.secret)).name == "short"
    assert not made.key.is_usable(soon)


async def test_settings_are_told_without_secrets_and_with_where_they_come_from(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_EMBEDDING__API_KEY", "sk-very-secret")
    monkeypatch.setenv("RECOLLECT_RECALL__LIMIT", "7")
    async with _serving(database_path) as client:
        answer = await client.get("/v1/settings")
        told = {it["name"]: it for it in answer.json()["items"]}
    assert "sk-very-secret" not in answer.text
    assert told["embedding.api_key"]["value"] == "(secret)"
    assert (told["recall.limit"]["value"], told["recall.limit"]["origin"]) == (7, "environment")
    assert told["recall.limit"]["variable"] == "RECOLLECT_RECALL__LIMIT"
    (given,) = storage_of(database_path)
    assert told[f"storage.{given}"]["origin"] == "given"
    assert told["recall.min_score"]["origin"] == "default"


async def test_the_client_sends_its_key(database_path: Path):
    async with served(database_path) as address:
        async with Memory.open(address) as memory:
            made = await memory.keys.create("client", role="admin")
        async with Memory.open(address, key=made.secret) as memory:
            saved = await memory.remember("Ann likes tea")
            history = await memory.history(saved.id)
            assert history[0].changed_by == "key:client"
            assert [it.name for it in await memory.keys.list()] == ["client"]


async def test_a_key_that_asks_too_much_is_told_when_to_come_back(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_SERVER__REQUESTS_PER_MINUTE", "3")
    async with _serving(database_path) as client:
        key = await _key(client, name="eager", role="reader", all_users=True)
        answers = [await client.get("/v1/whoami", headers=_bearer(key)) for _ in range(4)]
        assert [it.status_code for it in answers] == [200, 200, 200, 429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        guesses = [await client.get("/v1/whoami", headers=_bearer("rk_x_y")) for _ in range(30)]
        assert {_code(it) for it in guesses} == {(401, "bad_key")}
        # On a slow machine some of them are forgiven meanwhile.
        for _ in range(60):
            guess = await client.get("/v1/whoami", headers=_bearer("rk_x_y"))
            if guess.status_code == 429:
                break
        assert _code(guess) == (429, "too_many_wrong_keys")


async def test_no_more_requests_of_a_key_run_at_a_time_than_it_may(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_SERVER__CONCURRENT_REQUESTS", "1")
    async with (
        served(database_path) as address,
        httpx.AsyncClient(base_url=address, timeout=60) as client,
    ):
        key = await _key(client, name="one", role="reader", all_users=True)
        async with client.stream("GET", "/v1/events", headers=_bearer(key)) as events:
            # Held on to: the stream is closed with the last reference to its lines.
            lines = events.aiter_lines()
            await anext(lines)
            second = await client.get("/v1/whoami", headers=_bearer(key))
            assert _code(second) == (429, "too_many_at_once")
        for _ in range(100):
            third = await client.get("/v1/whoami", headers=_bearer(key))
            if third.status_code == 200:
                break
            await asyncio.sleep(0.05)
        assert third.status_code == 200


async def test_every_answer_has_an_id_and_forbids_what_a_page_could_do(database_path: Path):
    async with _serving(database_path) as client:
        answer = await client.get("/v1/records", headers={"X-Request-ID": "from-me"})
        assert answer.headers["x-request-id"] == "from-me"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers
        odd = await client.get("/nowhere", headers={"X-Request-ID": "a b"})
        assert odd.headers["x-request-id"] != "a b"
        assert odd.status_code == 404


async def test_what_happens_is_counted_by_the_hour_and_for_prometheus(database_path: Path):
    async with _serving(database_path) as client:
        for _ in range(2):
            await client.post("/v1/write", json={"content": "Ann likes green tea"})
        await client.post("/v1/recall", json={"query": "green tea"})
        await client.post("/v1/recall", json={"query": "quantum chromodynamics"})
        await client.post("/v1/context", json={"message": "Which tea does Ann like?"})
        told = (await client.get("/v1/metrics")).json()
        figures = told["total"]
        assert (figures["recalls"], figures["empty_recalls"]) == (3, 1)
        assert (figures["writes"], figures["duplicate_share"]) == (2, 0.5)
        assert figures["injected_tokens"] > 0
        assert figures["recall_p95_ms"] > 0
        assert figures["requests"] == 5
        assert sum(it["figures"]["recalls"] for it in told["points"]) == 3
        assert (await client.get("/v1/stats")).json()["last_day"]["recalls"] == 3
        text = (await client.get("/metrics")).text
        assert 'recollect_recalls_total{label="hit"} 2' in text
        assert 'recollect_path_seconds_count{label="keyword"} ' in text
        assert 'recollect_jobs{label="waiting"} ' in text
    async with _serving(database_path) as client:
        assert (await client.get("/v1/metrics")).json()["total"]["recalls"] == 3


async def test_an_agent_is_set_up_over_http_and_stays_so(tmp_path: Path):
    settings = Settings.load(
        {
            "data_dir": tmp_path / "data",
            "agents": {"helper": {"role": "reviewer"}},
            "stores": {"private": {}},
        }
    )
    async with _serving(settings) as client:
        put = await client.put("/v1/agents/helper", json={"enabled": False, "prefetch_limit": 3})
        assert (put.json()["enabled"], put.json()["role"]) == (False, "reviewer")
        assert (await client.get("/v1/tools?agent=helper")).json()["items"] == []
        odd = await client.put("/v1/agents/helper", json={"store": "../../etc/passwd"})
        assert _code(odd) == (422, "unknown_store")
        await client.post("/v1/records?agent=sql", json={"content": "Joins are slow"})
        moved = await client.put("/v1/agents/sql", json={"store": "private"})
        assert _code(moved) == (409, "agent_has_memory")
        assert "recollect agents move sql --to private" in moved.json()["hint"]
        new = await client.put("/v1/agents/new", json={"store": "private"})
        assert new.json()["store"] == "private"
        await client.post("/v1/records?agent=new", json={"content": "Views are slow too"})
        own = (await client.get("/v1/records?agent=new")).json()["items"]
        assert [it["content"] for it in own] == ["Views are slow too"]
        assert (tmp_path / "data" / "private.db").exists()
    async with _serving(settings) as client:
        listed = {it["name"]: it for it in (await client.get("/v1/agents")).json()["items"]}
        assert (listed["helper"]["enabled"], listed["helper"]["origin"]) == (False, "database")
        assert (await client.delete("/v1/agents/helper")).status_code == 204
        assert (await client.get("/v1/agents/helper")).json()["enabled"] is True
        assert (await client.get("/v1/tools?agent=helper")).json()["items"] != []
    assert settings.agents["helper"].enabled


async def test_a_token_of_the_own_sign_in_service_says_who_may_do_what(tmp_path: Path):
    private = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(private.public_key()))
    jwks = tmp_path / "keys.json"
    jwks.write_text(json.dumps({"keys": [{**public, "kid": "one", "alg": "ES256"}]}))
    tokens = {"jwks": str(jwks), "audience": "recollect"}
    settings = Settings.load({"data_dir": tmp_path / "data", "server": {"tokens": tokens}})

    def token(signed_by: Any = private, **changed: Any) -> str:
        claims = {
            "sub": "ann",
            "aud": "recollect",
            "exp": datetime.now(UTC) + timedelta(hours=1),
            "recollect": {"role": "writer", "users": ["ann"]},
            **changed,
        }
        return jwt.encode(claims, signed_by, algorithm="ES256", headers={"kid": "one"})

    async with _serving(settings) as client:
        assert _code(await client.get("/v1/records")) == (401, "not_authenticated")
        told = (await client.get("/v1/whoami", headers=_bearer(token()))).json()
        assert (told["name"], told["means"], told["users"]) == ("ann", "token", ["ann"])
        foreign = await client.get("/v1/records?user=bob", headers=_bearer(token()))
        assert _code(foreign) == (403, "foreign_scope")
        other = ec.generate_private_key(ec.SECP256R1())
        unsigned = jwt.encode({"sub": "ann"}, "", algorithm="none", headers={"kid": "one"})
        for bad in (
            token(other),
            token(exp=datetime.now(UTC) - timedelta(hours=1)),
            token(aud="somebody else"),
            token(recollect={"role": "owner"}),
            token(recollect={"role": "admin", "users": []}),
            token(recollect=None),
            unsigned,
            "nonsense",
        ):
            refused = await client.get("/v1/records", headers=_bearer(bad))
            assert _code(refused) == (401, "bad_token"), bad


def test_elsewhere_it_starts_only_with_keys_and_https(
    database_path: Path, capsys: pytest.CaptureFixture[str]
):
    serve = ["serve", "--host", "0.0.0.0", "--port", "0", "--json", "--data", str(database_path)]
    assert run(serve) != 0
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "tls_needed"
    assert run([*serve, "--behind-proxy"]) != 0
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "keys_needed"
    assert run([*serve, "--tls-cert", "only.pem"]) != 0
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "tls_incomplete"
    assert run([*serve, "--tls-cert", str(database_path), "--tls-key", "none.pem"]) != 0
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "tls_unusable"


def test_keys_are_made_listed_and_revoked_at_the_command_line(
    database_path: Path, capsys: pytest.CaptureFixture[str]
):
    place = ["--data", str(database_path), "--json"]
    assert run(["keys", "create", "ci", "--role", "reader", "--bind-user", "ann", *place]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["secret"].startswith(made["key"]["prefix"])
    assert made["users_covered"] == 1
    assert run(["keys", "create", "ci", "--bind-user", "ann", *place]) != 0
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "key_exists"
    assert run(["keys", "revoke", made["key"]["id"], *place]) == 0
    capsys.readouterr()
    assert run(["keys", "list", *place]) == 0
    told = capsys.readouterr().out
    assert json.loads(told)["items"][0]["revoked_at"] is not None
    assert made["secret"] not in told


async def test_an_agents_store_is_changed_over_http(
    tmp_path: Path, nobody_works: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(moves, "FOLLOW_SECONDS", 0.1)
    monkeypatch.setattr(moves, "KNOWN_EVERYWHERE_SECONDS", 0.3)
    settings = Settings.load({"data_dir": tmp_path, "stores": {"private": {}}})
    async with _serving(settings) as client:
        await client.post("/v1/records?agent=sql&user=ann", json={"content": "Joins are slow"})
        admin = await _key(client, name="a", role="admin")
        writer = await _key(client, admin, name="w", role="writer", all_users=True)
        refused = await client.post(
            "/v1/agents/sql/move", json={"store": "private"}, headers=_bearer(writer)
        )
        assert _code(refused) == (403, "role_too_low")
        client.headers.update(_bearer(admin))
        for path in ("../x.db", "/etc/x.db", ".hidden.db"):
            odd = await client.post("/v1/agents/sql/move", json={"sqlitePath": path})
            assert _code(odd) == (422, "unknown_store")
        moved = await client.post("/v1/agents/sql/move", json={"store": "private"})
        assert (moved.status_code, moved.json()["move"]["state"]) == (202, "copying")
        await client.post("/v1/jobs/drain", json={})
        agent = (await client.get("/v1/agents/sql")).json()
        assert (agent["store"], agent["move"]["state"]) == ("private", "moved")
        assert agent["move"]["done"] == agent["move"]["total"] > 0
        found = (await client.get("/v1/records?agent=sql&user=ann")).json()["items"]
        assert [it["content"] for it in found] == ["Joins are slow"]
        # What the dialog of the console sends: its store stays as it is.
        saved = await client.put("/v1/agents/sql", json={"store": "private", "prefetch_limit": 3})
        assert (saved.status_code, saved.json()["prefetch_limit"]) == (200, 3)
        assert (await client.delete("/v1/agents/sql/copy")).json()["rows"] > 0
        assert (await client.get("/v1/agents/sql")).json()["move"] is None


async def test_a_password_is_neither_stored_nor_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    place = {"backend": "mysql", "url": "mysql://recollect:hunter2@127.0.0.1:1/agents"}
    variable = {"password_env": "RECOLLECT_PASSWORD_AGENTS"}
    async with _serving(Settings.load({"data_dir": tmp_path})) as client:
        refused = await client.put("/v1/agents/sql", json=place)
        assert _code(refused) == (422, "password_in_url")
        assert "hunter2" not in refused.text
        place["url"] = place["url"].replace(":hunter2", "")
        for name in ("HOME", "OPENAI_API_KEY"):
            odd = await client.put("/v1/agents/sql", json={**place, "password_env": name})
            assert _code(odd) == (422, "bad_agent")
        unset = await client.put("/v1/agents/sql", json={**place, **variable})
        assert _code(unset) == (422, "password_missing")
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("RECOLLECT_PASSWORD_AGENTS", "hunter2")
            away = await client.put("/v1/agents/sql", json={**place, **variable})
        assert away.status_code == 503
        assert "nothing was changed" in away.text
        # A store that cannot be opened locks nobody out.
        kept = await client.post("/v1/records?agent=sql", json={"content": "x"})
        assert kept.status_code == 201
        everything = [
            (await client.get(path)).text
            for path in ("/v1/agents", "/v1/agents/sql", "/v1/settings", "/v1/audit?limit=50")
        ]
    kept = b"".join(it.read_bytes() for it in tmp_path.rglob("*") if it.is_file())
    assert "hunter2" not in caplog.text + "".join(everything)
    assert b"hunter2" not in kept
