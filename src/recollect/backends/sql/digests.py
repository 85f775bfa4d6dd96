"""Digests of what is stored: the audit holds them, and comparing finds what was changed since.

What is counted while a record is used, and the names that forgetting takes off shared records,
change without a new version and are no part of it. A name of a column stays in its list for ever:
old digests were made with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final, cast

from sqlalchemy import Connection, Select, Table, select

from recollect.backends.sql import schema
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT
from recollect.backends.sql.rows import Row, past_row, to_json
from recollect.domain.audit import ComparedContents, ContentFault

_RECORD: Final = (
    *("id", "scope_id", "kind", "category", "title", "content", "description", "tags"),
    *("evidence_count", "evidence", "source", "related", "session", "task", "created_at"),
    *("updated_at", "first_observed", "last_confirmed", "observed_at", "valid_from", "valid_to"),
    *("recorded_at", "expires_at", "tier", "version", "status", "metadata", "reason"),
)
_TURN: Final = (
    *("id", "scope_id", "session", "ordinal", "role", "speaker", "content", "at", "task"),
    *("payload", "recorded_at"),
)
# Feedback changes these without a new version.
_COUNTED_DETAILS: Final = ("success_rate", "usage_count")
_record_values: Final = itemgetter(*_RECORD)
_turn_values: Final = itemgetter(*_TURN)
_BETWEEN: Final = "\x1e"
_NOTHING: Final = "\x00"
_DIGEST_BYTES: Final = 16
_SLICE: Final = 1_000

# Of one thing: a turn's, or that of each version of a record.
Digests = dict[str, Any]
_Key = tuple[str, str]
# Which entry holds it, at which place of the chain, and the digest.
_Expected = dict[_Key, tuple[int, int | None, str]]


def record_digest(row: Row) -> str:
    """Return the digest of a version of a record, by its row."""
    # A whole number comes back from the database as a fraction.
    values = (*_record_values(row), float(row["confidence"]), float(row["importance"]))
    if row["details"] is not None:
        details = json.loads(row["details"])
        stays = {it: details[it] for it in details if it not in _COUNTED_DETAILS}
        values = (*values, to_json(stays))
    return _digest(values)


def turn_digest(row: Row) -> str:
    """Return the digest of a turn, by its row."""
    return _digest(_turn_values(row))


def digests_without(payload: Mapping[str, Any], gone: frozenset[str]) -> Digests:
    """Return the digests in the payload of an entry that are of none of these."""
    return {it: digest for it, digest in payload.get("digests", {}).items() if it not in gone}


def merge_digests(into: Digests, others: Digests) -> None:
    """Add digests to others; a record has one for each version."""
    for ident, digest in others.items():
        if isinstance(digest, dict):
            into.setdefault(ident, {}).update(digest)
        else:
            into[ident] = digest


def compare(connection: Connection, org: str, workspace: str) -> ComparedContents:
    """Compare what a workspace holds with the digests that its audit holds."""
    expected = _expected(connection, org, workspace)
    faults: list[ContentFault] = []
    same = unproved = 0
    for (ident, version), digest in _stored(connection, org, workspace):
        known = expected.pop((ident, version), None)
        if known is None:
            unproved += 1
        elif known[2] == digest:
            same += 1
        else:
            faults.append(ContentFault(id=ident, version=version, entry=known[0], seq=known[1]))
    faults += [
        ContentFault(id=ident, version=version, entry=entry, seq=seq, is_gone=True)
        for (ident, version), (entry, seq, _) in expected.items()
    ]
    return ComparedContents(same=same, unproved=unproved, faults=tuple(faults))


def _expected(connection: Connection, org: str, workspace: str) -> _Expected:
    """Return the newest digest of everything that was stored and not removed since."""
    audit = schema.audit.c
    told: Select[Any] = select(schema.audit).select_from(schema.audit.join(schema.scopes))
    told = _alive(told, org, workspace).order_by(audit.id)
    expected: _Expected = {}
    versions: dict[str, set[str]] = {}
    for row in _rows(connection, told):
        payload = _payload(row["payload"])
        for ident, given in payload.get("digests", {}).items():
            of_versions: dict[str, str] = {"": given} if isinstance(given, str) else given
            for version, digest in of_versions.items():
                expected[ident, version] = row["id"], row["seq"], digest
                versions.setdefault(ident, set()).add(version)
        for ident in payload.get("purged", {}):
            for version in versions.pop(ident, ()):
                del expected[ident, version]
    return expected


def _stored(connection: Connection, org: str, workspace: str) -> Iterator[tuple[_Key, str]]:
    """Yield the digest of everything that is there; what is being forgotten is not."""
    records, turns, versions = schema.records, schema.turns, schema.versions
    for row in _rows(connection, _all_in(records, org, workspace)):
        yield (row["id"], str(row["version"])), record_digest(row)
    for row in _rows(connection, _all_in(versions, org, workspace)):
        past = {**past_row(row["body"]), "scope_id": row["scope_id"]}
        yield (row["record_id"], str(row["version"])), record_digest(past)
    for row in _rows(connection, _all_in(turns, org, workspace)):
        yield (row["id"], ""), turn_digest(row)


def _alive(rows: Select[Any], org: str, workspace: str) -> Select[Any]:
    """Restrict a query that joins scopes to a workspace, without what is being forgotten."""
    scopes = schema.scopes.c
    return rows.where(
        scopes.org == org, scopes.workspace == workspace, scopes.agent != FORGOTTEN_AGENT
    )


def _all_in(table: Table, org: str, workspace: str) -> Select[Any]:
    rows: Select[Any] = select(table).select_from(table.join(schema.scopes))
    return _alive(rows, org, workspace)


def _rows(connection: Connection, statement: Select[Any]) -> Iterator[Row]:
    """Rows by name, without holding all of them."""
    for some in connection.execute(statement).mappings().partitions(_SLICE):
        yield from cast("Sequence[Row]", some)


def _payload(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        # Whoever verifies the chain is told that it was changed.
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _digest(values: Iterable[object]) -> str:
    # Every save waits for it: joining takes a third of the time that writing JSON does.
    texts = [_NOTHING if value is None else str(value) for value in values]
    told = _BETWEEN.join(texts).encode("utf-8", "surrogatepass")
    return blake2b(told, digest_size=_DIGEST_BYTES).hexdigest()
