"""The servers that speak MySQL's protocol, and what each of them needs to be told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from sqlalchemy import Dialect, Engine, String, event
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql.compiler import TypeCompiler

_BYTES_A_LETTER: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class MysqlKind:
    """One kind of server.

    Users "Ann", "ann" and "ann " are three people. Where every collation takes the last two for
    one, names are columns of bytes (`has_names_as_bytes`), which are never padded.
    """

    name: str
    oldest: tuple[int, ...]
    # Where the version stands in what the server says of itself.
    version: re.Pattern[str]
    collation: str
    has_names_as_bytes: bool = False
    # The column of the full text's words; they are our own, so a parser only has to see the spaces.
    words: str = "LONGTEXT CHARACTER SET ascii COLLATE ascii_bin"
    parser: str = ""
    # Said at the beginning of every connection.
    greeting: str = ""

    def name_type(self, letters: int) -> str:
        """Return the type of a column for names of so many letters."""
        if self.has_names_as_bytes:
            return f"VARBINARY({letters * _BYTES_A_LETTER})"
        return f"VARCHAR({letters}) CHARACTER SET utf8mb4 COLLATE {self.collation}"

    def is_too_old(self, told: str) -> bool:
        """Return whether a server that says this of itself is older than what we know."""
        found = self.version.search(told)
        return found is None or tuple(map(int, found[1].split("."))) < self.oldest


_MYSQL: Final = MysqlKind(
    name="MySQL",
    # The first that has the collation.
    oldest=(8, 0, 17),
    version=re.compile(r"^(\d+(?:\.\d+)*)"),
    collation="utf8mb4_0900_bin",
)
_MARIADB: Final = MysqlKind(
    name="MariaDB",
    oldest=(10, 6),
    # A version of MySQL, for old programs, may stand before it, and a number of the edition after.
    version=re.compile(r"(?<![\d.])(\d+(?:\.\d+)+)(?:-\d+)?-MariaDB"),
    collation="utf8mb4_nopad_bin",
)
_SEEKDB: Final = MysqlKind(
    name="seekdb",
    oldest=(1, 4),
    version=re.compile(r"seekdb-v(\d+(?:\.\d+)*)"),
    collation="utf8mb4_bin",
    has_names_as_bytes=True,
    words="LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    parser=" WITH PARSER space",
    # It ends every statement after ten seconds unless told otherwise. Waiting for a lock must still
    # end then, because it does not notice every deadlock.
    greeting="SET ob_query_timeout = 3600000000, ob_trx_lock_timeout = 10000000",
)
_KINDS: Final[WeakKeyDictionary[Dialect, MysqlKind]] = WeakKeyDictionary()


def kind_of(dialect: Dialect) -> MysqlKind:
    """Return the kind of the server that an engine has connected to."""
    return _KINDS.get(dialect, _MYSQL)


def kind_told(told: str) -> MysqlKind:
    """Return the kind of a server that says this of itself."""
    # MySQL's own version says nothing but the number.
    return next((it for it in (_MARIADB, _SEEKDB) if it.name in told), _MYSQL)


class Name(String):
    """A short text that equals another only when every letter does."""

    def result_processor(
        self, dialect: Dialect, coltype: object
    ) -> Callable[..., str | None] | None:
        return _decoded if kind_of(dialect).has_names_as_bytes else None


@compiles(Name)
def _name(type_: Name, compiler: TypeCompiler, **given: Any) -> str:
    assert type_.length is not None
    return kind_of(compiler.dialect).name_type(type_.length)


def recognize_kind(engine: Engine) -> None:
    """Let an engine speak to whichever kind of server it finds."""
    engine.dialect.colspecs = {**engine.dialect.colspecs, String: Name}

    def greet(connection: Any, record: ConnectionPoolEntry) -> None:
        with connection.cursor() as cursor:
            if engine.dialect not in _KINDS:
                # The first words of seekdb and of proxies hide what it is.
                cursor.execute("SELECT VERSION()")
                _KINDS[engine.dialect] = kind_told(cursor.fetchone()[0])
            if greeting := _KINDS[engine.dialect].greeting:
                cursor.execute(greeting)

    event.listen(engine, "connect", greet)


def _decoded(value: str | bytes | None) -> str | None:
    return value.decode() if isinstance(value, bytes) else value
