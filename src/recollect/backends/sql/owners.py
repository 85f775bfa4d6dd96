"""The owners of units, whatever their kind."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from recollect.backends.sql import schema
from recollect.backends.sql.archives import archive_from
from recollect.backends.sql.documents import document_from
from recollect.backends.sql.portable import listed
from recollect.backends.sql.rows import record_from, rows_of, to_json, turn_from
from recollect.backends.sql.scopes import scopes_by_id
from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.record import Record
from recollect.domain.turn import Turn

Owner = Record | Turn | Archive | Document


def owners_of(connection: Connection, ids: Collection[str]) -> dict[str, Owner]:
    """Return the records, turns, archives and documents with these ids."""
    if not ids:
        return {}
    given = {"ids": to_json(list(ids))}
    records, turns, archives, documents = (
        rows_of(connection, select(table).where(table.c.id.in_(listed("ids"))), given)
        for table in (schema.records, schema.turns, schema.archives, schema.documents)
    )
    numbers = {row["scope_id"] for row in (*records, *turns, *archives, *documents)}
    scopes = scopes_by_id(connection, numbers)
    owners: dict[str, Owner] = {}
    owners |= {row["id"]: record_from(row, scopes[row["scope_id"]]) for row in records}
    owners |= {row["id"]: turn_from(row, scopes[row["scope_id"]]) for row in turns}
    owners |= {row["id"]: archive_from(row, scopes[row["scope_id"]]) for row in archives}
    owners |= {row["id"]: document_from(row, scopes[row["scope_id"]]) for row in documents}
    return owners
