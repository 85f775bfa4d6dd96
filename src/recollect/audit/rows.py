"""The audit in a SQL database: reading entries, and sealing them into the chain of a workspace."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, insert, or_, select, update

from recollect.audit.comparison import compare
from recollect.backends.sql import schema
from recollect.backends.sql.audit_entries import sealable_from
from recollect.backends.sql.chain_head import chain_head
from recollect.backends.sql.database import OnDatabase, reading, writing
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.dialects.server import SEAL, lock_counter
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import Row, RowForm, rows_of
from recollect.backends.sql.scopes import find_scopes
from recollect.domain.audit import (
    APPROVE,
    ERASE,
    AuditEntry,
    ChainHead,
    ChainLink,
    ComparedContents,
    SealableEntry,
    link_after,
)
from recollect.domain.scope import Scope
from recollect.domain.sharing import Party
from recollect.domain.times import from_micros
from recollect.errors import StorageError
from recollect.ports.audit import Erasures, Sealed, SealedBatch

_AUDIT: Final = schema.audit.c
_CHAIN: Final = schema.audit_chain.c
_SCOPES: Final = schema.scopes.c
_WORKSPACE: Final = (_SCOPES.org, _SCOPES.workspace)
_INSERT_LINKS: Final = PreparedStatement(insert(schema.audit_chain))
_PLACE: Final = PreparedStatement(
    update(schema.audit).where(_AUDIT.id == bindparam("entry")).values(seq=bindparam("place"))
)


class SqlAudit(OnDatabase):
    """Entries and links as rows; see `schema_keeping`."""

    @reading
    def entries(
        self,
        connection: Connection,
        scopes: Sequence[Scope],
        *,
        action: str | None = None,
        target: str | None = None,
        naming: str | None = None,
        before: int | None = None,
        proposals_of: Party | None = None,
        limit: int,
    ) -> list[AuditEntry]:
        """Return the entries of these scopes, latest first; with `naming`, those with this id.

        With `proposals_of`, leave out entries about proposals unless this party made them or they
        were approved.
        """
        where: list[ColumnElement[bool]] = []
        if action is not None:
            where.append(_AUDIT.action == action)
        if target is not None:
            where.append(_AUDIT.target == target)
        if naming is not None:
            where.append(_names(naming))
        if before is not None:
            where.append(_AUDIT.id < before)
        if proposals_of is not None:
            where.append(~_is_about_proposals_but_of(proposals_of))
        found = find_scopes(connection, scopes)
        statement = (
            select(schema.audit)
            .where(_AUDIT.scope_id.in_(found), *where)
            .order_by(_AUDIT.id.desc())
            .limit(limit)
        )
        return [_entry_from(row, found[row["scope_id"]]) for row in rows_of(connection, statement)]

    @writing
    def seal(self, connection: Connection, limit: int) -> SealedBatch:
        """Append the oldest unsealed entries to their chains."""
        return _seal(connection, limit)

    @reading
    def unsealed(self, connection: Connection, org: str, workspace: str) -> int:
        """Return the number of entries of a workspace that are not in its chain yet."""
        count = (
            select(func.count())
            .select_from(schema.audit.join(schema.scopes))
            .where(_AUDIT.seq.is_(None), *_of(org, workspace))
        )
        return connection.scalar(count) or 0

    @reading
    def is_sealed(self, connection: Connection) -> bool:
        """Return whether every entry is in a chain."""
        one = select(_AUDIT.id).where(_AUDIT.seq.is_(None)).limit(1)
        return connection.scalar(one) is None

    @reading
    def chain(
        self, connection: Connection, org: str, workspace: str, *, after: int, limit: int
    ) -> list[Sealed]:
        """Return the links of a workspace after a position, in order."""
        links = (
            select(schema.audit_chain)
            .where(_CHAIN.org == org, _CHAIN.workspace == workspace, _CHAIN.seq > after)
            .order_by(_CHAIN.seq)
            .limit(limit)
        )
        found = [_link_from(row) for row in rows_of(connection, links)]
        entries = _AUDIT.id.in_([link.entry for link in found])
        stored = {
            row["id"]: sealable_from(row)
            for row in rows_of(connection, select(schema.audit).where(entries))
        }
        return [Sealed(link=link, entry=stored.get(link.entry)) for link in found]

    @reading
    def unchained(
        self, connection: Connection, org: str, workspace: str, *, limit: int
    ) -> list[SealableEntry]:
        """Return entries whose position in the chain has no link."""
        here = and_(_CHAIN.org == org, _CHAIN.workspace == workspace, _CHAIN.seq == _AUDIT.seq)
        statement = (
            select(schema.audit)
            .select_from(schema.audit.join(schema.scopes))
            .where(_AUDIT.seq.is_not(None), *_of(org, workspace))
            .where(~select(_CHAIN.seq).where(here).exists())
            .order_by(_AUDIT.seq)
            .limit(limit)
        )
        return [sealable_from(row) for row in rows_of(connection, statement)]

    @reading
    def compare(self, connection: Connection, org: str, workspace: str) -> ComparedContents:
        """Compare the content of a workspace with the digests taken when it was stored."""
        return compare(connection, org, workspace)

    async def workspaces(self) -> list[tuple[str, str]]:
        """Return every organisation and workspace."""
        every = select(*_WORKSPACE).distinct().order_by(*_WORKSPACE)
        found = await self.database.read(lambda connection: connection.execute(every).all())
        return [(row.org, row.workspace) for row in found]

    @reading
    def erasures(self, connection: Connection, org: str, workspace: str) -> Erasures:
        """Return what forgetting did to the entries of a workspace."""
        statement = (
            select(_AUDIT.payload)
            .select_from(schema.audit.join(schema.scopes))
            .where(_AUDIT.action == ERASE, *_of(org, workspace))
            .order_by(_AUDIT.id)
        )
        marks = [_payload(it) for it in connection.scalars(statement)]
        return Erasures(
            blanked=tuple(
                sorted((first, last) for it in marks for first, last in it.get("entries", ()))
            ),
            # An entry may name several people who are forgotten one after the other.
            renamed={
                int(entry): (actor, mac)
                for it in marks
                for entry, (actor, mac) in it.get("renamed", {}).items()
            },
        )


def _seal(connection: Connection, limit: int) -> SealedBatch:
    """Seal in one transaction; concurrent sealers wait, or find the places taken."""
    if dialect_of(connection).is_server:
        lock_counter(connection, SEAL)
    statement = (
        select(schema.audit, *_WORKSPACE)
        .select_from(schema.audit.join(schema.scopes))
        .where(_AUDIT.seq.is_(None))
        .order_by(*_WORKSPACE, _AUDIT.id)
        .limit(limit)
    )
    rows = rows_of(connection, statement)
    heads = tuple(
        _seal_behind(connection, chain_head(connection, org, workspace), map(sealable_from, group))
        for (org, workspace), group in groupby(rows, key=itemgetter("org", "workspace"))
    )
    return SealedBatch(count=len(rows), heads=heads)


def _seal_behind(
    connection: Connection, head: ChainHead, entries: Iterable[SealableEntry]
) -> ChainHead:
    links: list[ChainLink] = []
    for entry in entries:
        link = link_after(head, entry)
        links.append(link)
        head = ChainHead(org=head.org, workspace=head.workspace, seq=link.seq, hash=link.hash)
    place = {"org": head.org, "workspace": head.workspace}
    _INSERT_LINKS.run(connection, [{**place, **_LINK.row(link)} for link in links])
    _PLACE.run(connection, [{"entry": link.entry, "place": link.seq} for link in links])
    return head


def _of(org: str, workspace: str) -> tuple[ColumnElement[bool], ...]:
    return (_SCOPES.org == org, _SCOPES.workspace == workspace)


def _names(ident: str) -> ColumnElement[bool]:
    """Return the condition that an entry is about this id, or names it in its payload."""
    quoted = json.dumps(ident, ensure_ascii=False)
    return or_(_AUDIT.target == ident, _AUDIT.payload.contains(quoted, autoescape=True))


def _is_about_proposals_but_of(party: Party) -> ColumnElement[bool]:
    """Return the condition that an entry is about another party's proposal, not its approval."""
    names_some = or_(
        _AUDIT.target.startswith("prop_", autoescape=True),
        _AUDIT.payload.contains('"proposals":', autoescape=True),
    )
    # Imported here: a command that only writes needs nothing of sharing.
    from recollect.sharing.rows import is_by

    own = select(schema.proposals.c.id).where(is_by(party))
    return and_(names_some, _AUDIT.action != APPROVE, _AUDIT.target.not_in(own))


def _payload(text: str) -> dict[str, Any]:
    try:
        return json.loads(text)
    except ValueError:
        # Nobody here writes such a thing; `verify` tells that it was changed.
        return {"unreadable": text}


def _entry_from(row: Row, scope: Scope) -> AuditEntry:
    is_erased = not row["salt"]
    return AuditEntry(
        id=row["id"],
        scope=scope,
        at=from_micros(row["at"]),
        actor=row["actor"],
        action=row["action"],
        target=row["target"],
        payload={} if is_erased else _payload(row["payload"]),
        seq=row["seq"],
        is_erased=is_erased,
    )


_LINK: Final = RowForm(ChainLink)


def _link_from(row: Row) -> ChainLink:
    if not isinstance(row["seq"], int):
        raise StorageError(
            f"The chain of the audit has a link at {row['seq']!r}, which is no place in it",
            code="audit_unreadable",
            hint="Somebody changed it; a backup has the chain as it was.",
        )
    return _LINK.value(row)
