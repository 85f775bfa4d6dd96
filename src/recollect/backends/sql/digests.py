"""Digests of what is stored, for the audit: comparing finds what was changed since.

What is counted while a record is used, and the names that forgetting takes off shared records,
change without a new version and are no part of it. A name of a column stays in its list for ever:
old digests were made with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final

from recollect.backends.sql.rows import Row, to_json

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

# Of one thing: a turn's, or that of each version of a record.
Digests = dict[str, Any]


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


def _digest(values: Iterable[object]) -> str:
    # Every save waits for it: joining takes a third of the time that writing JSON does.
    texts = [_NOTHING if value is None else str(value) for value in values]
    told = _BETWEEN.join(texts).encode("utf-8", "surrogatepass")
    return blake2b(told, digest_size=_DIGEST_BYTES).hexdigest()
