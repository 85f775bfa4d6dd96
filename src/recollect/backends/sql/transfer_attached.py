"""Conflicts, links, watermarks, proposals and items out of a SQL database and into it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Table, and_, func, insert, select, union_all

from recollect.backends.sql import schema
from recollect.backends.sql.attached_rows import conflict_from, link_from, proposal_from
from recollect.backends.sql.commit import Commit
from recollect.backends.sql.items import item_from, item_row
from recollect.backends.sql.rows import Row, rows_of, scope_key
from recollect.backends.sql.scope_locks import locked_or_made
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.domain.change import ChangeSet
from recollect.domain.item import StoredItem, encoded
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal
from recollect.domain.transfer import Attached, ReadMark
from recollect.domain.write import Watermark
from recollect.ports.transfer import Outcome

IMPORT: Final = "import"

_TURNS: Final = schema.turns.c
_MARKS: Final = schema.watermarks.c
_LAST_READ: Final = (
    select(_TURNS.id)
    .where(
        _TURNS.scope_id == _MARKS.scope_id,
        _TURNS.session == _MARKS.session,
        _TURNS.ordinal <= _MARKS.ordinal,
    )
    .order_by(_TURNS.ordinal.desc())
    .limit(1)
    .scalar_subquery()
)
# A watermark of which no turn is left keeps nothing from being read again.
READ_MARKS: Final = select(schema.watermarks, _LAST_READ.label("turn")).where(
    _LAST_READ.is_not(None)
)


def read_mark_from(row: Row, scope: Scope) -> ReadMark:
    return ReadMark(scope=scope, session=row["session"], ordinal=row["ordinal"], turn=row["turn"])


def add_attached(connection: Connection, item: Attached, now: datetime) -> Outcome:
    """Write one of them if it is new and what it is about is here."""
    if _is_forgotten(connection, item):
        return Outcome.FORGOTTEN
    match item:
        case StoredItem():
            return _add_item(connection, item)
        case Conflict():
            outcome = _meet_conflict(connection, item)
            changes = _changes(item, conflicts=(item,))
        case Link():
            outcome = _meet_link(connection, item)
            changes = _changes(item, links=(item,))
        case Proposal():
            outcome = _meet_proposal(connection, item)
            changes = _changes(item, proposals=(item,))
        case ReadMark():
            before = _mark_here(connection, item)
            outcome = _meet_mark(connection, item, before)
            mark = Watermark(
                scope=item.scope, session=item.session, ordinal=item.ordinal, before=before
            )
            changes = _changes(item, watermarks=(mark,))
    if outcome is Outcome.ADDED:
        commit = Commit(connection, changes, now)
        commit.write_keeping()
        commit.write_audit(IMPORT)
        commit.close()
    return outcome


def _changes(item: Attached, **written: Any) -> ChangeSet:
    return ChangeSet(principal=IMPORT, scope=item.scope, **written)


def _is_forgotten(connection: Connection, item: Attached) -> bool:
    """Whether it, or anything that it is about, was forgotten here."""
    match item:
        case Conflict():
            named = [item.id, item.first, item.second]
        case Link():
            named = [*item.ends]
        case Proposal():
            named = [item.id, item.target, item.record]
        case ReadMark():
            named = [item.turn]
        case StoredItem():
            named = [item.id]
    stones = schema.tombstones.c.id
    return connection.scalar(select(stones).where(stones.in_(named)).limit(1)) is not None


def _meet_conflict(connection: Connection, item: Conflict) -> Outcome:
    stored = _stored(connection, schema.conflicts, item.id)
    if stored is not None:
        known = conflict_from(*stored)
        undecided = replace(known, resolved_at=None, resolved_by=None, resolution=None)
        return Outcome.UNCHANGED if item in (known, undecided) else Outcome.ID_TAKEN
    table = schema.conflicts.c
    pair = and_(table.first_id == item.first, table.second_id == item.second)
    if connection.scalar(select(table.id).where(pair)) is not None:
        return Outcome.PLACE_TAKEN
    records = schema.records.c
    scope_ids = connection.scalars(
        select(records.scope_id).where(records.id.in_([item.first, item.second]))
    ).all()
    scopes = scopes_by_id(connection, scope_ids)
    # It may be between records of two agents, but only of those who work for the same user.
    are_theirs = all(it.of_user == item.scope.of_user for it in scopes.values())
    return Outcome.ADDED if len(scope_ids) == 2 and are_theirs else Outcome.RECORD_MISSING


def _meet_link(connection: Connection, item: Link) -> Outcome:
    table = schema.links
    pair = select(table).where(table.c.newer == item.newer, table.c.older == item.older)
    for row in rows_of(connection, pair):
        scope = scopes_by_id(connection, [row["scope_id"]])[row["scope_id"]]
        return Outcome.UNCHANGED if link_from(row, scope) == item else Outcome.PLACE_TAKEN
    owners = (schema.records, schema.turns)
    both = union_all(*(select(it.c.scope_id).where(it.c.id.in_(item.ends)) for it in owners))
    scope_ids = connection.scalars(both).all()
    scopes = scopes_by_id(connection, scope_ids)
    are_theirs = all(it.of_user == item.scope.of_user for it in scopes.values())
    return Outcome.ADDED if len(scope_ids) == 2 and are_theirs else Outcome.RECORD_MISSING


def _meet_proposal(connection: Connection, item: Proposal) -> Outcome:
    stored = _stored(connection, schema.proposals, item.id)
    if stored is None:
        return Outcome.ADDED
    known = proposal_from(*stored)
    # What was decided since stays decided; with it the coordinator may have edited it.
    is_decided_since = item.status == "pending" != known.status
    is_same = item.scope == known.scope and item.created_at == known.created_at
    return (
        Outcome.UNCHANGED if item == known or (is_decided_since and is_same) else Outcome.ID_TAKEN
    )


def _add_item(connection: Connection, item: StoredItem) -> Outcome:
    """Add an item where nothing is in its place; what is there stays."""
    scope_id: int = locked_or_made(connection, scope_key(item.scope))["id"]
    table = schema.items.c
    there = and_(
        table.scope_id == scope_id,
        table.namespace == encoded(item.namespace),
        table.key == item.key,
    )
    for row in rows_of(connection, select(schema.items).where(there)):
        known = item_from(row, item.scope)
        is_same = (known.id, known.value) == (item.id, item.value)
        return Outcome.UNCHANGED if is_same else Outcome.PLACE_TAKEN
    if _stored(connection, schema.items, item.id) is not None:
        return Outcome.ID_TAKEN
    last = connection.scalar(select(func.max(table.position)).where(table.scope_id == scope_id))
    row = item_row(replace(item, position=(last or 0) + 1), scope_id)
    connection.execute(insert(schema.items), row)
    return Outcome.ADDED


def _meet_mark(connection: Connection, item: ReadMark, before: int) -> Outcome:
    if before >= item.ordinal:
        return Outcome.UNCHANGED
    last_read = connection.scalar(
        select(_TURNS.id)
        .where(
            _TURNS.scope_id.in_(find_scopes(connection, [item.scope])),
            _TURNS.session == item.session,
            _TURNS.ordinal <= item.ordinal,
        )
        .order_by(_TURNS.ordinal.desc())
        .limit(1)
    )
    # Other turns that are there may not have been read.
    return Outcome.ADDED if last_read == item.turn else Outcome.PLACE_TAKEN


def _mark_here(connection: Connection, item: ReadMark) -> int:
    here = _MARKS.scope_id.in_(find_scopes(connection, [item.scope]))
    mark = select(_MARKS.ordinal).where(here, _MARKS.session == item.session)
    return connection.scalar(mark) or 0


def _stored(connection: Connection, table: Table, ident: str) -> tuple[Row, Scope] | None:
    for row in rows_of(connection, select(table).where(table.c.id == ident)):
        return row, scopes_by_id(connection, [row["scope_id"]])[row["scope_id"]]
    return None
