"""The use of recalled records: what entered prompts, and feedback on what helped.

Reading never waits for it. Audit entries are written before any model can have answered the prompt
(see decision 0009), counts within seconds; a killed process loses its counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import Access, ChangeSet, Feedback
from recollect.domain.hit import Hit
from recollect.domain.injection import Injection
from recollect.domain.meter import Meter
from recollect.domain.record import Record, Tier
from recollect.domain.scope import Caller, Scope
from recollect.errors import InvalidInput, NotFound, RecollectError, StaleVersion
from recollect.ports.runtime import Clock
from recollect.ports.state import ABSENT, State, StateKey
from recollect.ports.store import Store
from recollect.recall.listing import Listing
from recollect.writing.redaction import Redactor

# A session and a record id.
Place = tuple[str, str]
# Called when short-term records of some scopes were recalled again.
Recalled = Callable[[Sequence[Scope], Sequence[str]], Awaitable[None]]

_PRINCIPAL: Final = "usage"
_COUNT_DELAY_SECONDS: Final = 2.0
_AUDIT_DELAY_SECONDS: Final = 0.03
_MAX_WAITING: Final = 100
# How many pairs of session and record are remembered as counted.
_MAX_COUNTED: Final = 50_000
# The session state with what was counted, for other processes that continue the session.
_STATE: Final = "recalled"
_KEPT: Final = timedelta(days=30)
_MAX_ATTEMPTS: Final = 5


class Usage:
    """Counts and audits, written together with whatever else waits."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        state: State | None = None,
        recalled: Recalled | None = None,
        redactor: Redactor | None = None,
        pause: float = _COUNT_DELAY_SECONDS,
        audit_pause: float = _AUDIT_DELAY_SECONDS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._state = state
        self._redactor = redactor or Redactor()
        self._recalled = recalled
        self._counted: OrderedDict[Place, None] = OrderedDict()
        self._waiting: dict[Place, Access] = {}
        self._injections: list[NewAuditEntry] = []
        # Waiting entries that a failed attempt has already noted in their session.
        self._noted: set[Place] = set()
        self._short: set[str] = set()
        self._counting = WriteBehind(self._count, waits=lambda: bool(self._waiting), pause=pause)
        self._auditing = WriteBehind(
            self._audit, waits=lambda: bool(self._injections), pause=audit_pause
        )

    def entered(self, session: str, records: Sequence[Record]) -> None:
        """Note that these items entered a prompt or a tool result of a session."""
        for record in records:
            if self._is_first(session, record.id):
                self._waiting[session, record.id] = Access(
                    record_id=record.id, scope=record.scope, count=1, at=self._clock.now()
                )
                if record.tier is Tier.SHORT:
                    self._short.add(record.id)
        self._counting.soon(at_once=len(self._waiting) > _MAX_WAITING)

    async def recalled_in(self, scopes: Sequence[Scope], session: str) -> set[str]:
        """Return the items of these scopes that entered a prompt or a tool result of a session."""
        found = {
            access.record_id
            for (place, _), access in self._waiting.items()
            if place == session and access.scope in scopes
        }
        if self._state is None:
            return found
        for scope in scopes:
            entry = await self._state.get(StateKey(scope=scope, session=session, name=_STATE))
            found |= set() if entry is None else set(json.loads(entry.value))
        return found

    def injected(self, injection: Injection) -> None:
        """Store what a recall gave to a prompt or a tool result, and why, and the profile there."""
        if injection.items or injection.profile:
            # A question may contain personal data too; a replay uses the redacted question.
            question = self._redactor.note(injection.question)
            self._injections.append(replace(injection, question=question).entry())
            self._auditing.soon()

    async def flush(self) -> None:
        """Write what waits."""
        await self._auditing.flush()
        await self._counting.flush()

    async def close(self) -> None:
        """Write what waits and stop."""
        await self._auditing.close()
        await self._counting.close()

    async def _audit(self) -> None:
        waiting, self._injections = self._injections, []
        try:
            await self._store.commit(
                ChangeSet(principal=_PRINCIPAL, scope=waiting[0].scope, audit=tuple(waiting))
            )
        except RecollectError:
            self._injections = waiting + self._injections
            raise

    async def _count(self) -> None:
        """Count what no other process has counted in the same session."""
        waiting, self._waiting = self._waiting, {}
        try:
            await self._note(waiting)
            accesses = _together(waiting[place] for place in waiting if place in self._noted)
            if accesses:
                await self._store.commit(
                    ChangeSet(
                        principal=_PRINCIPAL, scope=accesses[0].scope, accesses=tuple(accesses)
                    )
                )
        except RecollectError:
            self._waiting = waiting | self._waiting
            raise
        self._noted -= waiting.keys()
        await self._tell(accesses)

    async def _note(self, waiting: Mapping[Place, Access]) -> None:
        """Note in the session what is counted now, and skip what is noted already."""
        if self._state is None:
            self._noted |= waiting.keys()
            return
        sessions: defaultdict[StateKey, set[str]] = defaultdict(set)
        for (session, record_id), access in waiting.items():
            if (session, record_id) not in self._noted:
                key = StateKey(scope=access.scope, session=session, name=_STATE)
                sessions[key].add(record_id)
        since = min(access.at for access in waiting.values())
        for key, records in sessions.items():
            try:
                new = await _add(self._state, key, records, since)
            except NotFound:
                # Another process has forgotten the session, so there is nothing to count.
                continue
            self._noted |= {(key.session, record_id) for record_id in new}

    async def _tell(self, written: Sequence[Access]) -> None:
        """Report the recalled short-term records; failures do not concern the recall."""
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
        if len(self._counted) > _MAX_COUNTED:
            self._counted.popitem(last=False)
        return is_first


