"""Whoever has no key gets nowhere, and stops nobody who has one."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.cli.app import run
from recollect.server.app import create_app
from tests.processes import RECOLLECT, Child
from tests.serving import calling, served


@asynccontextmanager
async def _serving(path: Path, **given: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(create_app(path, **given), "http://127.0.0.1") as client:
        yield client


async def _key(client: httpx.AsyncClient, by: str | None = None, **wanted: Any) -> httpx.Response:
    return await client.post("/v1/keys", json=wanted, headers=_bearer(by) if by else {})


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _made_key(data: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["keys", "create", "me", "--role", "admin", "--data", str(data), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["secret"]


@contextmanager
def _started(data: Path, *options: str) -> Iterator[str]:
    with Child(
        [*RECOLLECT, "serve", "--port", "0", "--json", "--data", str(data), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
        encoding="utf-8",
    ) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["address"]
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=120)


@pytest.mark.parametrize(
    "option",
    [["--behind-proxy"], ["--allow-host", "memory.example.org"]],
)
def test_behind_a_proxy_or_under_another_name_it_starts_only_with_a_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str]
):
    # Were it started, this would not return.
    assert run(["serve", "--port", "0", "--json", "--data", str(tmp_path), *option]) != 0
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["code"] == "keys_needed"
    assert "recollect keys create NAME --role admin" in error["hint"]


@pytest.mark.parametrize(
    "options",
    [
        ["--host", "0.0.0.0", "--behind-proxy"],
        ["--trusted-proxy", "10.0.0.5"],
        ["--behind-proxy", "--trusted-proxy", "a proxy"],
    ],
)
def test_whose_word_counts_on_who_asks_is_said_and_not_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
):
    _made_key(tmp_path, capsys)
    assert run(["serve", "--port", "0", "--json", "--data", str(tmp_path), *options]) != 0
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "proxy_unclear"


async def test_wrong_keys_do_not_lock_out_a_right_one(tmp_path: Path):
    async with _serving(tmp_path / "data") as client:
        right = (await _key(client, name="me", role="admin")).json()["secret"]
        guesses = [
            await client.get("/v1/whoami", headers=_bearer(f"rk_x_{number}"))
            for number in range(80)
        ]
        assert guesses[-1].json()["code"] == "too_many_wrong_keys"
        assert (await client.get("/v1/whoami", headers=_bearer(right))).status_code == 200
        signed_in = await client.post("/v1/sign-in", json={"key": right})
        assert signed_in.status_code == 200
        wrong = await client.post("/v1/sign-in", json={"key": "rk_x_y"})
        assert wrong.json()["code"] == "too_many_wrong_keys"


def test_only_the_last_hop_that_is_no_proxy_of_ours_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    _made_key(tmp_path, capsys)
    with (
        _started(tmp_path, "--behind-proxy", "--trusted-proxy", "10.0.0.0/24") as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):

        def guess(*hops: str) -> int:
            head = {**_bearer("rk_x_y"), "X-Forwarded-For": ", ".join(hops)}
            return client.get("/v1/whoami", headers=head).status_code

        # Whatever it says of those before it, it is the one who guesses.
        tries = [guess(f"198.51.100.{it}", "203.0.113.7", "10.0.0.5") for it in range(80)]
        assert tries[0] == 401
        assert tries[-1] == 429
        assert guess("198.51.100.3") == 401
        assert guess("203.0.113.7", "198.51.100.3") == 401


async def test_a_stream_of_events_ends_with_the_key_that_began_it(tmp_path: Path):
    async with (
        served(tmp_path / "data") as address,
        httpx.AsyncClient(base_url=address, timeout=60) as client,
    ):
        admin = (await _key(client, name="me", role="admin")).json()["secret"]
        made = (await _key(client, by=admin, name="reader", role="reader", all_users=True)).json()
        reader = _bearer(made["secret"])
        for path in ("/v1/events", "/v1/workspace/events"):
            asked = {"headers": _bearer(admin)} if "workspace" in path else {"headers": reader}
            async with client.stream("GET", path, **asked) as events:
                assert events.status_code == 200
        async with client.stream("GET", "/v1/events", headers=reader) as events:
            lines = events.aiter_lines()
            await anext(lines)
            await client.delete(f"/v1/keys/{made['key']['id']}", headers=_bearer(admin))
            secret = {"content": "The vault opens with 8841"}
            await client.post("/v1/records", json=secret, headers=_bearer(admin))
            async with asyncio.timeout(30):
                heard = [line async for line in lines]
    assert not any("change" in line for line in heard)


async def test_who_waits_for_changes_with_a_key_that_ends_is_told_nothing(tmp_path: Path):
    async with (
        served(tmp_path / "data") as address,
        httpx.AsyncClient(base_url=address, timeout=60) as client,
    ):
        admin = (await _key(client, name="me", role="admin")).json()["secret"]
        made = (await _key(client, by=admin, name="reader", role="reader", all_users=True)).json()
        reader = _bearer(made["secret"])
        mark = (await client.get("/v1/changes", headers=reader)).json()["mark"]
        waiting = asyncio.create_task(
            client.get("/v1/changes", params={"after": mark, "wait": 20}, headers=reader)
        )
        await asyncio.sleep(0.5)
        await client.delete(f"/v1/keys/{made['key']['id']}", headers=_bearer(admin))
        secret = {"content": "The vault opens with 8841"}
        await client.post("/v1/records", json=secret, headers=_bearer(admin))
        assert (await waiting).status_code == 401


async def test_a_key_makes_none_that_outlives_or_outranks_it(tmp_path: Path):
    soon = datetime.now(UTC) + timedelta(hours=1)
    async with _serving(tmp_path / "data") as client:
        brief = (
            await _key(client, name="brief", role="admin", expires_at=soon.isoformat())
        ).json()["secret"]
        later = (soon + timedelta(days=1)).isoformat()
        for wanted in ({}, {"expires_at": later}):
            refused = await _key(
                client, by=brief, name="longer", role="reader", all_users=True, **wanted
            )
            assert (refused.status_code, refused.json()["code"]) == (403, "key_bound")
        # Nor through a browser that is signed in with it.
        cookies = (await client.post("/v1/sign-in", json={"key": brief})).json()
        refused = await client.post(
            "/v1/keys",
            json={"name": "longer", "role": "reader"},
            headers={"X-CSRF-Token": cookies["csrf_token"]},
        )
        assert refused.json()["code"] == "key_bound"
        client.cookies.clear()
        earlier = (soon - timedelta(minutes=1)).isoformat()
        made = await _key(
            client, by=brief, name="shorter", role="writer", users=["ann"], expires_at=earlier
        )
        assert made.status_code == 201


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("user=%ff%fe", "invalid_utf8"),
        ("user=ann&user=bob", "repeated_field"),
        ("user_id=ann", "unknown_field"),
    ],
)
async def test_mcp_takes_no_address_that_leaves_open_whose_memory_is_meant(
    tmp_path: Path, query: str, code: str
):
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "save_memory", "arguments": {"content": "Ann likes tea"}},
    }
    async with _serving(tmp_path / "data") as client:
        answer = await client.post(
            f"/mcp?{query}",
            json=call,
            headers={"Accept": "application/json, text/event-stream"},
        )
    assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_in_a_container_one_option_is_enough_and_makes_the_first_key(tmp_path: Path):
    command = [*RECOLLECT, "serve", "--container", "--port", "0", "--json", "--data", str(tmp_path)]

    def told() -> dict[str, Any]:
        with Child(command, stdout=subprocess.PIPE, env=os.environ, encoding="utf-8") as server:
            assert server.stdout is not None
            start = json.loads(server.stdout.readline())
            address = start["address"].replace("0.0.0.0", "127.0.0.1")
            proxied = {"Host": "memory.example.org", "X-Forwarded-Proto": "https"}
            start["health"] = httpx.get(f"{address}/health", timeout=60).status_code
            start["nobody"] = httpx.get(
                f"{address}/v1/records", headers=proxied, timeout=60
            ).status_code
            if key := start.get("first_key"):
                given = {**proxied, **_bearer(key)}
                start["somebody"] = httpx.get(
                    f"{address}/v1/keys", headers=given, timeout=60
                ).status_code
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=120)
        return start

    first, again = told(), told()
    assert (first["health"], first["nobody"], first["somebody"]) == (200, 401, 200)
    # It is told once.
    assert "first_key" not in again
    assert again["nobody"] == 401
