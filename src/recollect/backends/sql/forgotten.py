"""What is being forgotten, as every reader and writer must know it."""

from __future__ import annotations

import json
import re
from typing import Final

from sqlalchemy import Connection, func, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import ledger_beside
from recollect.backends.sql.forget_ledger import Entry
from recollect.backends.sql.prepared_statement import PreparedStatement

# The agent of what is being forgotten. No caller can have it; its user is a random number or a
# pseudonym. Copies of an agent that do not serve have it too.
FORGOTTEN_AGENT: Final = "*forgotten"
# What the pseudonyms of forgotten users begin with.
FORGOTTEN_USER: Final = "forgotten-"
NAMELESS_SCOPES: Final = select(schema.scopes.c.id).where(schema.scopes.c.agent == FORGOTTEN_AGENT)
# Words long enough to be an id; every id is one.
_NAME: Final = re.compile(r"[\w.\-]{6,}")


def names_in(text: str) -> set[str]:
    """Return everything in a text that may be an id."""
    return set(_NAME.findall(text))


_STONES: Final = schema.tombstones.c
# Ids rise with time, so the highest is of the forgetting that began last.
_LAST_BEGUN: Final = PreparedStatement(
    select(_STONES.forgotten_at).where(
        _STONES.id == select(func.max(_STONES.forget_id)).scalar_subquery()
    )
)


def begun_since(connection: Connection, at: int) -> list[Entry]:
    """Return the forgettings that began at this moment or later."""
    stones, jobs = schema.tombstones.c, schema.jobs.c
    # In nearly every case the last one tells that there were none.
    last = next((row[0] for row in _LAST_BEGUN.rows(connection, {})), 0)
    if last < at:
        return []
    later = select(stones.id).where(stones.kind == "forget", stones.forgotten_at >= at)
    begun = set(connection.scalars(later))
    # One that is not in the ledger yet is in its job.
    is_open = jobs.gave_up <= 1
    working = connection.scalars(select(jobs.payload).where(jobs.kind == "forget", is_open))
    entries = [json.loads(it)["entry"] for it in working]
    noted = [Entry.from_json(entry) for entry in entries if entry is not None]
    return [it for it in noted if it.forget_id in begun] + ledger_beside(connection).read(begun)
