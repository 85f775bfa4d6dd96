"""Conflicts between records: list them and store the decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast, get_args

from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.fields import MAX_ITEMS, MAX_TITLE, checked_content, checked_text
from recollect.domain.filters import Filter
from recollect.domain.record import Record, Status, Tier, is_user_profile
from recollect.domain.relation import Conflict, Link, Resolution
from recollect.domain.scope import Caller, Scope
from recollect.domain.sharing import another_decision
from recollect.domain.times import aware
from recollect.domain.upkeep import Dispute
from recollect.embedding.service import EmbeddingService
from recollect.errors import Conflict as Contradiction
from recollect.errors import InvalidInput, NotFound, StaleVersion
from recollect.language.units import is_searched_alike, record_units
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.sharing.records import Parties
from recollect.writing.redaction import Redactor
from recollect.writing.saver import redacted_entry, replacing, restored
from recollect.writing.strategy import merge

if TYPE_CHECKING:
    from recollect.recall.conflicts import SqlConflicts

_RESOLUTIONS: Final[tuple[str, ...]] = get_args(Resolution)
_MAX_ATTEMPTS: Final = 20


@dataclass(eq=False)
class Conflicts:
    """Lists open conflicts and stores decisions in one transaction each."""

    _store: Store
    _rows: SqlConflicts
    _embedding: EmbeddingService
    _redactor: Redactor
    _clock: Clock
    _parties: Parties

    async def open(self, scopes: Sequence[Scope]) -> tuple[Dispute, ...]:
        """Return the open conflicts in these scopes, latest first."""
        return await self._with_records(scopes, await self._rows.find(scopes))

    async def resolve(
        self,
        caller: Caller,
        conflict_id: str,
        resolution: Resolution,
        *,
        content: str | None = None,
        at: datetime | None = None,
        reason: str = "",
    ) -> Dispute:
        """Resolve a conflict; return it with both records as they are then."""
        checked = _checked(resolution, content, at)
        for attempt in range(_MAX_ATTEMPTS):
            dispute = await self._undecided(caller, conflict_id)
            for record in (dispute.first, dispute.second):
                self._require_right(caller, record)
            now = self._clock.now()
            decided = replace(
                _decided(dispute, checked, content, at, now),
                conflict=replace(
                    dispute.conflict,
                    resolved_at=now,
                    resolved_by=caller.principal,
                    resolution=checked,
                ),
            )
            try:
                return await self._write(caller, dispute, decided, reason or _told(checked))
            except StaleVersion:
                if attempt == _MAX_ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def reopen(
        self, caller: Caller, conflict_id: str, resolved_at: datetime | None = None
    ) -> Dispute:
        """Take back the decision on a conflict: both records are as before, and it is open."""
        checked_text(conflict_id, "id", MAX_TITLE, blank=True)
        seen = None if resolved_at is None else aware(resolved_at, "resolved_at")
        for attempt in range(_MAX_ATTEMPTS):
            found = await self._rows.find(caller.readable, ids=[conflict_id])
            if not found:
                raise _unknown(conflict_id, caller)
            conflict = found[0]
            if conflict.is_open:
                raise Contradiction(
                    f"{conflict_id} is open; there is no decision to take back",
                    code="not_decided",
                    hint="Only what was resolved is reopened.",
                )
            if seen is not None and conflict.resolved_at != seen:
                raise another_decision(conflict_id, conflict.resolved_by)
            now = self._clock.now()
            first, second = [
                await self._undecided_version(caller, conflict, one, now)
                for one in (conflict.first, conflict.second)
            ]
            before = Dispute(conflict=conflict, first=first[0], second=second[0])
            waiting = replace(conflict, resolved_at=None, resolved_by=None, resolution=None)
            after = Dispute(conflict=waiting, first=first[1], second=second[1])
            try:
                return await self._write(caller, before, after, f"{conflict_id} was reopened")
            except StaleVersion:
                if attempt == _MAX_ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _undecided_version(
        self, caller: Caller, conflict: Conflict, record_id: str, now: datetime
    ) -> tuple[Record, Record]:
        """Return a record as it is, and as it is once the decision on it is taken back."""
        history = await self._store.history(caller.readable, record_id)
        if len(history) < 2 or history[-1].record.updated_at != conflict.resolved_at:
            raise Contradiction(
                f"{record_id} was changed since {conflict.id} was resolved; nothing was taken back",
                code="changed_since",
                hint="Its history shows what was changed; edit or undo it instead.",
            )
        current = history[-1].record
        self._require_right(caller, current)
        return current, restored(history[-2].record, current, now)

    def _require_right(self, caller: Caller, record: Record) -> None:
        """Raise `NotAllowed` unless the caller may decide about a record."""
        if record.scope.is_shared:
            self._parties.require_coordinator(caller)
        else:
            caller.require_write(record.scope, is_profile=is_user_profile(record.category))

    async def _undecided(self, caller: Caller, conflict_id: str) -> Dispute:
        checked_text(conflict_id, "id", MAX_TITLE, blank=True)
        found = await self._rows.find(caller.readable, ids=[conflict_id])
        disputes = await self._with_records(
            caller.readable, [conflict for conflict in found if conflict.is_open]
        )
        if disputes:
            return disputes[0]
        if found:
            raise Contradiction(
                f"{conflict_id} has nothing left to resolve",
                code="already_resolved",
                hint="It was resolved, or one of its records is no longer active.",
            )
        raise _unknown(conflict_id, caller)

    async def _with_records(
        self, scopes: Sequence[Scope], conflicts: list[Conflict]
    ) -> tuple[Dispute, ...]:
        """Return the conflicts whose records are both active and readable."""
        ids = list(
            dict.fromkeys(
                one for conflict in conflicts for one in (conflict.first, conflict.second)
            )
        )
        found = await self._store.records(scopes, Filter(), now=self._clock.now(), ids=ids)
        records = {record.id: record for record in found}
        return tuple(
            Dispute(
                conflict=conflict, first=records[conflict.first], second=records[conflict.second]
            )
            for conflict in conflicts
            if conflict.first in records and conflict.second in records
        )

    async def _write(self, caller: Caller, before: Dispute, after: Dispute, reason: str) -> Dispute:
        # Only a merge creates new content, which is in the first record.
        reason = self._redactor.note(reason)
        first, counts = self._redactor.kept(after.first, before.first)
        pairs = ((before.first, first), (before.second, after.second))
        changed = [record_units(new) for old, new in pairs if not is_searched_alike(old, new)]
        embedded = await self._embedding.of_units(changed)
        links = await self._store.links(caller.readable, [first.id])
        decided = tuple(link for link in links if after.second.id in link.ends)
        committed = await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                records=tuple(RecordChange(record=new, reason=reason) for _, new in pairs),
                units=embedded.owners,
                model=embedded.model,
                jobs=embedded.jobs,
                conflicts=(after.conflict,),
                removed_links=decided,
                links=_later_link(caller, after),
                audit=tuple(filter(None, [redacted_entry(first, counts)])),
            )
        )
        recorded = committed.recorded_at
        return replace(
            after,
            first=first.evolve(recorded_at=recorded),
            second=after.second.evolve(recorded_at=recorded),
        )


def _unknown(conflict_id: str, caller: Caller) -> NotFound:
    return NotFound(
        f"There is no conflict {conflict_id!r} in {caller.scope.key}",
        hint="`conflicts` lists the open ones.",
    )


def _later_link(caller: Caller, decided: Dispute) -> tuple[Link, ...]:
    """Return the link that orders two records that were true at different times."""
    conflict = decided.conflict
    if conflict.resolution != "both_at_different_times" or conflict.resolved_at is None:
        return ()
    older, newer = sorted((decided.first, decided.second), key=_began)
    link = Link(
        scope=newer.scope,
        newer=newer.id,
        older=older.id,
        relation="update",
        probability=1.0,
        reason="both were true, each in its time",
        decided_by=caller.principal,
        at=conflict.resolved_at,
    )
    return (link,)


def _checked(resolution: str, content: str | None, at: datetime | None) -> Resolution:
    if resolution not in _RESOLUTIONS:
        raise InvalidInput(
            f"resolution {resolution!r} is not one of: {', '.join(_RESOLUTIONS)}",
            code="unknown_value",
        )
    if content is not None:
        checked_content(content)
        if resolution != "merge":
            raise InvalidInput("content is for a merge only", code="not_for_resolution")
    if at is not None:
        aware(at, "at")
        if resolution != "both_at_different_times":
            raise InvalidInput(
                "at is only for records that are true at different times",
                code="not_for_resolution",
            )
    return cast("Resolution", resolution)


def _told(resolution: Resolution) -> str:
    return f"conflict resolved: {resolution.replace('_', ' ')}"


def _decided(
    dispute: Dispute,
    resolution: Resolution,
    content: str | None,
    at: datetime | None,
    now: datetime,
) -> Dispute:
    """Return the next versions of both records after the decision, linked to each other."""
    first = _linked(dispute.first, dispute.second, now)
    second = _linked(dispute.second, dispute.first, now)
    match resolution:
        case "keep_first":
            first = _confirmed(replacing(first, second.evidence, first.evidence), now)
            second = second.evolve(status=Status.SUPERSEDED)
        case "keep_second":
            first = first.evolve(status=Status.SUPERSEDED)
            second = _confirmed(replacing(second, first.evidence, second.evidence), now)
        case "merge":
            first = _merged(_confirmed(first, now), second, content)
            second = second.evolve(status=Status.SUPERSEDED)
        case "both_at_different_times":
            first, second = _one_after_the_other(
                _confirmed(first, now), _confirmed(second, now), at
            )
    return replace(dispute, first=first, second=second)


def _linked(record: Record, other: Record, now: datetime) -> Record:
    related = tuple(dict.fromkeys((*record.related, other.id)))[-MAX_ITEMS:]
    return record.evolve(related=related, updated_at=now, version=record.version + 1)


def _confirmed(record: Record, now: datetime) -> Record:
    """Return the record as confirmed; a short-term one becomes permanent."""
    is_short = record.tier is Tier.SHORT
    return record.evolve(
        last_confirmed=now,
        tier=Tier.LONG,
        expires_at=None if is_short else record.expires_at,
    )


def _merged(first: Record, second: Record, content: str | None) -> Record:
    """Return the first record with the content and evidence of both."""
    both = (first, second)
    return first.evolve(
        content=merge("summarise", first.content, second.content) if content is None else content,
        tags=tuple(dict.fromkeys((*first.tags, *second.tags)))[:MAX_ITEMS],
        confidence=max(record.confidence for record in both),
        importance=max(record.importance for record in both),
        evidence=tuple(dict.fromkeys((*first.evidence, *second.evidence)))[:MAX_ITEMS],
        evidence_count=first.evidence_count + second.evidence_count,
    )


def _one_after_the_other(
    first: Record, second: Record, at: datetime | None
) -> tuple[Record, Record]:
    """Return both records, the earlier one valid until a time, the later one from then on."""
    first_is_earlier = _began(first) <= _began(second)
    earlier, later = (first, second) if first_is_earlier else (second, first)
    if at is None and _began(earlier) == _began(later):
        raise InvalidInput(
            "Both were noticed at the same time, so it is unknown when one ended",
            code="split_time_needed",
            hint="Say when the second replaced the first.",
        )
    split = aware(_began(later) if at is None else at, "at")
    starts_after = earlier.valid_from is not None and earlier.valid_from >= split
    ends_before = later.valid_to is not None and later.valid_to <= split
    if starts_after or ends_before:
        raise InvalidInput(
            f"At {split.isoformat()} the earlier one was not true yet or the later one no longer",
            code="bad_interval",
            hint="Choose a time at which the earlier one ends and the later one starts.",
        )
    ended = split if earlier.valid_to is None else min(earlier.valid_to, split)
    began = split if later.valid_from is None else max(later.valid_from, split)
    earlier, later = earlier.evolve(valid_to=ended), later.evolve(valid_from=began)
    return (earlier, later) if first_is_earlier else (later, earlier)


def _began(record: Record) -> datetime:
    """Return since when a record is true, as far as is known."""
    return record.valid_from or record.observed_at
