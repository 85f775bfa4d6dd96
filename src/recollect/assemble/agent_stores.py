"""The stores of agents that have one of their own, beside the common store."""

from __future__ import annotations

import asyncio
import logging
from functools import cached_property
from typing import TYPE_CHECKING

from recollect.assemble.container import Wiring
from recollect.assemble.database import open_database
from recollect.errors import RecollectError, StorageError
from recollect.memory.parts import SharingParts

if TYPE_CHECKING:
    from recollect.backends.sql.database import Database
    from recollect.knowledge.base import KnowledgeBase
    from recollect.lifecycle.keys import KeyDesk
    from recollect.ports.keys import AgentOverlays
    from recollect.settings import Settings

_log = logging.getLogger(__name__)


class AgentWiring(Wiring):
    """The services on the store of one or several agents.

    It holds only the memory of these agents. The records of users, shared records, documents, keys
    and the settings of agents are in the common store, and are read from there.
    """

    def __init__(self, settings: Settings, database: Database, common: Wiring) -> None:
        super().__init__(settings, common.clock, database, *common.understood)
        self.declared_agents = common.declared_agents
        self._common = common

    @property
    def common(self) -> Wiring:
        return self._common

    def of_agent(self, agent: str | None) -> Wiring:
        return self._common.of_agent(agent)

    async def open_stores(self) -> None:
        await self._common.open_stores()

    async def close(self) -> None:
        """Close the common store, which closes this one too."""
        await self._common.close()

    async def close_store(self) -> None:
        """Finish and close only what is on this store."""
        for shared in ("knowledge", "keys"):
            vars(self).pop(shared, None)
        await self._close_work()
        await self.store.close()

    @cached_property
    def sharing(self) -> SharingParts:
        return self._common.sharing

    @cached_property
    def knowledge(self) -> KnowledgeBase:
        return self._common.knowledge

    @cached_property
    def keys(self) -> KeyDesk:
        return self._common.keys

    @cached_property
    def agent_overlays(self) -> AgentOverlays:
        return self._common.agent_overlays


async def open_agent_stores(common: Wiring) -> None:
    """Open the stores of the configured agents that are not open yet.

    A store that cannot be opened locks out its own agents and nobody else.
    """
    settings = common.settings
    for name in settings.agents:
        key = settings.store_of(name)
        if key in common.stores or not settings.has_own_store(name):
            continue
        common.unopened.pop(key, None)
        try:
            common.stores[key] = await _open_store(settings.of_agent(name), common)
        except RecollectError as problem:
            _log.warning("the store of %s cannot be opened: %s", name, problem)
            common.unopened[key] = StorageError(
                f"The store of {name} cannot be opened: {problem.message}",
                code=problem.code,
                hint=problem.hint,
            )


async def _open_store(settings: Settings, common: Wiring) -> AgentWiring:
    database = await asyncio.to_thread(open_database, settings)
    parts = AgentWiring(settings, database, common)
    try:
        await parts.hide_forgotten()
        await parts.go_on_forgetting()
    except RecollectError:
        await database.close()
        raise
    parts.start()
    return parts
