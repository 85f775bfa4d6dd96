"""Sweeps: expire, delete and limit records and archives, and delete unused blobs and state.

A record expires at `expires_at`. `valid_to` is different: what was once true is still
remembered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from recollect.context.archives.vault import Retention
from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.filters import Filter
from recollect.domain.job import Job, NewJob
from recollect.domain.record import Record, Status, Tier
from recollect.domain.scope import Caller, Scope
from recollect.domain.sections import BufferSettings, LifecycleSettings, RetentionRuleSettings
from recollect.domain.times import shifted
from recollect.domain.upkeep import (
    RetentionAction,
    Selection,
    SweepAction,
    SweepReason,
    Swept,
    SweptRecord,
    Worth,
)
from recollect.errors import Conflict, NotFound, RecollectError
from recollect.language.units import record_units
from recollect.ports.jobs import Jobs
from recollect.ports.runtime import Clock
from recollect.ports.state import State
from recollect.ports.store import Store

if TYPE_CHECKING:
    from recollect.retention.rows import SqlRetention

# Few enough that saves do not have to wait for long.
_BATCH_RECORDS: Final = 20
_PAGE_RECORDS: Final = 200
_MAX_LISTED_IDS: Final = 1_000
_MAX_NAME_CHARS: Final = 80
# The statuses that each action applies to.
_CONCERNED: Final[Mapping[RetentionAction, frozenset[Status]]] = {
    "expire": frozenset({Status.ACTIVE, Status.QUARANTINED}),
    "delete": frozenset(Status) - {Status.DELETED},
    "purge": frozenset(Status),
}
_DAY: Final = timedelta(days=1)
_STEP_RECORDS: Final = 200
_log = logging.getLogger(__name__)
SWEEPER: Final = "sweep"
Chore = Callable[[], Awaitable[object]]
SWEEP: Final = "sweep"
# A program that runs only for a moment does not sweep; the end of a session queues one too.
_FIRST_AFTER_SECONDS: Final = 60.0
_INTERVAL_SECONDS: Final = 6 * 60 * 60.0
# A sweep reads everything, so sessions that end within this time share one.
_NOT_WITHIN: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What to do with records, and why."""

    action: SweepAction
    why: SweepReason
    told: str

    @property
    def reason(self) -> str:
        """Return the reason for the history; health counts by its first word."""
        return f"{self.why}: {self.told}"


class SweepAccount:
    """What a sweep has done or would do; it handles no record twice."""

    def __init__(self, *, by: str, is_dry_run: bool = False) -> None:
        self.by = by
        self.is_dry_run = is_dry_run
        self.archives = 0
        self._seen: set[str] = set()
        self._actions: Counter[SweepAction] = Counter()
        self._reasons: Counter[str] = Counter()
        self._categories: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._ids: defaultdict[str, list[str]] = defaultdict(list)
        self._named: list[SweptRecord] = []

    def has(self, record_id: str) -> bool:
        return record_id in self._seen

    def add(self, records: Sequence[Record], step: Step) -> None:
        for record in records:
            self._seen.add(record.id)
            self._categories[record.category][step.action] += 1
            if len(self._ids[step.action]) < _MAX_LISTED_IDS:
                self._ids[step.action].append(record.id)
                self._named.append(_named(record, step))
        self._actions[step.action] += len(records)
        self._reasons[step.why] += len(records)

    def told(self) -> Swept:
        return Swept(
            is_dry_run=self.is_dry_run,
            promoted=self._actions["promote"],
            expired=self._actions["expire"],
            deleted=self._actions["delete"],
            purged=self._actions["purge"],
            archives=self.archives,
            by_category={name: dict(counts) for name, counts in sorted(self._categories.items())},
            by_reason={why: count for why, count in self._reasons.items() if count},
            ids={action: tuple(ids) for action, ids in self._ids.items()},
            named=tuple(self._named),
        )


def _named(record: Record, step: Step) -> SweptRecord:
    return SweptRecord(
        id=record.id,
        title=record.title or " ".join(record.content.split())[:_MAX_NAME_CHARS],
        category=record.category,
        action=step.action,
        reason=step.why,
    )


