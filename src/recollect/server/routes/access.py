"""Access: signing in, who one is, the keys, and how each agent uses memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, cast

from fastapi import APIRouter, Request, Response
from pydantic import AliasChoices, BaseModel, Field

from recollect.domain.access import Agent, ApiKey, Grant, NewKey
from recollect.domain.operation import Operation
from recollect.domain.page import Page
from recollect.domain.scope import Role
from recollect.domain.times import aware
from recollect.domain.write import WritePolicy
from recollect.errors import InvalidInput, NotAllowed, NotAuthenticated
from recollect.keys.service import csrf_token
from recollect.memory import Memory
from recollect.server.bodies import Body, described
from recollect.server.caller import AdministeredMemory, OpenMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.identity import COOKIE, Asking, Identity, Means
from recollect.server.limits import Limits
from recollect.server.parameters import Paged
from recollect.server.problems import problems
from recollect.settings.agents import told_store

router = APIRouter(prefix="/v1", tags=["access"], route_class=IdempotentRoute)


class WhoAmI(BaseModel):
    """Who is asking; an empty list of workspaces, users or agents means all."""

    name: str
    means: Means = Field(
        description="open: this machine, as no key was ever made; or key, cookie, token"
    )
    key_id: str | None
    role: Role
    workspaces: tuple[str, ...] = Field(description="each `org/workspace`")
    users: tuple[str, ...]
    agents: tuple[str, ...]
    expires_at: datetime | None
    csrf_token: str | None = Field(
        description="of a cookie: to be sent as X-CSRF-Token with every write"
    )


class KeyGiven(Body):
    """A key to sign in with."""

    model_config = described({"key": "rk_…"})

    key: str = Field(repr=False)


class KeyWanted(Body):
    """A key to create, for some users or explicitly for all of them.

    A list of workspaces or agents that is left out or empty means all.
    """

    model_config = described({"name": "ci", "role": "writer", "users": ["ann"]})

    name: str
    role: Role = Role.WRITER
    workspaces: list[str] = Field(
        default=[], description="each `org/workspace`, or a name in the org `local`"
    )
    users: list[str] = Field(default=[], description="whose memory it opens")
    all_users: bool = Field(
        default=False,
        description="it opens everybody's memory; needed unless users are named or it is an admin",
    )
    agents: list[str] = Field(default=[])
    expires_at: datetime | None = None


@router.post("/sign-in", responses=problems(401))
@Operation("POST", "/v1/sign-in", "sign_in", None, repeat="secret")
async def sign_in(
    memory: OpenMemory, body: KeyGiven, request: Request, response: Response
) -> WhoAmI:
    """Sign a browser in with a key; the response sets an HttpOnly cookie."""
    limits = cast("Limits", request.app.state.limits)
    client = request.client.host if request.client else ""
    lifetime = timedelta(hours=memory.settings.server.sign_in_hours)
    try:
        signed_in = await memory.access.sign_in(body.key, lifetime)
    except NotAuthenticated:
        limits.note_wrong_key(client)
        raise
    key = signed_in.key
    response.set_cookie(
        COOKIE,
        signed_in.token,
        max_age=int((signed_in.expires_at - datetime.now(UTC)).total_seconds()),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    response.headers["Cache-Control"] = "no-store"
    return _told(
        Identity(
            name=key.name,
            grant=key.grant,
            means="cookie",
            key_id=key.id,
            expires_at=signed_in.expires_at,
            csrf_token=csrf_token(signed_in.token),
        )
    )


@router.post("/sign-out", status_code=204)
@Operation("POST", "/v1/sign-out", "sign_out", None, repeat="secret")
async def sign_out(memory: OpenMemory, request: Request, response: Response) -> None:
    """Sign a browser out and invalidate its cookie."""
    if (token := request.cookies.get(COOKIE)) is not None:
        await memory.access.sign_out(token)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


@router.get("/whoami")
@Operation("GET", "/v1/whoami", "whoami", Role.READER)
async def whoami(asking: Asking, response: Response) -> WhoAmI:
    """Return the caller's role and the workspaces, users and agents it covers."""
    response.headers["Cache-Control"] = "no-store"
    return _told(asking)


