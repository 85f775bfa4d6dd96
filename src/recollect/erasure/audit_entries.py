"""Erasing from the audit log what it tells of something forgotten; the chain still verifies."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, or_, select, update

from recollect.backends.sql import schema, statements
from recollect.backends.sql.audit_entries import (
    OURSELVES,
    canonical,
    entry_row,
    new_salt,
    sealable_from,
    texts_in,
)
from recollect.backends.sql.digests import Digests, digests_without, merge_digests
from recollect.backends.sql.portable import holds
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import Row, rows_of
from recollect.domain.audit import ERASE, KEEP, SealableEntry

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
            mark = entry_row(scope_id, now, OURSELVES, ERASE, forget_id, {"entries": _runs(ids)})
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
        return replace(entry, actor=actor, payload=canonical(payload), salt=new_salt())

    def is_in(self, entry: SealableEntry) -> bool:
        """Return whether an entry names the person, be it within a longer text."""
        name = rf"(?<![A-Za-z0-9_]){re.escape(canonical(self.user)[1:-1])}(?![A-Za-z0-9_])"
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
            mark = entry_row(scope_id, now, OURSELVES, ERASE, forget_id, told)
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
        again = entry_row(scope_id, now, OURSELVES, KEEP, forget_id, {"digests": staying})
        statements.INSERT_AUDIT.run(connection, [again])


def _rewritten(entry: SealableEntry) -> dict[str, Any]:
    return {
        "erased_id": entry.id,
        "new_actor": entry.actor,
        "new_payload": entry.payload,
        "new_salt": entry.salt,
    }


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
    return {row["actor"], row["target"], *texts_in(json.loads(row["payload"]))}


def _people_in(row: Row) -> set[str]:
    """Return who did something, and whom it is about."""
    payload = json.loads(row["payload"])
    users = payload.get("users", ())
    return {row["actor"], row["target"], str(payload.get("user", "")), *map(str, users)}


def _runs(ids: Iterable[int]) -> list[list[int]]:
    """Rising numbers as pairs of first and last."""
    runs: list[list[int]] = []
    for number in ids:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs
