"""Expressions that every database spells differently; SQLAlchemy has no name for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from sqlalchemy import BigInteger, ColumnElement, Select, String, Table, bindparam, case, func
from sqlalchemy import select as select_of
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import Insert
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement, GenericFunction

from recollect.backends.sql.dialects.mysql_kinds import kind_of

_LONGEST_NAME: Final = 255


def listed(name: str) -> Select[Any]:
    """Return the members of a parameter that holds a JSON list of texts.

    One parameter however many there are, so that a statement is compiled only once.
    """
    return select_of(_Texts(bindparam(name, "[]", type_=String())).table_valued("value").c.value)


def listed_numbers(name: str) -> Select[Any]:
    """Return the members of a parameter that holds a JSON list of whole numbers."""
    members = _Numbers(bindparam(name, "[]", type_=String())).table_valued("value")
    return select_of(_Number(members.c.value))


def count_where(condition: ColumnElement[bool]) -> ColumnElement[int]:
    """Return how many rows of a group meet a condition."""
    return func.count(case((condition, 1)))


def holds(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Return that a text has another one in it, letter by letter."""
    return _Place(column, text) > 0


def begins_with(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Return that a text begins with another one, letter by letter."""
    return _Place(column, text) == 1


def first_version() -> ColumnElement[int]:
    """Return the version that a new scope begins with: higher than any that one has had before."""
    return _Generation()


class _Texts(FunctionElement[Any]):
    inherit_cache = True
    name = "list_of_texts"


class _Numbers(FunctionElement[Any]):
    inherit_cache = True
    name = "list_of_numbers"


class _Number(FunctionElement[int]):
    inherit_cache = True
    name = "number"
    type = BigInteger()


class _Generation(FunctionElement[int]):
    inherit_cache = True
    name = "generation"
    type = BigInteger()


@compiles(_Generation)
def _server_generation(element: _Generation, compiler: SQLCompiler, **given: Any) -> str:
    return "(SELECT value * 4294967296 FROM counters WHERE name = 'generation')"


@compiles(_Generation, "sqlite")
def _sqlite_generation(element: _Generation, compiler: SQLCompiler, **given: Any) -> str:
    return "(SELECT user_version << 32 FROM pragma_user_version)"


class _Place(GenericFunction[int]):
    """The position of one text in another, from 1 on; 0 if it is not found."""

    inherit_cache = True
    name = "recollect_place"
    type = BigInteger()


@compiles(_Texts)
@compiles(_Numbers)
def _sqlite_members(element: FunctionElement[Any], compiler: SQLCompiler, **given: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **given)})"


@compiles(_Texts, "postgresql")
@compiles(_Numbers, "postgresql")
def _postgresql_members(element: FunctionElement[Any], compiler: SQLCompiler, **given: Any) -> str:
    return f"json_array_elements_text(CAST({compiler.process(element.clauses, **given)} AS JSON))"


@compiles(_Texts, "mysql")
@compiles(_Texts, "mariadb")
def _mysql_texts(element: FunctionElement[Any], compiler: SQLCompiler, **given: Any) -> str:
    listed = compiler.process(element.clauses, **given)
    name = kind_of(compiler.dialect).name_type(_LONGEST_NAME)
    return f"JSON_TABLE({listed}, '$[*]' COLUMNS (value {name} PATH '$'))"


@compiles(_Numbers, "mysql")
@compiles(_Numbers, "mariadb")
def _mysql_numbers(element: FunctionElement[Any], compiler: SQLCompiler, **given: Any) -> str:
    listed = compiler.process(element.clauses, **given)
    return f"JSON_TABLE({listed}, '$[*]' COLUMNS (value BIGINT PATH '$'))"


@compiles(_Number)
def _number(element: _Number, compiler: SQLCompiler, **given: Any) -> str:
    return compiler.process(element.clauses, **given)


@compiles(_Number, "postgresql")
def _postgresql_number(element: _Number, compiler: SQLCompiler, **given: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **given)} AS BIGINT)"


@compiles(_Place)
def _instr(element: _Place, compiler: SQLCompiler, **given: Any) -> str:
    return f"instr({compiler.process(element.clauses, **given)})"


@compiles(_Place, "postgresql")
def _strpos(element: _Place, compiler: SQLCompiler, **given: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **given)})"


class InsertOrIgnore(Insert):
    """Insert rows; those whose key is taken stay as they are."""

    inherit_cache = True
    # Nobody asks for the number of a new row: it may be another's.
    _inline = True


class InsertOrReplace(Insert):
    """Insert rows; those whose primary key is taken get the new values."""

    inherit_cache = True
    _inline = True


@compiles(InsertOrIgnore, "sqlite")
def _sqlite_ignore(element: Insert, compiler: SQLCompiler, **given: Any) -> str:
    return _inserting(element, compiler, "INSERT OR IGNORE INTO", **given)


@compiles(InsertOrReplace, "sqlite")
def _sqlite_replace(element: Insert, compiler: SQLCompiler, **given: Any) -> str:
    return _inserting(element, compiler, "INSERT OR REPLACE INTO", **given)


@compiles(InsertOrIgnore, "postgresql")
def _postgresql_ignore(element: Insert, compiler: SQLCompiler, **given: Any) -> str:
    return f"{_insert(element, compiler, **given)} ON CONFLICT DO NOTHING"


@compiles(InsertOrReplace, "postgresql")
def _postgresql_replace(element: Insert, compiler: SQLCompiler, **given: Any) -> str:
    key, others = _columns(element)
    quoted = compiler.preparer.quote
    target = ", ".join(map(quoted, key))
    changed = ", ".join(f"{quoted(it)} = excluded.{quoted(it)}" for it in others)
    return f"{_insert(element, compiler, **given)} ON CONFLICT ({target}) DO UPDATE SET {changed}"


@compiles(InsertOrIgnore, "mysql")
@compiles(InsertOrIgnore, "mariadb")
def _mysql_ignore(element: Insert, compiler: SQLCompiler, **given: Any) -> str:
    # INSERT IGNORE would also swallow values that are too long.
    column = compiler.preparer.quote(_columns(element)[0][0])
    table = compiler.preparer.format_table(_table(element))
    same = f"{table}.{column}"
    return f"{_insert(element, compiler, **given)} ON DUPLICATE KEY UPDATE {column} = {same}"


@compiles(InsertOrReplace, "mysql")
@compiles(InsertOrReplace, "mariadb")
def _mysql_replace(element: Insert, compiler: SQLCompiler, **given: Any) -> str:
    quoted = compiler.preparer.quote
    changed = ", ".join(f"{quoted(it)} = VALUES({quoted(it)})" for it in _columns(element)[1])
    return f"{_insert(element, compiler, **given)} ON DUPLICATE KEY UPDATE {changed}"


def _insert(element: Insert, compiler: SQLCompiler, **given: Any) -> str:
    plain = cast("Callable[..., str]", compiler.visit_insert)  # pyright: ignore[reportUnknownMemberType]
    return plain(element, **given)


def _inserting(element: Insert, compiler: SQLCompiler, words: str, **given: Any) -> str:
    return _insert(element, compiler, **given).replace("INSERT INTO", words, 1)


def _columns(element: Insert) -> tuple[list[str], list[str]]:
    """Return the columns of a table's primary key, and the others."""
    table = _table(element)
    key = [it.name for it in table.primary_key]
    return key, [it.name for it in table.c if it.name not in key]


def _table(element: Insert) -> Table:
    return cast("Table", element.table)
