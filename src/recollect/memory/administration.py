"""`memory.agents`, `memory.keys` and `memory.jobs`, for an administrator or operator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from recollect.domain.access import Agent, AgentMove, ApiKey, NewKey
from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import ChangeSet
from recollect.domain.job import JobReport, JobState, Progress
from recollect.domain.operation import Operation
from recollect.domain.page import Cursor, Page, PageWanted
from recollect.domain.scope import Caller, Role, Scope
from recollect.domain.write import WritePolicy
from recollect.errors import Conflict, InvalidInput, NotFound, RecollectError, SettingsError
from recollect.ports.store import Store

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.settings.sections import AgentSettings


CREATE_KEY: Final = "create_key"
REVOKE_KEY: Final = "revoke_key"
SET_AGENT: Final = "set_agent"
RESET_AGENT: Final = "reset_agent"


async def audit_administration(
    store: Store, caller: Caller, action: str, target: str, payload: Mapping[str, Any]
) -> None:
    """Record who did what to which key or agent, in the caller's workspace."""
    scope = Scope(org=caller.scope.org, workspace=caller.scope.workspace)
    entry = NewAuditEntry(scope=scope, action=action, target=target, payload=payload)
    await store.commit(ChangeSet(principal=caller.principal, scope=scope, audit=(entry,)))


# --- `memory.agents`: how each agent uses memory, for an administrator ----------------------------

_SETTABLE: Final = ("enabled", "prefetch_limit", "write_policy", "role", "children")