class SweepRunner:
    """Selects records and takes one step with them; a kill in between loses nothing.

    Each batch is a transaction, and the next sweep finds what is left.
    """

    def __init__(self, store: Store, reader: SqlRetention, clock: Clock) -> None:
        self._store = store
        self._reader = reader
        self._clock = clock

    async def batches(
        self, selection: Selection, account: SweepAccount
    ) -> AsyncIterator[list[Record]]:
        """Yield the selected records that this sweep has not handled yet."""
        after = ""
        while found := await self._reader.select(selection, after=after, limit=_PAGE_RECORDS):
            after = found[-1].id
            if fresh := [record for record in found if not account.has(record.id)]:
                yield fresh

    async def do(self, step: Step, records: Sequence[Record], account: SweepAccount) -> int:
        """Take the step with these records, unless it is a dry run; return how many."""
        count = 0
        for start in range(0, len(records), _BATCH_RECORDS):
            batch = records[start : start + _BATCH_RECORDS]
            done = batch if account.is_dry_run else await self._done(step, batch, account.by)
            account.add(done, step)
            count += len(done)
        return count

    async def _done(self, step: Step, records: Sequence[Record], by: str) -> Sequence[Record]:
        """Return the records that the step was taken with.

        A record that was changed or removed in between is left to the next sweep.
        """
        try:
            await self._store.commit(_changes(step, records, by, self._clock.now()))
        except (Conflict, NotFound):
            if len(records) == 1:
                return ()
            return [one for record in records for one in await self._done(step, [record], by)]
        return records


def _changes(step: Step, records: Sequence[Record], by: str, now: datetime) -> ChangeSet:
    nothing_yet = ChangeSet(principal=by, scope=records[0].scope)
    if step.action == "purge":
        # Only a deleted record can be purged, so delete it in the same transaction.
        hidden = [
            after(record, "delete", now)
            for record in records
            if record.status is not Status.DELETED
        ]
        return replace(nothing_yet, records=_versions(hidden, step.reason), purged=tuple(records))
    changed = [after(record, step.action, now) for record in records]
    return replace(
        nothing_yet,
        records=_versions(changed, step.reason),
        units=tuple(record_units(record) for record in changed if step.action != "promote"),
    )


def _versions(records: Sequence[Record], reason: str) -> tuple[RecordChange, ...]:
    return tuple(RecordChange(record=record, reason=reason) for record in records)


def after(record: Record, action: SweepAction, now: datetime) -> Record:
    """Return the next version of a record after an action."""
    changed = record.evolve(version=record.version + 1, updated_at=now)
    match action:
        case "promote":
            return changed.evolve(tier=Tier.LONG, expires_at=None, status=Status.ACTIVE)
        case "expire":
            return changed.evolve(status=Status.EXPIRED)
        case "delete" | "purge":
            return changed.evolve(status=Status.DELETED)


PROMOTE: Final = Step(action="promote", why="recalled", told="often enough to stay")
_UNREAD: Final = Step(action="purge", why="unread", told="its time is over and nobody read it")
_EXPIRE: Final = Step(action="expire", why="time", told="its time is over")
_PURGE: Final = Step(action="purge", why="grace", told="it expired long ago")


class Expiry:
    """Handles records whose time is over."""

    def __init__(
        self,
        clearing: SweepRunner,
        clock: Clock,
        buffer: BufferSettings,
        lifecycle: LifecycleSettings,
    ) -> None:
        self._clearing = clearing
        self._clock = clock
        self._promote_at = buffer.promote_at
        self._purge_after = timedelta(days=lifecycle.purge_after_days)

    async def sweep(self, scopes: Sequence[Scope] | None, account: SweepAccount) -> None:
        """Hide or remove expired records in these scopes, or everywhere if None."""
        wanted = None if scopes is None else tuple(scopes)
        now = self._clock.now()
        outdated = Selection(scopes=wanted, expires_by=now)
        async for batch in self._clearing.batches(outdated, account):
            for step in (PROMOTE, _UNREAD, _EXPIRE):
                concerned = [record for record in batch if self._step(record) is step]
                await self._clearing.do(step, concerned, account)
        long_expired = Selection(
            scopes=wanted,
            statuses=frozenset({Status.EXPIRED}),
            untouched_since=shifted(now, -self._purge_after),
        )
        async for batch in self._clearing.batches(long_expired, account):
            await self._clearing.do(_PURGE, batch, account)

    def _step(self, record: Record) -> Step:
        if record.tier is Tier.LONG:
            return _EXPIRE
        if record.access_count >= self._promote_at:
            # It was recalled often enough, but a killed process did not promote it.
            return PROMOTE
        return _EXPIRE if record.access_count else _UNREAD


