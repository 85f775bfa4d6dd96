"""Making the units of whole scopes anew, beside those that answer until one small step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Select,
    String,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)

from recollect.backends.sql import schema, statements
from recollect.backends.sql.archives import archive_from
from recollect.backends.sql.commit import COUNTER, OpenScope, unit_rows
from recollect.backends.sql.database import OnDatabase, reading, writing
from recollect.backends.sql.document_rows import document_from
from recollect.backends.sql.forgotten import NAMELESS_SCOPES
from recollect.backends.sql.full_text import UNIT_BITS
from recollect.backends.sql.index_generations import (
    Generation,
    begin_generation,
    copy_vectors,
    find_generation,
    made_by_another_analyzer,
    remove_generation_units,
    write_generation,
)
from recollect.backends.sql.portable import listed, listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import record_from, rows_of, scope_key, to_json, turn_from
from recollect.backends.sql.scopes import (
    ScopeRow,
    lock_scope,
    read_scope,
    read_scopes,
    scopes_by_id,
)
from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits
from recollect.ports.units import Left

# --- The owners of units, whatever their kind -----------------------------------------------------

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


# --- Making the units of whole scopes anew, beside those that answer until one small step ---------

_UNITS: Final = schema.units.c
_EDITIONS: Final = schema.editions.c
_SCOPES: Final = schema.scopes.c

# The scope of a unit beside those that answer, and of one that answers and is to be renewed.
_BESIDE: Final = PreparedStatement(
    select(_EDITIONS.scope_id).where(_EDITIONS.scope_id.not_in(NAMELESS_SCOPES)).limit(1)
)
_STALE: Final = PreparedStatement(
    select(_UNITS.scope_id)
    .where(made_by_another_analyzer(bindparam("analyzer", type_=String())))
    .limit(1)
)
# Owners that are in a scope, with their versions; those that never change have the first.
_OWNERS: Final = tuple(
    PreparedStatement(
        select(table.c.id, version).where(
            table.c.scope_id == bindparam("scope"), table.c.id.in_(listed("ids"))
        )
    )
    for table, version in (
        (schema.records, schema.records.c.version),
        (schema.turns, literal(1)),
        (schema.archives, literal(1)),
        (schema.documents, schema.documents.c.version),
    )
)


class SqlIndexGenerations(OnDatabase):
    """Keeps track of which units are in use in each scope, and which are being built."""

    @reading
    def is_current(self, connection: Connection, analyzer: str) -> bool:
        """Return whether only units of this analyzer exist."""
        given = {"analyzer": analyzer}
        return not (_BESIDE.rows(connection, {}) or _STALE.rows(connection, given))

    @reading
    def stale(self, connection: Connection, analyzer: str) -> Scope | None:
        """Return a scope that uses units of another analyzer, preferring one that is begun."""
        given = {"analyzer": analyzer}
        begun = select(_EDITIONS.scope_id).where(
            _EDITIONS.analyzer == analyzer, _EDITIONS.scope_id.not_in(NAMELESS_SCOPES)
        )
        found = connection.scalar(begun.limit(1))
        if found is None:
            found = next((row[0] for row in _STALE.rows(connection, given)), None)
        return None if found is None else scopes_by_id(connection, [found])[found]

    async def count_stale(self, analyzer: str) -> int:
        """Return the number of units of other analyzers that are in use."""
        counted = (
            select(func.count()).select_from(schema.units).where(made_by_another_analyzer(analyzer))
        )
        return await self.database.read(lambda connection: connection.scalar(counted)) or 0

    @reading
    def left(
        self, connection: Connection, scope: Scope, analyzer: str, *, limit: int
    ) -> Left | None:
        """Return the next owners without new units, including those written meanwhile.

        Return None also if this analyzer has nothing to do there.
        """
        for row in read_scopes(connection, [scope]):
            edition = find_generation(connection, row.id)
            if not _is_behind(connection, row, edition, analyzer):
                return None
            after = _done(row, edition)
            units = connection.execute(_first_units(row, after).limit(limit)).all()
            if units:
                found = owners_of(connection, [unit.owner_id for unit in units])
                here = [owner for owner in found.values() if owner.scope == scope]
                return Left(owners=here, after=after, up_to=units[-1].id)
        return None

    @writing
    def add(
        self,
        connection: Connection,
        scope: Scope,
        analyzer: str,
        left: Left,
        units: Sequence[OwnerUnits],
    ) -> None:
        """Add new units of these owners, with the vectors of the old ones.

        An owner without new units keeps its old ones. An owner that was changed or removed
        meanwhile is skipped, and so is everything if another worker was faster.
        """
        row = _locked(connection, scope)
        if row is None:
            return
        edition = find_generation(connection, row.id) or begin_generation(connection, row, analyzer)
        if edition.analyzer != analyzer or _done(row, edition) != left.after:
            return
        opened = _opened(row, edition)
        rows = list(_renewed(connection, opened, units))
        rows += _kept(connection, opened, row, analyzer, _without(left, units))
        if rows:
            statements.INSERT_UNITS.run(connection, rows)
            copy_vectors(connection, rows[0]["id"], rows[-1]["id"])
            opened.bring_full_text_up(connection)
        grown = replace(
            edition,
            next_unit=opened.next_unit,
            unit_count=edition.unit_count + opened.added_units,
            unit_length=edition.unit_length + opened.added_length,
            full_text_to=opened.full_text_to,
            done_to=left.up_to & COUNTER,
        )
        write_generation(connection, grown)

    @writing
    def switch(self, connection: Connection, scope: Scope, analyzer: str) -> bool:
        """Use this analyzer's units from now on, in one step that all readers see.

        If any owner is left, nothing changes.
        """
        row = _locked(connection, scope)
        if row is None:
            return True
        edition = find_generation(connection, row.id)
        if not _is_behind(connection, row, edition, analyzer):
            return True
        if connection.execute(_first_units(row, _done(row, edition)).limit(1)).first():
            return False
        if edition is not None:
            _swap(connection, row, edition)
        return True

    @writing
    def discard(self, connection: Connection, analyzer: str, *, limit: int) -> int:
        """Remove some units that were replaced or left by another analyzer; return how many."""
        others = select(schema.editions).where(_EDITIONS.analyzer != analyzer).limit(1)
        for row in rows_of(connection, others):
            edition = Generation(**row)
            numbers = _UNITS.id.between(edition.first, edition.last)
            units = rows_of(connection, select(_UNITS.id, _UNITS.terms).where(numbers).limit(limit))
            remove_generation_units(connection, edition, units)
            gone = _UNITS.id.in_(listed_numbers("units"))
            ids = {"units": to_json([unit["id"] for unit in units])}
            connection.execute(delete(schema.units).where(gone), ids)
            if len(units) < limit:
                its = _EDITIONS.scope_id == edition.scope_id
                connection.execute(delete(schema.editions).where(its))
            # One that was empty is gone too, and there may be more.
            return max(len(units), 1)
        return 0


def _locked(connection: Connection, scope: Scope) -> ScopeRow | None:
    """Return the scope's row, locked until the transaction ends; None when it was forgotten."""
    row = lock_scope(connection, scope_key(scope))
    return None if row is None else read_scope(connection, row["id"])


