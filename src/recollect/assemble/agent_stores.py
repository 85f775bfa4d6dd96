"""The stores of agents that have one of their own, beside the common store."""

from __future__ import annotations

import asyncio
import logging
from functools import cached_property
from typing import TYPE_CHECKING

from recollect.assemble.container import Wiring
from recollect.assemble.database import open_database
from recollect.backends.split_store import SplitStore
from recollect.domain.scope import Scope
from recollect.errors import RecollectError
from recollect.memory.parts import Parts, SharingParts
from recollect.recall.listing import Listing
from recollect.recall.split_recall import SplitRecaller

if TYPE_CHECKING:
    from recollect.backends.sql.database import Database
    from recollect.erasure.forgetting import Forgetting
    from recollect.knowledge.base import KnowledgeBase
    from recollect.lifecycle.keys import KeyDesk
    from recollect.ports.agents import AgentOverlays
    from recollect.settings import Settings
    from recollect.writing.candidates import Indexes

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
        recall, key = settings.recall, settings.store_of(settings.scope.agent)

        def holds(scope: Scope) -> bool:
            return settings.store_of(scope.agent) == key

        self._own = self.store
        self.store = SplitStore(own=self._own, common=common.store, holds=holds)
        self.listing = Listing(self.store, common.clock)
        self.recaller = SplitRecaller(
            self.recaller, common.recaller, holds, limit=recall.limit, gap=recall.gap
        )

    def of_agent(self, agent: str | None) -> Parts:
        return self._common.of_agent(agent)

    async def open_stores(self) -> None:
        await self._common.open_stores()

    def require_all_stores(self) -> None:
        self._common.require_all_stores()

    @property
    def searched(self) -> tuple[Indexes, ...]:
        """Return the indexes of this store and the common one, which holds user profiles."""
        return (*super().searched, *self._common.searched)

    @property
    def all_stores(self) -> tuple[Parts, ...]:
        return self, self._common

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
    def forgetting(self) -> Forgetting:
        from recollect.assemble.erasure import forgetting_of

        return forgetting_of(
            self.settings,
            self.database,
            self.clock,
            self._own,
            Listing(self._own, self.clock),
            self.usage,
            self.recaller,
            self.working.sessions,
            self.forget_texts,
            self.knowledge.own_document,
        )

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
            common.unopened[key] = problem


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
