"""Settings → the services of an open memory."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.assemble.understanding import Understanding
from recollect.domain.scope import Caller, Scope
from recollect.errors import RecollectError
from recollect.ports.runtime import Clock, SystemClock
from recollect.settings import Settings
from recollect.settings.effects import without_effect
from recollect.settings.working import ModelSettings

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.ports.embedder import Embedder
    from recollect.ports.judge import Judge

_log: Final = logging.getLogger(__name__)

# --- Arguments → the settings, and the default caller ---------------------------------------------


def settings_at(where: str | Path | Settings | None) -> Settings:
    """Return the settings for a path, or the default ones."""
    if isinstance(where, Settings):
        return where
    return Settings.load() if where is None else Settings.at(where)


def first_caller(settings: Settings) -> Caller:
    """Return the caller that the settings name."""
    scope = settings.scope
    agent = settings.agents.get(scope.agent or "")
    here = Scope(org=scope.org, workspace=scope.workspace, agent=scope.agent, user=scope.user)
    return Caller(
        scope=here, children=agent.children if agent is not None else (), principal=here.actor
    )


# --- Settings → the services of an open memory ----------------------------------------------------


async def assemble(
    where: str | Path | Settings | None = None,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
    question: str | None = None,
    judge: Judge | None = None,
) -> tuple[Wiring, Caller]:
    """Open the database, bring it up to date and return its services and the default caller.

    Services are created on first use. The embedding model for an expected `question` loads at the
    same time.
    """
    settings = settings_at(where)
    for idle in without_effect(settings):
        _log.warning("%s", idle)
    clock = clock or SystemClock()
    redis = None
    if settings.storage.state:
        from recollect.assemble.redis import redis_of

        redis = redis_of(settings, clock)
    understanding = Understanding(settings, clock, embedder, redis)
    if question is not None or understanding.may_be_refused:
        await asyncio.to_thread(understanding.open, question)
    # Imported here, while the model loads in a thread of its own.
    from recollect.agents.overlays import read_overlays
    from recollect.assemble.container import Wiring
    from recollect.assemble.stores import open_database
    from recollect.settings.agents import with_agents

    # The common store holds the settings of agents, whichever agent opens the memory.
    common = settings.of_agent(None) if settings.has_own_store(settings.scope.agent) else settings
    try:
        may_be_away = common.storage.spool is not False
        database = await asyncio.to_thread(open_database, common, may_be_away=may_be_away)
    except RecollectError:
        await understanding.close()
        raise
    is_away = database.outage is not None and database.outage.is_away
    try:
        # What is set for agents in the database is learned when it is back.
        overlays = {} if is_away else database.read_here(read_overlays)
        overlaid = with_agents(common, overlays)
        parts = Wiring(overlaid, clock, database, understanding, judge, redis=redis)
    except RecollectError:
        await database.close()
        await understanding.close()
        raise
    try:
        parts.declared_agents = settings.agents
        parts.try_settings()
        if settings.models != ModelSettings() or settings.notes.rules:
            # Report an unusable model or rule now, not in the middle of a conversation.
            _ = parts.working
        if is_away and database.outage is not None:
            database.outage.before_serving(parts.lifetime.settle_in)
            database.outage.watch()
        else:
            await parts.lifetime.settle_in()
        if parts.spool is not None:
            await parts.spool.open()
        caller = first_caller(overlaid.of_agent(settings.scope.agent))
        theirs = parts.router.of_agent(caller.scope.agent)
    except RecollectError:
        for store in parts.router.stores.values():
            await store.lifetime.close_store()
        await database.close()
        await understanding.close()
        raise
    parts.lifetime.start()
    await parts.lifetime.catch_up()
    return theirs, caller