class RetentionRules:
    """Applies the rules in order; the first one that matches handles a record."""

    def __init__(
        self, clearing: SweepRunner, clock: Clock, rules: Sequence[RetentionRuleSettings]
    ) -> None:
        self._clearing = clearing
        self._clock = clock
        self._rules = tuple(rules)

    async def sweep(self, scopes: Sequence[Scope] | None, account: SweepAccount) -> None:
        """Apply the rules to these scopes, or everywhere if None."""
        for rule in self._rules:
            await self._apply(rule, None if scopes is None else tuple(scopes), account)

    async def _apply(
        self, rule: RetentionRuleSettings, scopes: tuple[Scope, ...] | None, account: SweepAccount
    ) -> None:
        selection = Selection(
            scopes=scopes,
            statuses=_CONCERNED[rule.action],
            kind=rule.kind,
            category=rule.category,
            org=rule.org,
            workspace=rule.workspace,
            agent=rule.agent,
            user=rule.user,
            untouched_since=shifted(self._clock.now(), -timedelta(days=rule.older_than_days)),
        )
        step = Step(action=rule.action, why="retention", told=told(rule))
        async for batch in self._clearing.batches(selection, account):
            await self._clearing.do(step, batch, account)


def told(rule: RetentionRuleSettings) -> str:
    """Describe the rule for the history of the records."""
    conditions = [
        f"{field.name} {value}"
        for field in fields(rule)
        if field.name not in ("older_than_days", "action") and (value := getattr(rule, field.name))
    ]
    return f"untouched for {rule.older_than_days:g} days" + "".join(
        f", {condition}" for condition in conditions
    )


class Capacity:
    """Keeps every scope within its capacity and logs what it removes."""

    def __init__(
        self,
        store: Store,
        reader: SqlRetention,
        clearing: SweepRunner,
        clock: Clock,
        lifecycle: LifecycleSettings,
        decay_lambda: float,
    ) -> None:
        self._store = store
        self._reader = reader
        self._clearing = clearing
        self._clock = clock
        self._decay_lambda = decay_lambda
        # How many active records a scope may hold.
        self.records = lifecycle.capacity

    async def sweep(self, scopes: Sequence[Scope] | None, account: SweepAccount) -> None:
        """Expire the least valuable records of scopes over capacity; `undo` restores them."""
        most = self.records
        if most is None:
            return
        now = self._clock.now()
        for scope in await self._reader.crowded(scopes, most, now=now):
            held = [
                worth
                for worth in await self._reader.worths(scope, now=now)
                if not account.has(worth.id)
            ]
            going = self.least_valuable(held, len(held) - most, now)
            if going:
                await self._let_go(scope, going, account)

    def least_valuable(self, held: Sequence[Worth], count: int, now: datetime) -> list[str]:
        """Return the ids of the least valuable records, the oldest of equal ones first."""
        ordered = sorted(
            held, key=lambda worth: (value_of(worth, now, self._decay_lambda), worth.id)
        )
        return [worth.id for worth in ordered[: max(count, 0)]]

    async def _let_go(self, scope: Scope, ids: list[str], account: SweepAccount) -> None:
        step = Step(
            action="expire",
            why="capacity",
            told=f"the scope holds more than {self.records} records",
        )
        count = 0
        for start in range(0, len(ids), _STEP_RECORDS):
            records = await self._store.records(
                [scope], Filter(), now=self._clock.now(), ids=ids[start : start + _STEP_RECORDS]
            )
            count += await self._clearing.do(step, records, account)
        if count and not account.is_dry_run:
            _log.warning(
                "%s is over its capacity of %d records: the %d least valuable have expired; "
                "undo brings them back",
                scope.key,
                self.records,
                count,
            )


