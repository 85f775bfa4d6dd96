"""PostgreSQL: full text by tsvector and GIN over our own terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection, String, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import Text, TypeEngine

from recollect.backends.sql.dialects.base import Terms, token, tokens
from recollect.backends.sql.dialects.server import ServerDialect
from recollect.backends.sql.prepared_statement import PreparedStatement

_OLDEST: Final = 140_000
# Arrays and casts instead of to_tsvector and to_tsquery: no parser looks at the terms.
_ADD: Final = PreparedStatement(
    text(
        "INSERT INTO unit_tokens (unit_id, tokens) "
        "VALUES (:unit, array_to_tsvector(string_to_array(:tokens, ' ')))"
    )
)
_REMOVE: Final = PreparedStatement(text("DELETE FROM unit_tokens WHERE unit_id = :unit"))
_EVERY_TOKEN: Final = text(
    "SELECT unit_id, unnest(tsvector_to_array(tokens)) AS token FROM unit_tokens"
)
_NEWEST: Final = text(
    "SELECT unit_id FROM unit_tokens WHERE tokens @@ CAST(:query AS tsquery) "
    "ORDER BY unit_id DESC LIMIT :most"
)
_COUNTED: Final = (
    "SELECT CAST(pair ->> 0 AS BIGINT) AS term, CAST(pair ->> 1 AS INTEGER) AS units "
    "FROM json_array_elements(CAST(:counts AS JSON)) AS pair"
)


class PostgresqlDialect(ServerDialect):
    """PostgreSQL 14 and newer."""

    add_counts = text(
        "INSERT INTO term_counts (space, term, units) SELECT CAST(:space AS BIGINT), term, units "
        f"FROM ({_COUNTED}) AS counted ON CONFLICT (space, term) "
        "DO UPDATE SET units = term_counts.units + excluded.units"
    )
    remove_unused_counts = text(
        f"DELETE FROM term_counts USING ({_COUNTED}) AS counted WHERE term_counts.space = :space "
        "AND term_counts.term = counted.term AND term_counts.units <= 0"
    )

    def column_type(self, type_: TypeEngine[Any]) -> TypeEngine[Any]:
        if isinstance(type_, String) and not isinstance(type_, Text):
            # By code point, as SQLite and Python order text, whatever the database's own order is.
            return postgresql.VARCHAR(type_.length, collation="C")
        return type_

    def full_text(self, connection: Connection) -> Sequence[str]:
        return (
            "CREATE TABLE unit_tokens (unit_id BIGINT PRIMARY KEY, tokens TSVECTOR NOT NULL)",
            "CREATE INDEX ix_unit_tokens_tokens ON unit_tokens USING gin (tokens)",
        )

    def go_on_numbering(self, connection: Connection, tables: Sequence[str]) -> None:
        for table in tables:
            connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"
            )

    def size(self, connection: Connection) -> int:
        return connection.exec_driver_sql(
            "SELECT pg_database_size(current_database())"
        ).scalar_one()

    def describe(self, connection: Connection) -> str:
        version = connection.exec_driver_sql("SHOW server_version").scalar_one()
        return f"PostgreSQL {version}"

    def unmet(self, connection: Connection) -> list[tuple[str, str]]:
        def ask(question: str) -> Any:
            return connection.exec_driver_sql(question).scalar_one()

        unmet: list[tuple[str, str]] = []
        if int(ask("SHOW server_version_num")) < _OLDEST:
            unmet.append(("it is older than PostgreSQL 14", "Upgrade the server."))
        if (encoding := ask("SHOW server_encoding")) != "UTF8":
            remedy = "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and copy memory there."
            unmet.append((f"its encoding is {encoding}, which cannot hold every text", remedy))
        if not ask("SELECT has_schema_privilege(current_schema(), 'CREATE')"):
            remedy = "ALTER DATABASE … OWNER TO this user, or GRANT CREATE ON SCHEMA public to it."
            unmet.append(("this user may not make tables", remedy))
        return unmet

    def add_tokens(
        self, connection: Connection, space: int, units: Sequence[tuple[int, Terms]]
    ) -> None:
        rows = [{"unit": unit, "tokens": " ".join(tokens(space, terms))} for unit, terms in units]
        _ADD.run(connection, rows)
        self.count_terms(connection, space, units, +1)

    def remove_tokens(
        self, connection: Connection, space: int, units: Sequence[tuple[int, Terms]]
    ) -> None:
        _REMOVE.run(connection, [{"unit": unit} for unit, _ in units])
        self.count_terms(connection, space, units, -1)

    def stored_tokens(self, connection: Connection) -> Iterator[tuple[int, str]]:
        yield from ((row.unit_id, row.token) for row in connection.execute(_EVERY_TOKEN))

    def newest_with(
        self, connection: Connection, space: int, keys: Sequence[int], most: int
    ) -> list[int]:
        query = " | ".join(f"'{token(space, key)}'" for key in keys)
        return list(connection.execute(_NEWEST, {"query": query, "most": most}).scalars())
