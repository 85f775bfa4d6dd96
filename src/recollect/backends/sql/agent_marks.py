"""What a store notes about agents that are moved: where each went, and how far a copy has come.

The notes are in the row of the agent, beside what an administrator has set for it.
"""

from __future__ import annotations

import json
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from recollect.backends.sql import schema
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import to_json
from recollect.domain.scope import SHARED_AGENT
from recollect.errors import AgentMoved

# In the store that an agent has left: the name of the one that it is in.
AWAY: Final = "*away"
# There as well: the scopes of the copy that is kept until it is purged.
KEPT: Final = "*kept"
# In the store that an agent is to leave: which move may take it away.
LEAVING: Final = "*leaving"
# In the store that an agent comes to: which move may write there, and what has come so far.
ARRIVING: Final = "*arriving"
# In the common store: from where to where, and how far it has come.
MOVE: Final = "*move"
# In the common store: in which other store an agent was last.
HOME: Final = "*home"

_AGENTS: Final = schema.agents.c
_FIND: Final = PreparedStatement(
    select(_AGENTS.settings).where(_AGENTS.name == bindparam("of_name"))
)


def is_mark(name: str) -> bool:
    """Return whether a name in the row of an agent is that of a note, not of a setting."""
    return name.startswith("*")


def require_here(connection: Connection, agent: str) -> None:
    """Raise `AgentMoved` if the memory of an agent was moved away from this store."""
    if not agent or agent.startswith(SHARED_AGENT[0]):
        return
    for row in _FIND.rows(connection, {"of_name": agent}):
        # Nearly all rows are of agents that were never moved.
        if AWAY in row[0] and (to := json.loads(row[0]).get(AWAY)):
            raise AgentMoved(
                f"The memory of {agent} was moved to {to}; this call wrote nothing",
                hint="Try again: every open memory follows within seconds.",
            )


def read_marks(connection: Connection, agent: str) -> dict[str, Any]:
    """Return what is noted about an agent."""
    return {name: value for name, value in _row(connection, agent).items() if is_mark(name)}


def set_marks(connection: Connection, agent: str, now: int, **marks: Any) -> None:
    """Note something about an agent; None takes a note away."""
    row = _row(connection, agent) | {f"*{name}": value for name, value in marks.items()}
    write_row(connection, agent, {it: row[it] for it in row if row[it] is not None}, now)


def write_row(connection: Connection, agent: str, row: dict[str, Any], now: int) -> None:
    """Write what is set and noted for an agent; nothing at all is no row."""
    its = _AGENTS.name == agent
    if not row:
        connection.execute(delete(schema.agents).where(its))
        return
    values = {"settings": to_json(row), "updated_at": now}
    if not connection.execute(update(schema.agents).where(its).values(values)).rowcount:
        connection.execute(insert(schema.agents), {"name": agent, **values})


def _row(connection: Connection, agent: str) -> dict[str, Any]:
    locked = select(_AGENTS.settings).where(_AGENTS.name == agent).with_for_update()
    found = connection.scalar(locked)
    return {} if found is None else json.loads(found)
