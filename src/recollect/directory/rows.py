"""The directory, read from a SQL database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    false,
    func,
    literal_column,
    or_,
    select,
    tuple_,
)

from recollect.backends.sql import schema
from recollect.backends.sql.conditions import records_where
from recollect.backends.sql.database import OnDatabase, reading
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT, FORGOTTEN_USER
from recollect.backends.sql.portable import begins_with
from recollect.backends.sql.rows import record_from, rows_of
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.domain.directory import (
    NOBODY,
    Contents,
    Extent,
    Facets,
    LabelEntry,
    LabelKind,
    NameEntry,
    Part,
    RecordOrder,
    ScopeEntry,
    SessionEntry,
    Workspace,
    WorkspaceEntry,
)
from recollect.domain.filters import Filter
from recollect.domain.page import Cursor
from recollect.domain.record import Record, Status
from recollect.domain.scope import COLLECTION_MARK, SHARED_AGENT, Scope
from recollect.domain.times import from_micros, to_micros

_SCOPES: Final = schema.scopes.c
_RECORDS: Final = schema.records.c
_TURNS: Final = schema.turns.c
_ARCHIVES: Final = schema.archives.c
_TAGS: Final = schema.record_tags.c
_USUAL_TAGS: Final = 50
# The place of what is ordered by its number alone.
_BY_NUMBER: Final = "n"
# A place before every record of a list: no record has a time as late as this.
_END: Final = Cursor(at=2**62, id="")


_LATEST: Final = (_RECORDS.observed_at.desc(), _RECORDS.id.desc())
_ORDERS: Final[Mapping[RecordOrder, tuple[ColumnElement[Any], ...]]] = {
    "newest": _LATEST,
    "oldest": (_RECORDS.observed_at, _RECORDS.id),
    "surest": (_RECORDS.confidence.desc(), *_LATEST),
    "least_sure": (_RECORDS.confidence, *_LATEST),
    "most_used": (_RECORDS.access_count.desc(), *_LATEST),
}


class SqlDirectory(OnDatabase):
    """Counts by grouping; nothing is kept for it, so nothing can be out of date."""

    @reading
    def scopes(
        self, connection: Connection, within: Workspace, *, after: Cursor | None, limit: int
    ) -> Sequence[tuple[Cursor, ScopeEntry]]:
        """Return scopes, newest first, each with its position."""
        wanted = select(_SCOPES.id).where(_is_in(within)).order_by(_SCOPES.id.desc())
        if after is not None:
            wanted = wanted.where(_SCOPES.id < after.at)
        numbers = list(connection.scalars(wanted.limit(limit)))
        scopes = scopes_by_id(connection, numbers)
        contents = _contents(connection, numbers)
        return [
            (
                _place(number),
                ScopeEntry(scope=scopes[number], contents=_total([contents[number]])),
            )
            for number in numbers
        ]

    @reading
    def scopes_within(
        self, connection: Connection, within: Workspace, *, limit: int
    ) -> Sequence[Scope]:
        """Return only the scopes, oldest first."""
        wanted = select(_SCOPES.id).where(_is_told(within)).order_by(_SCOPES.id).limit(limit)
        numbers = list(connection.scalars(wanted))
        scopes = scopes_by_id(connection, numbers)
        return [scopes[number] for number in numbers]

    @reading
    def names(
        self,
        connection: Connection,
        within: Workspace,
        part: Part,
        *,
        after: Cursor | None,
        limit: int,
        among: Sequence[str] | None = None,
    ) -> Sequence[tuple[Cursor, NameEntry]]:
        """Return the agents or users of a workspace, or those `among` some, newest first."""
        name, first = _SCOPES[part], func.min(_SCOPES.id)
        wanted = (
            select(name.label("name"), first.label("first"))
            .where(_is_in(within), name != "", name != SHARED_AGENT)
            .group_by(name)
            .order_by(first.desc())
            .limit(limit)
        )
        if among is not None:
            wanted = wanted.where(name.in_(among))
        if after is not None:
            wanted = wanted.having(first < after.at)
        found = {row.name: row.first for row in connection.execute(wanted)}
        theirs = select(_SCOPES.id, name.label("name")).where(_is_in(within), name.in_(list(found)))
        numbers: dict[str, list[int]] = defaultdict(list)
        for row in connection.execute(theirs):
            numbers[row.name].append(row.id)
        contents = _contents(connection, [it for of_one in numbers.values() for it in of_one])
        return [
            (
                _place(number),
                NameEntry(
                    name=it,
                    scopes=len(numbers[it]),
                    contents=_total(contents[scope] for scope in numbers[it]),
                ),
            )
            for it, number in found.items()
        ]

    @reading
    def users(self, connection: Connection, workspaces: Sequence[str]) -> frozenset[str]:
        """Return the users of some workspaces, each `org/workspace`, or of all of them."""
        is_somebody = and_(_SCOPES.user != "", _SCOPES.agent != FORGOTTEN_AGENT)
        wanted = select(_SCOPES.user).where(is_somebody).distinct()
        if workspaces:
            places = [it.partition("/") for it in workspaces]
            wanted = wanted.where(
                or_(
                    *(
                        and_(_SCOPES.org == org, _SCOPES.workspace == workspace)
                        for org, _, workspace in places
                    )
                )
            )
        return frozenset(connection.scalars(wanted))

    @reading
    def sessions(
        self, connection: Connection, extent: Extent, *, after: Cursor | None, limit: int
    ) -> Sequence[tuple[Cursor, SessionEntry]]:
        """Return sessions, most recently active first, each with its position."""
        last, key = func.max(_TURNS.at), func.min(_TURNS.id)
        wanted = (
            select(
                _TURNS.scope_id,
                _TURNS.session,
                func.count().label("turns"),
                func.min(_TURNS.at).label("first_at"),
                last.label("last_at"),
                key.label("key"),
            )
            .where(_within(connection, extent, _TURNS.scope_id))
            .group_by(_TURNS.scope_id, _TURNS.session)
            .order_by(last.desc(), key.desc())
            .limit(limit)
        )
        if after is not None:
            wanted = wanted.having(or_(last < after.at, and_(last == after.at, key < after.id)))
        rows = rows_of(connection, wanted)
        scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
        archives = _archives_of(connection, [(it["scope_id"], it["session"]) for it in rows])
        return [
            (
                Cursor(at=row["last_at"], id=row["key"]),
                SessionEntry(
                    id=row["session"],
                    scope=scopes[row["scope_id"]],
                    turns=row["turns"],
                    archives=archives[row["scope_id"], row["session"]],
                    first_at=from_micros(row["first_at"]),
                    last_at=from_micros(row["last_at"]),
                ),
            )
            for row in rows
        ]

    @reading
    def labels(
        self,
        connection: Connection,
        extent: Extent,
        kind: LabelKind,
        *,
        offset: int,
        limit: int | None,
    ) -> Sequence[LabelEntry]:
        """Return tags or categories of active records, most frequent first."""
        name = _TAGS.tag if kind == "tag" else _RECORDS.category
        wanted = (
            select(name.label("name"), func.count().label("records"))
            .where(_within(connection, extent, _RECORDS.scope_id), name != "")
            .where(_RECORDS.status == Status.ACTIVE)
            .group_by(name)
            .order_by(func.count().desc(), name)
        )
        if limit is not None:
            wanted = wanted.offset(offset).limit(limit)
        if kind == "tag":
            wanted = wanted.where(_TAGS.record_id == _RECORDS.id)
        rows = connection.execute(wanted).all()
        return [LabelEntry(name=row.name, records=row.records) for row in rows]

    @reading
    def workspaces(self, connection: Connection) -> Sequence[WorkspaceEntry]:
        """Return the workspaces that hold something, those with the most records first."""
        names = (_SCOPES.org, _SCOPES.workspace)
        wanted = select(_SCOPES.id, *names, _SCOPES.agent, _SCOPES.user).where(
            _SCOPES.agent != FORGOTTEN_AGENT
        )
        scopes: dict[tuple[str, str], list[Any]] = defaultdict(list)
        for row in connection.execute(wanted):
            scopes[row.org, row.workspace].append(row)
        contents = _contents(connection, [row.id for of_one in scopes.values() for row in of_one])
        return [
            WorkspaceEntry(
                org=org,
                workspace=workspace,
                users=len({row.user for row in of_one} - {""}),
                agents=len({row.agent for row in of_one if not row.agent.startswith("*")} - {""}),
                contents=_total(contents[row.id] for row in of_one),
            )
            for (org, workspace), of_one in scopes.items()
        ]

    @reading
    def records_by(
        self,
        connection: Connection,
        within: Workspace,
        where: Filter,
        order: RecordOrder,
        *,
        now: datetime,
        offset: int,
        limit: int,
    ) -> Sequence[Record]:
        """Return records that match the filter, in an order of their own."""
        wanted = (
            select(schema.records)
            .where(_passes(within, where))
            .order_by(*_ORDERS[order])
            .offset(offset)
            .limit(limit)
        )
        rows = rows_of(connection, wanted, {"now": to_micros(now)})
        scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
        return [record_from(row, scopes[row["scope_id"]]) for row in rows]

    @reading
    def records(
        self,
        connection: Connection,
        within: Workspace,
        where: Filter,
        *,
        now: datetime,
        after: Cursor | None,
        limit: int,
    ) -> Sequence[Record]:
        """Return records that match the filter, latest first."""
        # Bounded on the first page too: without a bound SQLite reads and sorts the whole workspace.
        end = after or _END
        wanted = (
            select(schema.records)
            .where(_passes(within, where))
            .where(tuple_(_RECORDS.observed_at, _RECORDS.id) < (end.at, end.id))
            .order_by(_RECORDS.observed_at.desc(), _RECORDS.id.desc())
            .limit(limit)
        )
        rows = rows_of(connection, wanted, {"now": to_micros(now)})
        scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
        return [record_from(row, scopes[row["scope_id"]]) for row in rows]

    @reading
    def count(
        self, connection: Connection, within: Workspace, where: Filter, *, now: datetime
    ) -> int:
        """Return the number of records that match the filter."""
        wanted = select(func.count()).select_from(schema.records).where(_passes(within, where))
        given = {"now": to_micros(now)}
        return connection.scalar(wanted, given) or 0

    @reading
    def facets(
        self, connection: Connection, within: Workspace, where: Filter, *, now: datetime
    ) -> Facets:
        """Return counts of the records that match the filter, by property."""
        given = {"now": to_micros(now)}
        is_wanted = _passes(within, where)

        def tally(column: ColumnElement[str], *of: Any) -> dict[str, int]:
            wanted = select(column, func.count()).where(is_wanted, *of).group_by(column)
            ordered = wanted.order_by(func.count().desc(), column)
            return {row[0] or NOBODY: row[1] for row in connection.execute(ordered, given)}

        in_scope = _RECORDS.scope_id == _SCOPES.id
        # By another name than the filter's own, which asks for tags too.
        labels = schema.record_tags.alias().c
        tags = tally(labels.tag, labels.record_id == _RECORDS.id)
        return Facets(
            kinds=tally(_RECORDS.kind),
            categories=tally(_RECORDS.category),
            facets=tally(_RECORDS.facet, _RECORDS.facet != ""),
            statuses=tally(_RECORDS.status),
            tags=dict(list(tags.items())[:_USUAL_TAGS]),
            agents=tally(_SCOPES.agent, in_scope),
            users=tally(_SCOPES.user, in_scope),
        )


def _place(number: int) -> Cursor:
    return Cursor(at=number, id=_BY_NUMBER)


def _is_in(within: Workspace) -> ColumnElement[bool]:
    """Return the condition that a scope is of this workspace, agent and user."""
    parts = [_SCOPES.org == within.org, _SCOPES.workspace == within.workspace]
    # Collections of documents are no agents; `knowledge` lists them.
    parts.append(~begins_with(_SCOPES.agent, COLLECTION_MARK))
    parts.append(_SCOPES.agent != FORGOTTEN_AGENT)
    for column, name in ((_SCOPES.agent, within.agent), (_SCOPES.user, within.user)):
        if name is not None:
            parts.append(column == ("" if name == NOBODY else name))
    return and_(*parts)


def _is_told(within: Workspace) -> ColumnElement[bool]:
    """Return whether the audit tells of a scope: one of this workspace, or of a forgotten user."""
    if within.agent is not None or within.user is not None:
        return _is_in(within)
    is_forgotten = and_(
        _SCOPES.org == within.org,
        _SCOPES.workspace == within.workspace,
        _SCOPES.agent == FORGOTTEN_AGENT,
        begins_with(_SCOPES.user, FORGOTTEN_USER),
    )
    return or_(_is_in(within), is_forgotten)


def _passes(within: Workspace, where: Filter) -> ColumnElement[bool]:
    return and_(_RECORDS.scope_id.in_(_numbers_in(within)), records_where(where))


def _numbers_in(within: Workspace) -> Select[tuple[int]]:
    # By a name of its own, because some ask for the scope of each record too.
    inner = schema.scopes.alias()
    return select(inner.c.id).where(
        inner.c.agent != FORGOTTEN_AGENT,
        *(
            inner.c[name] == ("" if value == NOBODY else value)
            for name, value in (
                ("org", within.org),
                ("workspace", within.workspace),
                ("agent", within.agent),
                ("user", within.user),
            )
            if value is not None
        ),
    )


def _within(
    connection: Connection, extent: Extent, column: ColumnElement[int]
) -> ColumnElement[bool]:
    if isinstance(extent, Workspace):
        return column.in_(_numbers_in(extent))
    found = find_scopes(connection, extent)
    return column.in_(list(found)) if found else false()


def _contents(connection: Connection, scopes: Sequence[int]) -> Mapping[int, Contents]:
    """Return how much each of these scopes holds."""
    found: dict[int, dict[str, Any]] = {scope: {} for scope in scopes}
    figures = (
        (
            select(_RECORDS.scope_id, func.count().label("records"), _last(_RECORDS.updated_at))
            .where(_RECORDS.status == Status.ACTIVE)
            .group_by(_RECORDS.scope_id),
            _RECORDS.scope_id,
        ),
        (
            select(
                _TURNS.scope_id,
                func.count().label("turns"),
                func.count(_TURNS.session.distinct()).label("sessions"),
                _last(_TURNS.recorded_at),
            ).group_by(_TURNS.scope_id),
            _TURNS.scope_id,
        ),
        (
            select(
                _ARCHIVES.scope_id, func.count().label("archives"), _last(_ARCHIVES.created_at)
            ).group_by(_ARCHIVES.scope_id),
            _ARCHIVES.scope_id,
        ),
    )
    for counting, number in figures:
        for row in rows_of(connection, counting.where(number.in_(scopes))):
            of_one = found[row["scope_id"]]
            latest = max(of_one.get("last", 0), row["last"])
            of_one.update({name: row[name] for name in row.keys() - {"scope_id"}}, last=latest)
    return {
        number: Contents(
            last_active=from_micros(of_one["last"]) if "last" in of_one else None,
            **{name: count for name, count in of_one.items() if name != "last"},
        )
        for number, of_one in found.items()
    }


def _last(column: ColumnElement[int]) -> ColumnElement[int]:
    return func.max(column).label("last")


def _total(contents: Iterable[Contents]) -> Contents:
    several = list(contents)
    moments = [it.last_active for it in several if it.last_active is not None]
    return Contents(
        records=sum(it.records for it in several),
        turns=sum(it.turns for it in several),
        sessions=sum(it.sessions for it in several),
        archives=sum(it.archives for it in several),
        last_active=max(moments, default=None),
    )


def _archives_of(connection: Connection, sessions: Sequence[tuple[int, str]]) -> Counter[Any]:
    if not sessions:
        return Counter()
    of_these = tuple_(_ARCHIVES.scope_id, _ARCHIVES.session).in_(sessions)
    wanted = (
        select(_ARCHIVES.scope_id, _ARCHIVES.session, func.count(literal_column("*")))
        .where(of_these)
        .group_by(_ARCHIVES.scope_id, _ARCHIVES.session)
    )
    return Counter({(row[0], row[1]): row[2] for row in connection.execute(wanted)})
