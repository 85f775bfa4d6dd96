"""Copying every table from one database to another, of whichever kind, row by row.

Numbers and ids stay what they are. What a database derives from its rows is made anew: the full
text, and where new numbers begin. A copy that was interrupted goes on where it stopped, and until
it is finished nobody can open it as a memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from sqlalchemy import Connection, Table, func, insert, select, text, tuple_

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.full_text import UNIT_BITS, catch_up, space_of
from recollect.backends.sql.migrate import COPYING, create, revision
from recollect.backends.sql.rows import rows_of
from recollect.backends.sql.schema import metadata
from recollect.domain.job import Progress
from recollect.errors import StorageError

_PAGE_ROWS: Final = 500
_DIGEST_BYTES: Final = 16
_DIGEST_RANGE: Final = 1 << (8 * _DIGEST_BYTES)


@dataclass(frozen=True, slots=True)
class TableContents:
    """How many rows a table has, and a digest of all of them, in whichever order."""

    rows: int
    digest: int


def copy_tables(
    source: Connection, target: Database, name: str, progress: Progress | None = None
) -> dict[str, int]:
    """Copy every row of a snapshot; returns how many each table has, once both are the same.

    The copy stays unfinished until `finish` is called, after what lies beside the tables.
    """
    target.write_here(lambda connection: _prepare(connection, target.name))
    tables = _copied_tables()
    total = sum(_count(source, table) for table in tables)
    done = 0
    for table in tables:
        for rows in _missing(source, target, table):
            target.write_here(lambda it, table=table, rows=rows: it.execute(insert(table), rows))
            done += len(rows)
            if progress is not None:
                progress(done, total)
    generation = dialect_of(source).generation(source)
    target.write_here(lambda connection: derive(connection, generation))
    return _require_same(source, target, name)


def finish(target: Database) -> None:
    """Let a copy be opened as a memory."""
    target.write_here(lambda connection: _mark(connection, schema.HEAD_REVISION))


def _prepare(connection: Connection, name: str) -> None:
    """Make the tables of a new target, or go on with one that was begun."""
    current = revision(connection)
    if current == COPYING:
        return
    if current is None:
        create(connection)
    elif current != schema.HEAD_REVISION or connection.scalar(select(schema.scopes.c.id).limit(1)):
        raise StorageError(
            f"{name} has memory in it already; nothing was copied",
            code="target_not_empty",
            hint="Give an empty database or a file that does not exist yet; `recollect export` "
            "and `import` add to what is there.",
        )
    _mark(connection, COPYING)


def _mark(connection: Connection, number: str) -> None:
    connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": number})


def _missing(source: Connection, target: Database, table: Table) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows that the target does not have yet, a page at a time."""
    key = list(table.primary_key)
    last = select(*key).order_by(*(column.desc() for column in key)).limit(1)
    found = target.read_here(lambda connection: connection.execute(last).one_or_none())
    after = None if found is None else tuple(found)
    page = select(table).order_by(*key).limit(_PAGE_ROWS)
    while True:
        wanted = page if after is None else page.where(tuple_(*key) > after)
        rows = [dict(row) for row in rows_of(source, wanted)]
        if not rows:
            return
        yield rows
        after = tuple(rows[-1][column.name] for column in key)


def derive(connection: Connection, generation: int) -> None:
    """Make what is not in the rows: the full text, and where numbers go on."""
    dialect = dialect_of(connection)
    dialect.set_generation(connection, generation)
    dialect.go_on_numbering(connection, ("scopes", "audit", "embedding_models"))
    dialect.clear_tokens(connection)
    scopes, editions = schema.scopes.c, schema.editions.c
    places = [
        *connection.execute(select(scopes.id, scopes.first_unit, scopes.full_text_to)),
        *connection.execute(select(editions.scope_id, editions.first_unit, editions.full_text_to)),
    ]
    for scope_id, first, last in places:
        if last >= max(first, 1):
            base = scope_id << UNIT_BITS
            catch_up(connection, space_of(scope_id, first), base | first, base | last)


def _copied_tables() -> list[Table]:
    """Return the tables to copy; the target's own followers begin anew."""
    return [table for table in metadata.sorted_tables if table is not schema.followers]


def _require_same(source: Connection, target: Database, name: str) -> dict[str, int]:
    """Compare both sides row by row."""
    counts: dict[str, int] = {}
    for table in _copied_tables():
        wanted = _contents(source, table)
        copied = target.read_here(lambda connection, table=table: _contents(connection, table))
        if wanted != copied:
            raise StorageError(
                f"The copy differs from {name} in {table.name}: {copied.rows:,} rows instead of "
                f"{wanted.rows:,}, or other contents. It was left unfinished",
                code="copy_differs",
                hint="Somebody may have written to one of them meanwhile; empty the target and "
                "copy again.",
            )
        counts[table.name] = wanted.rows
    return counts


def _contents(connection: Connection, table: Table) -> TableContents:
    rows = total = 0
    names = [column.name for column in table.c]
    result = connection.execute(select(table)).mappings()
    for some in result.partitions(_PAGE_ROWS):
        for row in some:
            rows += 1
            total = (total + _digest(row, names)) % _DIGEST_RANGE
    return TableContents(rows, total)


def _digest(row: Mapping[Any, Any], names: Sequence[str]) -> int:
    told = "\x1e".join(f"{row[name]!r}" for name in names).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(told, digest_size=_DIGEST_BYTES).digest())


def _count(connection: Connection, table: Table) -> int:
    return connection.scalar(select(func.count()).select_from(table)) or 0