class Agents:
    """The agents with settings of their own, from the settings file or set here.

    What is set here is stored in the database and overrides the settings file. It takes effect in
    this process at once, in others within seconds.
    """

    def __init__(self, parts: Wiring, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    @Operation(
        "GET", "/v1/agents", "list_agents", Role.ADMIN, reach="server", command="agents list"
    )
    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[Agent]:
        """Return a page of the agents with settings of their own, by name."""
        page = PageWanted(limit=limit, cursor=cursor)
        overlaid = await self._parts.agent_overlays.names()
        moves = await self._parts.moves.known()
        names = sorted(self._parts.settings.agents)
        start = 0 if page.after is None else max(0, page.after.at)
        return page.of(
            [
                (Cursor(at=number + 1, id="n"), self._agent(name, overlaid, moves))
                for number, name in enumerate(names[start : start + page.one_more], start)
            ]
        )

    @Operation(
        "GET", "/v1/agents/{name}", "get_agent", Role.ADMIN, reach="server", command="agents show"
    )
    async def get(self, name: str) -> Agent:
        """Return the current settings of an agent."""
        moves = await self._parts.moves.known()
        if name not in self._parts.settings.agents and name not in moves:
            raise NotFound(
                f"There are no settings for an agent {name!r}",
                hint="An agent without settings of its own uses the defaults.",
            )
        return self._agent(name, await self._parts.agent_overlays.names(), moves)

    @Operation(
        "PUT",
        "/v1/agents/{name}",
        "set_agent",
        Role.ADMIN,
        reach="server",
        repeat="repeatable",
        command="agents set",
    )
    async def put(
        self,
        name: str,
        *,
        enabled: bool | None = None,
        store: str | None = None,
        backend: str | None = None,
        url: str | None = None,
        password_env: str | None = None,
        sqlite_path: str | None = None,
        prefetch_limit: int | None = None,
        write_policy: WritePolicy | None = None,
        role: str | None = None,
        children: Iterable[str] | None = None,
    ) -> Agent:
        """Replace what was set here for an agent; None means the value of the settings file.

        Its store is named as under `stores`, or described by `backend` with the `url` of a server
        or a `sqlite_path`. A URL must not hold a password: `password_env` names the variable with
        it. An agent that has memory is moved to another store with `move`.
        """
        Scope(agent=name)
        given: dict[str, Any] = {
            "enabled": enabled,
            "prefetch_limit": prefetch_limit,
            "write_policy": write_policy,
            "role": role,
            "children": None if children is None else tuple(children),
        }
        wanted = {field: value for field, value in given.items() if value is not None}
        place = self._place(name, store, backend, url, password_env, sqlite_path)
        wanted |= place
        await self._require_same_store(name, self._over_file(name, wanted))
        if place:
            try:
                await self._parts.moves.try_store(name, place)
            except RecollectError as problem:
                raise _refused(problem) from None
        await self._parts.agent_overlays.put(name, wanted, self._parts.clock.now())
        await self._parts.moves.follow()
        await audit_administration(
            self._parts.store, self._caller, SET_AGENT, "agent", {"name": name, **wanted}
        )
        return await self.get(name)

    @Operation(
        "POST",
        "/v1/agents/{name}/move",
        "move_agent",
        Role.ADMIN,
        reach="server",
        command="agents move",
    )
    async def move(
        self,
        name: str,
        to: str | None = None,
        *,
        backend: str | None = None,
        url: str | None = None,
        password_env: str | None = None,
        sqlite_path: str | None = None,
        background: bool = False,
        progress: Progress | None = None,
    ) -> Agent:
        """Move the memory of an agent to another store, while it is in use.

        `to` names a store as under `stores`, or is `common`, a URL or a database file; `backend`
        with `url` or `sqlite_path` describes it too. Both sides are compared, then the new store
        serves, in every process within seconds. The old copy is kept until `purge_copy`. A move
        that was interrupted goes on when it is started again; with `background`, a job does it.
        """
        place = self._target(name, to, backend, url, password_env, sqlite_path)
        if background:
            await self._parts.moves.begin(self._caller, name, place)
        else:
            await self._parts.moves.move(self._caller, name, place, progress)
        return await self.get(name)

    @Operation(
        "POST",
        "/v1/agents/{name}/try",
        "try_agent_store",
        Role.ADMIN,
        reach="server",
        names={"to": "store"},
        repeat="repeatable",
        command="agents try",
    )
    async def try_store(
        self,
        name: str,
        to: str | None = None,
        *,
        backend: str | None = None,
        url: str | None = None,
        password_env: str | None = None,
        sqlite_path: str | None = None,
    ) -> None:
        """Open the store that an agent could be moved to; raise what would keep it from there.

        A new store is made ready by this, and an older one brought up to date; nothing is moved.
        """
        place = self._target(name, to, backend, url, password_env, sqlite_path)
        await self._parts.moves.try_target(name, place)

    def _target(self, name: str, *where: str | None) -> dict[str, Any]:
        """Return the place that an agent is to be moved to."""
        Scope(agent=name)
        place = self._place(name, *where)
        if not place:
            raise InvalidInput(
                f"Say where {name} is to be moved; nothing was moved",
                code="no_store",
                hint="Name a store of the settings file, `common`, a URL or a database file.",
            )
        self._over_file(name, place)
        return place

    @Operation(
        "DELETE",
        "/v1/agents/{name}/copy",
        "purge_agent_copy",
        Role.ADMIN,
        reach="server",
        answer="rows",
        command="agents move",
    )
    async def purge_copy(self, name: str) -> int:
        """Erase what a move left in the old store, or an unfinished copy; return how many rows."""
        return await self._parts.moves.purge(self._caller, name)

    @Operation(
        "DELETE",
        "/v1/agents/{name}",
        "delete_agent",
        Role.ADMIN,
        reach="server",
        repeat="repeatable",
        command="agents delete",
    )
    async def delete(self, name: str) -> None:
        """Remove what was set here for an agent, so that the settings file applies again."""
        await self._require_same_store(name, self._over_file(name, {}))
        if not await self._parts.agent_overlays.delete(name, self._parts.clock.now()):
            raise NotFound(
                f"The database has no settings for an agent {name!r}; nothing was changed",
                hint="To change what the settings file says, edit the file.",
            )
        await self._parts.moves.follow()
        await audit_administration(
            self._parts.store, self._caller, RESET_AGENT, "agent", {"name": name}
        )

    def _agent(self, name: str, overlaid: frozenset[str], moves: Mapping[str, AgentMove]) -> Agent:
        from recollect.settings.agents import told_store

        settings = self._parts.settings.agent(name)
        return Agent(
            name=name,
            origin="database" if name in overlaid else "file",
            store=told_store(settings),
            backend=settings.backend,
            password_env=settings.password_env,
            move=moves.get(name),
            **{field: getattr(settings, field) for field in _SETTABLE},
        )

    def _place(
        self,
        name: str,
        store: str | None,
        backend: str | None,
        url: str | None,
        password_env: str | None,
        sqlite_path: str | None,
    ) -> dict[str, Any]:
        """Return where the store is to be; empty if nothing says so."""
        from recollect.settings.agents import made_place, place_at, place_of, told_store

        settings = self._parts.settings
        now = settings.agent(name)
        try:
            if backend or url or sqlite_path:
                return made_place(
                    backend=backend, url=url, password_env=password_env, sqlite_path=sqlite_path
                )
            if store is None:
                return {}
            if store and store == told_store(now):
                return place_of(now)
            return place_at(store, settings, password_env or "")
        except SettingsError as problem:
            raise _refused(problem) from None

    def _over_file(self, name: str, wanted: dict[str, Any]) -> AgentSettings:
        from recollect.settings.agents import agent_over

        try:
            return agent_over(self._parts.declared_agents.get(name), wanted, self._parts.settings)
        except SettingsError as problem:
            raise _refused(problem) from None

    async def _require_same_store(self, name: str, made: AgentSettings) -> None:
        settings = self._parts.settings
        wanted = settings.model_copy(update={"agents": {name: made}})
        is_same = wanted.store_of(name) == settings.store_of(name)
        if not is_same and await self._parts.router.of_agent(name).has_memory_of(name):
            from recollect.settings.agents import told_store

            raise Conflict(
                f"{name} has memory in its current store; nothing was changed",
                code="agent_has_memory",
                hint="Move it there, then change the rest: recollect agents move "
                f"{name} --to {told_store(made) or 'common'}",
            )


def _refused(problem: RecollectError) -> InvalidInput:
    return InvalidInput(
        f"{problem.message}; nothing was changed", code=problem.code, hint=problem.hint
    )


# --- `memory.keys`: the API keys of a server on this database, for an administrator ---------------


class ApiKeys:
    """API keys with a role, optionally limited to workspaces, users and agents."""

    def __init__(self, parts: Wiring, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    @Operation("POST", "/v1/keys", "create_key", Role.ADMIN, repeat="secret", command="keys create")
    async def create(
        self,
        name: str,
        role: str = "writer",
        *,
        workspaces: Iterable[str] = (),
        users: Iterable[str] = (),
        all_users: bool = False,
        agents: Iterable[str] = (),
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Create a key; its `secret` is returned only here and never stored.

        The role is reader, writer, coordinator or admin. Say whose memory it opens: name `users`,
        or set `all_users`; an admin is for all users unless some are named. An empty list of
        workspaces (each `org/workspace`, or a name in `local`) or agents means all. The result
        tells how many users it covers.
        """
        made = await self._parts.keys.create(
            name,
            role,
            workspaces=workspaces,
            users=users,
            all_users=all_users,
            agents=agents,
            expires_at=expires_at,
        )
        key = made.key
        users_covered = len(key.users) or await self._parts.directory.count_users(key.workspaces)
        await audit_administration(
            self._parts.store,
            self._caller,
            CREATE_KEY,
            key.id,
            {"name": key.name, "role": key.role, "users_covered": users_covered},
        )
        return made.covering(users_covered)

    @Operation("GET", "/v1/keys", "list_keys", Role.ADMIN, command="keys list")
    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[ApiKey]:
        """Return a page of keys, newest first, including revoked ones; never their secrets."""
        return await self._parts.keys.list(PageWanted(limit=limit, cursor=cursor))

    @Operation(
        "DELETE",
        "/v1/keys/{key_id}",
        "revoke_key",
        Role.ADMIN,
        repeat="secret",
        command="keys revoke",
    )
    async def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key and end its sign-ins."""
        revoked = await self._parts.keys.revoke(key_id)
        await audit_administration(
            self._parts.store, self._caller, REVOKE_KEY, key_id, {"name": revoked.name}
        )
        return revoked


# --- `memory.jobs`: background jobs of the whole database, for an operator ------------------------


class BackgroundJobs:
    """The background jobs of all stores; finished ones are listed for a day."""

    def __init__(self, parts: Wiring) -> None:
        self._parts = parts

    @Operation("GET", "/v1/jobs", "list_jobs", Role.ADMIN, reach="server", command="jobs list")
    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[JobReport]:
        """Return jobs, newest first: waiting, running, failed, done or cancelled ones, or all."""
        return await self._parts.job_control.list(
            state, kind, PageWanted(limit=limit, cursor=cursor)
        )

    @Operation(
        "GET", "/v1/jobs/{job_id}", "get_job", Role.ADMIN, reach="server", command="jobs show"
    )
    async def get(self, job_id: str) -> JobReport:
        """Return the state, the progress where known, and the result of one job."""
        return await self._parts.job_control.get(job_id)

    @Operation(
        "DELETE",
        "/v1/jobs/{job_id}",
        "cancel_job",
        Role.ADMIN,
        reach="server",
        command="jobs cancel",
    )
    async def cancel(self, job_id: str) -> JobReport:
        """Cancel a job; one that is running stops soon, and what it did is kept."""
        return await self._parts.job_control.cancel(job_id)
