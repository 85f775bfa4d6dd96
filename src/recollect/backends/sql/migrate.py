"""Bringing a database to the schema this version knows.

One from the future and one that belongs to another program are refused and left as they are.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, select, text

from recollect.backends.sql import schema
from recollect.backends.sql.companions import require_log, require_nothing_lost
from recollect.backends.sql.database import storage_error
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.schema import HEAD_REVISION
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.files import is_read_only
from recollect.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config

# In the place of a revision while tables are copied into a database.
COPYING: Final = "copying"
EVERY_SCHEMA_HAS: Final = frozenset({"alembic_version", "scopes", "records", "units"})


def bring_up_to_date(database: SqliteDatabase) -> None:
    """Create or upgrade the tables in one transaction; does nothing when they are current."""
    require_usable(database.path)
    if database.read_here(revision) != HEAD_REVISION:
        database.write_here(lambda connection: bring(connection, database.name))
    database.checkpoints_next = database.read_here(_is_unused)


def bring(connection: Connection, name: str) -> None:
    """Create or upgrade the tables of the database of this name."""
    # Asked again under the write lock: another process may have been faster.
    current = revision(connection)
    if current is None:
        create(connection)
    elif current != HEAD_REVISION:
        upgrade(connection, name)


def _is_unused(connection: Connection) -> bool:
    return connection.execute(select(schema.scopes.c.id).limit(1)).first() is None


def revision(connection: Connection) -> str | None:
    """Return the schema version a database stands at; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.scalar(text("SELECT version_num FROM alembic_version"))


def stored_revision(connection: sqlite3.Connection, path: Path) -> str | None:
    """Return the schema version over a plain connection; refuse a database with other tables."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if not names:
        return None
    if not names >= EVERY_SCHEMA_HAS:
        raise StorageError(
            f"{path} belongs to another program; nothing was changed",
            code="not_our_database",
            hint="Give the path of a Recollect database, or of one that does not exist yet.",
        )
    return connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]


def require_fit(connection: Connection, name: str) -> None:
    """Refuse a server that lacks what a memory needs, before a table is made there."""
    if unmet := dialect_of(connection).unmet(connection):
        raise StorageError(
            f"{name} cannot hold a memory: {'; '.join(why for why, _ in unmet)}. Nothing was made",
            code="database_unfit",
            hint=" ".join(remedy for _, remedy in unmet),
        )


def create(connection: Connection) -> None:
    """Make the newest schema straight away; a test holds that migrations lead to the same."""
    dialect_of(connection).create_tables(connection)
    connection.execute(
        text(
            "CREATE TABLE IF NOT EXISTS alembic_version "
            "(version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
        )
    )
    connection.execute(text(f"INSERT INTO alembic_version VALUES ('{HEAD_REVISION}')"))


def knows(connection: Connection | None, number: str) -> bool:
    """Return whether this version knows a revision; an unknown one is from the future."""
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


def require_known(connection: Connection | None, number: str, name: str | Path) -> None:
    """Refuse a schema that a newer version of Recollect made, and a copy that is not whole."""
    if number == COPYING:
        raise StorageError(
            f"{name} is a copy that was not finished; nothing was changed",
            code="copy_unfinished",
            hint="Run the same `recollect copy --from … --to …` again: it goes on.",
        )
    if not knows(connection, number):
        raise StorageError(
            f"{name} was written by a newer version of Recollect (schema {number}); "
            f"this one knows {HEAD_REVISION}. Nothing was changed",
            code="database_newer",
            hint="Upgrade Recollect, or open a backup made with this version.",
        )


def upgrade(connection: Connection, name: str | Path, target: str = "head") -> None:
    """Run the migrations that an older database still lacks."""
    from alembic import command

    require_known(connection, revision(connection) or "base", name)
    command.upgrade(alembic_config(connection), target)


def alembic_config(connection: Connection | None) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def require_usable(path: Path) -> None:
    """Refuse a file that is not ours, and an empty place where a memory has been.

    It is looked at before the file is opened for use, which already changes how it is kept.
    """
    require_log(path)
    if not path.exists() or not path.stat().st_size:
        require_nothing_lost(path)
        return
    try:
        mode = "mode=ro&immutable=1" if is_read_only(path) else "mode=rw"
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)) as there:
            is_empty = stored_revision(there, path) is None
    except sqlite3.Error as fault:
        raise storage_error(fault, path) from fault
    if is_empty:
        require_nothing_lost(path)
