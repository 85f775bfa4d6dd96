"""Comparing what is stored with the digests that the audit holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from sqlalchemy import Connection, Select, Table, select

from recollect.backends.sql import schema
from recollect.backends.sql.digests import record_digest, turn_digest
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT
from recollect.backends.sql.rows import Row, past_row
from recollect.domain.audit import ComparedContents, ContentFault

_SLICE: Final = 1_000
_Key = tuple[str, str]
# Which entry holds it, at which place of the chain, and the digest.
_Expected = dict[_Key, tuple[int, int | None, str]]


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
