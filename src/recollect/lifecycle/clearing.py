"""Hiding and removing records whose time is over, a few in one transaction, with an account."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.record import Record, Status, Tier
from recollect.domain.upkeep import Selection, SweepAction, SweepReason, Swept
from recollect.errors import Conflict, NotFound
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.ports.upkeep import UpkeepReader
from recollect.text.searchable import record_units

# Few enough that nobody who saves something has to wait for long.
_BATCH: Final = 20
_PAGE: Final = 200
_MOST_IDS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is done with records and why."""

    action: SweepAction
    why: SweepReason
    told: str

    @property
    def reason(self) -> str:
        """What the history says; health counts by how it begins."""
        return f"{self.why}: {self.told}"


class Account:
    """What a sweep has done so far, or would do; no record is dealt with twice in one sweep."""

    def __init__(self, *, by: str, is_dry_run: bool = False) -> None:
        self.by = by
        self.is_dry_run = is_dry_run
        self.archives = 0
        self._seen: set[str] = set()
        self._actions: Counter[SweepAction] = Counter()
        self._reasons: Counter[str] = Counter()
        self._categories: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._ids: defaultdict[str, list[str]] = defaultdict(list)

    def has(self, record_id: str) -> bool:
        return record_id in self._seen

    def add(self, records: Sequence[Record], step: Step) -> None:
        for record in records:
            self._seen.add(record.id)
            self._categories[record.category][step.action] += 1
            if len(self._ids[step.action]) < _MOST_IDS:
                self._ids[step.action].append(record.id)
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
        )


class Clearing:
    """Finds records and does one step with them; a kill in between loses nothing.

    Each batch is a transaction of its own and what is left over is found by the next sweep.
    """

    def __init__(self, store: Store, reader: UpkeepReader, clock: Clock) -> None:
        self._store = store
        self._reader = reader
        self._clock = clock

    async def batches(self, selection: Selection, account: Account) -> AsyncIterator[list[Record]]:
        """What the selection finds and this sweep has not dealt with yet."""
        after = ""
        while found := await self._reader.select(selection, after=after, limit=_PAGE):
            after = found[-1].id
            if fresh := [record for record in found if not account.has(record.id)]:
                yield fresh

    async def do(self, step: Step, records: Sequence[Record], account: Account) -> int:
        """Take the step with these records, unless it is a dry run, and count it; how many."""
        count = 0
        for start in range(0, len(records), _BATCH):
            batch = records[start : start + _BATCH]
            done = batch if account.is_dry_run else await self._done(step, batch, account.by)
            account.add(done, step)
            count += len(done)
        return count

    async def _done(self, step: Step, records: Sequence[Record], by: str) -> Sequence[Record]:
        """Those that the step was taken with.

        One that somebody changed or removed in between is left alone: the next sweep sees it anew.
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
        # Only what is deleted can be purged; that is the same transaction's business.
        hidden = [after(it, "delete", now) for it in records if it.status is not Status.DELETED]
        return replace(nothing_yet, records=_versions(hidden, step.reason), purged=tuple(records))
    changed = [after(record, step.action, now) for record in records]
    return replace(
        nothing_yet,
        records=_versions(changed, step.reason),
        units=tuple(record_units(it) for it in changed if step.action != "promote"),
    )


def _versions(records: Sequence[Record], reason: str) -> tuple[RecordChange, ...]:
    return tuple(RecordChange(record=record, reason=reason) for record in records)


def after(record: Record, action: SweepAction, now: datetime) -> Record:
    """The record's next version."""
    changed = record.evolve(version=record.version + 1, updated_at=now)
    match action:
        case "promote":
            return changed.evolve(tier=Tier.LONG, expires_at=None, status=Status.ACTIVE)
        case "expire":
            return changed.evolve(status=Status.EXPIRED)
        case "delete" | "purge":
            return changed.evolve(status=Status.DELETED)
