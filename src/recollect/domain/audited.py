"""What a change set says in the audit: one entry for each scope that it changes."""

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

_LATER: Final = {
    Status.DELETED: "delete",
    Status.EXPIRED: "expire",
    Status.SUPERSEDED: "supersede",
    Status.QUARANTINED: "quarantine",
}
_DECISIONS: Final[dict[ProposalStatus, str]] = {
    "pending": "propose",
    "approved": APPROVE,
    "rejected": "reject",
    "expired": "expire",
    "withdrawn": "withdraw",
}


# Where something was done, what, among which things, to which of them, and the little that the
# audit tells of it.
_Deed = tuple[Scope, str, str, str, object]


def audited(changes: ChangeSet, action: str = "") -> list[NewAuditEntry]:
    """What was done and to which ids, never what they say; `action` names all of it.

    What only makes things faster to find (vectors, new units) or counts how often they were read
    changes nothing that anybody told us, and is not audited.
    """
    entries: dict[Scope, NewAuditEntry] = {}
    payloads: dict[Scope, dict[str, Any]] = {}
    for scope, done, among, ident, told in _deeds(changes):
        if scope not in entries:
            payload = payloads[scope] = {"idempotent": True} if changes.idempotency else {}
            entries[scope] = NewAuditEntry(
                scope=scope, action=action or done, target=ident, payload=payload
            )
        payloads[scope].setdefault(among, {})[ident] = told
    for scope, name, why in _reasons(changes):
        known: list[str] = payloads[scope].setdefault(name, []) if scope in payloads else []
        if why not in known:
            known.append(why)
    return list(entries.values())


def _deeds(changes: ChangeSet) -> Iterator[_Deed]:
    # What is decided names the change: the record that a proposal becomes comes of it.
    for proposal in changes.proposals:
        action = _DECISIONS[proposal.status]
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
    yield from _document_deeds(changes)
    for conflict in changes.conflicts:
        action = "conflict" if conflict.is_open else "resolve"
        told = conflict.resolution or "open"
        yield (conflict.scope, action, "conflicts", conflict.id, told)
    for scope, newer, olders in _links(changes.links):
        yield (scope, "link", "links", newer, olders)
    for scope, newer, olders in _links(changes.removed_links):
        yield (scope, "unlink", "unlinked", newer, olders)
    for feedback in changes.feedback:
        record = feedback.record
        yield (record.scope, "feedback", "feedback", record.id, _judgement(feedback))


def _document_deeds(changes: ChangeSet) -> Iterator[_Deed]:
    for change in changes.documents:
        document = change.document
        yield (document.scope, "ingest", "documents", document.id, document.status)
    for document in changes.removed_documents:
        yield (document.scope, "discard", "discarded", document.id, document.version)


def _links(links: Iterable[Link]) -> Iterator[tuple[Scope, str, dict[str, str]]]:
    """Each newer one with the relation to every older one."""
    by_newer: dict[tuple[Scope, str], dict[str, str]] = {}
    for link in links:
        by_newer.setdefault((link.scope, link.newer), {})[link.older] = link.relation
    for (scope, newer), olders in by_newer.items():
        yield scope, newer, olders


def _reasons(changes: ChangeSet) -> Iterator[tuple[Scope, str, str]]:
    """Why it was done: in somebody's words, from what was said, and by which run of a pipeline."""
    for change in changes.records:
        if change.reason:
            yield change.record.scope, "reasons", change.reason
        for evidence in change.record.evidence:
            yield change.record.scope, "evidence", evidence.turn
    for trace in changes.traces:
        yield trace.scope, "writes", trace.id


def _record_action(record: Record) -> str:
    if record.version > 1:
        return _LATER.get(record.status, "update")
    return "quarantine" if record.status is Status.QUARANTINED else "remember"


def _judgement(feedback: Feedback) -> str:
    if feedback.helped:
        return "helped"
    return "failed" if feedback.was_used else "rejected"
