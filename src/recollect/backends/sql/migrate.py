"""Bringing a database to the schema this version knows, and refusing one from the future."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from recollect.backends.sql.database import Database
from recollect.backends.sql.schema import FULL_TEXT_SQLITE, HEAD_REVISION, metadata
from recollect.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config


def bring_up_to_date(database: Database) -> None:
    """Create or upgrade the tables in one transaction; does nothing when they are current."""
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


def create(connection: Connection) -> None:
    """Make the newest schema straight away; a test holds that migrations lead to the same."""
    metadata.create_all(connection)
    for statement in FULL_TEXT_SQLITE:
        connection.execute(text(statement))
    connection.execute(
        text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    )
    connection.execute(text(f"INSERT INTO alembic_version VALUES ('{HEAD_REVISION}')"))


def upgrade(connection: Connection, path: Path, target: str = "head") -> None:
    """Run the migrations that an older database still lacks."""
    # Alembic is slow to import and needed only when there is something to migrate.
    from alembic import command
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    current = revision(connection)
    config = alembic_config(connection)
    try:
        ScriptDirectory.from_config(config).get_revision(current or "base")
    except CommandError:
        raise StorageError(
            f"{path} was written by a newer version of Recollect (schema {current}); "
            f"this one knows {HEAD_REVISION}. Nothing was changed",
            code="database_newer",
            hint="Upgrade Recollect, or open a backup made with this version.",
        ) from None
    command.upgrade(config, target)


def alembic_config(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config
