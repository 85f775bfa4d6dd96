"""`memory.agents`: how each agent uses memory, for an administrator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from recollect.domain.agent import Agent
from recollect.domain.page import Cursor, Page, PageWanted
from recollect.domain.scope import Caller, Scope
from recollect.domain.write import WritePolicy
from recollect.errors import Conflict, InvalidInput, NotFound, SettingsError
from recollect.memory.administration import RESET_AGENT, SET_AGENT, audit_administration

if TYPE_CHECKING:
    from recollect.memory.parts import Parts
    from recollect.settings.sections import AgentSettings

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