@router.get("/keys")
async def list_keys(page: Paged, memory: AdministeredMemory, asking: Asking) -> Page[ApiKey]:
    """List the keys that this key covers, newest first, without their secrets."""
    found = await memory.keys.list(**page)
    covered = tuple(key for key in found if asking.grant.covers(key.grant))
    return Page(items=covered, next_cursor=found.next_cursor)


@router.post("/keys", status_code=201, responses=problems(409))
async def create_key(
    memory: AdministeredMemory, asking: Asking, body: KeyWanted, response: Response
) -> NewKey:
    """Create a key; the response is the only place that has its secret."""
    wanted = Grant(
        role=body.role,
        workspaces=tuple(it if "/" in it else f"local/{it}" for it in body.workspaces),
        users=tuple(body.users),
        agents=tuple(body.agents),
    )
    _require_admin_first(asking, wanted)
    _require_covered(asking, wanted)
    await _require_no_longer(memory, asking, body.expires_at)
    made = await memory.keys.create(**body.arguments())
    response.headers["Cache-Control"] = "no-store"
    return made


@router.delete("/keys/{key_id}", responses=problems(404))
async def revoke_key(memory: AdministeredMemory, asking: Asking, key_id: str) -> ApiKey:
    """Revoke a key and end its sign-ins."""
    _require_covered(asking, (await memory.access.get(key_id)).grant)
    return await memory.keys.revoke(key_id)


def _require_admin_first(asking: Identity, wanted: Grant) -> None:
    """Refuse a first key that would lock out the person who makes it in a browser."""
    is_first = asking.is_person and asking.means == "open"
    if is_first and not (wanted.role is Role.ADMIN and wanted.is_server_wide):
        raise NotAllowed(
            "The first key closes the server to all who have none, so it must be an admin's of all"
            " workspaces; nothing was changed",
            code="first_key_admin",
            hint='Make one with {"role": "admin"} first; it makes the others.',
        )


def _require_covered(asking: Identity, wanted: Grant) -> None:
    if not asking.grant.covers(wanted):
        raise NotAllowed(
            "A key may only make and revoke keys that reach no further; nothing was changed",
            code="key_bound",
            hint=f"This one is {asking.grant.role} of {asking.grant.reach}.",
        )


async def _require_no_longer(memory: Memory, asking: Identity, until: datetime | None) -> None:
    """Refuse a key that goes on when the one that makes it has ended."""
    if asking.key_id is None:
        return
    ends = (await memory.access.get(asking.key_id)).expires_at
    if ends is not None and (until is None or aware(until, "expires_at") > ends):
        raise NotAllowed(
            "A key may only make keys that end no later than itself; nothing was changed",
            code="key_bound",
            hint=f"Give expires_at up to {ends.isoformat()}.",
        )


def _told(identity: Identity) -> WhoAmI:
    grant = identity.grant
    return WhoAmI(
        name=identity.name,
        means=identity.means,
        key_id=identity.key_id,
        role=grant.role,
        workspaces=grant.workspaces,
        users=grant.users,
        agents=grant.agents,
        expires_at=identity.expires_at,
        csrf_token=identity.csrf_token,
    )


# --- Agents: whether and how each of them uses memory ---------------------------------------------

agents_router = APIRouter(prefix="/v1/agents", tags=["agents"], route_class=IdempotentRoute)


class PurgedCopy(BaseModel):
    """How many rows of a copy were erased."""

    rows: int


