"""Attack a server of one's own on the loopback address, within bounds, and tell what gave way.

Every route is asked by every role, by nobody, by a key of somebody else and by foreign pages; texts
and files are sent that were made to hurt. `make attack` runs it; it ends with 1 if anything gave
way. It starts its own server with a database of its own and sends nothing anywhere else.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

_ROOT: Final = Path(__file__).resolve().parent.parent
_ROLES: Final = ("reader", "writer", "coordinator", "admin")
_MOST_SECONDS: Final = 600
_MOST_REQUESTS: Final = 10_000
_HEALTH_SECONDS: Final = 3.0
# What these answer is a stream without an end, or ends the server's work for the others.
_LEFT_OUT: Final = frozenset({"stream_events", "stream_workspace_events", "start_reindexing"})
_NOT_BUILT: Final = frozenset({501, 503})


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A route with a method, and the least role that may use it."""

    method: str
    path: str
    name: str
    role: str | None
    body: Any


@dataclass(kw_only=True)
class Attack:
    """The requests that were sent, and what gave way."""

    client: httpx.AsyncClient
    keys: Mapping[str, str]
    sent: Counter[str] = field(default_factory=Counter[str])
    gave_way: list[str] = field(default_factory=list[str])
    slowest_health: float = 0.0

    async def send(self, kind: str, method: str, path: str, **given: Any) -> httpx.Response | None:
        """Send one request; an error of the server is a finding."""
        if self.sent.total() >= _MOST_REQUESTS:
            return None
        self.sent[kind] += 1
        try:
            answer = await self.client.request(method, path, **given)
        except httpx.HTTPError as problem:
            self.gave_way.append(f"{kind}: {method} {path[:60]}: {type(problem).__name__}")
            return None
        if answer.status_code >= 500 and answer.status_code not in _NOT_BUILT:
            self.gave_way.append(f"{kind}: {method} {path[:60]}: {answer.status_code}")
        return answer

    def expect(self, answer: httpx.Response | None, allowed: set[int], what: str) -> None:
        if answer is not None and answer.status_code not in allowed:
            self.gave_way.append(f"{what}: {answer.status_code} {answer.text[:80]}")

    async def look(self, what: str) -> None:
        """See that others are answered meanwhile."""
        began = time.monotonic()
        await self.send("health", "GET", "/health")
        took = time.monotonic() - began
        self.slowest_health = max(self.slowest_health, took)
        if took > _HEALTH_SECONDS:
            self.gave_way.append(f"{what}: /health waits {took:.1f} s")

    def bearer(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[name]}"}


def operations() -> list[Operation]:
    """Return every operation of the description."""
    described = json.loads((_ROOT / "docs" / "openapi.json").read_text("utf-8"))
    found: list[Operation] = []
    for path, methods in described["paths"].items():
        for method, it in methods.items():
            plain = path
            for parameter in it.get("parameters", ()):
                if parameter["in"] == "path":
                    plain = plain.replace(f"{{{parameter['name']}}}", "mem_x")
            if it["operationId"] not in _LEFT_OUT:
                found.append(
                    Operation(
                        method=method.upper(),
                        path=plain,
                        name=it["operationId"],
                        role=it.get("x-role"),
                        body=_example(it, described),
                    )
                )
    return found


def _example(operation: Mapping[str, Any], described: Mapping[str, Any]) -> Any:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    for name in (schema, *schema.get("anyOf", ())):
        if "$ref" in name:
            schema = described["components"]["schemas"][name["$ref"].rpartition("/")[2]]
            return (schema.get("examples") or [{}])[0]
    return {}


# --- The attacks ----------------------------------------------------------------------------------


async def try_roles(attack: Attack, every: list[Operation]) -> None:
    """Ask every operation as every role, as nobody and with a wrong key."""
    for operation in every:
        given = {"json": operation.body} if operation.method != "GET" else {}
        for role in (*_ROLES, "nobody", "wrong"):
            if role == "admin" and operation.method != "GET":
                continue  # what an admin may do would end the others' attack
            head = {} if role == "nobody" else attack.bearer(role)
            answer = await attack.send(
                "roles", operation.method, operation.path, headers=head, **given
            )
            if operation.role is None:
                continue
            if role in ("nobody", "wrong"):
                attack.expect(answer, {401, 429}, f"{role} at {operation.name}")
            elif _ROLES.index(role) < _ROLES.index(operation.role):
                attack.expect(answer, {401, 403}, f"{role} at {operation.name}")


async def try_foreign_pages(attack: Attack, every: list[Operation]) -> None:
    """Send what a page of another site makes a browser send."""
    for operation in every:
        for told, head in (
            ("a foreign host", {"Host": "evil.example"}),
            ("a foreign origin", {"Origin": "https://evil.example"}),
            ("a form", {"Content-Type": "text/plain"}),
        ):
            if told == "a form" and operation.method != "POST":
                continue
            answer = await attack.send(
                "pages",
                operation.method,
                operation.path,
                headers={**attack.bearer("writer"), **head},
                content=b"{}" if operation.method != "GET" else None,
            )
            attack.expect(answer, {400, 403, 415}, f"{told} at {operation.name}")


async def try_foreign_scopes(attack: Attack, every: list[Operation]) -> None:
    """Ask with a key of Ann's for what is Bob's."""
    for operation in every:
        if operation.role is None:
            continue
        for query in ("user=bob", "user=-", "workspace=other", "user=ann&user=bob", "user=%ff%fe"):
            given = {"json": operation.body} if operation.method != "GET" else {}
            answer = await attack.send(
                "scopes",
                operation.method,
                f"{operation.path}?{query}",
                headers=attack.bearer("ann"),
                **given,
            )
            if answer is not None and "attic" in answer.text:
                attack.gave_way.append(f"scopes: {operation.name}?{query} tells Ann of Bob")


