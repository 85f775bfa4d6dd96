"""The spool: what was said while the database server was away, kept here and stored afterwards.

A write that cannot reach the server is on this machine's disk before it is acknowledged, with its
final ids. When the server is back, everything is stored in the order in which it came: by this
process, or after a kill by the next one. Storing an entry twice stores it once, because its ids and
its idempotency key are the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.backends.sql.outage import LOST
from recollect.domain.change import Committed
from recollect.domain.ids import new_id
from recollect.domain.meter import Meter
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.stats import SpoolStats
from recollect.domain.turn import Turn
from recollect.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    RecollectError,
    StorageBusy,
    StorageError,
)
from recollect.spool.entries import SpoolEntry, line_of
from recollect.spool.files import SpoolFolder, count_in, folders_in

if TYPE_CHECKING:
    from recollect.backends.sql.forget_ledger import Entry as Forgetting

# How often it is looked for what killed processes have left.
_LOOK_SECONDS: Final = 30.0
# How long a write waits for those before it, once the server is back.
_TURN_SECONDS: Final = 2.0
_CLOSE_SECONDS: Final = 10.0
_BUSY_PAUSE_SECONDS: Final = 0.5
# So many writes with an idempotency key are remembered, for a repetition while the server is away.
_KNOWN_KEYS: Final = 256

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a write; without `committed`, it waits here, or was stored before."""

    entry: SpoolEntry
    committed: Committed | None
    is_waiting: bool = False


Store = Callable[[SpoolEntry], Awaitable[Outcome]]
"""Stores an entry; the outcome has it as it was stored."""