class AgentPlace(Body):
    """The store for an agent's memory: a named one, or one that is described."""

    model_config = described(
        {
            "backend": "postgresql",
            "url": "postgresql://recollect@db.example/agents",
            "password_env": "RECOLLECT_PASSWORD_AGENTS",
        }
    )

    store: str | None = Field(
        default=None,
        description="a name under `stores` in the settings file, or `common`; never a path",
    )
    backend: Literal["sqlite", "mysql", "postgresql"] | None = None
    url: str | None = Field(
        default=None, description="of a database server, without a password", repr=False
    )
    password_env: str | None = Field(
        default=None,
        description="the variable on the server with the password; begins with RECOLLECT_PASSWORD_",
    )
    sqlite_path: str | None = Field(
        default=None,
        validation_alias=AliasChoices("sqlite_path", "sqlitePath"),
        description="the name of a database file in the data folder",
    )

    def place(self) -> dict[str, Any]:
        """Return what a caller over the network may choose."""
        for path in (self.store, self.sqlite_path):
            if path and (Path(path).name != path or path.startswith(".")):
                raise InvalidInput(
                    f"{path!r} is not the name of a store or of a file in the data folder; "
                    "nothing was changed",
                    code="unknown_store",
                    hint="Name a store of the settings file, or describe a server with backend and "
                    "url.",
                )
        return self.model_dump(include={*AgentPlace.model_fields})


class AgentWanted(AgentPlace):
    """The settings of an agent; omitted fields come from the settings file."""

    model_config = described({"enabled": True, "prefetch_limit": 3, "role": "reviewer"})

    enabled: bool | None = None
    prefetch_limit: int | None = Field(
        default=None, validation_alias=AliasChoices("prefetch_limit", "prefetchLimit")
    )
    write_policy: WritePolicy | None = None
    role: str | None = None
    children: list[str] | None = Field(
        default=None, description="agents whose memory it may read and write"
    )


@agents_router.get("")
async def list_agents(page: Paged, memory: AdministeredMemory) -> Page[Agent]:
    """List the agents with settings of their own, by name."""
    return await memory.agents.list(**page)


@agents_router.get("/{name}", responses=problems(404))
async def get_agent(memory: AdministeredMemory, name: str) -> Agent:
    """Return the current settings of an agent."""
    return await memory.agents.get(name)


@agents_router.put("/{name}", responses=problems(404, 409))
async def set_agent(memory: AdministeredMemory, name: str, body: AgentWanted) -> Agent:
    """Replace the settings of an agent; they take precedence over the settings file."""
    given = body.model_dump(exclude={*AgentPlace.model_fields})
    current = memory.settings.agent(name)
    # What it is told as its store is no name of one when it is described.
    is_same = bool(body.store) and body.store == told_store(current)
    place: dict[str, Any] = {"store": body.store} if is_same else body.place()
    return await memory.agents.put(name, **given, **place)


@agents_router.post("/{name}/move", status_code=202, responses=problems(404, 409))
async def move_agent(memory: AdministeredMemory, name: str, body: AgentPlace) -> Agent:
    """Move an agent's memory to another store in the background; `move` reports the progress."""
    place = body.place()
    place["to"] = place.pop("store")
    return await memory.agents.move(name, background=True, **place)


@agents_router.post("/{name}/try", status_code=204, responses=problems(404, 409))
async def try_agent_store(memory: AdministeredMemory, name: str, body: AgentPlace) -> None:
    """Open the store that an agent could be moved to, and move nothing.

    A new store is made ready by this, and an older one brought up to date.
    """
    place = body.place()
    place["to"] = place.pop("store")
    await memory.agents.try_store(name, **place)


@agents_router.delete("/{name}/copy", responses=problems(404))
async def purge_agent_copy(memory: AdministeredMemory, name: str) -> PurgedCopy:
    """Erase the copy that a move left in the old store, or an unfinished one."""
    return PurgedCopy(rows=await memory.agents.purge_copy(name))


@agents_router.delete("/{name}", status_code=204, responses=problems(404, 409))
async def delete_agent(memory: AdministeredMemory, name: str) -> None:
    """Remove the stored settings of an agent, so that the settings file applies again."""
    await memory.agents.delete(name)
