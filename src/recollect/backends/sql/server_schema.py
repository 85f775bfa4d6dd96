"""Bringing a server's database to the schema this version knows."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, inspect

from recollect.backends.sql.migrate import bring, revision
from recollect.backends.sql.schema import HEAD_REVISION
from recollect.backends.sql.schema_base import metadata
from recollect.backends.sql.server_database import ServerDatabase
from recollect.errors import StorageError

# Whoever makes or changes the tables holds this lock; any number that others hardly use.
_LOCK_NUMBER: Final = 7_077_001
_LOCK_NAME: Final = "recollect.schema"
_LOCK_SECONDS: Final = 60


def bring_server_up_to_date(database: ServerDatabase) -> None:
    """Create or upgrade the tables; does nothing when they are current."""
    if database.read_here(revision) != HEAD_REVISION:
        database.write_here(lambda connection: _bring_alone(connection, database.name))


def _bring_alone(connection: Connection, name: str) -> None:
    if connection.dialect.name == "postgresql":
        # Given back at the end of the transaction, in which everything is made or nothing.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK_NUMBER})")
        _require_ours(connection, name)
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
        bring(connection, name)
        # Whoever gets the lock next must find the schema's number.
        connection.exec_driver_sql("COMMIT")
    finally:
        connection.exec_driver_sql(f"SELECT RELEASE_LOCK('{_LOCK_NAME}')")


def _require_ours(connection: Connection, name: str) -> None:
    """Refuse a database in which another program has tables of our names."""
    if revision(connection) is not None:
        return
    taken = sorted(set(inspect(connection).get_table_names()) & set(metadata.tables))
    if taken:
        raise StorageError(
            f"{name} has tables of another program ({', '.join(taken[:3])} …); nothing was changed",
            code="not_our_database",
            hint="Give a database of its own: CREATE DATABASE recollect.",
        )
