"""Units that do not answer, beside those of their scope that do.

A newer analyzer makes its units of a whole scope before any of them answers. They are numbered
from a counter far above those that answer, so one number tells the two apart, and changing over is
one small update of `scopes`. What was replaced then lies here until it is removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    insert,
    select,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.dialects.base import KEY_BYTES
from recollect.backends.sql.forgotten import NAMELESS_SCOPES
from recollect.backends.sql.full_text import UNIT_BITS, indexed_up_to, remove_many, space_of
from recollect.backends.sql.portable import InsertOrReplace, listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import to_json
from recollect.backends.sql.scopes import ScopeRow
from recollect.errors import StorageError

# So many counters at least are left to the units that answer while others are made beside them.
_GAP: Final = 1 << 26
_TABLE: Final = schema.editions.c
_FIND: Final = PreparedStatement(
    select(schema.editions).where(_TABLE.scope_id == bindparam("scope"))
)
_OLD: Final = schema.units.alias("old")
_NEW: Final = schema.units.alias("new")
# That two units were made of the same text, so that one's vector is the other's too.
_SAME_TEXT: Final = and_(
    *(_NEW.c[name] == _OLD.c[name] for name in ("owner_id", "ordinal", "start", "end")),
    _NEW.c.id != _OLD.c.id,
)
_COUNTERPARTS: Final = PreparedStatement(
    select(_OLD.c.id, _NEW.c.id)
    .join(_NEW, _SAME_TEXT)
    .where(_OLD.c.id.in_(listed_numbers("units")))
)
_COPY_VECTORS: Final = PreparedStatement(
    InsertOrReplace(schema.vectors).from_select(
        ["unit_id", "model_id", "vector"],
        select(_NEW.c.id, schema.vectors.c.model_id, schema.vectors.c.vector)
        .select_from(_NEW)
        .join(_OLD, _SAME_TEXT)
        .join(schema.vectors, schema.vectors.c.unit_id == _OLD.c.id)
        .where(_NEW.c.id.between(bindparam("first"), bindparam("last"))),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The units of a scope that do not answer, and how far they are made.

    `analyzer` is empty when they have been replaced.
    """

    scope_id: int
    analyzer: str
    first_unit: int
    next_unit: int
    unit_count: int
    unit_length: int
    full_text_to: int
    done_to: int

    @property
    def first(self) -> int:
        """The lowest number that one of them can have."""
        return self.scope_id << UNIT_BITS | self.first_unit

    @property
    def last(self) -> int:
        """The highest number that one of them has had so far."""
        return (self.scope_id << UNIT_BITS) + self.next_unit - 1

    @property
    def done(self) -> int:
        """What answers has its units here up to this number."""
        return self.scope_id << UNIT_BITS | self.done_to


def answers(units: Any = schema.units.c) -> ColumnElement[bool]:
    """Return the condition that a unit answers, and is not part of a new generation."""
    base = _TABLE.scope_id * (1 << UNIT_BITS)
    beside = select(_TABLE.scope_id).where(
        _TABLE.scope_id == units.scope_id,
        units.id.between(base + _TABLE.first_unit, base + _TABLE.next_unit - 1),
    )
    return ~beside.exists()


def made_by_another_analyzer(analyzer: str | BindParameter[str]) -> ColumnElement[bool]:
    """Return the condition that a unit answers and was made by another analyzer."""
    column = schema.units.c.analyzer
    # Two ranges instead of "not equal", so that the index on analyzer finds them.
    others = (column < analyzer) | (column > analyzer)
    return others & schema.units.c.scope_id.not_in(NAMELESS_SCOPES) & answers()


def find_generation(connection: Connection, scope_id: int) -> Generation | None:
    """Return the new generation of a scope's units, if one is being made."""
    for row in _FIND.rows(connection, {"scope": scope_id}):
        return Generation(**dict(row))
    return None


def begin_generation(connection: Connection, scope: ScopeRow, analyzer: str) -> Generation:
    """Begin a new generation of a scope's units, which does not answer yet."""
    first = (scope.next_unit // _GAP + 2) * _GAP
    if first + _GAP > 1 << UNIT_BITS:
        raise StorageError(
            "the numbers of a scope's pieces are used up; its old search terms go on answering",
            code="numbers_used_up",
            hint="Export the scope, forget it and import it again.",
        )
    edition = Generation(
        scope_id=scope.id,
        analyzer=analyzer,
        first_unit=first,
        next_unit=first,
        unit_count=0,
        unit_length=0,
        full_text_to=first - 1,
        done_to=0,
    )
    write_generation(connection, edition, is_new=True)
    return edition


def write_generation(connection: Connection, edition: Generation, *, is_new: bool = False) -> None:
    """Keep what is known of units beside."""
    row = {name: getattr(edition, name) for name in _TABLE.keys()}  # noqa: SIM118
    if is_new:
        connection.execute(insert(schema.editions), row)
    else:
        its = _TABLE.scope_id == edition.scope_id
        connection.execute(update(schema.editions).where(its).values(row))


def drop_from_generation(
    connection: Connection, scope_id: int, units: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Return the units being removed that answer; remove the others from their generation."""
    edition = find_generation(connection, scope_id)
    if edition is None:
        return units
    beside = [row for row in units if edition.first <= row["id"] <= edition.last]
    remove_generation_units(connection, edition, beside)
    return [row for row in units if not edition.first <= row["id"] <= edition.last]


def remove_generation_units(
    connection: Connection, edition: Generation, units: Sequence[Mapping[str, Any]]
) -> None:
    """Take units that are being removed out of the full text and of what is counted."""
    terms = [(row["id"], row["terms"]) for row in units]
    in_full_text = edition.scope_id << UNIT_BITS | edition.full_text_to
    space = space_of(edition.scope_id, edition.first_unit)
    remove_many(connection, space, [term for term in terms if term[0] <= in_full_text])
    fewer = {
        "unit_count": _TABLE.unit_count - len(units),
        "unit_length": _TABLE.unit_length - sum(len(it) for _, it in terms) // KEY_BYTES,
    }
    its = _TABLE.scope_id == edition.scope_id
    connection.execute(update(schema.editions).where(its).values(fewer))


def counterparts(
    connection: Connection, scope_id: int, units: Iterable[int]
) -> Sequence[tuple[int, int]]:
    """Units with those of the same text on the other side, if the scope has two sides."""
    if find_generation(connection, scope_id) is None:
        return ()
    found = _COUNTERPARTS.rows(connection, {"units": to_json(list(units))})
    return [(unit, other) for unit, other in found]


def copy_vectors(connection: Connection, first: int, last: int) -> None:
    """Give the units with these numbers the vectors of those made of the same text."""
    _COPY_VECTORS.run(connection, [{"first": first, "last": last}])


def has_tokens(connection: Connection, scope_id: int) -> bool:
    """Return whether any unit of a scope is or was in the full text, answering or not."""
    return (
        bool(indexed_up_to(connection, scope_id))
        or find_generation(connection, scope_id) is not None
    )
