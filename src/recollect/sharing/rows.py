"""Proposals as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import OnDatabase, reading
from recollect.backends.sql.rows import Row, proposal_from, rows_of
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.domain.page import Cursor
from recollect.domain.scope import Scope
from recollect.domain.sharing import PERSON, Party, Proposal, ProposalStatus
from recollect.domain.times import to_micros

_TABLE: Final = schema.proposals.c


class SqlProposals(OnDatabase):
    """Proposals. One that was not decided in time reads as expired.

    Reads only see the given scopes; `stale` is for the sweep.
    """

    @reading
    def find(
        self,
        connection: Connection,
        scopes: Sequence[Scope],
        *,
        now: datetime,
        ids: Sequence[str] | None = None,
        status: ProposalStatus | None = None,
        type: str | None = None,
        by: Party | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Proposal]:
        """Return the proposals that match all conditions, newest first."""
        conditions: list[ColumnElement[bool]] = []
        if ids is not None:
            conditions.append(_TABLE.id.in_(ids))
        if status is not None:
            conditions.append(_has_status(status, now))
        if type is not None:
            conditions.append(_TABLE.type == type)
        if by is not None:
            conditions.append(is_by(by))
        if after is not None:
            same_time = and_(_TABLE.created_at == after.at, _TABLE.id < after.id)
            conditions.append(or_(_TABLE.created_at < after.at, same_time))
        found = find_scopes(connection, scopes)
        chosen = select(schema.proposals).where(_TABLE.scope_id.in_(found), *conditions)
        ordered = chosen.order_by(_TABLE.created_at.desc(), _TABLE.id.desc()).limit(limit)
        return _proposals(rows_of(connection, ordered), found, now)

    @reading
    def stale(self, connection: Connection, now: datetime, *, limit: int) -> list[Proposal]:
        """Return the proposals of all scopes that are pending but expired."""
        chosen = select(schema.proposals).where(
            _TABLE.status == "pending", _TABLE.expires_at <= to_micros(now)
        )
        rows = rows_of(connection, chosen.order_by(_TABLE.expires_at).limit(limit))
        found = scopes_by_id(connection, {row["scope_id"] for row in rows})
        return _proposals(rows, found, now)


def _has_status(status: ProposalStatus, now: datetime) -> ColumnElement[bool]:
    is_over = _TABLE.expires_at <= to_micros(now)
    waits = _TABLE.status == "pending"
    if status == "pending":
        return and_(waits, or_(_TABLE.expires_at.is_(None), ~is_over))
    if status == "expired":
        return or_(_TABLE.status == status, and_(waits, is_over))
    return _TABLE.status == status


def is_by(party: Party) -> ColumnElement[bool]:
    """Return the condition that a proposal was made by this party, working for the same user."""
    is_person = _TABLE.role == PERSON
    return and_(
        _TABLE.proposer == party.name,
        is_person if party.is_person else ~is_person,
        _TABLE.user.is_(None) if party.user is None else _TABLE.user == party.user,
    )


def _proposals(rows: Sequence[Row], scopes: Mapping[int, Scope], now: datetime) -> list[Proposal]:
    return [_as_of(proposal_from(row, scopes[row["scope_id"]]), now) for row in rows]


def _as_of(proposal: Proposal, now: datetime) -> Proposal:
    """Return the proposal, as expired if its time has passed and no sweep has marked it yet."""
    is_over = proposal.expires_at is not None and proposal.expires_at <= now
    is_stale = proposal.status == "pending" and is_over
    return replace(proposal, status="expired") if is_stale else proposal
