"""For each route, role and scope, own or foreign: exactly the right callers are let through."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from recollect.domain.scope import Role
from recollect.server.app import create_app
from recollect.server.permissions import PERMISSIONS, PUBLIC
from recollect.settings import Settings

_API: dict[str, Any] = create_app("unused.db").openapi()
_SCHEMAS: dict[str, Any] = _API["components"]["schemas"]
# Their answers never end; who is refused is told at once.
_ENDLESS = {"stream_events", "stream_workspace_events"}
# A part that is not configured here.
_NOT_AVAILABLE = 501
# A tool that reads.
_NAMES = {"name": "memory_recall"}
# A key that may be made by whoever is bound to Ann.
_BODIES = {"create_key": {"name": "x", "users": ["ann"], "workspaces": ["default"]}}


@dataclass(frozen=True)
class Operation:
    """One route with a request that it understands."""

    name: str
    method: str
    path: str
    body: Any
    is_scoped: bool
    """Whether the address says whose memory it is."""
    has_user: bool


def _operations() -> Iterator[Operation]:
    for path, methods in _API["paths"].items():
        for method, described in methods.items():
            parameters = described.get("parameters", ())
            names = {it["name"] for it in parameters if it["in"] == "query"}
            for parameter in parameters:
                if parameter["in"] == "path":
                    name = _NAMES.get(parameter["name"], "mem_nothing")
                    path = path.replace(f"{{{parameter['name']}}}", name)
            yield Operation(
                described["operationId"],
                method.upper(),
                path,
                _BODIES.get(described["operationId"], _example(described)),
                is_scoped="workspace" in names,
                has_user="user" in names and "/workspace/" not in path,
            )


def _example(described: dict[str, Any]) -> Any:
    content = described.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    for choice in (schema, *schema.get("anyOf", ())):
        named = _SCHEMAS.get(choice.get("$ref", "").rpartition("/")[2], choice)
        if "examples" in named:
            return named["examples"][0]
    return {}


def _expected(operation: Operation, role: Role | None, *, bound: bool, foreign: bool) -> str | None:
    """The code of the refusal, None for whoever may."""
    if role is None:
        return "not_authenticated"
    needed = PERMISSIONS[operation.name]
    if not role.includes(needed.role):
        return "role_too_low"
    if needed.reach == "server" and bound:
        return "key_bound"
    if foreign and operation.is_scoped:
        return "foreign_scope"
    return None


async def test_each_route_lets_through_exactly_whom_it_should(tmp_path: Path):
    settings = Settings.load(
        {
            "data_dir": tmp_path / "data",
            "storage": {"synchronous": "off"},
            "server": {"offered_models": ["local"]},
        }
    )
    app = create_app(settings)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        keys = await _keys(app.state.memory)
        wrong = [
            (operation.name, role, bound, address, told)
            for operation in _operations()
            if operation.name not in PUBLIC
            for (role, bound), key in keys.items()
            for address, foreign in _addresses(operation, bound=bound)
            if (
                told := await _wrong(
                    client,
                    operation,
                    key,
                    address,
                    _expected(operation, role, bound=bound, foreign=foreign),
                )
            )
        ]
    assert wrong == []


async def _keys(memory: Any) -> dict[tuple[Role | None, bool], str | None]:
    keys: dict[tuple[Role | None, bool], str | None] = {(None, False): None}
    for role in Role:
        keys[role, False] = (await memory.keys.create(f"{role}", role)).secret
        made = await memory.keys.create(
            f"{role} of ann", role, users=["ann"], workspaces=["default"]
        )
        keys[role, True] = made.secret
    return keys


def _addresses(operation: Operation, *, bound: bool) -> Iterator[tuple[str, bool]]:
    """Addresses, each with whether it is foreign to a key that is bound to Ann."""
    if not operation.is_scoped:
        yield "", False
        return
    # A whole workspace is foreign to a key of one of its users.
    yield ("?user=ann" if operation.has_user else ""), bound and not operation.has_user
    if bound:
        yield "?workspace=other", True
        if operation.has_user:
            yield "?user=bob", True
            yield "?user=-", True


async def _wrong(
    client: httpx.AsyncClient,
    operation: Operation,
    key: str | None,
    address: str,
    expected: str | None,
) -> str:
    """What was wrong with the answer, empty if it was right."""
    if expected is None and operation.name in _ENDLESS:
        return ""
    answer = await client.request(
        operation.method,
        operation.path + address,
        json=operation.body if operation.method != "GET" else None,
        headers={} if key is None else {"Authorization": f"Bearer {key}"},
    )
    refused = answer.status_code in (401, 403)
    if expected is not None:
        is_right = refused and answer.json()["code"] == expected
    else:
        is_right = not refused and (
            answer.status_code < 500 or answer.status_code == _NOT_AVAILABLE
        )
    return "" if is_right else f"{expected} but {answer.status_code} {answer.text[:200]}"