def value_of(worth: Worth, now: datetime, decay_lambda: float) -> float:
    """Return (importance + use) · confidence · e^(−λ·age in days).

    The age counts from the last change, confirmation or recall.
    """
    balance = max(worth.uses - worth.rejected, 0)
    use = balance / (balance + 1)
    age = max((now - worth.last_touched) / _DAY, 0.0)
    return (worth.importance + use) * worth.confidence * math.exp(-decay_lambda * age)


@dataclass(eq=False)
class RecordSweep:
    """Sweeps the scopes that a caller may write to, or as a job all scopes."""

    _expiry: Expiry
    _rules: RetentionRules
    _capacity: Capacity
    _archives: Retention
    _settle: Callable[[], Awaitable[None]]

    async def everything(self, *, dry_run: bool = False, by: str = SWEEPER) -> Swept:
        """Sweep the records of all scopes."""
        return await self._sweep(None, SweepAccount(by=by, is_dry_run=dry_run))

    async def of(self, caller: Caller, *, dry_run: bool = False) -> Swept:
        """Sweep the records and archives that the caller may write to."""
        account = SweepAccount(by=caller.principal, is_dry_run=dry_run)
        for scope in caller.writable:
            swept = await self._archives.sweep(scope, dry_run=dry_run)
            account.archives += len(swept.archives)
        return await self._sweep(caller.writable, account)

    async def expire(self, caller: Caller, *, dry_run: bool = False) -> Swept:
        """Only expire records."""
        account = SweepAccount(by=caller.principal, is_dry_run=dry_run)
        await self._settle()
        await self._expiry.sweep(caller.writable, account)
        return account.told()

    async def retain(self, caller: Caller, *, dry_run: bool = False) -> Swept:
        """Only apply the retention rules."""
        account = SweepAccount(by=caller.principal, is_dry_run=dry_run)
        await self._rules.sweep(caller.writable, account)
        return account.told()

    async def _sweep(self, scopes: Sequence[Scope] | None, account: SweepAccount) -> Swept:
        # Write pending counts first, so that what was just recalled does not count as unread.
        await self._settle()
        await self._expiry.sweep(scopes, account)
        await self._rules.sweep(scopes, account)
        await self._capacity.sweep(scopes, account)
        swept = account.told()
        if swept.records:
            _log.info(
                "%s: %d records promoted, %d expired, %d deleted, %d purged (%s)",
                "a sweep would change" if swept.is_dry_run else "swept",
                swept.promoted,
                swept.expired,
                swept.deleted,
                swept.purged,
                ", ".join(f"{why} {count}" for why, count in swept.by_reason.items()),
            )
        return swept


@dataclass(eq=False)
class Sweeper:
    """Schedules sweeps; one of all open memories runs each of them as a job."""

    _retention: Retention
    _state: State
    _jobs: Jobs
    _clock: Clock
    _chores: list[Chore] = field(default_factory=list["Chore"], init=False)
    _asked_at: datetime | None = field(default=None, init=False)
    _loop: asyncio.Task[None] | None = field(default=None, init=False)

    def also(self, chore: Chore) -> None:
        """Add a chore to every sweep."""
        self._chores.append(chore)

    async def run(self, job: Job) -> None:
        """Run the job."""
        removed = await self._retention.sweep_all()
        expired = await self._state.sweep()
        _log.info("swept: %d archives, %d values of sessions", removed, expired)
        for chore in self._chores:
            await chore()

    async def schedule(self) -> None:
        """Queue a sweep, unless one was queued recently."""
        now = self._clock.now()
        if self._asked_at is None or now - self._asked_at >= _NOT_WITHIN:
            self._asked_at = now
            await self._jobs.add([NewJob(kind=SWEEP, key=SWEEP)])

    def start(self) -> None:
        """Schedule sweeps periodically until `stop`."""
        self._loop = asyncio.create_task(self._ask_forever(), name="recollect-sweeper")

    async def stop(self) -> None:
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
            self._loop = None

    async def _ask_forever(self) -> None:
        await asyncio.sleep(_FIRST_AFTER_SECONDS)
        while True:
            try:
                await self.schedule()
            except RecollectError as problem:
                _log.warning("a sweep is postponed: %s", problem)
            await asyncio.sleep(_INTERVAL_SECONDS)
