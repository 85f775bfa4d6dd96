"""SQLite: full text by FTS5, versions and figures by PRAGMA."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from sqlalchemy import Connection, text

from recollect.backends.sql.dialects.base import Terms, token, tokens
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.schema import FULL_TEXT_SQLITE, metadata

_ADD: Final = PreparedStatement(
    text("INSERT INTO unit_tokens(rowid, tokens) VALUES (:unit, :tokens)")
)
# A table without content only forgets a row when it is told exactly what was in it.
_REMOVE: Final = PreparedStatement(
    text("INSERT INTO unit_tokens(unit_tokens, rowid, tokens) VALUES ('delete', :unit, :tokens)")
)
# One parameter for any number of tokens: a build of SQLite may take only some thousand.
_FREQUENCIES: Final = text(
    "SELECT term, doc FROM unit_vocabulary WHERE term IN (SELECT value FROM json_each(:tokens))"
)
_NEWEST: Final = text(
    "SELECT rowid FROM unit_tokens WHERE unit_tokens MATCH :query ORDER BY rowid DESC LIMIT :most"
)
_EVERY_TERM: Final = text("SELECT term FROM unit_vocabulary")
_USED: Final = text(
    "SELECT DISTINCT substr(term, -16) FROM unit_vocabulary "
    "WHERE substr(term, -16) IN (SELECT value FROM json_each(:keys))"
)
# How many pages one step of merging writes, and how many rows it changes when it had nothing to do.
_PAGES: Final = 200
_IDLE: Final = 2
_MERGE: Final = text("INSERT INTO unit_tokens(unit_tokens, rank) VALUES ('merge', :pages)")
_CHANGES: Final = text("SELECT total_changes()")
_DEFINITION: Final = text("SELECT name FROM sqlite_master WHERE instr(sql, :term) LIMIT 1")

_IDENTITIES: Final = (1 << 31) - 1


class SqliteDialect:
    """SQLite, of which one process at a time writes."""

    is_server = False

    def create_tables(self, connection: Connection) -> None:
        metadata.create_all(connection)
        for statement in FULL_TEXT_SQLITE:
            connection.execute(text(statement))

    def raise_generation(self, connection: Connection) -> None:
        self.set_generation(connection, (self.generation(connection) + 1) % (1 << 31))

    def generation(self, connection: Connection) -> int:
        return connection.exec_driver_sql("PRAGMA user_version").scalar_one()

    def set_generation(self, connection: Connection, number: int) -> None:
        connection.exec_driver_sql(f"PRAGMA user_version = {number}")

    def go_on_numbering(self, connection: Connection, tables: Sequence[str]) -> None:
        # SQLite goes on from the highest number by itself.
        pass

    def clear_tokens(self, connection: Connection) -> None:
        connection.exec_driver_sql("INSERT INTO unit_tokens(unit_tokens) VALUES ('delete-all')")

    def size(self, connection: Connection) -> int:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        return pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one()

    def look_for_damage(self, connection: Connection) -> str:
        verdict = "; ".join(connection.exec_driver_sql("PRAGMA quick_check(3)").scalars())
        return "" if verdict == "ok" else verdict

    def look_closely(self, connection: Connection) -> str:
        verdict = "; ".join(connection.exec_driver_sql("PRAGMA integrity_check(3)").scalars())
        # Reads every page of the full text; one that is damaged is an error.
        connection.exec_driver_sql("SELECT count(*), sum(cnt) FROM unit_vocabulary").one()
        return "" if verdict == "ok" else verdict

    def describe(self, connection: Connection) -> str:
        return connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()

    def unmet(self, connection: Connection) -> list[tuple[str, str]]:
        return []

    def add_tokens(
        self, connection: Connection, space: int, units: Sequence[tuple[int, Terms]]
    ) -> None:
        self._write(connection, _ADD, space, units)

    def remove_tokens(
        self, connection: Connection, space: int, units: Sequence[tuple[int, Terms]]
    ) -> None:
        self._write(connection, _REMOVE, space, units)

    def _write(
        self,
        connection: Connection,
        statement: PreparedStatement,
        space: int,
        units: Sequence[tuple[int, Terms]],
    ) -> None:
        # In rising order: FTS5 starts a new segment whenever a row number goes down.
        rows = [
            {"unit": unit, "tokens": " ".join(tokens(space, terms))}
            for unit, terms in sorted(units, key=lambda pair: pair[0])
        ]
        statement.run(connection, rows)

    def frequencies(
        self, connection: Connection, space: int, keys: Sequence[int]
    ) -> dict[int, int]:
        wanted = {token(space, key): key for key in keys}
        found = connection.execute(_FREQUENCIES, {"tokens": json.dumps(list(wanted))})
        return {wanted[row.term]: row.doc for row in found}

    def newest_with(
        self, connection: Connection, space: int, keys: Sequence[int], most: int
    ) -> list[int]:
        query = " OR ".join(token(space, key) for key in keys)
        return list(connection.execute(_NEWEST, {"query": query, "most": most}).scalars())

    def stored_tokens(self, connection: Connection) -> Iterator[tuple[int, str]]:
        # A table without content cannot be read by its rows.
        for term in connection.execute(_EVERY_TERM).scalars():
            for unit in connection.execute(_NEWEST, {"query": term, "most": -1}).scalars():
                yield unit, term

    def merge_tokens(self, connection: Connection, *, is_first: bool) -> bool:
        before = connection.execute(_CHANGES).scalar_one()
        # A negative number begins a merge of everything.
        connection.execute(_MERGE, {"pages": -_PAGES if is_first else _PAGES})
        return connection.execute(_CHANGES).scalar_one() - before >= _IDLE

    def used_keys(self, connection: Connection, keys: Collection[int]) -> set[int]:
        given = json.dumps([f"{key:016x}" for key in keys])
        return {int(key, 16) for key in connection.scalars(_USED, {"keys": given})}

    def says(self, connection: Connection, term: str) -> bool:
        # The file has the definition of its tables in it.
        return connection.scalar(_DEFINITION, {"term": term}) is not None


def identify(connection: Connection) -> int:
    """Return the number of a file, and give it one if it has none."""
    # This field of the file's header is free for the program that the file belongs to.
    number = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
    if number == 0:
        number = 1 + secrets.randbelow(_IDENTITIES)
        connection.exec_driver_sql(f"PRAGMA application_id = {number}")
    return number
