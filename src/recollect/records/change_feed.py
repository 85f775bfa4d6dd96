"""Follow the changes in a caller's scopes, waiting for the next one if needed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from sqlalchemy import Connection, bindparam, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import OnDatabase, reading
from recollect.backends.sql.scopes import find_scopes
from recollect.domain.change import Change, Changes, ScopeChange
from recollect.domain.page import checked_limit
from recollect.domain.scope import Scope
from recollect.domain.unit import OWNER_KINDS
from recollect.errors import InvalidInput
from recollect.ports.store import Store

_MAX_CHANGES: Final = 1_000
_MAX_WAIT_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.25
_MARK: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})*")


class ChangeFeed:
    """Reports changes by any caller and process.

    A mark holds the version of each scope, so it stays valid after a restart and in another
    process.
    """

    def __init__(self, log: SqlChangeLog, store: Store) -> None:
        self._log = log
        self._store = store

    async def changes(
        self,
        scopes: Sequence[Scope],
        after: str | None,
        *,
        limit: int,
        wait: float,
        may_grow: bool = False,
    ) -> Changes:
        """Return the changes after the mark, oldest first in each scope; without one, only a mark.

        With `may_grow`, scopes that were appended to the list since the mark was made are followed
        from their beginning.
        """
        checked_limit(limit, _MAX_CHANGES)
        if not 0 <= wait <= _MAX_WAIT_SECONDS:
            raise InvalidInput(f"wait is 0 to {_MAX_WAIT_SECONDS:g} seconds", code="out_of_range")
        now = await self._store.versions(scopes)
        if after is None:
            return Changes(items=(), mark=_mark(now))
        seen = _read(after, len(scopes), may_grow=may_grow)
        for _ in range(int(wait / _POLL_SECONDS)):
            if any(later > known for later, known in zip(now, seen, strict=True)):
                break
            await asyncio.sleep(_POLL_SECONDS)
            now = await self._store.versions(scopes)
        return await self._since(scopes, seen, now, limit)

    async def _since(
        self, scopes: Sequence[Scope], seen: Sequence[int], now: Sequence[int], limit: int
    ) -> Changes:
        items: list[ScopeChange] = []
        reached = list(seen)
        for index, scope in enumerate(scopes):
            room = limit - len(items)
            if room == 0 or now[index] <= seen[index]:
                continue
            found = await self._log.since(scope, seen[index], limit=room)
            for version, changes in found:
                reached[index] = version
                items.append(
                    ScopeChange(mark=_mark(reached), scope=scope, version=version, changes=changes)
                )
            if len(found) < room:
                # The versions in between only changed the index.
                reached[index] = max(now[index], reached[index])
        return Changes(items=tuple(items), mark=_mark(reached))


def _mark(versions: Sequence[int]) -> str:
    return ".".join(map(str, versions))


def _read(mark: str, scopes: int, *, may_grow: bool) -> list[int]:
    is_mark = isinstance(mark, str) and _MARK.fullmatch(mark)  # pyright: ignore[reportUnnecessaryIsInstance]
    versions = [int(number) for number in mark.split(".")] if is_mark else []
    new = scopes - len(versions)
    if not is_mark or new < 0 or (new > 0 and not may_grow):
        raise InvalidInput(
            f"{mark!r} is not a mark of these scopes",
            code="bad_mark",
            hint="Ask without a mark for a new one, then read everything again.",
        )
    return versions + [0] * new


_CHANGES: Final = schema.changes.c
_VERSIONS: Final = (
    select(_CHANGES.version)
    .distinct()
    .where(
        _CHANGES.scope_id == bindparam("scope"),
        _CHANGES.version > bindparam("version"),
        _CHANGES.entity.in_(OWNER_KINDS),
    )
    .order_by(_CHANGES.version)
    .limit(bindparam("most"))
    .subquery()
)
_SINCE: Final = (
    select(_CHANGES.version, _CHANGES.entity, _CHANGES.id, _CHANGES.op)
    .where(
        _CHANGES.scope_id == bindparam("scope"),
        # MySQL limits no subquery that IN looks into, but a table in it.
        _CHANGES.version.in_(select(_VERSIONS)),
        _CHANGES.entity.in_(OWNER_KINDS),
    )
    .order_by(_CHANGES.version, _CHANGES.seq)
)


class SqlChangeLog(OnDatabase):
    """Reads the table that every write adds to."""

    @reading
    def since(
        self, connection: Connection, scope: Scope, version: int, *, limit: int
    ) -> Sequence[tuple[int, tuple[Change, ...]]]:
        """Return the changes of a scope after a version, by version, at most `limit` versions.

        A version that only changed the index has no changes.
        """
        for number in find_scopes(connection, [scope]):
            given = {"scope": number, "version": version, "most": limit}
            rows = connection.execute(_SINCE, given).all()
            return [
                (of, tuple(Change(entity=it[1], id=it[2], op=it[3]) for it in several))
                for of, several in groupby(rows, key=lambda row: row[0])
            ]
        return []
