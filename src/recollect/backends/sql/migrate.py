"""Bringing a database to the schema this version knows.

One from the future and one that belongs to another program are refused and left as they are.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text

from recollect.backends.sql.database import Database
from recollect.backends.sql.faults import storage_error
from recollect.backends.sql.schema import FULL_TEXT_SQLITE, HEAD_REVISION, metadata
from recollect.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config

_EVERY_SCHEMA_HAS: Final = frozenset({"alembic_version", "scopes", "records", "units"})


def bring_up_to_date(database: Database) -> None:
    """Create or upgrade the tables in one transaction; does nothing when they are current."""
    _require_ours_or_empty(database.path)
    if database.read_here(revision) != HEAD_REVISION:
        database.write_here(lambda connection: _bring(connection, database.path))


def _bring(connection: Connection, path: Path) -> None:
    # Asked again under the write lock: another process may have been faster.
    current = revision(connection)
    if current is None:
        create(connection)
    elif current != HEAD_REVISION:
        upgrade(connection, path)


def revision(connection: Connection) -> str | None:
    """The schema version a database stands at; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.scalar(text("SELECT version_num FROM alembic_version"))


def stored_revision(connection: sqlite3.Connection, path: Path) -> str | None:
    """The same, asked of a plain connection; a database with other tables is not ours."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if not names:
        return None
    if not names >= _EVERY_SCHEMA_HAS:
        raise StorageError(
            f"{path} belongs to another program; nothing was changed",
            code="not_our_database",
            hint="Give the path of a Recollect database, or of one that does not exist yet.",
        )
    return connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]


def create(connection: Connection) -> None:
    """Make the newest schema straight away; a test holds that migrations lead to the same."""
    metadata.create_all(connection)
    for statement in FULL_TEXT_SQLITE:
        connection.execute(text(statement))
    connection.execute(
        text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    )
    connection.execute(text(f"INSERT INTO alembic_version VALUES ('{HEAD_REVISION}')"))


def knows(connection: Connection | None, number: str) -> bool:
    """Whether this version has heard of a revision; one that it has not is from the future."""
    if number == HEAD_REVISION:
        return True
    # Alembic is slow to import and needed only when there is something to migrate.
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    try:
        ScriptDirectory.from_config(alembic_config(connection)).get_revision(number)
    except CommandError:
        return False
    return True


def require_known(connection: Connection | None, number: str, path: Path) -> None:
    """Refuse a schema that a newer version of Recollect made."""
    if not knows(connection, number):
        raise StorageError(
            f"{path} was written by a newer version of Recollect (schema {number}); "
            f"this one knows {HEAD_REVISION}. Nothing was changed",
            code="database_newer",
            hint="Upgrade Recollect, or open a backup made with this version.",
        )


def upgrade(connection: Connection, path: Path, target: str = "head") -> None:
    """Run the migrations that an older database still lacks."""
    from alembic import command

    require_known(connection, revision(connection) or "base", path)
    command.upgrade(alembic_config(connection), target)


def alembic_config(connection: Connection | None) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def _require_ours_or_empty(path: Path) -> None:
    """Look before the file is opened for use, which already changes how it is kept."""
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as there:
            stored_revision(there, path)
    except sqlite3.Error as fault:
        raise storage_error(fault, path) from fault
