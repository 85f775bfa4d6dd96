"""Everything that one run of the pipeline writes, gathered until it is written in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import RecordChange
from recollect.domain.conflict import Conflict
from recollect.domain.ids import new_id
from recollect.domain.record import Evidence, Record
from recollect.domain.scope import Scope
from recollect.domain.write import Step, Trace, WriteStatus, Written
from recollect.recall.meaning import Embedded
from recollect.text.searchable import is_searched_alike
from recollect.writing.candidates import Candidate, compared_kinds
from recollect.writing.redaction import Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A record that wants to be kept, with what the steps before have said about it."""

    record: Record | None
    """None when a step has decided against it."""
    scope: Scope
    said_at: datetime
    steps: tuple[Step, ...]
    is_grounded: bool = True
    corrects: bool = False
    """It was said to set right what is known."""
    about: tuple[Evidence, ...] = ()
    """The words that it sets right, where it only names what is other."""
    ends_facts: bool = False
    """It is told by the user: what happened may be the end of what they told before."""
    counts: Counts = field(default_factory=dict[str, int], hash=False)
    refusal: str = ""
    write_id: str = field(default_factory=lambda: new_id("write"))


@dataclass(slots=True)
class Batch:
    """What will be written, and how the records will be then."""

    now: datetime
    # The units of what is new, and every record as it was when its units were made.
    units: Embedded
    searched: dict[str, Record]
    changes: list[RecordChange] = field(default_factory=list[RecordChange])
    records: dict[str, Record] = field(default_factory=dict[str, Record])
    conflicts: list[Conflict] = field(default_factory=list[Conflict])
    traces: list[Trace] = field(default_factory=list[Trace])
    audit: list[NewAuditEntry] = field(default_factory=list[NewAuditEntry])
    written: list[Written] = field(default_factory=list[Written])

    def put(self, record: Record, reason: str, *, before: Record | None = None) -> None:
        """A new record, or the next version of the one before."""
        self.changes.append(RecordChange(record=record, reason=reason))
        self.records[record.id] = record
        if before is not None:
            self.searched.setdefault(record.id, before)

    def is_searched_as_before(self, record: Record) -> bool:
        """Whether the units that a record has, or gets anyhow, are still right."""
        before = self.searched.get(record.id)
        return before is not None and is_searched_alike(before, record)

    def dispute(self, old: Record, new: Record, reason: str) -> str:
        """Two records contradict each other and both stay; the id of that."""
        conflict = Conflict(
            id=new_id("conflict"),
            scope=new.scope,
            first=old.id,
            second=new.id,
            reason=reason,
            created_at=self.now,
        )
        self.conflicts.append(conflict)
        return conflict.id

    def beside(self, new: Record, stored: Sequence[Candidate]) -> list[Candidate]:
        """The stored candidates as they will be, and what this batch itself adds to them."""
        known = {it.record.id for it in stored}
        added = [it for name, it in self.records.items() if name not in known]
        mine = [it for it in added if it.is_live and it.kind in compared_kinds(new.kind)]
        return [
            *(self._as_it_will_be(it) for it in stored),
            *(Candidate(record=it) for it in mine),
        ]

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
        """How one record fared, for its caller, its trace and the audit."""
        stored = {"status": status, "record": record and record.id}
        told = {"action": "write", "redacted": dict(incoming.counts)}
        steps = (
            *incoming.steps,
            *([Step(name="reconcile", result=reconciled)] if reconciled else []),
            Step(name="store", result=stored),
            Step(name="audit", result=told),
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
            )
        )

    def _as_it_will_be(self, candidate: Candidate) -> Candidate:
        changed = self.records.get(candidate.record.id)
        return candidate if changed is None else Candidate(record=changed)
