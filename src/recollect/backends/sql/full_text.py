"""The database's full text over the terms of units: candidates for scopes that are not packed.

Only a large scope is ever searched so; it is added when it has become large, and then again and
again what came since. Adding a unit as it comes would cost as much as all else of a save.

A token is the number of a space and the term's key in hexadecimal: the scope's id, or where its
units were renewed also the counter of their first. So it never collides with a token of another
scope or of units that do not answer, and no query syntax can occur in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, select

from recollect.backends.sql import schema
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.dialects.base import Terms
from recollect.backends.sql.prepared_statement import PreparedStatement

UNIT_BITS: Final = 32

_UNITS: Final = schema.units.c
_REACH: Final = PreparedStatement(
    select(schema.scopes.c.first_unit, schema.scopes.c.full_text_to).where(
        schema.scopes.c.id == bindparam("scope")
    )
)
_TERMS: Final = PreparedStatement(
    select(_UNITS.id, _UNITS.terms)
    .where(_UNITS.id.between(bindparam("first"), bindparam("last")))
    .order_by(_UNITS.id)
)


def space_of(scope_id: int, first_unit: int) -> int:
    """Return the number that a scope's tokens begin with, from the counter of its first unit."""
    # No scope has so high a number as those with a counter in them.
    return scope_id << UNIT_BITS | first_unit if first_unit else scope_id


def indexed_up_to(connection: Connection, scope_id: int) -> int:
    """Up to which counter the units of a scope are in the full text; 0 if none ever was."""
    found = _REACH.rows(connection, {"scope": scope_id})
    return found[0]["full_text_to"] if found else 0


def catch_up(connection: Connection, space: int, first: int, last: int) -> None:
    """Add the units with these numbers."""
    for rows in _TERMS.slices(connection, {"first": first, "last": last}):
        add_many(connection, space, [(unit, terms) for unit, terms in rows])


def take_out(connection: Connection, scope_id: int, units: Sequence[tuple[int, Terms]]) -> None:
    """Take those of these units, which answer, out that are in."""
    for first, to in _REACH.rows(connection, {"scope": scope_id}):
        last = scope_id << UNIT_BITS | to
        inside = [(unit, terms) for unit, terms in units if unit <= last]
        remove_many(connection, space_of(scope_id, first), inside)


def add_many(connection: Connection, space: int, units: Sequence[tuple[int, Terms]]) -> None:
    """Make several units findable."""
    if units:
        dialect_of(connection).add_tokens(connection, space, units)


def remove_many(connection: Connection, space: int, units: Sequence[tuple[int, Terms]]) -> None:
    """Take several units out; each has the terms that it was added with."""
    if units:
        dialect_of(connection).remove_tokens(connection, space, units)


def candidates(
    connection: Connection, space: int, frequencies: Mapping[int, int], budget: int
) -> list[int]:
    """At most `budget` units that have any of these terms, in ascending order.

    The rarest terms come first, because they decide the ranking; of the term that goes past the
    budget the newest units are taken. So the same data always gives the same candidates.
    """
    whole: list[int] = []
    room = budget
    newest: list[int] = []
    for key in sorted(frequencies, key=lambda key: (frequencies[key], key)):
        if frequencies[key] > room:
            newest = [key]
            break
        whole.append(key)
        room -= frequencies[key]
    units = _matching(connection, space, whole, budget)
    return sorted({*units, *_matching(connection, space, newest, room)})


def _matching(connection: Connection, space: int, keys: Sequence[int], most: int) -> list[int]:
    if not keys or most < 1:
        return []
    return dialect_of(connection).newest_with(connection, space, keys, most)
