"""For each route, role, binding and scope: exactly the right callers are let through."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from recollect.domain.operation import OPERATIONS
from recollect.domain.scope import Role
from recollect.server.app import create_app
from recollect.settings import Settings
from tests.described_api import API, SCHEMAS

# Their answers never end; who is refused is told at once.
_ENDLESS = {"stream_events", "stream_workspace_events"}
# A part that is not configured here.
_NOT_AVAILABLE = 501
# A tool that reads.
_NAMES = {"name": "memory_recall"}
# A key that may be made by whoever is bound to one of these.
_BODIES = {
    "create_key": {"name": "x", "users": ["ann"], "agents": ["sql"], "workspaces": ["default"]}
}
# Of a key. Who may decide for a workspace, and from where, is asked after it was let through.
_REFUSALS = {"not_authenticated", "role_too_low", "key_bound", "foreign_scope"}
# Bob's, which no key of Ann's may get to see.
_SECRET = "quartz"


@dataclass(frozen=True)
class Binding:
    """What a key is bound to; an empty part is all of them."""

    workspaces: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    @property
    def is_bound(self) -> bool:
        return bool(self.workspaces or self.users or self.agents)

    def is_foreign(self, address: "Address", *, is_whole_workspace: bool) -> bool:
        """Return whether the key does not reach an address."""
        if self.workspaces and address.workspace not in self.workspaces:
            return True
        if is_whole_workspace:
            return bool(self.users or self.agents)
        return bool(
            (self.users and address.user not in self.users)
            or (self.agents and address.agent not in self.agents)
        )


@dataclass(frozen=True)
class Address:
    """Whose memory a request names; `-` is nobody's."""

    workspace: str = "default"
    user: str = "ann"
    agent: str = "sql"


_BINDINGS = (
    Binding(),
    Binding(workspaces=("default",)),
    Binding(users=("ann",), workspaces=("default",)),
    # It reads every user's memory of that agent.
    Binding(agents=("sql",)),
    Binding(users=("ann",), agents=("sql",), workspaces=("default",)),
)
_OWN = Address()
_BOBS, _NOBODYS = Address(user="bob"), Address(user="-")
_OTHER_AGENT, _OTHER_WORKSPACE = Address(agent="other"), Address(workspace="other")
_ADDRESSES = (_OWN, _BOBS, _NOBODYS, _OTHER_AGENT, _OTHER_WORKSPACE)
# Where each part of a binding lets through and where it refuses; the last binding has all parts.
_TELLING = dict(
    zip(
        _BINDINGS,
        (
            (_OWN, _OTHER_WORKSPACE),
            (_OWN, _BOBS, _OTHER_WORKSPACE),
            (_OWN, _BOBS, _NOBODYS, _OTHER_WORKSPACE),
            (_OWN, _BOBS, _OTHER_AGENT),
            _ADDRESSES,
        ),
        strict=True,
    )
)


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
    for path, methods in API["paths"].items():
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
        named = SCHEMAS.get(choice.get("$ref", "").rpartition("/")[2], choice)
        if "examples" in named:
            return named["examples"][0]
    return {}


def _expected(
    operation: Operation, role: Role | None, binding: Binding, address: Address
) -> str | None:
    """The code of the refusal, None for whoever may."""
    if role is None:
        return "not_authenticated"
    needed = OPERATIONS[operation.name]
    if not role.includes(needed.role):
        return "role_too_low"
    if needed.reach == "server" and binding.is_bound:
        return "key_bound"
    is_whole = not operation.has_user
    if operation.is_scoped and binding.is_foreign(address, is_whole_workspace=is_whole):
        return "foreign_scope"
    return None


async def test_each_route_lets_through_exactly_whom_it_should(tmp_path: Path):
    settings = Settings.load(
        {
            "data_dir": tmp_path / "data",
            "storage": {"synchronous": "off"},
            "server": {"offered_models": ["local"]},
            # Who may propose what.
            "agents": {"sql": {"role": "reviewer"}, "other": {"role": "reviewer"}},
        }
    )
    app = create_app(settings)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        await _save_secrets_of_bob(app.state.memory)
        keys = await _keys(app.state.memory)
        wrong = [
            (operation.name, role, binding, address, told)
            for operation in _operations()
            if OPERATIONS[operation.name].role is not None
            for (role, binding), key in keys.items()
            for address in _addresses(operation, role, binding)
            if (told := await _wrong(client, operation, role, binding, key, address))
        ]
    assert [it[0] for it in wrong] == [], "\n".join(map(str, wrong))


async def _save_secrets_of_bob(memory: Any) -> None:
    for agent in (None, "sql"):
        bob = memory.scope(user="bob", agent=agent)
        await bob.remember(f"Bob's locker opens with {_SECRET}")
        await bob.observe({"role": "user", "content": f"My word is {_SECRET}"}, session="s")
        await bob.items.put(("notes",), "locker", {"word": _SECRET})


async def _keys(memory: Any) -> dict[tuple[Role | None, Binding], str | None]:
    keys: dict[tuple[Role | None, Binding], str | None] = {(None, Binding()): None}
    for role in Role:
        for number, binding in enumerate(_BINDINGS):
            made = await memory.keys.create(
                f"{role} {number}",
                role,
                workspaces=binding.workspaces,
                users=binding.users,
                all_users=not binding.users,
                agents=binding.agents,
            )
            keys[role, binding] = made.secret
    return keys


def _addresses(operation: Operation, role: Role | None, binding: Binding) -> tuple[Address, ...]:
    """Return the addresses to try.

    The lowest role that may is tried with every binding, the others with two and at one address:
    which scopes a key reaches does not depend on its role.
    """
    if role is OPERATIONS[operation.name].role:
        return _TELLING[binding] if operation.is_scoped else (_OWN,)
    return (_OWN,) if binding in (_BINDINGS[0], _BINDINGS[2]) else ()


def _query(operation: Operation, address: Address) -> dict[str, str]:
    if not operation.is_scoped:
        return {}
    own = {"user": address.user, "agent": address.agent} if operation.has_user else {}
    return {"workspace": address.workspace, **own}


async def _wrong(
    client: httpx.AsyncClient,
    operation: Operation,
    role: Role | None,
    binding: Binding,
    key: str | None,
    address: Address,
) -> str:
    """What was wrong with the answer, empty if it was right."""
    expected = _expected(operation, role, binding, address)
    if expected is None and operation.name in _ENDLESS:
        return ""
    answer = await client.request(
        operation.method,
        operation.path,
        params=_query(operation, address),
        json=operation.body if operation.method != "GET" else None,
        headers={} if key is None else {"Authorization": f"Bearer {key}"},
    )
    code = answer.json()["code"] if answer.status_code in (401, 403) else None
    refused = code in _REFUSALS
    if expected is not None:
        is_right = code == expected
    else:
        is_right = not refused and (
            answer.status_code < 500 or answer.status_code == _NOT_AVAILABLE
        )
    if binding.users and _SECRET in answer.text:
        return f"it tells Bob's word: {answer.text[:200]}"
    return "" if is_right else f"{expected} but {answer.status_code} {answer.text[:200]}"