def hostile_texts() -> Iterator[str]:
    yield "where\n" + 1_000 * " " + "x"
    for unit in (
        " ",
        "\n",
        "a",
        "1",
        "a ",
        "-",
        "a-",
        "1.",
        "你好，",
        "(",
        "<!--",
        "= ",
        "# ",
        "|",
    ):
        yield "x" + unit * (15_000 // len(unit)) + "!"


async def try_texts(attack: Attack) -> None:
    """Send texts that a careless pattern takes forever for."""
    for text in hostile_texts():
        for path, body in (
            ("/v1/recall", {"query": text}),
            ("/v1/context", {"message": text}),
            ("/v1/records", {"content": text}),
            ("/v1/write", {"content": text}),
        ):
            sending = asyncio.ensure_future(
                attack.send("texts", "POST", path, json=body, headers=attack.bearer("writer"))
            )
            await asyncio.sleep(0.02)
            await attack.look(f"{path} with {text[1:4]!r}")
            await sending


async def try_files(attack: Attack) -> None:
    """Send files that unpack, nest or repeat without end."""
    bomb = gzip.compress(b'{"role": "user", "content": "' + b" " * (64 * 2**20) + b'"}')
    admin = attack.bearer("admin")
    for body in (bomb, b"[" * 100_000, b'{"a":' * 100_000, b"\x1f\x8b" + b"x" * 100, b"PK\x03\x04"):
        for path in ("/v1/import/chat", "/v1/import"):
            answer = await attack.send("files", "PUT", path, content=body, headers=admin)
            attack.expect(answer, {422, 413, 429, 409}, f"{path} with {body[:4]!r}")
    for name, content in (
        ("a.md", b"# a" + b" " * 1_200 + b"b"),
        ("a.html", b"<!--" * 16_000),
        ("b.html", b'<meta charset="undefined"><p>x'),
        ("c.html", b"<a href='" * 8_000),
        ("d.html", b"<p>&#" + b"1" * 9_000),
        ("e.txt", b"\x00\xff" * 2_000),
    ):
        sending = asyncio.ensure_future(
            attack.send(
                "files",
                "POST",
                "/v1/knowledge?wait=true",
                files={"file": (name, content)},
                headers=attack.bearer("admin"),
            )
        )
        await asyncio.sleep(0.02)
        await attack.look(name)
        await sending


async def try_addresses(attack: Attack) -> None:
    """Ask for what no route has."""
    for path in (
        *("/assets/x", "/assets/../../etc/passwd", "/theme.js", "/org/a/b", "/docs/x", "/%00"),
        *("/v1/records/%ff", "/v1/records/..%2f..%2fkeys", "/v1//keys", "/openapi.json"),
    ):
        await attack.send("addresses", "GET", path, headers=attack.bearer("reader"))


async def try_keys(attack: Attack) -> None:
    """Guess keys: the right ones must go on working."""
    for number in range(60):
        await attack.send("keys", "GET", "/v1/whoami", headers=_bearer(f"rk_x_{number}"))
    answer = await attack.send("keys", "GET", "/v1/whoami", headers=attack.bearer("reader"))
    attack.expect(answer, {200}, "a right key after wrong ones")


# --- A server for it, and the totals --------------------------------------------------------------


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    """Start a server on a free port of this machine."""
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "recollect", "serve", "--port", "0", "--json"),
        *("--data", str(folder)),
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    address: str = json.loads(await server.stdout.readline())["address"]
    assert address.startswith("http://127.0.0.1:")
    try:
        yield address
    finally:
        server.terminate()
        await server.wait()


async def make_keys(client: httpx.AsyncClient) -> dict[str, str]:
    await client.post("/v1/records?user=bob", json={"content": "Bob hides keys in the attic"})
    made = await client.post("/v1/keys", json={"name": "admin", "role": "admin"})
    admin = made.json()["secret"]
    keys = {"admin": admin, "wrong": "rk_wrong_key"}
    for name in (*_ROLES[:3], "ann"):
        wanted: dict[str, Any] = {"name": name, "role": "writer" if name == "ann" else name}
        bound = {"users": ["ann"], "workspaces": ["default"]}
        wanted |= bound if name == "ann" else {"all_users": True}
        made = await client.post("/v1/keys", json=wanted, headers=_bearer(admin))
        keys[name] = made.json()["secret"]
    return keys


async def main() -> int:
    """Attack, and print the totals as JSON."""
    every = operations()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="recollect-attack-") as folder:
        async with (
            served(Path(folder) / "data") as address,
            httpx.AsyncClient(base_url=address, timeout=60) as client,
        ):
            attack = Attack(client=client, keys=await make_keys(client))
            try:
                async with asyncio.timeout(_MOST_SECONDS):
                    await try_texts(attack)
                    await try_files(attack)
                    await try_addresses(attack)
                    await try_foreign_pages(attack, every)
                    await try_foreign_scopes(attack, every)
                    await try_roles(attack, every)
                    await try_keys(attack)
            except TimeoutError:
                attack.gave_way.append(f"it took more than {_MOST_SECONDS} s")
            await attack.look("in the end")
    totals = {
        "seconds": round(time.monotonic() - began, 1),
        "operations": len(every),
        "requests": attack.sent.total(),
        "by_kind": dict(attack.sent),
        "slowest_health_s": round(attack.slowest_health, 2),
        "gave_way": attack.gave_way,
    }
    sys.stdout.write(json.dumps(totals, indent=2, ensure_ascii=False) + "\n")
    return 1 if attack.gave_way else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
