"""Writes units as the store does: rows, tokens, the list of changes and the scope's counters."""

import itertools
from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, delete, insert, select, update

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.full_text import catch_up, take_out
from recollect.backends.sql.rows import scope_key
from recollect.domain.scope import Scope

_numbers = itertools.count()


def fresh_scope() -> Scope:
    """A scope that no test has used before."""
    return Scope(user=f"user-{next(_numbers)}")


class UnitWriter:
    """One commit a call; every unit belongs to a turn of its own.

    The full text is brought up whenever more than `behind` units are not in it.
    """

    def __init__(self, database: Database, *, behind: int = 0) -> None:
        self._database = database
        self._behind = behind

    def add(self, scope: Scope, *texts: Sequence[int], session: str = "s") -> list[int]:
        return self.write(scope, add=texts, session=session)

    def remove(self, scope: Scope, *units: int) -> None:
        self.write(scope, remove=units)

    def write(
        self,
        scope: Scope,
        *,
        add: Sequence[Sequence[int]] = (),
        remove: Sequence[int] = (),
        session: str = "s",
        lists_changes: bool = True,
    ) -> list[int]:
        """Remove and add units in one transaction; gives the new units' numbers."""

        def work(connection: Connection) -> list[int]:
            row = _scope_row(connection, scope)
            removed = _remove(connection, row["id"], remove)
            units = [row["id"] << 32 | row["next_unit"] + place for place in range(len(add))]
            keys = [np.array(text, np.uint64) for text in add]
            _add(connection, row["id"], units, keys, session)
            version = row["version"] + 1
            full_text_to, last = row["full_text_to"], row["next_unit"] + len(units) - 1
            if last - full_text_to > self._behind:
                catch_up(
                    connection,
                    row["id"],
                    row["id"] << 32 | full_text_to + 1,
                    row["id"] << 32 | last,
                )
                full_text_to = last
            if lists_changes:
                _list_changes(connection, row["id"], version, remove, units)
            connection.execute(
                update(schema.scopes)
                .where(schema.scopes.c.id == row["id"])
                .values(
                    version=version,
                    next_unit=row["next_unit"] + len(units),
                    unit_count=row["unit_count"] + len(units) - len(remove),
                    unit_length=row["unit_length"] + sum(map(len, add)) - removed,
                    full_text_to=full_text_to,
                )
            )
            return units

        return self._database.write_here(work)


def _scope_row(connection: Connection, scope: Scope) -> dict[str, int]:
    found = select(schema.scopes).filter_by(**scope_key(scope))
    if connection.execute(found).one_or_none() is None:
        empty = {"version": 0, "next_unit": 1, "unit_count": 0, "unit_length": 0}
        connection.execute(insert(schema.scopes), {**scope_key(scope), **empty})
    return dict(connection.execute(found).mappings().one())


def _remove(connection: Connection, scope_id: int, units: Sequence[int]) -> int:
    """Remove units; gives how many terms they had together."""
    table = schema.units
    rows = connection.execute(select(table.c.id, table.c.terms).where(table.c.id.in_(units))).all()
    assert len(rows) == len(units)
    take_out(connection, scope_id, [(unit, terms) for unit, terms in rows])
    connection.execute(delete(table).where(table.c.id.in_(units)))
    return sum(len(terms) // 8 for _, terms in rows)


def _add(
    connection: Connection,
    scope_id: int,
    units: Sequence[int],
    keys: Sequence[np.ndarray],
    session: str,
) -> None:
    if not units:
        return
    turns = [
        {
            "id": f"turn_{unit}",
            "scope_id": scope_id,
            "session": session,
            "ordinal": unit & 0xFFFFFFFF,
            "role": "user",
            "speaker": "",
            "content": "",
            "at": 0,
            "payload": "{}",
            "recorded_at": 0,
        }
        for unit in units
    ]
    rows = [
        {
            "id": unit,
            "scope_id": scope_id,
            "owner_kind": "turn",
            "owner_id": f"turn_{unit}",
            "ordinal": 0,
            "start": 0,
            "end": len(terms),
            "terms": terms.tobytes(),
            "analyzer": "test",
            "observed_at": 0,
        }
        for unit, terms in zip(units, keys, strict=True)
    ]
    connection.execute(insert(schema.turns), turns)
    connection.execute(insert(schema.units), rows)


def _list_changes(
    connection: Connection,
    scope_id: int,
    version: int,
    removed: Sequence[int],
    added: Sequence[int],
) -> None:
    changes = [
        *(("unit", str(unit), "remove") for unit in removed),
        *(("unit", str(unit), "add") for unit in added),
        # Not ours: an index must not trip over what happened to other things.
        ("record", "mem_1", "put"),
    ]
    connection.execute(
        insert(schema.changes),
        [
            {
                "scope_id": scope_id,
                "version": version,
                "seq": seq,
                "entity": entity,
                "id": ident,
                "op": op,
            }
            for seq, (entity, ident, op) in enumerate(changes)
        ],
    )
