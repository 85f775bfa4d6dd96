"""The write pipeline: route, redact, extract, ground, reconcile, store, audit.

Each step is a module of its own whose result is part of the trace. Everything that one call writes,
with its traces and audit entries, is one transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Unpack, cast
from weakref import WeakValueDictionary

from recollect.domain.change import ChangeSet, Committed
from recollect.domain.fields import RecordFields
from recollect.domain.filters import Filter
from recollect.domain.ids import new_id
from recollect.domain.job import NewJob
from recollect.domain.meter import Meter
from recollect.domain.record import Evidence, Record, Status, Tier
from recollect.domain.scope import Caller, Scope
from recollect.domain.turn import Turn
from recollect.domain.write import Claim, Watermark, WritePolicy, Written
from recollect.embedding.service import Embedded, EmbeddingService
from recollect.errors import NotFound, StaleVersion, StorageError
from recollect.language.analysis import terms
from recollect.language.claims.instructions import contradicts
from recollect.language.units import record_units
from recollect.ports.judge import Judge
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.spool.entries import SpoolEntry
from recollect.writing.batch import Batch, Incoming, ms_since
from recollect.writing.candidates import (
    Candidate,
    Candidates,
    StandingInstructions,
    compared_scopes,
)
from recollect.writing.facets import Facets
from recollect.writing.forget_wishes import Meant
from recollect.writing.intake import Extracted, Intake
from recollect.writing.keep_wishes import Kept
from recollect.writing.outcome import (
    CALLER,
    Decision,
    Related,
    confirmed,
    decide,
    is_earlier,
    kept,
    outdated,
    renewed,
    statement_of,
)
from recollect.writing.saver import Namespace, Saver, idempotency, units_of
from recollect.writing.strategy import Merger, strategy_of, wished_strategy

if TYPE_CHECKING:
    from recollect.writing.rows import SqlWrites

# --- Words of a conversation that a record was made from before extraction reads them -------------
# An agent or a person may write a record from a turn and name its words as evidence. Extraction
# reads the turn later; a claim found in the same words is then not stored a second time. Neither is
# one of a turn that is read again, whatever became of the record since.

# Evidence may be a whole turn that says several things. A claim found there is known if the record
# has this part of its terms, or if the claim makes up nearly all of the evidence.
_MIN_SHARED_TERMS_RATIO: Final = 0.5
_MIN_SHARE_OF_EVIDENCE: Final = 0.8
# A quotation may leave out the end of a sentence.
_MIN_COVERED_RATIO: Final = 0.7


def taken_by(claims: Sequence[Record], stored: Sequence[Record]) -> dict[str, Record]:
    """Return, for each claim whose words a record was made from, a version of that record.

    A session's episode was made from all its words, and takes none of them.
    """
    stored = [record for record in stored if not record.is_session_episode]
    # A record that holds one claim of a sentence word for word does not take the others.
    found = {claim.id: held for claim in claims if (held := _held_by(claim, stored)) is not None}
    held = {record.id for record in found.values()}
    others = [record for record in stored if record.id not in held]
    for claim in claims:
        if claim.id not in found and (record := _taken_by(claim, others)) is not None:
            found[claim.id] = record
    return found


def _held_by(claim: Record, stored: Sequence[Record]) -> Record | None:
    """Return the record that an earlier reading made from this claim."""
    return next(
        (
            record
            for record in stored
            if record.content == claim.content and _covering(claim.evidence, record.evidence)
        ),
        None,
    )


def _taken_by(claim: Record, stored: Sequence[Record]) -> Record | None:
    """Return the record that was made from the words of a claim, if there is one.

    What nothing supports is taken only by what was put aside for the same reason.
    """
    if claim.status is Status.QUARANTINED:
        stored = [record for record in stored if record.status is Status.QUARANTINED]
    shared = {record.id: _shared(claim.content, record.content) for record in stored}
    return max(
        (
            record
            for record in stored
            if (covering := _covering(claim.evidence, record.evidence))
            and (shared[record.id] >= _MIN_SHARED_TERMS_RATIO or _fills(claim.evidence, covering))
        ),
        key=lambda record: shared[record.id],
        default=None,
    )


def _covering(words: Sequence[Evidence], stored: Sequence[Evidence]) -> set[Evidence]:
    """Return the stored evidence that covers all the words; none if a part is not covered."""
    found = [_around(evidence, stored) for evidence in words]
    return set() if None in found else {evidence for evidence in found if evidence is not None}


def _fills(words: Sequence[Evidence], covering: set[Evidence]) -> bool:
    """Return whether the covering evidence names hardly more than the words."""
    room = sum(map(_length, covering))
    return room > 0 and sum(map(_length, words)) >= _MIN_SHARE_OF_EVIDENCE * room


def _around(words: Evidence, evidence: Sequence[Evidence]) -> Evidence | None:
    """Return the piece of evidence that the words are a part of."""
    return next((it for it in evidence if it.turn == words.turn and _covers(it, words)), None)


def _covers(evidence: Evidence, words: Evidence) -> bool:
    if evidence.start is None or evidence.end is None:
        return True
    if words.start is None or words.end is None:
        return False
    overlap = min(evidence.end, words.end) - max(evidence.start, words.start)
    return overlap >= _MIN_COVERED_RATIO * (words.end - words.start)


def _length(evidence: Evidence) -> int:
    """Return the number of characters; 0 if a whole turn is meant."""
    if evidence.start is None or evidence.end is None:
        return 0
    return evidence.end - evidence.start


def _shared(claim: str, stored: str) -> float:
    """Return which part of the claim's terms the stored text has."""
    mine = set(terms(claim))
    return len(mine & set(terms(stored))) / len(mine) if mine else 0.0


