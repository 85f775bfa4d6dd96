"""Settings → the database, and who uses it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from recollect.backends.sql.database import Database
from recollect.backends.sql.migrate import bring_up_to_date
from recollect.domain.scope import Caller, Scope
from recollect.errors import RecollectError, StorageError
from recollect.settings import Settings


def settings_at(where: str | Path | Settings | None) -> Settings:
    if isinstance(where, Settings):
        return where
    return Settings.load() if where is None else Settings.at(where)


def first_caller(settings: Settings) -> Caller:
    scope = settings.scope
    agent = settings.agents.get(scope.agent or "")
    here = Scope(org=scope.org, workspace=scope.workspace, agent=scope.agent, user=scope.user)
    return Caller(
        scope=here, children=agent.children if agent is not None else (), principal=here.actor
    )


def open_database(settings: Settings) -> Database:
    is_temporary = settings.storage.backend == "in_memory"
    path = _temporary_path() if is_temporary else settings.database
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise StorageError(
            f"The folder {path.parent} cannot be made: {problem.strerror}",
            code="database_unreachable",
            hint="Choose another place with RECOLLECT_DATA_DIR or Memory.open(path).",
        ) from None
    database = database_at(settings, path, is_temporary=is_temporary)
    try:
        bring_up_to_date(database)
    except RecollectError:
        database.close_here()
        raise
    return database


def database_at(settings: Settings, path: Path, *, is_temporary: bool = False) -> Database:
    return Database(
        path,
        synchronous="off" if is_temporary else settings.storage.synchronous,
        busy_timeout=settings.storage.busy_timeout,
        is_temporary=is_temporary,
    )


def _temporary_path() -> Path:
    """Memory that ends with the process is an ordinary database in a folder that goes with it."""
    return Path(tempfile.mkdtemp(prefix="recollect-")) / "memory.db"
