"""What is set for agents, as rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, select

from recollect.backends.sql import schema
from recollect.backends.sql.agent_marks import is_mark, read_marks, write_row
from recollect.backends.sql.database import OnDatabase, reading, writing
from recollect.backends.sql.schema import agents
from recollect.domain.times import to_micros

_AGENTS: Final = agents.c


def read_overlays(connection: Connection) -> dict[str, dict[str, Any]]:
    """Return what was set for each agent."""
    return overlays_in(read_agents(connection))


def read_agents(connection: Connection) -> dict[str, dict[str, Any]]:
    """Return what is set and noted for each agent."""
    rows = connection.execute(select(_AGENTS.name, _AGENTS.settings))
    return {row.name: json.loads(row.settings) for row in rows}


def put_overlay(connection: Connection, name: str, given: Mapping[str, Any], now: int) -> None:
    """Replace what is set for an agent; what is noted about it stays."""
    write_row(connection, name, {**read_marks(connection, name), **given}, now)


def overlays_in(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what is set for each agent, without what is noted about it."""
    given = {
        agent: {name: value for name, value in row.items() if not is_mark(name)}
        for agent, row in rows.items()
    }
    return {agent: row for agent, row in given.items() if row}


class SqlAgentOverlays(OnDatabase):
    """Overrides of the settings of agents, by name."""

    @writing
    def put(
        self, connection: Connection, name: str, settings: Mapping[str, Any], now: datetime
    ) -> None:
        put_overlay(connection, name, settings, to_micros(now))

    @writing
    def delete(self, connection: Connection, name: str, now: datetime) -> bool:
        """Remove the overrides of an agent; return whether there were any."""
        was_set = name in read_overlays(connection)
        put_overlay(connection, name, {}, to_micros(now))
        return was_set

    async def names(self) -> frozenset[str]:
        """Return the agents that have overrides."""
        return frozenset(await self.database.read(read_overlays))

    async def get(self, name: str) -> Mapping[str, Any]:
        """Return the overrides of an agent; empty if it has none."""
        return (await self.database.read(read_overlays)).get(name, {})

    @reading
    def has_memory(self, connection: Connection, name: str) -> bool:
        """Return whether this store holds records or turns of an agent."""
        scopes = select(schema.scopes.c.id).where(schema.scopes.c.agent == name)
        tables = (schema.records, schema.turns)
        return any(
            connection.execute(
                select(table.c.id).where(table.c.scope_id.in_(scopes)).limit(1)
            ).first()
            for table in tables
        )


# --- Keys and sign-ins as rows --------------------------------------------------------------------


# --- Hourly totals as rows ------------------------------------------------------------------------
