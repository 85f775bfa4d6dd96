"""Bringing a server's database to the schema this version knows.

One that belongs to another program, or that cannot hold every text, is refused and left as it is.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, inspect

from recollect.backends.sql.migrate import EVERY_SCHEMA_HAS, bring, require_fit, revision
from recollect.backends.sql.schema import HEAD_REVISION, metadata
from recollect.backends.sql.server_database import ServerDatabase
from recollect.errors import StorageError

# Whoever makes or changes the tables holds this lock; any number that others hardly use.
_LOCK_NUMBER: Final = 7_077_001
_LOCK_NAME: Final = "recollect.schema"
_LOCK_SECONDS: Final = 60
# They change no row, and are refused where others would be.
_TRIALS: Final = (
    "INSERT INTO scopes SELECT * FROM scopes WHERE 1 = 0",
    "UPDATE scopes SET version = version WHERE 1 = 0",
    "DELETE FROM scopes WHERE 1 = 0",
)


def bring_server_up_to_date(database: ServerDatabase) -> None:
    """Create or upgrade the tables; does nothing when they are current."""
    if database.read_here(revision) != HEAD_REVISION:
        database.write_here(lambda connection: _bring_alone(connection, database.name))


def _bring_alone(connection: Connection, name: str) -> None:
    if connection.dialect.name == "postgresql":
        # Given back at the end of the transaction, in which everything is made or nothing.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK_NUMBER})")
        require_usable(connection, name)
        bring(connection, name)
        return
    # MySQL commits after every table: one that was interrupted goes on where it stopped.
    if not connection.exec_driver_sql(f"SELECT GET_LOCK('{_LOCK_NAME}', {_LOCK_SECONDS})").scalar():
        raise StorageError(
            f"another program has been changing the tables of {name} for {_LOCK_SECONDS} seconds; "
            "nothing was changed",
            code="database_busy",
            hint="Open it again when the other program is done.",
        )
    try:
        require_usable(connection, name)
        bring(connection, name)
        # Whoever gets the lock next must find the schema's number.
        connection.exec_driver_sql("COMMIT")
    finally:
        connection.exec_driver_sql(f"SELECT RELEASE_LOCK('{_LOCK_NAME}')")


def require_usable(connection: Connection, name: str) -> None:
    """Refuse a database of another program, and a new one that cannot hold a memory."""
    has_ours = revision(connection) is not None
    if _is_foreign(connection, has_revision=has_ours):
        raise StorageError(
            f"{name} has tables of another program; nothing was changed",
            code="not_our_database",
            hint="Give a database of its own: CREATE DATABASE recollect.",
        )
    if not has_ours:
        require_fit(connection, name)


def _is_foreign(connection: Connection, *, has_revision: bool) -> bool:
    inspector = inspect(connection)
    names = set(inspector.get_table_names())
    if has_revision:
        return not names >= EVERY_SCHEMA_HAS
    taken = names & set(metadata.tables)
    if connection.dialect.name == "postgresql":
        return bool(taken)
    # Tables of ours without a revision are what an interrupted creation has left.
    return any(
        {column["name"] for column in inspector.get_columns(table)}
        != set(metadata.tables[table].c.keys())
        for table in taken
    )


def try_writing(connection: Connection) -> None:
    """Raise the error that a write would meet; nothing is changed."""
    for statement in _TRIALS:
        connection.exec_driver_sql(statement)
