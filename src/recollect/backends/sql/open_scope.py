"""A scope that a transaction writes to, and the units that it gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from struct import pack
from typing import Any, Final

from sqlalchemy import Connection

from recollect.backends.sql import statements
from recollect.backends.sql.full_text import UNIT_BITS, catch_up, space_of
from recollect.backends.sql.rows import scope_key, to_json
from recollect.backends.sql.scope_locks import locked
from recollect.domain.scope import Scope
from recollect.domain.times import to_micros
from recollect.domain.unit import OwnerUnits

# The part of a unit's number that its scope's counter gave.
COUNTER: Final = (1 << UNIT_BITS) - 1
# A scope with fewer terms is not in the full text: a search reads all of them until it is packed.
# That takes some 50 ms for 10,000 records, less than adding them would take on every writer.
_LARGE: Final = 1_000_000
# Fewer units than this are read one by one rather than added to the full text.
_BEHIND: Final = 1_024


@dataclass(slots=True)
class OpenScope:
    """A scope that this transaction writes to: its row is locked, `version` is its next one."""

    id: int
    version: int
    next_unit: int
    # How many terms its units had together when it was opened.
    length: int
    # The number of the model whose vectors answer here.
    model: int | None
    # Up to this counter the units are in the full text.
    full_text_to: int
    # From this counter on they answer.
    first_unit: int
    added_units: int = 0
    added_length: int = 0
    changes: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    def answers_with(self, unit: int) -> bool:
        """Whether a unit of this scope is one of those that answer."""
        return self.first_unit <= unit & COUNTER < self.next_unit

    def counters(self) -> dict[str, int | None]:
        """What its row says from now on."""
        return {
            "new_id": self.id,
            "new_version": self.version,
            "new_next_unit": self.next_unit,
            "new_units": self.added_units,
            "new_length": self.added_length,
            "new_model": self.model,
            "new_full_text_to": self.full_text_to,
        }

    def bring_full_text_up(self, connection: Connection) -> None:
        """Add what came since to the full text, when that is worth it."""
        is_large = self.length + self.added_length >= _LARGE
        if is_large and self.next_unit - 1 - self.full_text_to >= _BEHIND:
            base = self.id << UNIT_BITS
            space = space_of(self.id, self.first_unit)
            catch_up(connection, space, base | self.full_text_to + 1, base | self.next_unit - 1)
            self.full_text_to = self.next_unit - 1


def unit_rows(scope: OpenScope, owner: OwnerUnits, place: int | None) -> Iterator[dict[str, Any]]:
    """The rows of an owner's units, numbered by the scope's counter.

    An owner's units have numbers in a row. `place` is that of a turn written in this transaction.
    """
    for unit in owner.units:
        number = scope.id << UNIT_BITS | scope.next_unit
        scope.next_unit += 1
        scope.added_units += 1
        scope.added_length += len(unit.terms)
        scope.changes.append(("unit", str(number), "add"))
        yield {
            "id": number,
            "scope_id": scope.id,
            "owner_kind": owner.owner_kind,
            "owner_id": owner.owner_id,
            "ordinal": unit.ordinal,
            "start": unit.start,
            "end": unit.end,
            "terms": pack(f"<{len(unit.terms)}Q", *unit.terms),
            "analyzer": owner.analyzer,
            "observed_at": to_micros(owner.observed_at),
            "cluster": owner.setting.cluster,
            "place": owner.setting.place if place is None else place,
            "speaker": owner.setting.speaker,
            "traits": owner.setting.traits,
            "size": owner.setting.size,
            "variety": owner.setting.variety,
        }


def units_of(
    connection: Connection, scope: Scope, wanted: Iterable[int]
) -> Sequence[tuple[int, str]]:
    """Those of these units that the scope still has, and their owners.

    A scope that was forgotten has none.
    """
    row = locked(connection, scope_key(scope))
    if row is None:
        return []
    given = {"units": to_json(list(wanted)), "scope": row["id"]}
    return [(unit, owner) for unit, owner in statements.OWNERS_OF_UNITS.rows(connection, given)]
