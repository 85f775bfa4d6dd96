"""Settings of agents as rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.schema import agents
from recollect.domain.times import to_micros

_TABLE: Final = agents.c


def read_overlays(connection: Connection) -> dict[str, dict[str, Any]]:
    """Return what was set for each agent."""
    rows = connection.execute(select(_TABLE.name, _TABLE.settings))
    return {row.name: json.loads(row.settings) for row in rows}


class SqlAgentOverlays:
    """An `AgentOverlays` on a SQL database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, name: str, settings: Mapping[str, Any], now: datetime) -> None:
        row = {"name": name, "settings": json.dumps(settings), "updated_at": to_micros(now)}

        def write(connection: Connection) -> None:
            connection.execute(delete(agents).where(_TABLE.name == name))
            connection.execute(insert(agents), row)

        await self._database.write(write)

    async def delete(self, name: str) -> bool:
        gone = delete(agents).where(_TABLE.name == name)
        return await self._database.write(lambda connection: connection.execute(gone).rowcount > 0)

    async def names(self) -> frozenset[str]:
        chosen = select(_TABLE.name)
        return await self._database.read(lambda connection: frozenset(connection.scalars(chosen)))

    async def has_memory(self, name: str) -> bool:
        scopes = select(schema.scopes.c.id).where(schema.scopes.c.agent == name)
        tables = (schema.records, schema.turns)

        def read(connection: Connection) -> bool:
            return any(
                connection.execute(
                    select(table.c.id).where(table.c.scope_id.in_(scopes)).limit(1)
                ).first()
                for table in tables
            )

        return await self._database.read(read)
