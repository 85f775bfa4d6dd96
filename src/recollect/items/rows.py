"""Items as rows; prefixes of namespaces are prefixes of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    false,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.database import OnDatabase, reading, removing, writing
from recollect.backends.sql.portable import begins_with
from recollect.backends.sql.rows import Row, RowForm, rows_of, scope_key
from recollect.backends.sql.scopes import find_scopes, lock_or_make_scope
from recollect.domain.item import Namespace, Place, StoredItem, decoded, encoded
from recollect.domain.scope import Scope
from recollect.domain.times import to_micros

_TABLE: Final = schema.items.c
_SECOND: Final = timedelta(seconds=1)
_MICROS: Final = 1_000_000
# So many places are looked for in one statement.
_PLACES: Final = 200


class SqlItems(OnDatabase):
    """The items of scopes. Expired items are never returned, even before a sweep."""

    @reading
    def find(
        self, connection: Connection, scope: Scope, places: Sequence[Place], *, now: datetime
    ) -> list[StoredItem | None]:
        """Return the item at each namespace and key, or None."""
        number = _scope_id(connection, scope)
        if number is None:
            return [None] * len(places)
        rows = _rows_at(connection, number, places, _is_live(now))
        found = {it.place: it for it in (item_from(row, scope) for row in rows)}
        return [found.get(place) for place in places]

    async def write(
        self, scope: Scope, put: Sequence[StoredItem], removed: Sequence[Place] = ()
    ) -> list[StoredItem]:
        """Put and remove items in one transaction; return the items as stored.

        An item that replaces another one keeps its id, position and creation time.
        """

        def write(connection: Connection) -> list[StoredItem]:
            # Locked, so that writers take turns and positions are given once.
            number: int = lock_or_make_scope(connection, scope_key(scope))["id"]
            for place in removed:
                connection.execute(delete(schema.items).where(_is_at(number, place)))
            return [_put(connection, number, item) for item in put]

        return await self.database.write(write, is_removal=not put)

    @reading
    def listed(
        self,
        connection: Connection,
        scope: Scope,
        prefix: Namespace,
        *,
        now: datetime,
        is_exact: bool = False,
        limit: int | None = None,
        offset: int = 0,
        last_first: bool = False,
    ) -> list[StoredItem]:
        """Return the items under a prefix, or in exactly that namespace, by position."""
        order = _TABLE.position.desc() if last_first else _TABLE.position
        number = _scope_id(connection, scope)
        wanted = (
            select(schema.items)
            .where(_TABLE.scope_id == number, _is_under(prefix, is_exact), _is_live(now))
            .order_by(order)
            .limit(limit)
            .offset(offset or None)
        )
        rows = () if number is None else rows_of(connection, wanted)
        return [item_from(row, scope) for row in rows]

    async def namespaces(self, scope: Scope, *, now: datetime) -> list[Namespace]:
        """Return the namespaces that hold items, in order."""

        def read(connection: Connection) -> list[Namespace]:
            number = _scope_id(connection, scope)
            wanted = select(_TABLE.namespace).where(_TABLE.scope_id == number, _is_live(now))
            return [decoded(it) for it in connection.scalars(wanted.distinct())]

        # By code point, whatever order the database knows.
        return sorted(await self.database.read(read))

    @removing
    def pop(
        self, connection: Connection, scope: Scope, namespace: Namespace, *, now: datetime
    ) -> StoredItem | None:
        """Remove and return the last item of a namespace; only one of two callers gets it."""
        number = lock_or_make_scope(connection, scope_key(scope))["id"]
        last = (
            select(schema.items)
            .where(_TABLE.scope_id == number, _is_under(namespace, is_exact=True))
            .where(_is_live(now))
            .order_by(_TABLE.position.desc())
            .limit(1)
        )
        for row in rows_of(connection, last):
            connection.execute(delete(schema.items).where(_TABLE.id == row["id"]))
            return item_from(row, scope)
        return None

    @removing
    def clear(self, connection: Connection, scope: Scope, namespace: Namespace) -> int:
        """Remove all items of exactly this namespace; return how many there were."""
        number = _scope_id(connection, scope)
        its = and_(_TABLE.scope_id == number, _is_under(namespace, is_exact=True))
        return connection.execute(delete(schema.items).where(its)).rowcount

    @writing
    def refresh(
        self, connection: Connection, scope: Scope, places: Sequence[Place], *, now: datetime
    ) -> None:
        """Restart the time to live of these items, if they have one."""
        later = update(schema.items).values(expires_at=to_micros(now) + _TABLE.ttl * _MICROS)
        number = _scope_id(connection, scope)
        for place in places:
            its = and_(_is_at(number, place), _TABLE.ttl.is_not(None), _is_live(now))
            connection.execute(later.where(its))

    @writing
    def sweep(self, connection: Connection, *, now: datetime) -> int:
        """Remove the expired items of all scopes; return how many there were."""
        expired = delete(schema.items).where(_TABLE.expires_at <= to_micros(now))
        return connection.execute(expired).rowcount


def _ttl_seconds(ttl: timedelta | None) -> float | None:
    return None if ttl is None else ttl / _SECOND


def _ttl_from(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


_ITEM: Final = RowForm(
    StoredItem,
    times=("created_at", "updated_at", "expires_at"),
    texts=("texts",),
    objects=("value",),
    coders={"namespace": (encoded, decoded), "ttl": (_ttl_seconds, _ttl_from)},
)
item_row: Final = _ITEM.row
item_from: Final = _ITEM.value


def _put(connection: Connection, scope_id: int, item: StoredItem) -> StoredItem:
    its = _is_at(scope_id, item.place)
    for row in rows_of(connection, select(schema.items).where(its)):
        before = item_from(row, item.scope)
        is_new = before.expires_at is not None and before.expires_at <= item.updated_at
        created_at = item.created_at if is_new else before.created_at
        kept = replace(item, id=before.id, position=before.position, created_at=created_at)
        connection.execute(update(schema.items).where(its).values(item_row(kept, scope_id)))
        return kept
    last = select(func.max(_TABLE.position)).where(_TABLE.scope_id == scope_id)
    placed = replace(item, position=(connection.scalar(last) or 0) + 1)
    connection.execute(insert(schema.items), item_row(placed, scope_id))
    return placed


def _rows_at(
    connection: Connection, scope_id: int, places: Sequence[Place], where: ColumnElement[bool]
) -> list[Row]:
    rows: list[Row] = []
    for first in range(0, len(places), _PLACES):
        some = or_(false(), *(_is_at(scope_id, place) for place in places[first : first + _PLACES]))
        rows += rows_of(connection, select(schema.items).where(some, where))
    return rows


def _scope_id(connection: Connection, scope: Scope) -> int | None:
    return next(iter(find_scopes(connection, [scope])), None)


def _is_at(scope_id: int | None, place: Place) -> ColumnElement[bool]:
    namespace, key = place
    return and_(
        _TABLE.scope_id == scope_id, _TABLE.namespace == encoded(namespace), _TABLE.key == key
    )


def _is_under(prefix: Namespace, is_exact: bool) -> ColumnElement[bool]:
    text = encoded(prefix)
    if is_exact:
        return _TABLE.namespace == text
    return begins_with(_TABLE.namespace, text) if text else true()


def _is_live(now: datetime) -> ColumnElement[bool]:
    return or_(_TABLE.expires_at.is_(None), _TABLE.expires_at > to_micros(now))
