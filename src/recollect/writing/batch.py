"""Everything that one run of the pipeline writes, collected for one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any, Final

from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import RecordChange
from recollect.domain.ids import new_id
from recollect.domain.record import Evidence, Record
from recollect.domain.relation import Conflict, Link, Verdict
from recollect.domain.scope import Scope
from recollect.domain.write import Step, Trace, WriteStatus, Written
from recollect.embedding.service import Embedded
from recollect.language.units import is_searched_alike
from recollect.writing.candidates import Candidate, compared_kinds
from recollect.writing.keep_wishes import Kept
from recollect.writing.redaction import Counts

# The number of records added last by the same run that are compared with the next one.
_MAX_OWN_CANDIDATES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A record to be stored, with the results of earlier steps."""

    record: Record | None
    """None if a step decided against it."""
    scope: Scope
    said_at: datetime
    steps: tuple[Step, ...]
    is_grounded: bool = True
    corrects: bool = False
    """Whether it was said to correct something known."""
    about: tuple[Evidence, ...] = ()
    """The words it corrects, if it names only what is different."""
    ends_facts: bool = False
    """Whether an event told by the user may end facts they told before."""
    taken_by: Record | None = None
    """The stored record that was made from the same words, if there is one."""
    forgets: tuple[Record, ...] | None = None
    """The stored records that a wish to forget deletes; None if it is no such wish."""
    proposes: tuple[Record, ...] = ()
    """The stored records that it may mean, which a person decides."""
    keeps: Kept | None = None
    """The stored record that a wish to remember means, instead of a record of its own."""
    counts: Counts = field(default_factory=dict[str, int], hash=False)
    refusal: str = ""
    write_id: str = field(default_factory=lambda: new_id("write"))


@dataclass(slots=True)
class Batch:
    """The changes to be written, and the records as they will be afterwards."""

    now: datetime
    # The units of new records, and every record as it was when its units were made.
    units: Embedded
    searched: dict[str, Record]
    # How many milliseconds it took to make the units, to find what they are compared with, and to
    # compare the record that is told next.
    embed_ms: float | None = None
    find_ms: float = 0.0
    judge_ms: float | None = None
    changes: list[RecordChange] = field(default_factory=list[RecordChange])
    records: dict[str, Record] = field(default_factory=dict[str, Record])
    conflicts: list[Conflict] = field(default_factory=list[Conflict])
    links: list[Link] = field(default_factory=list[Link])
    traces: list[Trace] = field(default_factory=list[Trace])
    audit: list[NewAuditEntry] = field(default_factory=list[NewAuditEntry])
    written: list[Written] = field(default_factory=list[Written])

    def put(self, record: Record, reason: str, *, before: Record | None = None) -> None:
        """Add a new record, or the next version of an existing one."""
        self.changes.append(RecordChange(record=record, reason=reason))
        self.records[record.id] = record
        if before is not None:
            self.searched.setdefault(record.id, before)

    def is_searched_as_before(self, record: Record) -> bool:
        """Return whether the record's units are still valid or will be replaced anyway."""
        before = self.searched.get(record.id)
        return before is not None and is_searched_alike(before, record)

    def dispute(self, old: Record, new: Record, reason: str) -> str:
        """Add a conflict between two records that both stay; return its id."""
        conflict = conflict_between(old, new, reason, self.now)
        self.conflicts.append(conflict)
        return conflict.id

    def link(self, newer: Record, older: Record, verdict: Verdict) -> None:
        """Add a link between two records that both stay."""
        self.links.append(link_between(newer, older, verdict, self.now))

    def beside(self, new: Record, stored: Sequence[Candidate]) -> list[Candidate]:
        """Return the records this batch added last, then the stored candidates as they will be."""
        known = {candidate.record.id for candidate in stored}
        added = [record for name, record in self.records.items() if name not in known]
        mine = [
            record for record in added if record.is_live and record.kind in compared_kinds(new.kind)
        ]
        return [
            *(Candidate(record=record) for record in mine[: -_MAX_OWN_CANDIDATES - 1 : -1]),
            *map(self._update, stored),
        ]

    def _update(self, candidate: Candidate) -> Candidate:
        changed = self.records.get(candidate.record.id)
        return candidate if changed is None else Candidate(record=changed)

    def tell(
        self,
        incoming: Incoming,
        status: WriteStatus,
        record: Record | None,
        reason: str,
        reconciled: Mapping[str, Any],
        *,
        conflict: str | None = None,
    ) -> None:
        """Report the outcome for one record to its caller, its trace and the audit."""
        stored = {"status": status, "record": record and record.id}
        audited = {"action": "write", "redacted": dict(incoming.counts)}
        steps = (
            *incoming.steps,
            *self._embedding_step(record),
            *([Step(name="reconcile", result=reconciled, ms=self.judge_ms)] if reconciled else []),
            Step(name="store", result=stored),
            Step(name="audit", result=audited),
        )
        self.traces.append(
            Trace(
                id=incoming.write_id,
                scope=incoming.scope,
                session=record.session if record else None,
                created_at=self.now,
                steps=steps,
            )
        )
        payload = {**stored, **({"redacted": dict(incoming.counts)} if incoming.counts else {})}
        self.audit.append(
            NewAuditEntry(
                scope=incoming.scope, action="write", target=incoming.write_id, payload=payload
            )
        )
        self.written.append(
            Written(
                write_id=incoming.write_id,
                status=status,
                record=record,
                reason=reason,
                conflict=conflict,
                degraded=next(filter(None, (step.result.get("degraded") for step in steps)), ""),
            )
        )

    def _embedding_step(self, record: Record | None) -> list[Step]:
        """Return the step that made the vectors of a record, if it has any."""
        model = self.units.model
        if record is None or model is None or self.embed_ms is None:
            return []
        return [Step(name="embed", result={"model": model.name}, ms=self.embed_ms)]


def ms_since(began: float) -> float:
    """Return how many milliseconds have passed since a moment of `perf_counter`."""
    return round((perf_counter() - began) * 1_000, 2)


def conflict_between(old: Record, new: Record, reason: str, now: datetime) -> Conflict:
    """Return an open conflict between two records that both stay."""
    return Conflict(
        id=new_id("conflict"),
        scope=new.scope,
        first=old.id,
        second=new.id,
        reason=reason,
        created_at=now,
    )


def link_between(newer: Record, older: Record, verdict: Verdict, now: datetime) -> Link:
    """Return the link between two records that both stay."""
    return Link(
        scope=newer.scope,
        newer=newer.id,
        older=older.id,
        relation=verdict.relation,
        probability=verdict.probability,
        reason=verdict.reason,
        decided_by=verdict.decided_by,
        at=now,
    )
