"""Idempotent requests: the same key and request return the first result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final
from weakref import WeakValueDictionary

from sqlalchemy import Connection

from recollect.backends.sql.database import Database
from recollect.backends.sql.kept_results import find_results
from recollect.backends.sql.scopes import find_scopes
from recollect.domain.change import ChangeSet, Idempotency
from recollect.domain.scope import Caller, Scope
from recollect.errors import StorageError
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.writing.saver import idempotency

_log: Final = logging.getLogger(__name__)


class IdempotentWork:
    """Stores results for a day.

    Requests of this process wait for each other. If two processes get the same request at the same
    moment, both may do the work, and the second one returns the first result.
    """

    def __init__(self, results: SqlKeptResults, store: Store) -> None:
        self._results = results
        self._store = store
        self._working: WeakValueDictionary[tuple[Scope, str, str], asyncio.Lock] = (
            WeakValueDictionary()
        )

    async def do(
        self,
        caller: Caller,
        key: str,
        request: Mapping[str, Any],
        work: Callable[[], Awaitable[Mapping[str, Any]]],
    ) -> Mapping[str, Any]:
        """Do the work, or return the result of the same request with this key."""
        wanted = idempotency(key, request, {})
        assert wanted is not None
        place = (caller.scope, caller.principal, wanted.key)
        async with self._working.setdefault(place, asyncio.Lock()):
            found = await self._results.find(wanted, caller.principal, caller.scope)
            if found is not None:
                return found
            result = await work()
            kept = ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                idempotency=(replace(wanted, result=result),),
            )
            try:
                committed = await self._store.commit(kept)
            except StorageError as problem:
                # The work is done, so return its result.
                _log.warning("the result of a request is not stored: %s", problem)
                return result
            return result if committed.replayed is None else committed.replayed


class SqlKeptResults:
    """Reads what came of requests."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def find(
        self, wanted: Idempotency, principal: str, scope: Scope
    ) -> Mapping[str, Any] | None:
        """Return the earlier result of this request; refuse a key that another request used."""
        now = self._clock.now()

        def read(connection: Connection) -> Mapping[str, Any] | None:
            for scope_id in find_scopes(connection, [scope]):
                found = find_results(connection, [wanted], principal, scope_id, now)
                return found[0].replayed if found else None
            return None

        return await self._database.read(read)
