"""What PostgreSQL and MySQL share: tables that SQLite does not need, and counting terms."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from struct import Struct
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    TextClause,
    bindparam,
    delete,
    select,
    update,
)
from sqlalchemy.types import TypeEngine

from recollect.backends.sql.dialects.base import Terms
from recollect.backends.sql.portable import InsertOrIgnore, listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import to_json
from recollect.backends.sql.schema import metadata

_GENERATION: Final = "generation"
_SIGNED: Final = Struct("<q")
# Whoever seals the audit holds the row of this name.
SEAL: Final = "seal"
# What tells this database from every other one, whatever they are called.
_IDENTITY: Final = "identity"
_IDENTITY_BITS: Final = 63

server_metadata: Final = MetaData()

# In how many units of a space a term is. SQLite's full text counts that itself.
term_counts: Final = Table(
    "term_counts",
    server_metadata,
    Column("space", BigInteger, nullable=False, autoincrement=False),
    # The key of the term as a signed number.
    Column("term", BigInteger, nullable=False, autoincrement=False),
    Column("units", Integer, nullable=False),
    PrimaryKeyConstraint("space", "term"),
)
# Numbers of the whole database. SQLite has its PRAGMA user_version.
counters: Final = Table(
    "counters",
    server_metadata,
    Column("name", String(32), primary_key=True),
    Column("value", BigInteger, nullable=False),
)

_COUNTS: Final = PreparedStatement(
    select(term_counts.c.term, term_counts.c.units).where(
        term_counts.c.space == bindparam("of_space", type_=BigInteger()),
        term_counts.c.term.in_(listed_numbers("terms")),
    )
)
_USED: Final = PreparedStatement(
    select(term_counts.c.term).where(term_counts.c.term.in_(listed_numbers("terms"))).distinct()
)
_LOCK: Final = select(counters.c.value).where(counters.c.name == bindparam("of_name"))


class ServerDialect(ABC):
    """A database that several processes write to at the same time."""

    is_server = True
    # One statement however many terms there are: `:counts` is a JSON list, of a term and how many
    # more units have it each.
    add_counts: TextClause
    # Removes those of these terms that no unit has any more.
    remove_unused_counts: TextClause

    @abstractmethod
    def column_type(self, type_: TypeEngine[Any]) -> TypeEngine[Any]:
        """Return the type that a column of ours has here."""

    @abstractmethod
    def full_text(self, connection: Connection) -> Sequence[str]:
        """Return the statements that make the full text."""

    def table_options(self, connection: Connection) -> dict[str, Any]:
        """Return what is said of every table when it is made."""
        return {}

    def create_tables(self, connection: Connection) -> None:
        self._tables(self.table_options(connection)).create_all(connection)
        for statement in self.full_text(connection):
            connection.exec_driver_sql(statement)
        for name in (_GENERATION, SEAL):
            connection.execute(InsertOrIgnore(counters), {"name": name, "value": 0})
        identity = secrets.randbits(_IDENTITY_BITS)
        connection.execute(InsertOrIgnore(counters), {"name": _IDENTITY, "value": identity})

    def _tables(self, options: Mapping[str, Any]) -> MetaData:
        """Return every table as it is made here: the types differ, the names do not."""
        copy = MetaData(naming_convention=metadata.naming_convention)
        for table in (*metadata.sorted_tables, *server_metadata.sorted_tables):
            made = table.to_metadata(copy)
            made.dialect_kwargs.update(options)
            for column in made.c:
                if isinstance(column.type, Text):
                    # MySQL has no defaults for long texts.
                    column.server_default = None
                column.type = self.column_type(column.type)
        return copy

    def raise_generation(self, connection: Connection) -> None:
        raised = update(counters).where(counters.c.name == _GENERATION)
        connection.execute(raised.values(value=counters.c.value + 1))

    def generation(self, connection: Connection) -> int:
        value = select(counters.c.value).where(counters.c.name == _GENERATION)
        return connection.execute(value).scalar_one()

    def set_generation(self, connection: Connection, number: int) -> None:
        connection.execute(
            update(counters).where(counters.c.name == _GENERATION).values(value=number)
        )

    @abstractmethod
    def go_on_numbering(self, connection: Connection, tables: Sequence[str]) -> None:
        """Let new rows of these tables be numbered from the highest number on."""

    def clear_tokens(self, connection: Connection) -> None:
        connection.execute(delete(term_counts))
        connection.exec_driver_sql("DELETE FROM unit_tokens")

    def look_for_damage(self, connection: Connection) -> str:
        # The server watches over its own files.
        return ""

    def look_closely(self, connection: Connection) -> str:
        return self.look_for_damage(connection)

    def count_terms(
        self, connection: Connection, space: int, units: Sequence[tuple[int, Terms]], sign: int
    ) -> None:
        """Add units to the counts of their terms, or with a negative sign take them off."""
        counts: Counter[int] = Counter()
        for _, terms in units:
            counts.update({key for (key,) in _SIGNED.iter_unpack(terms)})
        # In one order, so that two who count at the same time do not wait for each other.
        more = [(term, sign * count) for term, count in sorted(counts.items())]
        given = {"space": space, "counts": to_json(more)}
        connection.execute(self.add_counts, given)
        if sign < 0:
            connection.execute(self.remove_unused_counts, given)

    def frequencies(
        self, connection: Connection, space: int, keys: Sequence[int]
    ) -> dict[int, int]:
        given = {"of_space": space, "terms": to_json(_signed(keys))}
        found = _COUNTS.rows(connection, given)
        return {term % (1 << 64): units for term, units in found}

    def merge_tokens(self, connection: Connection, *, is_first: bool) -> bool:
        return False

    def used_keys(self, connection: Connection, keys: Collection[int]) -> set[int]:
        given = {"terms": to_json(_signed(keys))}
        return {term % (1 << 64) for (term,) in _USED.rows(connection, given)}

    def says(self, connection: Connection, term: str) -> bool:
        # No file of the server's is searched, so its own words cannot be mistaken for remains.
        return False


def identity_of(connection: Connection) -> int | None:
    """Return the number that a database was given with its tables; older ones have none."""
    return connection.scalar(select(counters.c.value).where(counters.c.name == _IDENTITY))


def lock_counter(connection: Connection, name: str) -> None:
    """Let only one transaction at a time go on from here; the others wait for its end."""
    connection.execute(_LOCK.with_for_update(), {"of_name": name})


def _signed(keys: Iterable[int]) -> list[int]:
    return [key - (key >> 63 << 64) for key in keys]
