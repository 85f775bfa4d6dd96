"""The audit entries of a change set: one for each scope that it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from recollect.domain.audit import APPROVE, NewAuditEntry
from recollect.domain.change import ChangeSet, Feedback
from recollect.domain.link import Link
from recollect.domain.owner import ARCHIVE
from recollect.domain.proposal import ProposalStatus
from recollect.domain.record import Record, Status
from recollect.domain.scope import Scope

_ACTION_BY_STATUS: Final = {
    Status.DELETED: "delete",
    Status.EXPIRED: "expire",
    Status.SUPERSEDED: "supersede",
    Status.QUARANTINED: "quarantine",
}
_ACTION_BY_DECISION: Final[dict[ProposalStatus, str]] = {
    "pending": "propose",
    "approved": APPROVE,
    "rejected": "reject",
    "expired": "expire",
    "withdrawn": "withdraw",
}


# Scope, action, the group in the payload, the id, and what the payload says about that id.
_AuditedChange = tuple[Scope, str, str, str, object]


def audited(changes: ChangeSet, action: str = "") -> list[NewAuditEntry]:
    """Return the audit entries of a change set, with ids but no content; `action` names it all.

    Changes that only affect the index (vectors, new units) or count accesses are not audited, since
    they do not change what is stored.
    """
    entries: dict[Scope, NewAuditEntry] = {}
    payloads: dict[Scope, dict[str, Any]] = {}
    for scope, done, among, ident, value in _audited_changes(changes):
        if scope not in entries:
            payload = payloads[scope] = {"idempotent": True} if changes.idempotency else {}
            entries[scope] = NewAuditEntry(
                scope=scope, action=action or done, target=ident, payload=payload
            )
        payloads[scope].setdefault(among, {})[ident] = value
    for scope, name, why in _reasons(changes):
        known: list[str] = payloads[scope].setdefault(name, []) if scope in payloads else []
        if why not in known:
            known.append(why)
    return list(entries.values())


def _audited_changes(changes: ChangeSet) -> Iterator[_AuditedChange]:
    # Proposals come first and so name the change: a decision causes the record that it creates.
    for proposal in changes.proposals:
        action = _ACTION_BY_DECISION[proposal.status]
        yield (proposal.scope, action, "proposals", proposal.id, proposal.status)
    for record in changes.purged:
        yield (record.scope, "purge", "purged", record.id, record.version)
    for change in changes.records:
        record = change.record
        yield (record.scope, _record_action(record), "records", record.id, record.version)
    for turn in changes.turns:
        yield (turn.scope, "observe", "turns", turn.id, turn.session)
    for turn in changes.retracted:
        yield (turn.scope, "retract", "retracted", turn.id, turn.session)
    for new in changes.archives:
        archive = new.archive
        yield (archive.scope, ARCHIVE, "archives", archive.id, archive.session)
    for archive in changes.removed_archives:
        yield (archive.scope, "discard", "discarded", archive.id, archive.session)
    yield from _audited_documents(changes)
    for conflict in changes.conflicts:
        action = "conflict" if conflict.is_open else "resolve"
        value = conflict.resolution or "open"
        yield (conflict.scope, action, "conflicts", conflict.id, value)
    for scope, newer, olders in _links_by_newer(changes.links):
        yield (scope, "link", "links", newer, olders)
    for scope, newer, olders in _links_by_newer(changes.removed_links):
        yield (scope, "unlink", "unlinked", newer, olders)
    for feedback in changes.feedback:
        record = feedback.record
        yield (record.scope, "feedback", "feedback", record.id, _judgement(feedback))


def _audited_documents(changes: ChangeSet) -> Iterator[_AuditedChange]:
    for change in changes.documents:
        document = change.document
        yield (document.scope, "ingest", "documents", document.id, document.status)
    for document in changes.removed_documents:
        yield (document.scope, "discard", "discarded", document.id, document.version)


def _links_by_newer(links: Iterable[Link]) -> Iterator[tuple[Scope, str, dict[str, str]]]:
    """Return the relation of each newer record or turn to every older one."""
    by_newer: dict[tuple[Scope, str], dict[str, str]] = {}
    for link in links:
        by_newer.setdefault((link.scope, link.newer), {})[link.older] = link.relation
    for (scope, newer), olders in by_newer.items():
        yield scope, newer, olders


def _reasons(changes: ChangeSet) -> Iterator[tuple[Scope, str, str]]:
    """Return why it was done: the stated reason, the evidence, and the run of the pipeline."""
    for change in changes.records:
        if change.reason:
            yield change.record.scope, "reasons", change.reason
        for evidence in change.record.evidence:
            yield change.record.scope, "evidence", evidence.turn
    for trace in changes.traces:
        yield trace.scope, "writes", trace.id


def _record_action(record: Record) -> str:
    if record.version > 1:
        return _ACTION_BY_STATUS.get(record.status, "update")
    return "quarantine" if record.status is Status.QUARANTINED else "remember"


def _judgement(feedback: Feedback) -> str:
    if feedback.helped:
        return "helped"
    return "failed" if feedback.was_used else "rejected"
