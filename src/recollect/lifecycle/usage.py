"""How often records entered a prompt: counted once a session, written in the background.

Reading never waits for it. What a process that is killed had not yet written is not counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from recollect.domain.change import Access, ChangeSet
from recollect.domain.record import Record
from recollect.errors import RecollectError
from recollect.ports.clock import Clock
from recollect.ports.store import Store

_PRINCIPAL: Final = "usage"
_PAUSE: Final = 2.0
_MANY: Final = 100
# So many pairs of session and record are remembered as counted.
_MOST_COUNTED: Final = 50_000

_log = logging.getLogger(__name__)


class Usage:
    """Counts, and writes the counts together."""

    def __init__(self, store: Store, clock: Clock, *, pause: float = _PAUSE) -> None:
        self._store = store
        self._clock = clock
        self._pause = pause
        self._counted: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._waiting: dict[str, Access] = {}
        self._writing: asyncio.Task[None] | None = None
        self._is_due = asyncio.Event()
        self._one_by_one = asyncio.Lock()

    def entered(self, session: str, records: Sequence[Record]) -> None:
        """Note that these entered a prompt of a session, or the result of a tool in it."""
        for record in records:
            if self._is_first(session, record.id):
                self._add(
                    Access(record_id=record.id, scope=record.scope, count=1, at=self._clock.now())
                )
        if len(self._waiting) > _MANY:
            self._is_due.set()
        if self._waiting and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write_later(), name="recollect-usage")

    async def flush(self) -> None:
        """Write what waits."""
        # Whoever flushes also waits for what is being written already.
        async with self._one_by_one:
            waiting = tuple(self._waiting.values())
            self._waiting.clear()
            self._is_due.clear()
            if not waiting:
                return
            scope = waiting[0].scope
            try:
                await self._store.commit(
                    ChangeSet(principal=_PRINCIPAL, scope=scope, accesses=waiting)
                )
            except RecollectError:
                for access in waiting:
                    self._add(access)
                raise

    async def close(self) -> None:
        """Write what waits and stop."""
        if self._writing is not None:
            self._writing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._writing
        await self._flush_or_tell()

    async def _write_later(self) -> None:
        while self._waiting:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_due.wait(), self._pause)
            await self._flush_or_tell()

    async def _flush_or_tell(self) -> None:
        try:
            await self.flush()
        except RecollectError as problem:
            _log.warning("how often records were recalled was not written: %s", problem)

    def _is_first(self, session: str, record_id: str) -> bool:
        place = (session, record_id)
        is_first = place not in self._counted
        self._counted[place] = None
        self._counted.move_to_end(place)
        if len(self._counted) > _MOST_COUNTED:
            self._counted.popitem(last=False)
        return is_first

    def _add(self, access: Access) -> None:
        before = self._waiting.get(access.record_id)
        if before is not None:
            access = replace(
                access, count=before.count + access.count, at=max(before.at, access.at)
            )
        self._waiting[access.record_id] = access
