"""The spool: what was said while the database server was away, kept here and stored afterwards.

A write that cannot reach the server is on this machine's disk before it is acknowledged, with its
final ids. When the server is back, everything of a scope is stored in the order in which it came,
many entries in one transaction: by this process, or after a kill by the next one. Storing an entry
twice stores it once, because its ids and its idempotency key are the same.

The replay never ends by itself: what cannot be stored now holds up its own scope alone, and is
tried again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.backends.sql.outage import LOST, OF_SERVER
from recollect.domain.change import Committed
from recollect.domain.ids import new_id
from recollect.domain.meter import Meter
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.stats import SpoolStats
from recollect.domain.turn import Turn
from recollect.errors import (
    Closed,
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
# How long a write waits for those before it, once the server is back: at least so long, and as long
# as the server has been back, so that however many write, less and less is added to what waits.
_TURN_SECONDS: Final = 2.0
_LONGEST_TURN_SECONDS: Final = 30.0
_CLOSE_SECONDS: Final = 10.0
# So much is stored in one transaction.
_ITEMS_TOGETHER: Final = 100
_CHARACTERS_TOGETHER: Final = 500_000
# When a scope that could not be stored is tried again.
_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 30.0
# So often an entry is tried that fails for an unknown reason, which takes about a minute; then it
# is set aside. What tells of the server, not of the entry, does not count.
_TRIES: Final = 8
_BUSY_TRIES: Final = 20
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
Forgotten = Sequence[tuple[datetime, "Forgetting"]]
"""Forgettings, each with its time."""


class Spool:
    """The writes that wait, and their replay.

    `is_away` tells whether the server that holds a scope is away; `forgotten` returns what was
    forgotten since a time in the stores of some scopes; `stored` returns the ids of those entries
    of a caller that are there already. `store` stores entries of one caller together, and returns
    False if nothing was stored because the idempotency key of one of them was used before.
    """

    def __init__(
        self,
        place: Path,
        *,
        max_bytes: int,
        is_away: Callable[[Scope], bool],
        away_seconds: Callable[[], float],
        forgotten: Callable[[datetime, Collection[Scope]], Awaitable[Forgotten]],
        stored: Callable[[Sequence[SpoolEntry]], Awaitable[Collection[str]]],
        store: Callable[[Sequence[SpoolEntry]], Awaitable[bool]],
        meter: Meter,
    ) -> None:
        self._place = place
        self._max_bytes = max_bytes
        self._is_away = is_away
        self._away_seconds = away_seconds
        self._forgotten = forgotten
        self._stored = stored
        self._store = store
        self._meter = meter
        self._folders: list[SpoolFolder] = []
        self._own: SpoolFolder | None = None
        self._waiting: dict[str, SpoolEntry] = {}
        # The same by the scope of the caller, oldest first.
        self._queues: dict[Scope, dict[str, SpoolEntry]] = {}
        self._known: OrderedDict[tuple[str, Scope, str], SpoolEntry] = OrderedDict()
        # Whoever needs both takes `_replaying` first.
        self._replaying = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._changed = asyncio.Condition()
        self._called = asyncio.Event()
        self._back_since = 0.0
        # The scopes that could not be stored: the last pause, and when they are tried again.
        self._paused: dict[Scope, tuple[float, float]] = {}
        self._tries: Counter[str] = Counter()
        self._running: asyncio.Task[None] | None = None
        self._finishing: asyncio.Task[None] | None = None

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
        if scope in self._queues:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._patience(scope)), self._changed:
                    await self._changed.wait_for(
                        lambda: scope not in self._queues or self._is_away(scope)
                    )
        return scope not in self._queues and not self._is_away(scope)

    def _patience(self, scope: Scope) -> float:
        """Return how long a write to a scope waits for its turn."""
        if scope in self._paused:
            return _TURN_SECONDS
        back = time.monotonic() - self._back_since
        return min(max(_TURN_SECONDS, back), _LONGEST_TURN_SECONDS)

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
        if self._own is None or not self._own.is_there:
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
        for entry in map(_marked, entries):
            self._waiting[entry.id] = entry
            self._queues.setdefault(entry.caller.scope, {})[entry.id] = entry

    def _remove(self, entry: SpoolEntry) -> None:
        scope = entry.caller.scope
        if self._waiting.pop(entry.id, None) is not None:
            del self._queues[scope][entry.id]
            if not self._queues[scope]:
                del self._queues[scope]
        self._tries.pop(entry.id, None)

    # --- Replaying --------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take over what ended processes have left, and begin to replay."""
        await self._adopt()
        self.call()
        self._running = asyncio.create_task(self._run(), name="recollect-spool")

    def call(self) -> None:
        """Replay now: the server is back."""
        self._back_since = time.monotonic()
        self._paused.clear()
        self._called.set()

    async def drain(self, is_meant: Callable[[SpoolEntry], bool] = lambda _: True) -> None:
        """Store what is meant of what waits now, and what comes before it in its scope; raise an
        error if that cannot be done.
        """
        meant: dict[Scope, set[str]] = {}
        for entry in filter(is_meant, self._waiting.values()):
            meant.setdefault(entry.caller.scope, set()).add(entry.id)
        tries = 0
        for scope, ids in meant.items():
            while not self._queues.get(scope, {}).keys().isdisjoint(ids):
                try:
                    await self._replay_some(scope)
                except StorageBusy:
                    tries += 1
                    if tries == _BUSY_TRIES:
                        raise
                    await asyncio.sleep(_FIRST_PAUSE_SECONDS)

    async def erase(self, is_meant: Callable[[SpoolEntry], bool]) -> int:
        """Erase the entries that are meant, here and on the disk; return how many items."""
        async with self._replaying, self._writing:
            going = [entry for entry in self._waiting.values() if is_meant(entry)]
            if going:
                ids = {entry.id for entry in going}
                left = [entry for entry in self._waiting.values() if entry.id not in ids]
                await asyncio.to_thread(self._rewrite, left)
            for entry in going:
                self._remove(entry)
            self._known = OrderedDict(
                (key, entry) for key, entry in self._known.items() if not is_meant(entry)
            )
        async with self._changed:
            self._changed.notify_all()
        return sum(len(entry.items) for entry in going)

    async def overwrite_stored(self) -> None:
        """Overwrite on the disk what was stored; it would be there until nothing waits."""
        async with self._writing:
            await asyncio.to_thread(self._rewrite, [*self._waiting.values()])

    async def close(self) -> None:
        """Replay what can be replayed soon, and leave the rest to the next process."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        if self._finishing is not None:
            await asyncio.wait([self._finishing])
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.drain(lambda entry: not self._is_away(entry.caller.scope))
        except (RecollectError, TimeoutError) as problem:
            _log.warning("%d writes wait for the database: %s", len(self._waiting), problem)
        await asyncio.to_thread(self._close_folders)

    async def _run(self) -> None:
        while True:
            # Not `wait_for`, which may swallow that this task is cancelled.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._until_next()):
                    await self._called.wait()
            self._called.clear()
            for step in (self._adopt, self._replay_all):
                try:
                    await step()
                except Exception:  # noqa: BLE001, nobody else would store what waits
                    _log.exception("the replay of what waits for the database goes on later")

    def _until_next(self) -> float:
        """Return how long nothing is to be done unless somebody calls: the server is back, say."""
        due = min(
            (due for scope, (_, due) in self._paused.items() if not self._is_away(scope)),
            default=float("inf"),
        )
        return min(max(0.0, due - time.monotonic()), _LOOK_SECONDS)

    async def _replay_all(self) -> None:
        """Replay every scope that can be stored now, in turns, until nothing of them waits."""
        while ready := [scope for scope in self._queues if self._is_ready(scope)]:
            for scope in ready:
                try:
                    await self._replay_some(scope)
                except Exception as problem:  # noqa: BLE001, the other scopes are not held up
                    _log.warning("%d writes wait for the database: %r", len(self._waiting), problem)
                    pause, _ = self._paused.get(scope, (_FIRST_PAUSE_SECONDS / 2, 0))
                    pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
                    self._paused[scope] = pause, time.monotonic() + pause
                else:
                    self._paused.pop(scope, None)
        self._paused = {it: pause for it, pause in self._paused.items() if it in self._queues}
        async with self._changed:
            # Whether servers are away may have changed too.
            self._changed.notify_all()

    def _is_ready(self, scope: Scope) -> bool:
        _, due = self._paused.get(scope, (0, 0))
        return due <= time.monotonic() and not self._is_away(scope)

    async def _replay_some(self, scope: Scope) -> None:
        """Store the oldest entries of a scope, together if they can be."""
        async with self._replaying:
            entries = self._oldest(scope)
            if not entries:
                return
            entries = await self._without_forgotten(entries)
            if len(entries) > 1:
                entries = await self._store_together(entries)
            for entry in entries:
                await self._store_alone(entry)
                await self._finish([entry])

    def _oldest(self, scope: Scope) -> list[SpoolEntry]:
        """Return the oldest entries of a scope that are of one caller and go into one batch."""
        found: list[SpoolEntry] = []
        items = characters = 0
        for entry in self._queues.get(scope, {}).values():
            items += len(entry.items)
            characters += sum(len(item.content) for item in entry.items)
            is_much = items > _ITEMS_TOGETHER or characters > _CHARACTERS_TOGETHER
            if found and (is_much or entry.caller != found[0].caller):
                break
            found.append(entry)
        return found

    async def _without_forgotten(self, entries: Sequence[SpoolEntry]) -> list[SpoolEntry]:
        """Drop what was forgotten after it was said; return the others."""
        scopes = {scope for entry in entries for scope in (*entry.scopes, entry.caller.scope)}
        forgotten = await self._forgotten(min(entry.at for entry in entries), scopes)
        gone = [entry for entry in entries if _is_forgotten(entry, forgotten)]
        if not gone:
            return [*entries]
        _log.info("%d writes that waited were forgotten meanwhile", len(gone))
        await self._finish(gone)
        ids = {entry.id for entry in gone}
        return [entry for entry in entries if entry.id not in ids]

    async def _store_together(self, entries: Sequence[SpoolEntry]) -> list[SpoolEntry]:
        """Store entries in one transaction; return what has to be stored one by one."""
        try:
            is_stored = await self._store(entries)
        except Exception as problem:
            if _is_for_now(problem):
                raise
            _log.info("writes that waited are stored one by one: %s", problem)
            is_stored = False
        if is_stored:
            for entry in entries:
                self._count(entry)
            await self._finish(entries)
            return []
        # Perhaps some were stored before, by a process that could not note it any more.
        stored = await self._stored(entries)
        await self._finish([entry for entry in entries if entry.id in stored])
        return [entry for entry in entries if entry.id not in stored]

    async def _store_alone(self, entry: SpoolEntry) -> None:
        """Store an entry, unless it was stored before; set it aside if the database refuses it."""
        try:
            if await self._store([entry]):
                self._count(entry)
        except Exception as problem:
            if _is_for_now(problem):
                raise
            if isinstance(problem, Conflict) and problem.code == "idempotency_mismatch":
                # The key was used elsewhere meanwhile; what was acknowledged here is kept.
                await self._store_alone(replace(entry, idempotency=None))
                return
            if await self._stored([entry]):
                return
            self._tries[entry.id] += 1
            if not isinstance(problem, _REFUSALS) and self._tries[entry.id] < _TRIES:
                raise StorageError(
                    f"{entry.id} could not be stored: {type(problem).__name__}: {problem}",
                    code="spool_stuck",
                    hint="It is tried again; the log of the database may say more.",
                ) from problem
            await self._refused(entry, problem)

    def _count(self, entry: SpoolEntry) -> None:
        self._meter.add("replayed", label="records" if entry.records else "turns")

    async def _refused(self, entry: SpoolEntry, problem: Exception) -> None:
        """Keep what the database does not take for a person to look at."""
        _log.error("%s was set aside, because the database refuses it: %s", entry.id, problem)
        self._meter.add("spool_refused")
        for folder in self._folders:
            if folder.has(entry.id):
                await asyncio.to_thread(folder.set_aside, entry)

    async def _finish(self, entries: Sequence[SpoolEntry]) -> None:
        """Take entries out that need not wait any more, also if this task is ended meanwhile."""
        if entries:
            self._finishing = asyncio.create_task(self._take_out(entries), name="recollect-spooled")
            await asyncio.shield(self._finishing)

    async def _take_out(self, entries: Sequence[SpoolEntry]) -> None:
        async with self._writing:
            for entry in entries:
                self._remove(entry)
            await asyncio.to_thread(self._mark_done, [entry.id for entry in entries])
        async with self._changed:
            self._changed.notify_all()

    def _mark_done(self, ids: Sequence[str]) -> None:
        for folder in self._folders:
            mine = [entry_id for entry_id in ids if folder.has(entry_id)]
            if not mine:
                continue
            try:
                folder.done(mine)
                if folder.is_sparse:
                    folder.keep_only(self._waiting.values())
            except (OSError, StorageError) as problem:
                # They would be replayed once more after the next opening, and stored once.
                _log.warning("it cannot be noted in %s what is stored: %s", folder.path, problem)

    async def _adopt(self) -> None:
        async with self._writing:
            found = await asyncio.to_thread(self._adopted)
            if found:
                both = sorted([*self._waiting.values(), *found], key=lambda entry: entry.id)
                self._waiting.clear()
                self._queues.clear()
                self._add(both)
        for entry in found:
            self._remember_key(entry)

    def _adopted(self) -> list[SpoolEntry]:
        entries: list[SpoolEntry] = []
        mine = {folder.path for folder in self._folders}
        for path in folders_in(self._place):
            if path in mine or (folder := SpoolFolder.adopt(path)) is None:
                continue
            try:
                waiting = folder.load()
            except (OSError, ValueError, StorageError) as problem:
                folder.leave()
                _log.error("what waits in %s cannot be read, and stays there: %s", path, problem)
                continue
            if not waiting:
                folder.close()
                continue
            _log.warning("%d writes of an ended process wait in %s", len(waiting), path)
            self._folders.append(folder)
            self._own = self._own or folder
            entries += waiting
        return entries

    def _rewrite(self, entries: Collection[SpoolEntry]) -> None:
        for folder in self._folders:
            if folder.bytes and folder.is_there:
                folder.keep_only(entries)

    def _close_folders(self) -> None:
        for folder in self._folders:
            folder.close()
        self._folders.clear()


# What is refused once is refused always.
_REFUSALS: Final = (InvalidInput, NotAllowed, NotFound, Conflict)


def _is_for_now(problem: Exception) -> bool:
    """Return whether an error tells of the server or this process, not of what is stored."""
    if isinstance(problem, StorageBusy | Closed):
        return True
    return isinstance(problem, StorageError) and problem.code in OF_SERVER


def _is_forgotten(entry: SpoolEntry, forgotten: Forgotten) -> bool:
    scopes = {*entry.scopes, entry.caller.scope}
    return any(
        at >= entry.at and any(forgetting.tells_of(scope, entry.names) for scope in scopes)
        for at, forgetting in forgotten
    )


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