# --- The write pipeline: route, redact, extract, ground, reconcile, store, audit ------------------

_MAX_ATTEMPTS: Final = 20
# After this many attempts only a change of the same record causes another, not any in the scope.
_STRICT_ATTEMPTS: Final = 8
# How many of the records that a new one was compared with its trace names.
_MAX_TRACED: Final = 5
_TAKEN: Final = "these words were taken before"
_ASKED_TO_FORGET: Final = "the user asked to forget it"
_ASKED_TO_KEEP: Final = "the user asked to remember it"


class WritePipeline:
    """The service that writes claims as records, each one once."""

    def __init__(
        self,
        store: Store,
        writes: SqlWrites,
        embedding: EmbeddingService,
        clock: Clock,
        intake: Intake,
        candidates: Candidates,
        merger: Merger,
        judge: Judge,
        *,
        facets: Facets | None = None,
        reconciles: bool = True,
        meter: Meter | None = None,
        saver: Saver | None = None,
    ) -> None:
        self._store = store
        # Keeps statements while the database server is away.
        self._saver = saver
        self._writes = writes
        self._embedding = embedding
        self._clock = clock
        self._intake = intake
        self._candidates = candidates
        self._merger = merger
        self._judge = judge
        self._facets = facets or Facets(None)
        self._reconciles = reconciles
        self._meter = meter or Meter()
        self._instructions = StandingInstructions(store)
        # Within this process, writes for one user wait for each other; another process is detected
        # by the versions of the scopes.
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
        """Remember a statement: for good, or in the short-term tier if not explicit."""
        incoming = await self._intake.of_call(caller, content, namespace, explicit, fields)
        said = incoming.record.content if incoming.record else ""
        body = {"write": said, "namespace": namespace, "explicit": explicit, **fields}
        if self._saver is None or await self._saver.may_store(caller.scope):
            try:
                return await self._write_once(caller, incoming, idempotency_key, body)
            except StorageError as problem:
                if self._saver is None or not self._saver.may_spool(problem):
                    raise
        return await self._save_plainly(self._saver, caller, incoming, idempotency_key, body)

    async def _save_plainly(
        self,
        saver: Saver,
        caller: Caller,
        incoming: Incoming,
        key: str | None,
        body: Mapping[str, Any],
    ) -> Written:
        """Save a statement as it is, which may wait: the database server is away.

        Background judging compares it later, as it does whatever is saved without this pipeline.
        """
        if incoming.record is None:
            return Written(
                write_id=incoming.write_id, status="skipped", record=None, reason=incoming.refusal
            )
        reason = "saved while the database server was away"
        told = {"write": incoming.write_id, "status": "created", "record": incoming.record.id}
        result = {**told, "reason": reason, "conflict": None}
        entry = SpoolEntry(
            id=new_id("spool"),
            at=self._clock.now(),
            caller=caller,
            records=(incoming.record,),
            reason=reason,
            counts=(incoming.counts,),
            idempotency=None if key is None else idempotency(key, body, result),
        )
        (record,) = await saver.save(entry)
        self._meter.add("writes", label="spooled" if record.spooled else "created")
        return Written(
            write_id=incoming.write_id,
            status="spooled" if record.spooled else "created",
            record=record,
            reason=reason,
        )

    async def take(
        self,
        caller: Caller,
        claims: Sequence[Claim],
        turns: Sequence[Turn],
        extracted: Extracted,
        *,
        policy: WritePolicy | None = None,
        watermark: Watermark | None = None,
        jobs: tuple[NewJob, ...] = (),
        adds: bool = False,
        forgets: Sequence[Meant] = (),
        keeps: Sequence[Kept] = (),
    ) -> tuple[Written, ...]:
        """Remember claims found in turns and mark the turns as read, both or neither.

        Words that a record was made from are not taken a second time, unless a better reading
        `adds` to what an earlier one found in them.
        """
        incoming = self._intake.of_claims(caller, claims, turns, extracted, policy)
        for meant in forgets:
            incoming += self._intake.of_forget_wish(caller, meant, turns, extracted)
        incoming += [self._intake.of_keep_wish(caller, kept, extracted) for kept in keeps]
        marks = () if watermark is None else (watermark,)
        if not incoming and not marks:
            return ()
        if not adds:
            incoming = await self._marked_taken(caller, incoming, turns)
        batch, _ = await self._commit(caller, incoming, watermarks=marks, jobs=jobs)
        return tuple(batch.written)

    async def _marked_taken(
        self, caller: Caller, incoming: Sequence[Incoming], turns: Sequence[Turn]
    ) -> list[Incoming]:
        """Return the claims, marked where a record was made from their words before."""
        scopes = [arrival.scope for arrival in incoming if arrival.record is not None]
        if not scopes or not self._reconciles:
            return [*incoming]
        compared = chain.from_iterable(compared_scopes(caller, scope) for scope in scopes)
        stored = await self._writes.made_from(list(dict.fromkeys(compared)), turns)
        claims = [arrival.record for arrival in incoming if arrival.record is not None]
        taken = taken_by(claims, stored)
        return [
            arrival
            if arrival.record is None
            else replace(arrival, taken_by=taken.get(arrival.record.id))
            for arrival in incoming
        ]

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
            # Results stored by an earlier release do not have it.
            conflict=before.get("conflict"),
        )

    async def _commit(
        self,
        caller: Caller,
        incoming: Sequence[Incoming],
        *,
        watermarks: tuple[Watermark, ...] = (),
        jobs: tuple[NewJob, ...] = (),
        key: str | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> tuple[Batch, Committed]:
        """Judge and write; repeat if the compared records changed meanwhile."""
        async with self._writing.setdefault(caller.scope.of_user, asyncio.Lock()):
            began = perf_counter()
            embedded = await self._embed(incoming)
            embed_ms = ms_since(began)
            incoming = await self._with_facets(incoming, embedded)
            for attempt in range(_MAX_ATTEMPTS):
                expected = (
                    await self._scope_versions(caller, incoming)
                    if attempt < _STRICT_ATTEMPTS
                    else {}
                )
                batch = await self._judge_all(caller, incoming, embedded, embed_ms)
                units = await self._units(batch)
                once = idempotency(key, body or {}, _result(batch)) if key is not None else None
                changes = ChangeSet(
                    principal=caller.principal,
                    scope=caller.scope,
                    records=tuple(batch.changes),
                    units=units.owners,
                    model=units.model,
                    jobs=(*units.jobs, *jobs),
                    conflicts=tuple(batch.conflicts),
                    links=tuple(batch.links),
                    traces=tuple(batch.traces),
                    watermarks=watermarks,
                    audit=tuple(batch.audit),
                    expected=expected,
                    idempotency=() if once is None else (once,),
                )
                try:
                    committed = await self._store.commit(changes)
                except (StaleVersion, NotFound):
                    if attempt == _MAX_ATTEMPTS - 1 or await self._were_read(watermarks):
                        raise
                    continue
                batch.written = [_as_stored(outcome, batch, committed) for outcome in batch.written]
                for written in batch.written:
                    self._meter.add("writes", label=written.status)
                return batch, committed
        raise AssertionError("the last attempt returns or raises")

    async def _scope_versions(
        self, caller: Caller, incoming: Sequence[Incoming]
    ) -> dict[Scope, int]:
        """Return the versions of the compared scopes; another process may write there too."""
        targets = {
            arrival.scope
            for arrival in incoming
            if arrival.record is not None and arrival.is_grounded
        }
        scopes = list(
            dict.fromkeys(scope for one in targets for scope in compared_scopes(caller, one))
        )
        versions = await self._store.versions(scopes) if scopes and self._reconciles else ()
        return dict(zip(scopes, versions, strict=False))

    async def _were_read(self, watermarks: Sequence[Watermark]) -> bool:
        """Return whether another process has read the same turns meanwhile."""
        marks = [await self._writes.watermark(mark.scope, mark.session) for mark in watermarks]
        return marks != [mark.before for mark in watermarks]

    async def _embed(self, incoming: Sequence[Incoming]) -> Embedded:
        new = [arrival.record for arrival in incoming if arrival.record is not None]
        return await self._embedding.of_units(await units_of(record_units, new))

    async def _with_facets(
        self, incoming: Sequence[Incoming], embedded: Embedded
    ) -> Sequence[Incoming]:
        """Return the same with what each record states."""
        new = [arrival.record for arrival in incoming if arrival.record is not None]
        decided = {record.id: record for record in await self._facets.decided(new, embedded)}
        return [
            arrival
            if arrival.record is None
            else replace(arrival, record=decided[arrival.record.id])
            for arrival in incoming
        ]

    async def _judge_all(
        self,
        caller: Caller,
        incoming: Sequence[Incoming],
        embedded: Embedded,
        embed_ms: float,
    ) -> Batch:
        """Decide the outcome of each record in order; a later one may change an earlier one."""
        new = {
            arrival.record.id: arrival.record for arrival in incoming if arrival.record is not None
        }
        batch = Batch(now=self._clock.now(), units=embedded, searched=new, embed_ms=embed_ms)
        began = perf_counter()
        stored = await self._find_candidates(caller, incoming, batch)
        batch.find_ms = ms_since(began)
        for arrival in incoming:
            if arrival.keeps is not None:
                await self._keep(batch, caller, arrival, arrival.keeps)
            elif arrival.record is None:
                batch.tell(arrival, "skipped", None, arrival.refusal, {})
            elif arrival.taken_by is not None:
                batch.tell(arrival, "skipped", arrival.taken_by, _TAKEN, {})
            elif not arrival.is_grounded:
                batch.put(arrival.record, "not supported by its source")
                batch.tell(arrival, "quarantined", arrival.record, arrival.refusal, {})
            elif arrival.forgets is not None:
                self._forget(batch, arrival, arrival.record, arrival.forgets)
            else:
                among = batch.beside(arrival.record, stored[arrival.record.id]) if stored else ()
                began = perf_counter()
                decision = await decide(
                    arrival.record,
                    arrival.said_at,
                    among,
                    self._judge,
                    corrects=arrival.corrects,
                    about=arrival.about,
                    ends_facts=arrival.ends_facts,
                )
                batch.judge_ms = round(batch.find_ms + ms_since(began), 2)
                reconciled = _reconcile_step(decision, among)
                await self._apply(batch, arrival, arrival.record, decision, reconciled)
        return batch

    async def _keep(self, batch: Batch, caller: Caller, incoming: Incoming, meant: Kept) -> None:
        """Keep a stored record for good, unless it is somebody else's or the wish was counted."""
        own = (caller.scope, caller.scope.of_user)
        ids = [meant.record.id]
        found = await self._store.records(caller.readable, Filter(), now=batch.now, ids=ids)
        old = found[0] if found else None
        if old is None or old.scope not in own or meant.wish in old.evidence:
            batch.tell(incoming, "skipped", old, _TAKEN, {})
            return
        after = kept(old, meant.wish, incoming.said_at, batch.now)
        batch.put(after, _ASKED_TO_KEEP, before=old)
        batch.tell(incoming, "merged", after, _ASKED_TO_KEEP, {})

    def _forget(
        self, batch: Batch, incoming: Incoming, wish: Record, meant: Sequence[Record]
    ) -> None:
        """Store a wish to forget, delete what it means, and let a person decide the rest."""
        batch.put(wish, "")
        batch.tell(incoming, "created", wish, _ASKED_TO_FORGET, {})
        asked = {"asked_by": wish.id}
        for old in meant:
            gone = old.evolve(status=Status.DELETED, version=old.version + 1, updated_at=batch.now)
            batch.put(gone, f"{_ASKED_TO_FORGET}: {wish.id}", before=old)
            batch.tell(_another(incoming), "deleted", gone, _ASKED_TO_FORGET, asked)
        for old in incoming.proposes:
            conflict = batch.dispute(old, wish, _ASKED_TO_FORGET)
            one = _another(incoming)
            batch.tell(one, "proposed", old, _ASKED_TO_FORGET, asked, conflict=conflict)

    async def _find_candidates(
        self, caller: Caller, incoming: Sequence[Incoming], batch: Batch
    ) -> dict[str, list[Candidate]]:
        """Return the stored candidates for each; empty where nothing is compared."""
        judged = [
            arrival.record
            for arrival in incoming
            if arrival.record is not None and arrival.is_grounded
        ]
        if not judged or not self._reconciles:
            return {}
        units = {owner.owner_id: owner for owner in batch.units.owners}
        found = await self._candidates.of(caller, judged, units, batch.units.model, batch.now)
        for new in judged:
            known = {candidate.record.id for candidate in found[new.id]}
            opposed = await self._instructions.contradicted(caller, new, batch.now)
            found[new.id] += [
                Candidate(record=record) for record in opposed if record.id not in known
            ]
        return found

    async def _apply(
        self,
        batch: Batch,
        incoming: Incoming,
        new: Record,
        decision: Decision,
        reconciled: dict[str, Any],
    ) -> None:
        changed = decision.changed
        if changed is None:
            self._add(batch, incoming, new, decision, reconciled)
            return
        old, reason = changed.record, changed.verdict.reason
        if decision.is_known:
            batch.tell(incoming, "skipped", old, _TAKEN, reconciled)
            return
        if changed.verdict.relation == "same":
            batch.put(confirmed(old, new, incoming.said_at, batch.now), "said again", before=old)
            batch.tell(incoming, "merged", batch.records[old.id], reason, reconciled)
        elif is_earlier(incoming.said_at, old):
            batch.put(outdated(new, old, incoming.said_at), reason)
            batch.tell(incoming, "versioned", old, reason, reconciled)
        else:
            await self._update(batch, incoming, new, changed, reconciled)
        if old.id in batch.records:
            self._link(batch, incoming, batch.records[old.id], decision.linked)

    async def _update(
        self,
        batch: Batch,
        incoming: Incoming,
        new: Record,
        changed: Related,
        reconciled: dict[str, Any],
    ) -> None:
        """Make the new statement the next version of the stored record."""
        old, verdict = changed.record, changed.verdict
        is_opposite = contradicts(new.content, old.content)
        wished = wished_strategy(new.metadata)
        strategy = wished or ("overwrite" if is_opposite else strategy_of(new, old))
        merged = await self._merger.merge(
            strategy,
            statement_of(old),
            statement_of(new, incoming.said_at),
            is_outdated=verdict.decided_by != CALLER,
        )
        reconciled |= {"strategy": strategy, "merged_by": merged.by}
        if merged.degraded:
            reconciled["degraded"] = merged.degraded
        after = renewed(old, new, merged.text, strategy, incoming.said_at, batch.now)
        batch.put(after, verdict.reason, before=old)
        batch.tell(incoming, "versioned", after, verdict.reason, reconciled)

    def _add(
        self,
        batch: Batch,
        incoming: Incoming,
        new: Record,
        decision: Decision,
        reconciled: dict[str, Any],
    ) -> None:
        """Store the new record beside all others, linked with those that it relates to."""
        rivals = [
            linked.record for linked in decision.linked if linked.verdict.relation == "conflict"
        ]
        new = new.evolve(
            related=tuple(dict.fromkeys((*new.related, *(rival.id for rival in rivals))))
        )
        reason = decision.verdict.reason
        batch.put(new, reason if decision.linked else "")
        disputes = [batch.dispute(old, new, reason) for old in rivals]
        self._link(batch, incoming, new, decision.linked)
        status = "buffered" if new.tier is Tier.SHORT else "created"
        if decision.verdict.relation == "same":
            status = "same"
        conflict = disputes[0] if disputes else None
        batch.tell(incoming, status, new, reason, reconciled, conflict=conflict)

    def _link(
        self, batch: Batch, incoming: Incoming, new: Record, related: Sequence[Related]
    ) -> None:
        for other in related:
            old = other.record
            is_older = is_earlier(incoming.said_at, old)
            batch.link(old if is_older else new, new if is_older else old, other.verdict)

    async def _units(self, batch: Batch) -> Embedded:
        """Return the units of new records, and of records whose search text changed."""
        other = [
            record for record in batch.records.values() if not batch.is_searched_as_before(record)
        ]
        more = await self._embedding.of_units(await units_of(record_units, other))
        added = batch.records.keys() - {record.id for record in other}
        return Embedded(
            owners=(
                *(owner for owner in batch.units.owners if owner.owner_id in added),
                *more.owners,
            ),
            model=more.model or batch.units.model,
            jobs=(*batch.units.jobs, *more.jobs),
        )


def _another(incoming: Incoming) -> Incoming:
    """Return the same as a write of its own."""
    return replace(incoming, write_id=new_id("write"), counts={})


def _reconcile_step(decision: Decision, among: Sequence[Candidate]) -> dict[str, Any]:
    """Return what the trace keeps of a decision."""
    verdict = decision.verdict
    result: dict[str, Any] = {
        "relation": verdict.relation,
        "probability": verdict.probability,
        "reason": verdict.reason,
        "decided_by": verdict.decided_by,
    }
    if decision.changed is not None:
        result["with"] = decision.changed.record.id
    if decision.linked:
        result["links"] = [
            {
                "with": linked.record.id,
                "relation": linked.verdict.relation,
                "probability": linked.verdict.probability,
                "decided_by": linked.verdict.decided_by,
            }
            for linked in decision.linked
        ]
    if among:
        result["against"] = [candidate.record.id for candidate in among[:_MAX_TRACED]]
    if decision.degraded:
        result["judge_degraded"] = decision.degraded
    return result


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
    """Return what a write created, even if a later one in the batch changed it again."""
    record = written.record
    if record is None or record.id not in batch.records:
        return written
    links = tuple(link for link in batch.links if record.id in link.ends)
    return replace(written, record=record.evolve(recorded_at=committed.recorded_at, links=links))
