"""Writing the audit: with what it tells of, in one transaction, and erasing what it told.

Nothing is hashed here; `audit_chain` seals what was written, later and many entries at once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Connection, bindparam, or_, select, update

from recollect.backends.sql import schema, statements
from recollect.backends.sql.digests import Digests, digests_without, merge_digests
from recollect.backends.sql.forgotten import begun_since
from recollect.backends.sql.portable import holds
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import Row, rows_of, scope_key
from recollect.backends.sql.scopes import lock_or_make_scope
from recollect.domain.audit import APPROVE, ERASE, KEEP, MOVE_IN, NewAuditEntry, SealableEntry
from recollect.domain.change import ChangeSet, Feedback
from recollect.domain.record import Record, Status
from recollect.domain.relation import Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import ProposalStatus
from recollect.domain.times import to_micros
from recollect.domain.unit import ARCHIVE

_SALT_BYTES: Final = 16
_ERASER: Final = "recollect"
_PAGE_ENTRIES: Final = 1_000
# Of more than so many, each entry is asked by itself.
_MAX_NAMES_IN_SQL: Final = 30
# What is spelled in JSON as it is, whoever writes it; every id is.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:@\-]+")
_AUDIT: Final = schema.audit.c
_BLANK: Final = (
    update(schema.audit)
    .where(_AUDIT.id == bindparam("erased_id"))
    .values(actor="", payload="", salt="")
)
_REWRITE: Final = PreparedStatement(
    update(schema.audit)
    .where(_AUDIT.id == bindparam("erased_id"))
    .values(
        actor=bindparam("new_actor"), payload=bindparam("new_payload"), salt=bindparam("new_salt")
    )
)
# One spelling for one value: the hash of a payload is taken of this text.
_canonical: Final = json.JSONEncoder(
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
    entry = _values(scope_id, now, _ERASER, MOVE_IN, MOVE_IN, payload)
    statements.INSERT_AUDIT.run(connection, [entry])


def erase_audit_of(
    connection: Connection,
    scope_ids: Collection[int],
    *,
    naming: Collection[str] | None = None,
    forget_id: str,
    now: int,
) -> int:
    """Blank who did what in entries of these scopes; with `naming` only of those that name one.

    The chain still verifies: an entry of its own says which were erased, and tells nothing else.
    Returns how many were erased.
    """
    wanted = None if naming is None else frozenset(naming)
    erased = 0
    for scope_id in scope_ids:
        ids: list[int] = []
        staying: Digests = {}
        for row in _told_in(connection, scope_id, wanted):
            if wanted is None or not wanted.isdisjoint(_named(row)):
                ids.append(row["id"])
                if wanted is not None:
                    merge_digests(staying, digests_without(json.loads(row["payload"]), wanted))
        if ids:
            _blank(connection, ids)
            mark = _values(scope_id, now, _ERASER, ERASE, forget_id, {"entries": _runs(ids)})
            statements.INSERT_AUDIT.run(connection, [mark])
        _keep_digests(connection, scope_id, staying, forget_id, now)
        erased += len(ids)
    return erased


@dataclass(frozen=True, slots=True, kw_only=True)
class Pseudonym:
    """What stands for a forgotten person in the entries that stay."""

    name: str
    user: str
    """The person's id."""
    actors: Mapping[str, str]
    """What stands for whom: `ann` and whatever the person came in with (`key:ann-phone`)."""
    keys: Mapping[str, str]
    """The names of the person's keys, by their ids."""

    @property
    def names(self) -> frozenset[str]:
        """Return everything by which an entry can name the person."""
        return frozenset({*self.actors, *self.keys})

    def renamed(self, entry: SealableEntry) -> SealableEntry:
        """Return an entry with the pseudonym, under a new key and without stated reasons."""
        payload = json.loads(entry.payload)
        payload.pop("reasons", None)
        if payload.get("user") == self.user:
            payload["user"] = self.name
        if self.user in payload.get("users", ()):
            payload["users"] = [self.name if it == self.user else it for it in payload["users"]]
        if entry.target in self.keys and payload.get("name") == self.keys[entry.target]:
            payload["name"] = self.name
        actor = self.actors.get(entry.actor, entry.actor)
        return replace(entry, actor=actor, payload=_canonical(payload), salt=_new_salt())

    def is_in(self, entry: SealableEntry) -> bool:
        """Return whether an entry names the person, be it within a longer text."""
        name = rf"(?<![A-Za-z0-9_]){re.escape(_canonical(self.user)[1:-1])}(?![A-Za-z0-9_])"
        return re.search(name, f"{entry.actor} {entry.payload}") is not None