async def _add(state: State, key: StateKey, records: set[str], since: datetime) -> set[str]:
    """Add records to those of a session; return the new ones."""
    for attempt in range(_MAX_ATTEMPTS):
        entry = await state.get(key)
        known: set[str] = set() if entry is None else set(json.loads(entry.value))
        new = records - known
        if not new:
            break
        expected = ABSENT if entry is None else entry.version
        value = json.dumps(sorted(known | new))
        try:
            await state.put(key, value, ttl=_KEPT, expected=expected, known_since=since)
        except StaleVersion:
            if attempt == _MAX_ATTEMPTS - 1:
                raise
            continue
        return new
    return set()


def _together(accesses: Iterable[Access]) -> list[Access]:
    """Return one access per record, with the number of sessions it entered."""
    merged: dict[str, Access] = {}
    for access in accesses:
        before = merged.get(access.record_id)
        merged[access.record_id] = (
            access
            if before is None
            else replace(access, count=before.count + access.count, at=max(before.at, access.at))
        )
    return list(merged.values())


# --- Delayed writes in batches, for data that no caller waits for ---------------------------------


_log = logging.getLogger(__name__)


class WriteBehind:
    """Calls `write` some time after something was queued, and again if it failed."""

    def __init__(
        self, write: Callable[[], Awaitable[None]], *, waits: Callable[[], bool], pause: float
    ) -> None:
        self._write = write
        self._waits = waits
        self._pause = pause
        self._is_due = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self._one_by_one = asyncio.Lock()

    def soon(self, *, at_once: bool = False) -> None:
        """Note that something waits to be written, `at_once` if it is too much to wait."""
        if at_once:
            self._is_due.set()
        if self._waits() and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write_later(), name="recollect-behind")

    async def flush(self) -> None:
        """Write what waits, including what is being written already."""
        async with self._one_by_one:
            self._is_due.clear()
            if self._waits():
                await self._write()

    async def close(self) -> None:
        """Write what waits and stop."""
        if self._writing is not None:
            # Do not cancel in the middle of a write, or it would be unknown whether it happened.
            async with self._one_by_one:
                self._writing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._writing
        await self._flush_or_tell()

    async def _write_later(self) -> None:
        while self._waits():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_due.wait(), self._pause)
            await self._flush_or_tell()

    async def _flush_or_tell(self) -> None:
        try:
            await self.flush()
        except RecollectError as problem:
            _log.warning("recalls are not recorded yet: %s", problem)


# --- Feedback on recalled records: what helped and what did not -----------------------------------

Judged = Hit | Record | str


class FeedbackCounter:
    """Counts what helped and what did not; later recalls consider it.

    Anybody who may read a record may give feedback: it does not change what the record says.
    """

    def __init__(self, store: Store, listing: Listing, meter: Meter | None = None) -> None:
        self._store = store
        self._listing = listing
        self._meter = meter or Meter()

    async def used(self, caller: Caller, judged: Judged, *, success: bool) -> Record:
        """Count that a record was used, with or without success."""
        return await self._take(caller, judged, helped=success, was_used=True)

    async def rejected(self, caller: Caller, judged: Judged) -> Record:
        """Count that a record was seen and not used."""
        return await self._take(caller, judged, helped=False, was_used=False)

    async def _take(
        self, caller: Caller, judged: Judged, *, helped: bool, was_used: bool
    ) -> Record:
        record = await self._listing.get(caller, _record_id(judged))
        feedback = Feedback(record=record, helped=helped, was_used=was_used)
        await self._store.commit(
            ChangeSet(principal=caller.principal, scope=caller.scope, feedback=(feedback,))
        )
        self._meter.add("feedback", label="used" if was_used else "rejected")
        return await self._listing.get(caller, record.id)


def _record_id(judged: Judged) -> str:
    match judged:
        case Hit() | Record():
            ident = judged.id
        case str():
            ident = judged
        case _:
            raise InvalidInput(
                f"Give a hit, a record or an id, not {type(judged).__name__}",
                code="wrong_type",
            )
    if ident.startswith("turn_"):
        raise InvalidInput(
            f"{ident} is a turn; only a record can be used or rejected",
            code="not_a_record",
            hint="Turns are stored as they were said. Save what matters as a record.",
        )
    return ident