def _is_behind(
    connection: Connection, row: ScopeRow, edition: Generation | None, analyzer: str
) -> bool:
    """Return whether this analyzer has to make units here; not if another one is at work."""
    if edition is not None:
        return edition.analyzer == analyzer
    stale = select(_UNITS.id).where(made_by_another_analyzer(analyzer), _UNITS.scope_id == row.id)
    return connection.scalar(stale.limit(1)) is not None


def _done(row: ScopeRow, edition: Generation | None) -> int:
    """Return the last answering unit whose owner is in the new generation already."""
    return row.id << UNIT_BITS | (0 if edition is None else edition.done_to)


def _first_units(row: ScopeRow, after: int) -> Select[int, str]:
    """Return the first unit of each owner that answers here and comes after this one."""
    numbers = row.numbers(after)
    return (
        select(_UNITS.id, _UNITS.owner_id)
        .where(_UNITS.id.between(numbers["first"], numbers["last"]), _UNITS.ordinal == 0)
        .order_by(_UNITS.id)
    )


def _opened(row: ScopeRow, edition: Generation) -> OpenScope:
    """Return the edition as something that units are added to."""
    return OpenScope(
        id=row.id,
        version=row.version,
        next_unit=edition.next_unit,
        length=edition.unit_length,
        model=row.model,
        full_text_to=edition.full_text_to,
        first_unit=edition.first_unit,
    )


def _renewed(
    connection: Connection, opened: OpenScope, units: Sequence[OwnerUnits]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of those owners that are still as they were read."""
    given = {"scope": opened.id, "ids": to_json([owner.owner_id for owner in units])}
    current = {tuple(row) for found in _OWNERS for row in found.rows(connection, given)}
    for owner in units:
        if (owner.owner_id, owner.version) in current:
            yield from unit_rows(opened, owner, None)


def _without(left: Left, units: Sequence[OwnerUnits]) -> set[str]:
    return {owner.id for owner in left.owners} - {owner.owner_id for owner in units}


def _kept(
    connection: Connection, opened: OpenScope, row: ScopeRow, analyzer: str, owners: set[str]
) -> Iterator[dict[str, Any]]:
    """Yield the units that answer now, of owners whose content cannot be read any more."""
    numbers = row.numbers()
    theirs = _UNITS.owner_id.in_(sorted(owners))
    answering = _UNITS.id.between(numbers["first"], numbers["last"])
    for unit in rows_of(connection, select(schema.units).where(theirs, answering)):
        yield {**unit, "id": opened.id << UNIT_BITS | opened.next_unit, "analyzer": analyzer}
        opened.next_unit += 1
        opened.added_units += 1
        opened.added_length += len(unit["terms"]) // 8


def _swap(connection: Connection, row: ScopeRow, edition: Generation) -> None:
    """Log the swap as a change, so that packed indexes and cached answers follow it."""
    counters = ("first_unit", "next_unit", "unit_count", "unit_length", "full_text_to")
    connection.execute(
        update(schema.scopes)
        .where(_SCOPES.id == row.id)
        .values({name: getattr(edition, name) for name in counters} | {"version": row.version + 1})
    )
    replaced = Generation(
        scope_id=row.id,
        analyzer="",
        first_unit=row.first_unit,
        next_unit=row.next_unit,
        unit_count=row.units,
        unit_length=row.length,
        full_text_to=row.full_text_to,
        done_to=0,
    )
    write_generation(connection, replaced)
    connection.execute(
        insert(schema.changes),
        {
            "scope_id": row.id,
            "version": row.version + 1,
            "seq": 0,
            "entity": "edition",
            "id": str(edition.first_unit),
            "op": "put",
        },
    )
