"""A look at what is made of the stored texts: does it still follow from them?

Nothing protects it as the audit log protects records and turns, and nothing needs to: what is
damaged is made anew.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import numpy as np
from sqlalchemy import Connection, Table, delete, func, select, update

from recollect.backends.sql import schema
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.dialects.base import KEY_DIGITS, tokens
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT
from recollect.backends.sql.full_text import UNIT_BITS, catch_up, space_of
from recollect.backends.sql.index_generations import answers
from recollect.backends.sql.models import find_model
from recollect.backends.sql.rows import Row, record_from, rows_of, turn_from
from recollect.backends.sql.scopes import scopes_by_number
from recollect.domain.archive import Blob
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.job import Progress
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits
from recollect.language.analysis import ANALYZER_VERSION
from recollect.language.units import record_units, turn_units

_ROWS: Final = 1_000
# A vector has the length 1; sixteen bits round a little.
_TOLERANCE: Final = 0.02
# Of the same text a model makes the same vector; another machine may round differently.
_SAME: Final = 0.98


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFault:
    """Something that does not follow from what is stored, and what has to be made anew for it."""

    message: str
    unit: int = 0
    """The unit whose vector it is."""
    owner: str = ""
    """Whose terms they are."""
    is_full_text: bool = False

    @property
    def can_be_mended(self) -> bool:
        """Return whether it can be made anew: damaged pages cannot."""
        return bool(self.unit or self.owner or self.is_full_text)


@dataclass(slots=True)
class Sample:
    """Some records and turns, each as likely as any other, whose vectors are made again."""

    most: int
    owners: list[OwnerUnits] = field(default_factory=list[OwnerUnits])
    seen: int = 0

    def offer(self, owner: OwnerUnits) -> None:
        """Take one in, perhaps instead of another."""
        self.seen += 1
        if len(self.owners) < self.most:
            self.owners.append(owner)
        elif (place := random.randrange(self.seen)) < self.most:
            self.owners[place] = owner


def index_faults(connection: Connection, sample: Sample, tell: Progress) -> Iterator[IndexFault]:
    """Yield what is wrong with the pages of the database, with terms, full text and vectors."""
    if fault := dialect_of(connection).look_closely(connection):
        yield IndexFault(message=f"the pages of the database: {fault}")
        return
    yield from _vector_faults(connection)
    yield from _full_text_faults(connection)
    scopes, done = _live_scopes(connection), 0
    kinds = ((schema.records, _of_record), (schema.turns, _of_turn))
    total = sum(connection.scalar(select(func.count()).select_from(it)) or 0 for it, _ in kinds)
    for table, make in kinds:
        for row, stored in _texts(connection, table):
            done += 1
            if done % _ROWS == 0:
                tell(done, total)
            if stored is None or (scope := scopes.get(row["scope_id"])) is None:
                continue
            made = make(row, scope)
            sample.offer(made)
            expected = {unit.ordinal: np.array(unit.terms, "<u8").tobytes() for unit in made.units}
            if expected and stored != expected:
                told = f"the search terms of {row['id']} are not those of its text"
                yield IndexFault(message=told, owner=row["id"])


def differing_vectors(
    connection: Connection, owners: Sequence[OwnerUnits], model: EmbeddingModel
) -> list[IndexFault]:
    """Return the units whose stored vector is not the one that was made of their text just now."""
    stored = _stored_vectors(connection, [it.owner_id for it in owners], model)
    faults: list[IndexFault] = []
    for owner in owners:
        for unit in owner.units:
            number, there = stored.get((owner.owner_id, unit.ordinal), (0, b""))
            if unit.vector is not None and there and not _is_same(unit.vector, there):
                told = f"the vector of unit {number} ({owner.owner_id}) is of another text"
                faults.append(IndexFault(message=told, unit=number))
    return faults


def mend(connection: Connection, faults: Sequence[IndexFault]) -> None:
    """Remove what is damaged, so that it is made anew; make the full text anew at once."""
    vectors, units = schema.vectors, schema.units
    for fault in faults:
        if fault.unit:
            connection.execute(delete(vectors).where(vectors.c.unit_id == fault.unit))
        if fault.owner:
            # What another analyzer made is made again.
            stale = update(units).where(units.c.owner_id == fault.owner).values(analyzer="")
            connection.execute(stale)
    if any(fault.is_full_text for fault in faults):
        dialect_of(connection).clear_tokens(connection)
        for space, (first, last) in _full_text_ranges(connection).items():
            catch_up(connection, space, first, last)


def stored_blobs(connection: Connection) -> list[Blob]:
    """Return every content that the blob store should have."""
    table = schema.blobs.c
    wanted = select(table.hash, table.key, table.size, table.stored_size, table.stored_hash)
    return [Blob(**row) for row in rows_of(connection, wanted.order_by(table.key))]


def _live_scopes(connection: Connection) -> dict[int, Scope]:
    """Return the scopes by their numbers, but none whose content is being erased."""
    table = schema.scopes
    live = select(table).where(table.c.agent != FORGOTTEN_AGENT)
    return scopes_by_number(rows_of(connection, live))


def _vector_faults(connection: Connection) -> Iterator[IndexFault]:
    """Yield the vectors that cannot be any: of another dimension, or not of the length 1."""
    vectors, models = schema.vectors.c, schema.embedding_models.c
    last = (-1, -1)
    page = (
        select(vectors.unit_id, vectors.model_id, vectors.vector, models.dimension)
        .join(schema.embedding_models, models.id == vectors.model_id)
        .order_by(vectors.unit_id, vectors.model_id)
        .limit(_ROWS)
    )
    while rows := connection.execute(page.where(vectors.unit_id > last[0])).all():
        for row in rows:
            numbers = np.frombuffer(row.vector, "<f2") if len(row.vector) % 2 == 0 else None
            is_sound = (
                numbers is not None
                and len(numbers) == row.dimension
                and abs(float(np.linalg.norm(numbers.astype(np.float32))) - 1) < _TOLERANCE
            )
            if not is_sound:
                told = f"the vector of unit {row.unit_id} is damaged"
                yield IndexFault(message=told, unit=row.unit_id)
        last = (rows[-1].unit_id, rows[-1].model_id)


def _full_text_faults(connection: Connection) -> Iterator[IndexFault]:
    """Yield the spaces of the full text whose tokens are not those of their units.

    A space has up to millions of tokens: they are added up, which the order does not change.
    """
    differing = defaultdict[str, int](int)
    units = schema.units.c
    for space, (first, last) in _full_text_ranges(connection).items():
        within = select(units.id, units.terms).where(units.id.between(first, last))
        for rows in connection.execute(within).partitions(_ROWS):
            for unit, terms in rows:
                for token in tokens(space, terms):
                    differing[token[:-KEY_DIGITS]] += _digest(unit, token)
    for unit, token in dialect_of(connection).stored_tokens(connection):
        differing[token[:-KEY_DIGITS]] -= _digest(unit, token)
    for space, difference in differing.items():
        if difference:
            told = f"the full text {space} is not that of its texts"
            yield IndexFault(message=told, is_full_text=True)


def _digest(unit: int, token: str) -> int:
    # Not `hash` of the pair: its sums are equal for many pairs whose units change places.
    return int.from_bytes(blake2b(b"%d %s" % (unit, token.encode()), digest_size=8).digest())


def _full_text_ranges(connection: Connection) -> dict[int, tuple[int, int]]:
    """Return which units should be in the full text, by the space that their tokens have."""
    ranges: dict[int, tuple[int, int]] = {}
    scopes, beside = schema.scopes.c, schema.editions.c
    for scope_id, first, to in (
        *connection.execute(select(scopes.id, scopes.first_unit, scopes.full_text_to)),
        *connection.execute(select(beside.scope_id, beside.first_unit, beside.full_text_to)),
    ):
        if to >= max(first, 1):
            base = scope_id << UNIT_BITS
            ranges[space_of(scope_id, first)] = (base | first, base | to)
    return ranges


def _stored_vectors(
    connection: Connection, owners: Sequence[str], model: EmbeddingModel
) -> dict[tuple[str, int], tuple[int, bytes]]:
    """Return the numbers and vectors of units, by owner and place."""
    units, vectors = schema.units.c, schema.vectors.c
    wanted = (
        select(units.owner_id, units.ordinal, units.id, vectors.vector)
        .join(schema.vectors, vectors.unit_id == units.id)
        .where(
            units.owner_id.in_(owners),
            units.analyzer == ANALYZER_VERSION,
            vectors.model_id == find_model(connection, model),
            answers(),
        )
    )
    return {(row[0], row[1]): (row[2], row[3]) for row in connection.execute(wanted)}


def _is_same(one: bytes, other: bytes) -> bool:
    if len(one) != len(other):
        return False
    first, second = (np.frombuffer(it, "<f2").astype(np.float32) for it in (one, other))
    return float(first @ second) >= _SAME


def _texts(
    connection: Connection, table: Table
) -> Iterator[tuple[Row, Mapping[int, bytes] | None]]:
    """Yield every record or turn with the terms that its units have; None without units."""
    last = ""
    page = select(table).order_by(table.c.id).limit(_ROWS)
    while rows := rows_of(connection, page.where(table.c.id > last)):
        last = rows[-1]["id"]
        stored = _stored_terms(connection, [row["id"] for row in rows])
        yield from ((row, stored.get(row["id"])) for row in rows)


def _stored_terms(connection: Connection, owners: list[str]) -> dict[str, dict[int, bytes]]:
    units = schema.units.c
    wanted = select(units.owner_id, units.ordinal, units.terms).where(
        units.owner_id.in_(owners), units.analyzer == ANALYZER_VERSION, answers()
    )
    stored: dict[str, dict[int, bytes]] = {}
    for row in connection.execute(wanted):
        stored.setdefault(row.owner_id, {})[row.ordinal] = row.terms
    return stored


def _of_record(row: Row, scope: Scope) -> OwnerUnits:
    return record_units(record_from(row, scope))


def _of_turn(row: Row, scope: Scope) -> OwnerUnits:
    return turn_units(turn_from(row, scope))
