"""The way of a memory into the store: route, redact, extract, ground, reconcile, store, audit.

Each step is a module of its own whose result stands in the trace. What one call writes, with its
traces and its audit entries, is one transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Unpack, cast
from weakref import WeakValueDictionary

from recollect.domain.change import ChangeSet, Committed
from recollect.domain.extraction import Claim
from recollect.domain.fields import RecordFields
from recollect.domain.filters import Filter
from recollect.domain.record import Record, Status, Tier
from recollect.domain.route import WritePolicy
from recollect.domain.scope import Caller, Scope
from recollect.domain.turn import Turn
from recollect.domain.write import Watermark, Written
from recollect.errors import NotFound, StaleVersion
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.ports.writes import Writes
from recollect.recall.meaning import Embedded, Meaning
from recollect.text.searchable import record_units
from recollect.writing.analysed import units_of
from recollect.writing.batch import Batch, Incoming
from recollect.writing.candidates import Candidate, Candidates, compared_scopes
from recollect.writing.drafting import Namespace
from recollect.writing.intake import Extracted, Intake
from recollect.writing.outcome import Decision, confirmed, decide, outdated, renewed
from recollect.writing.save import idempotency
from recollect.writing.strategy import Merger, strategy_of

_ATTEMPTS: Final = 20
# So often it is tried again because of anything new in the scope; then only of the same record.
_CAREFUL: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileOptions:
    """How new records are compared with stored ones."""

    is_on: bool = True
    threshold: float = 0.5
    """Less alike than this nothing is a duplicate, whatever else speaks for it."""


class WritePipeline:
    """Writes what is to be remembered, each thing once."""

    def __init__(
        self,
        store: Store,
        writes: Writes,
        meaning: Meaning,
        clock: Clock,
        intake: Intake,
        candidates: Candidates,
        merger: Merger,
        options: ReconcileOptions,
    ) -> None:
        self._store = store
        self._writes = writes
        self._meaning = meaning
        self._clock = clock
        self._intake = intake
        self._candidates = candidates
        self._merger = merger
        self._options = options
        # Within this process those who write for one user wait for each other; another process is
        # noticed by the versions of the scopes.
        self._writing: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()

    async def write(
        self,
        caller: Caller,
        content: str,
        *,
        namespace: Namespace | None = None,
        explicit: bool = True,
        idempotency_key: str | None = None,
        **fields: Unpack[RecordFields],
    ) -> Written:
        """Remember a claim as it is said: kept for good, or in the buffer when not explicit."""
        incoming = await self._intake.of_call(caller, content, namespace, explicit, fields)
        said = incoming.record.content if incoming.record else ""
        body = {"write": said, "namespace": namespace, "explicit": explicit, **fields}
        return await self._write_once(caller, incoming, idempotency_key, body)

    async def take(
        self,
        caller: Caller,
        claims: Sequence[Claim],
        turns: Sequence[Turn],
        extracted: Extracted,
        *,
        policy: WritePolicy | None = None,
        watermark: Watermark | None = None,
    ) -> tuple[Written, ...]:
        """Remember what was found in turns, and that they were read, together or not at all."""
        incoming = self._intake.of_claims(caller, claims, turns, extracted, policy)
        marks = () if watermark is None else (watermark,)
        if not incoming and not marks:
            return ()
        batch, _ = await self._commit(caller, incoming, watermarks=marks)
        return tuple(batch.written)

    async def _write_once(
        self, caller: Caller, incoming: Incoming, key: str | None, body: Mapping[str, Any]
    ) -> Written:
        batch, committed = await self._commit(caller, [incoming], key=key, body=body)
        if committed.replayed is None:
            return batch.written[0]
        before = committed.replayed
        found = await self._store.records(
            caller.readable,
            Filter(statuses=frozenset(Status)),
            now=self._clock.now(),
            ids=[before["record"]] if before["record"] else [],
        )
        return Written(
            write_id=cast("str", before["write"]),
            status=before["status"],
            record=found[0] if found else None,
            reason=cast("str", before["reason"]),
            # Answers that were kept by an earlier release do not have it.
            conflict=before.get("conflict"),
        )

    async def _commit(
        self,
        caller: Caller,
        incoming: Sequence[Incoming],
        *,
        watermarks: tuple[Watermark, ...] = (),
        key: str | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> tuple[Batch, Committed]:
        """Judge and write; again when somebody changed what was judged in between."""
        async with self._writing.setdefault(caller.scope.of_user, asyncio.Lock()):
            embedded = await self._embedded(incoming)
            for attempt in range(_ATTEMPTS):
                expected = await self._standing(caller, incoming) if attempt < _CAREFUL else {}
                batch = await self._judged(caller, incoming, embedded)
                units = await self._units(batch)
                once = idempotency(key, body or {}, _result(batch)) if key is not None else None
                changes = ChangeSet(
                    principal=caller.principal,
                    scope=caller.scope,
                    records=tuple(batch.changes),
                    units=units.owners,
                    model=units.model,
                    jobs=units.jobs,
                    conflicts=tuple(batch.conflicts),
                    traces=tuple(batch.traces),
                    watermarks=watermarks,
                    audit=tuple(batch.audit),
                    expected=expected,
                    idempotency=once,
                )
                try:
                    committed = await self._store.commit(changes)
                except (StaleVersion, NotFound):
                    if attempt == _ATTEMPTS - 1 or await self._were_read(watermarks):
                        raise
                    continue
                batch.written = [_as_stored(it, batch, committed) for it in batch.written]
                return batch, committed
        raise AssertionError("the last attempt returns or raises")

    async def _standing(self, caller: Caller, incoming: Sequence[Incoming]) -> dict[Scope, int]:
        """How far the scopes are that are judged now; another process may write there too."""
        targets = {it.scope for it in incoming if it.record is not None and it.is_grounded}
        scopes = list(dict.fromkeys(it for one in targets for it in compared_scopes(caller, one)))
        versions = await self._store.versions(scopes) if scopes and self._options.is_on else ()
        return dict(zip(scopes, versions, strict=False))

    async def _were_read(self, watermarks: Sequence[Watermark]) -> bool:
        """Whether somebody else has read the same turns: then there is nothing left to write."""
        marks = [await self._writes.watermark(it.scope, it.session) for it in watermarks]
        return marks != [it.before for it in watermarks]

    async def _embedded(self, incoming: Sequence[Incoming]) -> Embedded:
        new = [it.record for it in incoming if it.record is not None]
        return await self._meaning.of_units(await units_of(record_units, new))

    async def _judged(
        self, caller: Caller, incoming: Sequence[Incoming], embedded: Embedded
    ) -> Batch:
        """What becomes of each, one after the other: a later one may change an earlier one."""
        new = {it.record.id: it.record for it in incoming if it.record is not None}
        batch = Batch(now=self._clock.now(), units=embedded, searched=new)
        stored = await self._stored(caller, incoming, batch)
        for it in incoming:
            if it.record is None:
                batch.tell(it, "skipped", None, it.refusal, {})
            elif not it.is_grounded:
                batch.put(it.record, "not supported by its source")
                batch.tell(it, "quarantined", it.record, it.refusal, {})
            else:
                among = batch.beside(it.record, stored[it.record.id]) if stored else ()
                decision = decide(
                    it.record,
                    it.said_at,
                    among,
                    self._options.threshold,
                    corrects=it.corrects,
                    about=it.about,
                    ends_facts=it.ends_facts,
                )
                await self._apply(batch, it, it.record, decision)
        return batch

    async def _stored(
        self, caller: Caller, incoming: Sequence[Incoming], batch: Batch
    ) -> dict[str, list[Candidate]]:
        """What is stored that each may concern; empty where nothing is compared."""
        judged = [it.record for it in incoming if it.record is not None and it.is_grounded]
        if not judged or not self._options.is_on:
            return {}
        units = {owner.owner_id: owner for owner in batch.units.owners}
        return await self._candidates.of(caller, judged, units, batch.units.model, batch.now)

    async def _apply(
        self, batch: Batch, incoming: Incoming, new: Record, decision: Decision
    ) -> None:
        judgement, old = decision.judgement, decision.old
        told: dict[str, Any] = {
            "relation": judgement.relation,
            "reason": judgement.reason,
            "similarity": round(judgement.similarity, 3),
        }
        if old is not None:
            told |= {"with": old.id, "stands": judgement.stands}
        if old is not None and decision.is_known:
            batch.tell(incoming, "skipped", old, "these words were taken before", told)
        elif old is not None and judgement.relation == "same":
            again = confirmed(old, new, incoming.said_at, batch.now)
            batch.put(again, "said again", before=old)
            batch.tell(incoming, "merged", batch.records[old.id], judgement.reason, told)
        elif old is not None and judgement.relation == "update":
            await self._update(batch, incoming, new, old, decision, told)
        else:
            self._add(batch, incoming, new, decision, told)

    async def _update(
        self,
        batch: Batch,
        incoming: Incoming,
        new: Record,
        old: Record,
        decision: Decision,
        told: dict[str, Any],
    ) -> None:
        reason = decision.judgement.reason
        if decision.judgement.stands == "old":
            batch.put(outdated(new, old, incoming.said_at), reason)
            batch.tell(incoming, "versioned", old, reason, told)
            return
        strategy = strategy_of(new, old)
        merged = await self._merger.merge(strategy, old.content, new.content)
        told |= {"strategy": strategy, "merged_by": merged.by, "degraded": merged.degraded}
        after = renewed(old, new, merged.text, strategy, incoming.said_at, batch.now)
        batch.put(after, reason, before=old)
        batch.tell(incoming, "versioned", after, reason, told)

    def _add(
        self,
        batch: Batch,
        incoming: Incoming,
        new: Record,
        decision: Decision,
        told: dict[str, Any],
    ) -> None:
        old, reason = decision.old, decision.judgement.reason
        if old is not None and decision.relation == "conflict":
            new = new.evolve(related=tuple(dict.fromkeys((*new.related, old.id))))
            batch.put(new, reason)
            conflict = batch.dispute(old, new, reason)
        else:
            batch.put(new, "")
            conflict = None
        status = "buffered" if new.tier is Tier.SHORT else "created"
        batch.tell(incoming, status, new, reason, told, conflict=conflict)

    async def _units(self, batch: Batch) -> Embedded:
        """The units of what is new, and of what is found by other words than before."""
        other = [it for it in batch.records.values() if not batch.is_searched_as_before(it)]
        more = await self._meaning.of_units(await units_of(record_units, other))
        added = batch.records.keys() - {it.id for it in other}
        return Embedded(
            owners=(*(it for it in batch.units.owners if it.owner_id in added), *more.owners),
            model=more.model or batch.units.model,
            jobs=(*batch.units.jobs, *more.jobs),
        )


def _result(batch: Batch) -> Mapping[str, Any]:
    written = batch.written[0]
    return {
        "write": written.write_id,
        "status": written.status,
        "record": written.record and written.record.id,
        "reason": written.reason,
        "conflict": written.conflict,
    }


def _as_stored(written: Written, batch: Batch, committed: Committed) -> Written:
    """What a write made, though a later one of the same batch may have changed it again."""
    record = written.record
    if record is None or record.id not in batch.records:
        return written
    return replace(written, record=record.evolve(recorded_at=committed.recorded_at))
