"""A write that waits for its database: the checked and redacted items, and their JSON form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

from recollect.backends.sql.rows import record_from, record_row, scope_key, turn_from, turn_row
from recollect.domain.change import Idempotency
from recollect.domain.record import Record
from recollect.domain.scope import Caller, Role, Scope
from recollect.domain.times import from_micros, to_micros
from recollect.domain.turn import Turn

# Rows name their scope by a number, which only the database knows.
_NO_SCOPE: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolEntry:
    """Records or turns that one call saves together; their ids are final.

    `counts` says how much personal data was removed from each of them.
    """

    id: str
    at: datetime
    caller: Caller
    records: tuple[Record, ...] = ()
    turns: tuple[Turn, ...] = ()
    reason: str = ""
    counts: tuple[Mapping[str, int], ...] = field(default=(), hash=False)
    idempotency: Idempotency | None = None

    @property
    def items(self) -> tuple[Record | Turn, ...]:
        return (*self.records, *self.turns)

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(item.id for item in self.items)

    @property
    def names(self) -> frozenset[str]:
        """Return the ids and sessions by which it may be forgotten."""
        sessions = {item.session for item in self.items if item.session is not None}
        evidence = {said.turn for record in self.records for said in record.evidence}
        return self.ids | sessions | evidence

    @property
    def scopes(self) -> frozenset[Scope]:
        return frozenset(item.scope for item in self.items)

    def to_json(self) -> dict[str, Any]:
        caller = self.caller
        return {
            "id": self.id,
            "at": to_micros(self.at),
            "caller": {
                "scope": scope_key(caller.scope),
                "children": caller.children,
                "principal": caller.principal,
                "role": caller.role.value,
            },
            "records": [_row(it, record_row(it, _NO_SCOPE, "", "")) for it in self.records],
            "turns": [_row(it, turn_row(it, _NO_SCOPE)) for it in self.turns],
            "reason": self.reason,
            "counts": [dict(counts) for counts in self.counts],
            "idempotency": None if self.idempotency is None else asdict(self.idempotency),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> SpoolEntry:
        caller, key = stored["caller"], stored["idempotency"]
        return cls(
            id=stored["id"],
            at=from_micros(stored["at"]),
            caller=Caller(
                scope=_scope(caller["scope"]),
                children=tuple(caller["children"]),
                principal=caller["principal"],
                role=Role(caller["role"]),
            ),
            records=tuple(record_from(row, _scope(row["scope"])) for row in stored["records"]),
            turns=tuple(turn_from(row, _scope(row["scope"])) for row in stored["turns"]),
            reason=stored["reason"],
            counts=tuple(stored["counts"]),
            idempotency=None if key is None else Idempotency(**key),
        )


def _row(item: Record | Turn, row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "scope": scope_key(item.scope)}


def _scope(key: Mapping[str, str]) -> Scope:
    return Scope(
        org=key["org"],
        workspace=key["workspace"],
        agent=key["agent"] or None,
        user=key["user"] or None,
    )


def line_of(entry: SpoolEntry) -> bytes:
    """Return the line of a spool file that holds an entry."""
    told = json.dumps(entry.to_json(), ensure_ascii=False, separators=(",", ":"))
    return told.encode("utf-8", "surrogatepass") + b"\n"


def entries_in(lines: Sequence[bytes]) -> tuple[list[SpoolEntry], list[bytes]]:
    """Return the entries of some lines, and the lines that cannot be read."""
    entries: list[SpoolEntry] = []
    unreadable: list[bytes] = []
    for line in lines:
        try:
            entries.append(SpoolEntry.from_json(json.loads(line.decode("utf-8", "surrogatepass"))))
        except (ValueError, KeyError, TypeError):
            unreadable.append(line)
    return entries, unreadable
