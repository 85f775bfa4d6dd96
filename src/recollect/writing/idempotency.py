"""Idempotent requests: the same key and request return the first result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from recollect.domain.change import ChangeSet
from recollect.domain.scope import Caller, Scope
from recollect.errors import StorageError
from recollect.ports.store import Store
from recollect.writing.saver import idempotency

if TYPE_CHECKING:
    from recollect.backends.sql.writes import SqlKeptResults

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
                idempotency=replace(wanted, result=result),
            )
            try:
                committed = await self._store.commit(kept)
            except StorageError as problem:
                # The work is done, so return its result.
                _log.warning("the result of a request is not stored: %s", problem)
                return result
            return result if committed.replayed is None else committed.replayed


# --- Stored results of idempotent requests --------------------------------------------------------