class Spool:
    """The writes that wait, and their replay.

    `is_away` tells whether the server that holds a scope is away; `forgotten` returns what was
    forgotten since a time; `is_stored` tells whether a refused entry is there already.
    """

    def __init__(
        self,
        place: Path,
        *,
        max_bytes: int,
        is_away: Callable[[Scope], bool],
        away_seconds: Callable[[], float],
        forgotten: Callable[[datetime], Awaitable[list[Forgetting]]],
        is_stored: Callable[[SpoolEntry], Awaitable[bool]],
        store: Store,
        meter: Meter,
    ) -> None:
        self._place = place
        self._max_bytes = max_bytes
        self._is_away = is_away
        self._away_seconds = away_seconds
        self._forgotten = forgotten
        self._is_stored = is_stored
        self._store = store
        self._meter = meter
        self._folders: list[SpoolFolder] = []
        self._own: SpoolFolder | None = None
        self._waiting: dict[str, SpoolEntry] = {}
        self._scopes: Counter[Scope] = Counter()
        self._known: OrderedDict[tuple[str, Scope, str], SpoolEntry] = OrderedDict()
        self._writing = asyncio.Lock()
        self._replaying = asyncio.Lock()
        self._changed = asyncio.Condition()
        self._called = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    # --- Writing ----------------------------------------------------------------------------------

    async def write(self, entry: SpoolEntry, store: Store) -> Outcome:
        """Store an entry, or keep it here while the server is away."""
        if (before := self._under_key(entry)) is not None:
            return Outcome(before, None, is_waiting=before.id in self._waiting)
        if await self.may_store(entry.caller.scope):
            try:
                outcome = await store(entry)
            except StorageError as problem:
                if problem.code not in LOST:
                    raise
            else:
                self._remember_key(outcome.entry)
                return outcome
        return await self._keep(entry)

    async def may_store(self, scope: Scope) -> bool:
        """Wait until nothing of a scope waits; return False while the server is away."""
        if self._is_away(scope):
            return False
        if self._scopes[scope]:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TURN_SECONDS), self._changed:
                    await self._changed.wait_for(
                        lambda: not self._scopes[scope] or self._is_away(scope)
                    )
        return not self._scopes[scope] and not self._is_away(scope)

    async def _keep(self, entry: SpoolEntry) -> Outcome:
        async with self._writing:
            if (before := self._under_key(entry)) is not None:
                return Outcome(before, None, is_waiting=before.id in self._waiting)
            await asyncio.to_thread(self._append, entry)
            self._add([entry])
        self._remember_key(entry)
        self._meter.add("spooled", label="records" if entry.records else "turns")
        self._called.set()
        return Outcome(entry, None, is_waiting=True)

    def _append(self, entry: SpoolEntry) -> None:
        used = sum(folder.bytes for folder in self._folders)
        if used + len(line_of(entry)) > self._max_bytes:
            raise StorageError(
                f"The database is away, and the {self._max_bytes >> 20:,} MB that keep writes "
                "meanwhile are full; this call was not kept",
                code="spool_full",
                hint="Bring the database back; storage.spool_mb sets the size.",
            )
        if self._own is None:
            self._own = SpoolFolder.make(self._place, new_id("spool"))
            self._folders.append(self._own)
        self._own.append(entry)

    def _under_key(self, entry: SpoolEntry) -> SpoolEntry | None:
        """Return the entry of the first request with the same idempotency key."""
        key = _key_of(entry)
        before = None if key is None else self._known.get(key)
        if before is None or before.idempotency is None or entry.idempotency is None:
            return None
        if before.id not in self._waiting and not self._is_away(entry.caller.scope):
            # The database knows better: the item may have been changed since.
            return None
        if before.idempotency.body_hash != entry.idempotency.body_hash:
            raise Conflict(
                f"The idempotency key {entry.idempotency.key!r} was used for another request",
                code="idempotency_mismatch",
                hint="Use a new key for a new request; the first one stands as it was.",
            )
        return before

    def _remember_key(self, entry: SpoolEntry) -> None:
        if (key := _key_of(entry)) is not None:
            self._known.setdefault(key, entry)
            for old in list(self._known)[: max(0, len(self._known) - _KNOWN_KEYS)]:
                if self._known[old].id not in self._waiting:
                    del self._known[old]

    # --- What waits -------------------------------------------------------------------------------

    def items(self, scopes: Iterable[Scope]) -> list[Record | Turn]:
        """Return the records and turns of these scopes that wait, oldest first."""
        wanted = frozenset(scopes)
        return [
            item for entry in self._waiting.values() for item in entry.items if item.scope in wanted
        ]

    def stats(self) -> SpoolStats:
        """Return what waits in this process, and for how long the server has been away."""
        oldest = next(iter(self._waiting.values()), None)
        return SpoolStats(
            waiting=len(self._waiting),
            bytes=sum(folder.bytes for folder in self._folders),
            max_bytes=self._max_bytes,
            oldest=None if oldest is None else oldest.at,
            away_seconds=round(self._away_seconds(), 1),
            set_aside=count_in(self._place)[2] if self._place.is_dir() else 0,
        )

    def _add(self, entries: Iterable[SpoolEntry]) -> None:
        for entry in entries:
            self._waiting[entry.id] = _marked(entry)
            self._scopes[entry.caller.scope] += 1

    def _remove(self, entry: SpoolEntry) -> None:
        if self._waiting.pop(entry.id, None) is not None:
            self._scopes[entry.caller.scope] -= 1
            if not self._scopes[entry.caller.scope]:
                del self._scopes[entry.caller.scope]

    # --- Replaying --------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take over what ended processes have left, and begin to replay."""
        await self._adopt()
        self._called.set()
        self._running = asyncio.create_task(self._run(), name="recollect-spool")

    def call(self) -> None:
        """Replay now: the server is back."""
        self._called.set()

    async def drain(self) -> None:
        """Replay everything that waits; raise an error if the server is away."""
        async with self._replaying:
            while self._waiting:
                entry = next(iter(self._waiting.values()))
                await self._replay(entry)
                await self._finish(entry)

    async def erase(self, is_meant: Callable[[SpoolEntry], bool]) -> int:
        """Erase the entries that are meant, here and on the disk; return how many items."""
        async with self._writing, self._replaying:
            going = [entry for entry in self._waiting.values() if is_meant(entry)]
            for entry in going:
                self._remove(entry)
            self._known = OrderedDict(
                (key, entry) for key, entry in self._known.items() if not is_meant(entry)
            )
            if going:
                await asyncio.to_thread(self._rewrite)
        async with self._changed:
            self._changed.notify_all()
        return sum(len(entry.items) for entry in going)

    async def close(self) -> None:
        """Replay what can be replayed soon, and leave the rest to the next process."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                if not any(map(self._is_away, self._scopes)):
                    await self.drain()
        except (RecollectError, TimeoutError) as problem:
            _log.warning("%d writes wait for the database: %s", len(self._waiting), problem)
        await asyncio.to_thread(self._close_folders)

    async def _run(self) -> None:
        while True:
            # Not `wait_for`, which may swallow that this task is cancelled.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._called.wait()
            self._called.clear()
            try:
                await self._adopt()
                if self._waiting and not self._is_away(next(iter(self._scopes))):
                    await self.drain()
            except RecollectError as problem:
                _log.warning("%d writes wait for the database: %s", len(self._waiting), problem)
                async with self._changed:
                    self._changed.notify_all()

    async def _replay(self, entry: SpoolEntry) -> None:
        """Store an entry, unless it was stored or forgotten before."""
        while True:
            try:
                if await self._was_forgotten(entry):
                    _log.info("what waited as %s was forgotten meanwhile", entry.id)
                    return
                committed = (await self._store(entry)).committed
            except StorageBusy:
                await asyncio.sleep(_BUSY_PAUSE_SECONDS)
            except (InvalidInput, NotAllowed, NotFound, Conflict) as problem:
                if problem.code != "idempotency_mismatch":
                    await self._refused(entry, problem)
                    return
                # The key was used elsewhere meanwhile; what was acknowledged here is kept.
                entry = replace(entry, idempotency=None)
            except StorageError as problem:
                if problem.code in LOST:
                    raise
                if not await self._is_stored(entry):
                    await self._refused(entry, problem)
                return
            else:
                if committed is not None and committed.replayed is None:
                    self._meter.add("replayed", label="records" if entry.records else "turns")
                return

    async def _refused(self, entry: SpoolEntry, problem: RecollectError) -> None:
        """Keep what the database does not take for a person to look at."""
        _log.error("%s was set aside, because the database refuses it: %s", entry.id, problem)
        self._meter.add("spool_refused")
        for folder in self._folders:
            if folder.has(entry.id):
                await asyncio.to_thread(folder.set_aside, entry)

    async def _finish(self, entry: SpoolEntry) -> None:
        async with self._writing:
            await asyncio.to_thread(self._mark_done, entry.id)
            self._remove(entry)
        async with self._changed:
            self._changed.notify_all()

    def _mark_done(self, entry_id: str) -> None:
        for folder in self._folders:
            if folder.has(entry_id):
                folder.done(entry_id)
                if folder.is_sparse:
                    left = [it for it in self._waiting.values() if it.id != entry_id]
                    folder.keep_only(left)

    async def _was_forgotten(self, entry: SpoolEntry) -> bool:
        found = await self._forgotten(entry.at)
        return any(
            forgetting.tells_of(scope, entry.names)
            for forgetting in found
            for scope in (*entry.scopes, entry.caller.scope)
        )

    async def _adopt(self) -> None:
        found = await asyncio.to_thread(self._adopted)
        if found:
            both = sorted([*self._waiting.values(), *found], key=lambda entry: entry.id)
            self._waiting.clear()
            self._scopes.clear()
            self._add(both)
            for entry in found:
                self._remember_key(entry)

    def _adopted(self) -> list[SpoolEntry]:
        entries: list[SpoolEntry] = []
        mine = {folder.path for folder in self._folders}
        for path in folders_in(self._place):
            if path in mine or (folder := SpoolFolder.adopt(path)) is None:
                continue
            waiting = folder.load()
            if not waiting:
                folder.close()
                continue
            _log.warning("%d writes of an ended process wait in %s", len(waiting), path)
            self._folders.append(folder)
            self._own = self._own or folder
            entries += waiting
        return entries

    def _rewrite(self) -> None:
        for folder in self._folders:
            folder.keep_only(self._waiting.values())

    def _close_folders(self) -> None:
        for folder in self._folders:
            folder.close()
        self._folders.clear()


def _key_of(entry: SpoolEntry) -> tuple[str, Scope, str] | None:
    if entry.idempotency is None:
        return None
    return entry.caller.principal, entry.caller.scope, entry.idempotency.key


def _marked(entry: SpoolEntry) -> SpoolEntry:
    """Return the entry with its items marked as waiting."""
    return replace(
        entry,
        records=tuple(replace(record, spooled=True) for record in entry.records),
        turns=tuple(replace(turn, spooled=True) for turn in entry.turns),
    )
