"""`memory.agents`, `memory.keys` and `memory.jobs`, for an administrator or operator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from recollect.domain.access import Agent, ApiKey, NewKey
from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import ChangeSet
from recollect.domain.job import JobReport, JobState
from recollect.domain.page import Cursor, Page, PageWanted
from recollect.domain.scope import Caller, Scope
from recollect.domain.write import WritePolicy
from recollect.errors import Conflict, InvalidInput, NotFound, SettingsError
from recollect.ports.store import Store

if TYPE_CHECKING:
    from recollect.memory.parts import Parts
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

_SETTABLE: Final = (
    "enabled",
    "store",
    "prefetch_limit",
    "write_policy",
    "role",
    "children",
)


class Agents:
    """The agents with settings of their own, from the settings file or set here.

    What is set here is stored in the database and overrides the settings file. It takes effect in
    this process at once, in others when they next open the database.
    """

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[Agent]:
        """Return a page of the agents with settings of their own, by name."""
        page = PageWanted(limit=limit, cursor=cursor)
        overlaid = await self._parts.agent_overlays.names()
        names = sorted(self._parts.settings.agents)
        start = 0 if page.after is None else max(0, page.after.at)
        return page.of(
            [
                (Cursor(at=number + 1, id="n"), self._agent(name, overlaid))
                for number, name in enumerate(names[start : start + page.one_more], start)
            ]
        )

    async def get(self, name: str) -> Agent:
        """Return the current settings of an agent."""
        if name not in self._parts.settings.agents:
            raise NotFound(
                f"There are no settings for an agent {name!r}",
                hint="An agent without settings of its own uses the defaults.",
            )
        return self._agent(name, await self._parts.agent_overlays.names())

    async def put(
        self,
        name: str,
        *,
        enabled: bool | None = None,
        store: str | None = None,
        prefetch_limit: int | None = None,
        write_policy: WritePolicy | None = None,
        role: str | None = None,
        children: Iterable[str] | None = None,
    ) -> Agent:
        """Replace what was set here for an agent; None means the value of the settings file."""
        Scope(agent=name)
        given: dict[str, Any] = {
            "enabled": enabled,
            "store": store,
            "prefetch_limit": prefetch_limit,
            "write_policy": write_policy,
            "role": role,
            "children": None if children is None else tuple(children),
        }
        wanted = {field: value for field, value in given.items() if value is not None}
        made = self._over_file(name, wanted)
        await self._require_same_store(name, made)
        await self._parts.agent_overlays.put(name, wanted, self._parts.clock.now())
        self._parts.settings.agents[name] = made
        await self._parts.open_stores()
        await audit_administration(
            self._parts.store, self._caller, SET_AGENT, "agent", {"name": name, **wanted}
        )
        return await self.get(name)

    async def delete(self, name: str) -> None:
        """Remove what was set here for an agent, so that the settings file applies again."""
        await self._require_same_store(name, self._over_file(name, {}))
        if not await self._parts.agent_overlays.delete(name):
            raise NotFound(
                f"The database has no settings for an agent {name!r}; nothing was changed",
                hint="To change what the settings file says, edit the file.",
            )
        declared = self._parts.declared_agents
        if name in declared:
            self._parts.settings.agents[name] = declared[name]
        else:
            self._parts.settings.agents.pop(name, None)
        await audit_administration(
            self._parts.store, self._caller, RESET_AGENT, "agent", {"name": name}
        )

    def _agent(self, name: str, overlaid: frozenset[str]) -> Agent:
        settings = self._parts.settings.agents[name]
        return Agent(
            name=name,
            origin="database" if name in overlaid else "file",
            **{field: getattr(settings, field) for field in _SETTABLE},
        )

    def _over_file(self, name: str, wanted: dict[str, Any]) -> AgentSettings:
        from recollect.settings.agents import agent_over

        try:
            return agent_over(self._parts.declared_agents.get(name), wanted, self._parts.settings)
        except SettingsError as problem:
            raise InvalidInput(
                f"{problem.message}; nothing was changed", code=problem.code, hint=problem.hint
            ) from None

    async def _require_same_store(self, name: str, made: AgentSettings) -> None:
        now = self._parts.settings.agents.get(name)
        before = "" if now is None else now.store
        if before != made.store and await self._parts.of_agent(name).has_memory_of(name):
            raise Conflict(
                f"{name} has memory in its current store; nothing was changed",
                code="agent_has_memory",
                hint=f"Copy it first: recollect copy --agent {name}; then change the store.",
            )


# --- `memory.keys`: the API keys of a server on this database, for an administrator ---------------


class ApiKeys:
    """API keys with a role, optionally limited to workspaces, users and agents."""

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

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

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[ApiKey]:
        """Return a page of keys, newest first, including revoked ones; never their secrets."""
        return await self._parts.keys.list(PageWanted(limit=limit, cursor=cursor))

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

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[JobReport]:
        """Return jobs, newest first: waiting, running, failed, done or cancelled ones, or all."""
        return await self._parts.job_desk.list(state, kind, PageWanted(limit=limit, cursor=cursor))

    async def get(self, job_id: str) -> JobReport:
        """Return the state, the progress where known, and the result of one job."""
        return await self._parts.job_desk.get(job_id)

    async def cancel(self, job_id: str) -> JobReport:
        """Cancel a job; one that is running stops soon, and what it did is kept."""
        return await self._parts.job_desk.cancel(job_id)