def rename_in_audit(
    connection: Connection,
    scope_ids: Collection[int],
    person: Pseudonym,
    *,
    only_people: bool,
    forget_id: str,
    now: int,
) -> int:
    """Put a pseudonym in the place of a person in entries of these scopes; return in how many.

    With `only_people`, entries count that tell of people under these names: a tag or a session may
    be called the same. The entry that tells of it has their new hashes, by which the chain still
    verifies. An entry that names the person elsewhere too is blanked.
    """
    count = 0
    for scope_id in scope_ids:
        renamed: dict[str, list[str]] = {}
        blanked: list[int] = []
        staying: Digests = {}
        for row in _told_in(connection, scope_id, person.names):
            if person.names.isdisjoint(_people_in(row) if only_people else _named(row)):
                continue
            entry = person.renamed(sealable_from(row))
            if person.is_in(entry):
                blanked.append(entry.id)
                merge_digests(staying, json.loads(entry.payload).get("digests", {}))
            else:
                _REWRITE.run(connection, [_rewritten(entry)])
                renamed[str(entry.id)] = [entry.pseudonym, entry.mac]
        if renamed or blanked:
            _blank(connection, blanked)
            told = {"entries": _runs(blanked), "renamed": renamed}
            mark = _values(scope_id, now, _ERASER, ERASE, forget_id, told)
            statements.INSERT_AUDIT.run(connection, [mark])
        _keep_digests(connection, scope_id, staying, forget_id, now)
        count += len(renamed) + len(blanked)
    return count


def _blank(connection: Connection, ids: Sequence[int]) -> None:
    if ids:
        connection.execute(_BLANK, [{"erased_id": it} for it in ids])


def _keep_digests(
    connection: Connection, scope_id: int, staying: Digests, forget_id: str, now: int
) -> None:
    """Go on proving what was stored together with something that went."""
    if staying:
        again = _values(scope_id, now, _ERASER, KEEP, forget_id, {"digests": staying})
        statements.INSERT_AUDIT.run(connection, [again])


def _is_forgotten(connection: Connection, entry: NewAuditEntry) -> bool:
    """Return whether the subject of an entry was forgotten, by any process, before the write."""
    assert entry.at is not None
    begun = begun_since(connection, to_micros(entry.at))
    if not begun:
        return False
    named = {entry.actor or "", entry.target, *_texts(entry.payload)}
    return any(it.tells_of(entry.scope, named) for it in begun)


def _row(
    connection: Connection,
    entry: NewAuditEntry,
    principal: str,
    now: int,
    known: Mapping[Scope, int],
) -> dict[str, Any]:
    number = known.get(entry.scope)
    return _values(
        _scope_number(connection, entry.scope) if number is None else number,
        now if entry.at is None else to_micros(entry.at),
        principal if entry.actor is None else entry.actor,
        entry.action,
        entry.target,
        entry.payload,
    )


def _values(
    scope_id: int, at: int, actor: str, action: str, target: str, payload: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "new_scope_id": scope_id,
        "new_at": at,
        "new_actor": actor,
        "new_action": action,
        "new_target": target,
        "new_payload": _canonical(payload),
        "new_salt": _new_salt(),
    }


def _new_salt() -> str:
    return os.urandom(_SALT_BYTES).hex()


def _rewritten(entry: SealableEntry) -> dict[str, Any]:
    return {
        "erased_id": entry.id,
        "new_actor": entry.actor,
        "new_payload": entry.payload,
        "new_salt": entry.salt,
    }


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


def _told_in(
    connection: Connection, scope_id: int, naming: Collection[str] | None
) -> Iterator[Row]:
    """Yield a scope's entries that are not blanked yet and may name one of these."""
    page = (
        select(schema.audit)
        .where(_AUDIT.scope_id == scope_id, _AUDIT.salt != "", _AUDIT.action != ERASE)
        .order_by(_AUDIT.id)
        .limit(_PAGE_ENTRIES)
    )
    if naming and len(naming) <= _MAX_NAMES_IN_SQL and all(map(_PLAIN.fullmatch, naming)):
        # The database goes through them far quicker than reading each one takes.
        page = page.where(or_(*map(_may_name, sorted(naming))))
    after = -1
    while rows := rows_of(connection, page.where(_AUDIT.id > after)):
        yield from rows
        after = rows[-1]["id"]


def _may_name(text: str) -> ColumnElement[bool]:
    """Return the condition that an entry is about this, or has it somewhere in what it tells."""
    is_told = holds(_AUDIT.payload, text)
    return or_(_AUDIT.actor == text, _AUDIT.target == text, is_told)


def _named(row: Row) -> set[str]:
    """Return all names in an entry: ids and actors."""
    return {row["actor"], row["target"], *_texts(json.loads(row["payload"]))}


def _people_in(row: Row) -> set[str]:
    """Return who did something, and whom it is about."""
    payload = json.loads(row["payload"])
    users = payload.get("users", ())
    return {row["actor"], row["target"], str(payload.get("user", "")), *map(str, users)}


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, inner in cast("dict[str, object]", value).items():
                yield name
                yield from _texts(inner)
        case list():
            for inner in cast("list[object]", value):
                yield from _texts(inner)
        case _:
            pass


def _runs(ids: Iterable[int]) -> list[list[int]]:
    """Rising numbers as pairs of first and last."""
    runs: list[list[int]] = []
    for number in ids:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


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
