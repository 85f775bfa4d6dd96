"""What entered prompts: audited, and for records counted once a session; written in the background.

Reading never waits for it. What a process that is killed had not yet written is neither counted
nor audited: at most the last seconds before it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import Access, ChangeSet
from recollect.domain.injection import Injection
from recollect.domain.record import Record, Tier
from recollect.domain.scope import Scope
from recollect.errors import RecollectError, StaleVersion
from recollect.ports.clock import Clock
from recollect.ports.state import ABSENT, State, StateKey
from recollect.ports.store import Store

# A session and the id of a record.
Place = tuple[str, str]
# What is to be done when short-term records of some scopes were recalled once more.
Recalled = Callable[[Sequence[Scope], Sequence[str]], Awaitable[None]]

_PRINCIPAL: Final = "usage"
_PAUSE: Final = 2.0
_MANY: Final = 100
# So many pairs of session and record are remembered as counted.
_MOST_COUNTED: Final = 50_000
# Where a session keeps what was counted in it, for other processes that go on with it.
_STATE: Final = "recalled"
_KEPT: Final = timedelta(days=30)
_ATTEMPTS: Final = 5

_log = logging.getLogger(__name__)


class Usage:
    """Counts and audits, and writes all of it together."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        state: State | None = None,
        recalled: Recalled | None = None,
        pause: float = _PAUSE,
    ) -> None:
        self._store = store
        self._clock = clock
        self._state = state
        self._recalled = recalled
        self._pause = pause
        self._counted: OrderedDict[Place, None] = OrderedDict()
        self._waiting: dict[Place, Access] = {}
        self._injections: list[NewAuditEntry] = []
        # Those of the waiting ones that a failed attempt has noted in their session already.
        self._noted: set[Place] = set()
        self._short: set[str] = set()
        self._writing: asyncio.Task[None] | None = None
        self._is_due = asyncio.Event()
        self._one_by_one = asyncio.Lock()

    def entered(self, session: str, records: Sequence[Record]) -> None:
        """Note that these entered a prompt of a session, or the result of a tool in it."""
        for record in records:
            if self._is_first(session, record.id):
                self._waiting[session, record.id] = Access(
                    record_id=record.id, scope=record.scope, count=1, at=self._clock.now()
                )
                if record.tier is Tier.SHORT:
                    self._short.add(record.id)
        self._write_soon()

    def injected(self, injection: Injection) -> None:
        """Keep what a recall gave to a prompt, or to the result of a tool, and why."""
        if injection.items:
            self._injections.append(injection.entry())
            self._write_soon()

    async def flush(self) -> None:
        """Write what waits."""
        # Whoever flushes also waits for what is being written already.
        async with self._one_by_one:
            waiting, injections = self._waiting, self._injections
            self._waiting, self._injections = {}, []
            self._is_due.clear()
            if not waiting and not injections:
                return
            try:
                written = await self._write(waiting, injections)
            except RecollectError:
                self._waiting = waiting | self._waiting
                self._injections = injections + self._injections
                raise
            await self._tell(written)

    async def close(self) -> None:
        """Write what waits and stop."""
        if self._writing is not None:
            self._writing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._writing
        await self._flush_or_tell()

    def _write_soon(self) -> None:
        if len(self._waiting) + len(self._injections) > _MANY:
            self._is_due.set()
        is_writing = self._writing is not None and not self._writing.done()
        if not is_writing and (self._waiting or self._injections):
            self._writing = asyncio.create_task(self._write_later(), name="recollect-usage")

    async def _write_later(self) -> None:
        while self._waiting or self._injections:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_due.wait(), self._pause)
            await self._flush_or_tell()

    async def _flush_or_tell(self) -> None:
        try:
            await self.flush()
        except RecollectError as problem:
            _log.warning("what was recalled is not written yet: %s", problem)

    async def _write(
        self, waiting: Mapping[Place, Access], injections: Sequence[NewAuditEntry]
    ) -> list[Access]:
        """Audit it all, and count what no other process has counted in the same session."""
        await self._note(waiting)
        accesses = _together(waiting[place] for place in waiting if place in self._noted)
        scopes = [it.scope for it in (*accesses, *injections)]
        if scopes:
            await self._store.commit(
                ChangeSet(
                    principal=_PRINCIPAL,
                    scope=scopes[0],
                    accesses=tuple(accesses),
                    audit=tuple(injections),
                )
            )
        self._noted -= waiting.keys()
        return accesses

    async def _note(self, waiting: Mapping[Place, Access]) -> None:
        """Note in its session what is counted now; what stands there already is not."""
        if self._state is None:
            self._noted |= waiting.keys()
            return
        sessions: defaultdict[StateKey, set[str]] = defaultdict(set)
        for (session, record_id), access in waiting.items():
            if (session, record_id) not in self._noted:
                key = StateKey(scope=access.scope, session=session, name=_STATE)
                sessions[key].add(record_id)
        for key, records in sessions.items():
            new = await _add(self._state, key, records)
            self._noted |= {(key.session, record_id) for record_id in new}

    async def _tell(self, written: Sequence[Access]) -> None:
        """Say which short-term records were recalled; what comes of it is not a recall's matter."""
        short = [access for access in written if access.record_id in self._short]
        self._short.difference_update(access.record_id for access in short)
        if short and self._recalled is not None:
            scopes = list({access.scope for access in short})
            await self._recalled(scopes, [access.record_id for access in short])

    def _is_first(self, session: str, record_id: str) -> bool:
        place = (session, record_id)
        is_first = place not in self._counted
        self._counted[place] = None
        self._counted.move_to_end(place)
        if len(self._counted) > _MOST_COUNTED:
            self._counted.popitem(last=False)
        return is_first


async def _add(state: State, key: StateKey, records: set[str]) -> set[str]:
    """Add records to those of a session; the ones that were not among them."""
    for attempt in range(_ATTEMPTS):
        entry = await state.get(key)
        known: set[str] = set() if entry is None else set(json.loads(entry.value))
        new = records - known
        if not new:
            break
        expected = ABSENT if entry is None else entry.version
        try:
            await state.put(key, json.dumps(sorted(known | new)), ttl=_KEPT, expected=expected)
        except StaleVersion:
            if attempt == _ATTEMPTS - 1:
                raise
            continue
        return new
    return set()


def _together(accesses: Iterable[Access]) -> list[Access]:
    """One access for each record, with how many sessions it entered."""
    merged: dict[str, Access] = {}
    for access in accesses:
        before = merged.get(access.record_id)
        merged[access.record_id] = (
            access
            if before is None
            else replace(access, count=before.count + access.count, at=max(before.at, access.at))
        )
    return list(merged.values())
