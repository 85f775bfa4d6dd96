"""MySQL, MariaDB, seekdb: FULLTEXT over our own terms, names compared to the letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection, LargeBinary, String, text
from sqlalchemy.dialects import mysql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import Float, Text, TypeEngine

from recollect.backends.sql.dialects.base import Terms, token, tokens
from recollect.backends.sql.dialects.mysql_kinds import Name, kind_of
from recollect.backends.sql.dialects.server import ServerDialect
from recollect.backends.sql.prepared_statement import PreparedStatement

# How a server refuses a statement that this user may not run, on a table or on a database.
_MAY_NOT: Final = (1142, 1044)
_COLLATIONS: Final = (
    "SELECT table_name, table_collation FROM information_schema.tables WHERE table_schema = "
    "DATABASE() AND table_name IN ('scopes', 'records', 'turns', 'jobs', 'state', 'record_tags')"
)
_COLLATION: Final = text(
    "SELECT collation_name FROM information_schema.collations WHERE collation_name = :name"
)
_ADD: Final = PreparedStatement(
    text("INSERT INTO unit_tokens (unit_id, tokens) VALUES (:unit, :tokens)")
)
# The full text of InnoDB knows no snapshots: a row that is deleted is gone for those too who began
# before. So it is only marked, and goes when nobody can be reading any more.
_REMOVE: Final = PreparedStatement(
    text("UPDATE unit_tokens SET gone_at = UNIX_TIMESTAMP() WHERE unit_id = :unit")
)
_SWEEP: Final = text(
    "DELETE FROM unit_tokens WHERE gone_at BETWEEN 1 AND UNIX_TIMESTAMP() - :seconds"
)
_LONGEST_READ_SECONDS: Final = 60
_EVERY_ROW: Final = text("SELECT unit_id, tokens FROM unit_tokens WHERE gone_at = 0")
# Words without a sign are any of them; our words are fixed, so no parser for Chinese is needed.
_NEWEST: Final = text(
    "SELECT unit_id FROM unit_tokens WHERE MATCH (tokens) AGAINST (:query IN BOOLEAN MODE) "
    "AND gone_at = 0 ORDER BY unit_id DESC LIMIT :most"
)
_COUNTED: Final = (
    "JSON_TABLE(:counts, '$[*]' COLUMNS (term BIGINT PATH '$[0]', units INT PATH '$[1]')) "
    "AS counted"
)


class MysqlDialect(ServerDialect):
    """MySQL 8, MariaDB 10.6 and seekdb 1.4, and newer."""

    add_counts = text(
        "INSERT INTO term_counts (space, term, units) SELECT :space, counted.term, counted.units "
        f"FROM {_COUNTED} "
        "ON DUPLICATE KEY UPDATE units = term_counts.units + counted.units"
    )
    remove_unused_counts = text(
        f"DELETE term_counts FROM {_COUNTED} STRAIGHT_JOIN term_counts "
        "ON term_counts.space = :space AND term_counts.term = counted.term "
        "WHERE term_counts.units <= 0"
    )

    def column_type(self, type_: TypeEngine[Any]) -> TypeEngine[Any]:
        match type_:
            case Text():
                return mysql.LONGTEXT()
            case String():
                return Name(type_.length)
            case LargeBinary():
                return mysql.LONGBLOB()
            case Float():
                # A FLOAT has only 24 bits here.
                return mysql.DOUBLE()
            case _:
                return type_

    def table_options(self, connection: Connection) -> dict[str, Any]:
        return {
            "mysql_engine": "InnoDB",
            "mysql_charset": "utf8mb4",
            "mysql_collate": kind_of(connection.dialect).collation,
            # Rows of long texts would not fit on a page otherwise.
            "mysql_row_format": "DYNAMIC",
        }

    def go_on_numbering(self, connection: Connection, tables: Sequence[str]) -> None:
        # InnoDB goes on from the highest number by itself.
        pass

    def full_text(self, connection: Connection) -> Sequence[str]:
        kind = kind_of(connection.dialect)
        return (
            "CREATE TABLE IF NOT EXISTS unit_tokens (unit_id BIGINT PRIMARY KEY, "
            f"tokens {kind.words} NOT NULL, "
            "gone_at BIGINT NOT NULL DEFAULT 0, INDEX ix_unit_tokens_gone_at (gone_at), "
            f"FULLTEXT INDEX ix_unit_tokens_tokens (tokens){kind.parser}) ENGINE=InnoDB",
        )

    def size(self, connection: Connection) -> int:
        size = connection.exec_driver_sql(
            "SELECT SUM(data_length + index_length) FROM information_schema.tables "
            "WHERE table_schema = DATABASE()"
        ).scalar_one()
        return int(size or 0)

    def describe(self, connection: Connection) -> str:
        told = _told(connection)
        name = kind_of(connection.dialect).name
        return told if name in told else f"{name} {told}"

    def unmet(self, connection: Connection) -> list[tuple[str, str]]:
        unmet: list[tuple[str, str]] = []
        kind = kind_of(connection.dialect)
        if kind.is_too_old(_told(connection)):
            oldest = ".".join(map(str, kind.oldest))
            unmet.append((f"it is older than {kind.name} {oldest}", "Upgrade it."))
        wanted = kind.collation
        if connection.execute(_COLLATION, {"name": wanted}).first() is None:
            remedy = "Use MySQL 8.0.17, MariaDB 10.6, seekdb 1.4, or a newer one of these."
            unmet.append((f"it has no {wanted}, by which every letter of a name counts", remedy))
        others = connection.exec_driver_sql(_COLLATIONS).all()
        if tables := sorted(name for name, collation in others if collation != wanted):
            told = ", ".join(tables[:3])
            remedy = f"ALTER TABLE … CONVERT TO CHARACTER SET utf8mb4 COLLATE {wanted}."
            unmet.append((f"tables compare names loosely ({told}): two people may be one", remedy))
        if not _may_create(connection):
            remedy = "GRANT ALL ON this database TO this user."
            unmet.append(("this user may not make tables", remedy))
        return unmet

    def add_tokens(
        self, connection: Connection, space: int, units: Sequence[tuple[int, Terms]]
    ) -> None:
        connection.execute(_SWEEP, {"seconds": _LONGEST_READ_SECONDS})
        rows = [{"unit": unit, "tokens": " ".join(tokens(space, terms))} for unit, terms in units]
        _ADD.run(connection, rows)
        self.count_terms(connection, space, units, +1)

    def remove_tokens(
        self, connection: Connection, space: int, units: Sequence[tuple[int, Terms]]
    ) -> None:
        _REMOVE.run(connection, [{"unit": unit} for unit, _ in units])
        self.count_terms(connection, space, units, -1)

    def stored_tokens(self, connection: Connection) -> Iterator[tuple[int, str]]:
        for row in connection.execute(_EVERY_ROW):
            yield from ((row.unit_id, token) for token in row.tokens.split())

    def merge_tokens(self, connection: Connection, *, is_first: bool) -> bool:
        # What is to be forgotten goes at once.
        connection.execute(_SWEEP, {"seconds": 0})
        return False

    def newest_with(
        self, connection: Connection, space: int, keys: Sequence[int], most: int
    ) -> list[int]:
        query = " ".join(token(space, key) for key in keys)
        return list(connection.execute(_NEWEST, {"query": query, "most": most}).scalars())


def _may_create(connection: Connection) -> bool:
    """Return whether this user may make tables; none is made, since the original is not there."""
    try:
        connection.exec_driver_sql("CREATE TABLE recollect_copy LIKE recollect_original")
    except DBAPIError as refusal:
        return refusal.orig is None or refusal.orig.args[0] not in _MAY_NOT
    return True


def _told(connection: Connection) -> str:
    return str(connection.exec_driver_sql("SELECT VERSION()").scalar_one())
