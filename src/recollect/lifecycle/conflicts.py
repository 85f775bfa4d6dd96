"""Records that contradict each other: shown side by side, and decided by somebody."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final, cast, get_args

from recollect.domain.category import is_user_profile
from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.conflict import Conflict, Resolution
from recollect.domain.fields import MAX_CONTENT, MAX_ITEMS, MAX_TITLE, checked_text
from recollect.domain.filters import Filter
from recollect.domain.record import Record, Status, Tier
from recollect.domain.scope import Caller
from recollect.domain.times import aware
from recollect.domain.upkeep import Dispute
from recollect.errors import Conflict as Contradiction
from recollect.errors import InvalidInput, NotFound, StaleVersion
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.ports.upkeep import UpkeepReader
from recollect.recall.meaning import Meaning
from recollect.text.searchable import is_searched_alike, record_units
from recollect.writing.reconcile import merge
from recollect.writing.redaction import Redactor
from recollect.writing.replacing import replacing
from recollect.writing.save import redacted_entry

_RESOLUTIONS: Final[tuple[str, ...]] = get_args(Resolution)
_ATTEMPTS: Final = 20


class Conflicts:
    """Lists what is in dispute and writes down what was decided, all of it or nothing."""

    def __init__(
        self,
        store: Store,
        reader: UpkeepReader,
        meaning: Meaning,
        redactor: Redactor,
        clock: Clock,
    ) -> None:
        self._store = store
        self._reader = reader
        self._meaning = meaning
        self._redactor = redactor
        self._clock = clock

    async def open(self, caller: Caller) -> tuple[Dispute, ...]:
        """What nobody has decided yet, the latest first."""
        return await self._with_records(caller, await self._reader.conflicts(caller.readable))

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
        """Decide a conflict; both records as they are then."""
        checked = _checked(resolution, content, at)
        for attempt in range(_ATTEMPTS):
            dispute = await self._undecided(caller, conflict_id)
            for record in (dispute.first, dispute.second):
                caller.require_write(record.scope, is_profile=is_user_profile(record.category))
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
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _undecided(self, caller: Caller, conflict_id: str) -> Dispute:
        checked_text(conflict_id, "id", MAX_TITLE, blank=True)
        found = await self._reader.conflicts(caller.readable, ids=[conflict_id])
        disputes = await self._with_records(caller, [it for it in found if it.is_open])
        if disputes:
            return disputes[0]
        if found:
            raise Contradiction(
                f"There is nothing left to decide in {conflict_id}",
                code="already_resolved",
                hint="It was resolved, or one of its records is no longer active.",
            )
        raise NotFound(
            f"There is no conflict {conflict_id!r} in {caller.scope.key}",
            hint="`conflicts` lists the open ones.",
        )

    async def _with_records(self, caller: Caller, conflicts: list[Conflict]) -> tuple[Dispute, ...]:
        """Those whose records are both active and may be seen."""
        ids = list(dict.fromkeys(one for it in conflicts for one in (it.first, it.second)))
        found = await self._store.records(caller.readable, Filter(), now=self._clock.now(), ids=ids)
        records = {record.id: record for record in found}
        return tuple(
            Dispute(conflict=it, first=records[it.first], second=records[it.second])
            for it in conflicts
            if it.first in records and it.second in records
        )

    async def _write(self, caller: Caller, before: Dispute, after: Dispute, reason: str) -> Dispute:
        # Only a merge says something new, and it is in the first.
        reason = self._redactor.note(reason)
        first, counts = self._redactor.kept(after.first, before.first)
        pairs = ((before.first, first), (before.second, after.second))
        changed = [record_units(new) for old, new in pairs if not is_searched_alike(old, new)]
        embedded = await self._meaning.of_units(changed)
        committed = await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                records=tuple(RecordChange(record=new, reason=reason) for _, new in pairs),
                units=embedded.owners,
                model=embedded.model,
                jobs=embedded.jobs,
                conflicts=(after.conflict,),
                audit=tuple(filter(None, [redacted_entry(first, counts)])),
            )
        )
        recorded = committed.recorded_at
        return replace(
            after,
            first=first.evolve(recorded_at=recorded),
            second=after.second.evolve(recorded_at=recorded),
        )


def _checked(resolution: str, content: str | None, at: datetime | None) -> Resolution:
    if resolution not in _RESOLUTIONS:
        raise InvalidInput(
            f"resolution {resolution!r} is none of: {', '.join(_RESOLUTIONS)}",
            code="unknown_value",
        )
    if content is not None:
        checked_text(content, "content", MAX_CONTENT)
        if resolution != "merge":
            raise InvalidInput("A content is given for a merge only", code="not_for_resolution")
    if at is not None:
        aware(at, "at")
        if resolution != "both_at_different_times":
            raise InvalidInput(
                "A time is given only where both are true at different times",
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
    """Both records as the decision leaves them, in their next versions and linked."""
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
    """A record that somebody says is true: a short-term one stays from now on."""
    is_short = record.tier is Tier.SHORT
    return record.evolve(
        last_confirmed=now,
        tier=Tier.LONG,
        expires_at=None if is_short else record.expires_at,
    )


def _merged(first: Record, second: Record, content: str | None) -> Record:
    """The first with what the second says, and with all that speaks for either."""
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
    """Each true in its own time: the earlier one until then, the later one from then on."""
    first_is_earlier = _began(first) <= _began(second)
    earlier, later = (first, second) if first_is_earlier else (second, first)
    if at is None and _began(earlier) == _began(later):
        raise InvalidInput(
            "Both were noticed at the same time, so nothing tells when one ended",
            code="split_time_needed",
            hint="Say at which time the second took the place of the first.",
        )
    split = aware(_began(later) if at is None else at, "at")
    starts_after = earlier.valid_from is not None and earlier.valid_from >= split
    ends_before = later.valid_to is not None and later.valid_to <= split
    if starts_after or ends_before:
        raise InvalidInput(
            f"At {split.isoformat()} the earlier one was not true yet or the later one no longer",
            code="bad_interval",
            hint="Choose a time within which both of them touch.",
        )
    ended = split if earlier.valid_to is None else min(earlier.valid_to, split)
    began = split if later.valid_from is None else max(later.valid_from, split)
    earlier, later = earlier.evolve(valid_to=ended), later.evolve(valid_from=began)
    return (earlier, later) if first_is_earlier else (later, earlier)


def _began(record: Record) -> datetime:
    """Since when it is true, as far as is known."""
    return record.valid_from or record.observed_at
