"""The audit entries of a change set, written in the same transaction.

Nothing is hashed here; `recollect.audit` seals entries later, many at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from sqlalchemy import Connection

from recollect.backends.sql import statements
from recollect.backends.sql.digests import Digests
from recollect.backends.sql.forgotten import begun_since
from recollect.backends.sql.rows import Row, scope_key
from recollect.backends.sql.scopes import lock_or_make_scope
from recollect.domain.audit import APPROVE, MOVE_IN, NewAuditEntry, SealableEntry
from recollect.domain.change import ChangeSet, Feedback
from recollect.domain.record import Record, Status
from recollect.domain.relation import Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import ProposalStatus
from recollect.domain.times import to_micros
from recollect.domain.unit import ARCHIVE

_SALT_BYTES: Final = 16
OURSELVES: Final = "recollect"
# One spelling for one value: the hash of a payload is taken of this text.
canonical: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":")
).encode


def add_entries(
    connection: Connection,
    changes: ChangeSet,
    now: int,
    known: Mapping[Scope, int],
    action: str,
    digests: Mapping[Scope, Digests],
) -> None:
    """Audit a change set; `known` are the numbers of scopes that it has written to already.

    `digests` are those of what it has written there.
    """
    told = [
        replace(it, payload={**it.payload, "digests": digests[it.scope]})
        if it.scope in digests
        else it
        for it in audited(changes, action)
    ]
    rows = [
        _row(connection, entry, changes.principal, now, known)
        for entry in (*told, *changes.audit)
        if entry.at is None or not _is_forgotten(connection, entry)
    ]
    if rows:
        statements.INSERT_AUDIT.run(connection, rows)


def note_copied(
    connection: Connection, scope_id: int, now: int, payload: Mapping[str, Any]
) -> None:
    """Audit what was copied to a scope, or removed from the copy, with its agent."""
    entry = entry_row(scope_id, now, OURSELVES, MOVE_IN, MOVE_IN, payload)
    statements.INSERT_AUDIT.run(connection, [entry])


def _is_forgotten(connection: Connection, entry: NewAuditEntry) -> bool:
    """Return whether the subject of an entry was forgotten, by any process, before the write."""
    assert entry.at is not None
    begun = begun_since(connection, to_micros(entry.at))
    if not begun:
        return False
    named = {entry.actor or "", entry.target, *texts_in(entry.payload)}
    return any(it.tells_of(entry.scope, named) for it in begun)


def _row(
    connection: Connection,
    entry: NewAuditEntry,
    principal: str,
    now: int,
    known: Mapping[Scope, int],
) -> dict[str, Any]:
    number = known.get(entry.scope)
    return entry_row(
        _scope_number(connection, entry.scope) if number is None else number,
        now if entry.at is None else to_micros(entry.at),
        principal if entry.actor is None else entry.actor,
        entry.action,
        entry.target,
        entry.payload,
    )


def entry_row(
    scope_id: int, at: int, actor: str, action: str, target: str, payload: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "new_scope_id": scope_id,
        "new_at": at,
        "new_actor": actor,
        "new_action": action,
        "new_target": target,
        "new_payload": canonical(payload),
        "new_salt": new_salt(),
    }


def new_salt() -> str:
    return os.urandom(_SALT_BYTES).hex()


def sealable_from(row: Row) -> SealableEntry:
    """Return a stored entry, by its row."""
    return SealableEntry(
        id=row["id"],
        scope_number=row["scope_id"],
        at=row["at"],
        actor=str(row["actor"]),
        action=row["action"],
        target=row["target"],
        payload=str(row["payload"]),
        salt=str(row["salt"]),
        seq=row["seq"],
    )


def _scope_number(connection: Connection, scope: Scope) -> int:
    """Return the number of a scope in which nothing changes: its version stays as it is."""
    return lock_or_make_scope(connection, scope_key(scope))["id"]


def texts_in(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, inner in cast("dict[str, object]", value).items():
                yield name
                yield from texts_in(inner)
        case list():
            for inner in cast("list[object]", value):
                yield from texts_in(inner)
        case _:
            pass


# --- The audit entries of a change set: one for each scope that it changes ------------------------


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
        decided = _ACTION_BY_DECISION[proposal.status]
        action = "reopen" if proposal.is_reopened else decided
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
