"""Settings → a wired Memory. The only place where the parts meet."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from recollect.backends.local.keyword_index import LocalKeywordIndex
from recollect.backends.sql import backup
from recollect.backends.sql.database import Database
from recollect.backends.sql.jobs import SqlJobs
from recollect.backends.sql.maintenance import SqlMaintenance
from recollect.backends.sql.migrate import bring_up_to_date
from recollect.backends.sql.store import SqlStore
from recollect.domain.scope import Caller, Scope
from recollect.errors import RecollectError, StorageError
from recollect.lifecycle.reindex import REINDEX, Reindexer
from recollect.lifecycle.versions import Versions
from recollect.lifecycle.worker import Worker
from recollect.memory import Memory, Parts
from recollect.ports.clock import Clock, SystemClock
from recollect.recall.listing import Listing
from recollect.recall.pipeline import Recaller
from recollect.settings import Settings
from recollect.writing.observe import Observer
from recollect.writing.save import Saver

_MEGABYTE = 1 << 20


async def assemble(
    where: str | Path | Settings | None = None, clock: Clock | None = None
) -> Memory:
    """Open the database, bring it up to date and put everything together."""
    settings = _settings(where)
    clock = clock or SystemClock()
    database = await asyncio.to_thread(_open_database, settings)
    store = SqlStore(database, clock)
    jobs = SqlJobs(database, clock)
    units = LocalKeywordIndex(database, settings.recall.index_memory_mb * _MEGABYTE)
    listing = Listing(store, clock)
    saver = Saver(store, listing, clock)
    maintenance = SqlMaintenance(database)
    reindexer = Reindexer(store, maintenance, jobs)
    worker = Worker(jobs, clock, {REINDEX: reindexer.run})
    parts = Parts(
        settings=settings,
        store=store,
        maintenance=maintenance,
        jobs=jobs,
        units=units,
        saver=saver,
        observer=Observer(store, clock),
        recaller=Recaller(
            store,
            units,
            clock,
            candidates=settings.recall.candidates,
            limit=settings.recall.limit,
            min_score=settings.recall.min_score,
        ),
        listing=listing,
        versions=Versions(store, listing, saver, clock),
        worker=worker,
    )
    await reindexer.schedule()
    worker.start()
    return Memory(parts, _caller(settings))


async def restore(copy: Path, where: str | Path | Settings | None = None) -> Path:
    """Put a backup in the place of a database that nobody has open; where it is now."""
    database = _settings(where).database
    await asyncio.to_thread(backup.restore, copy, database)
    return database


def _settings(where: str | Path | Settings | None) -> Settings:
    if isinstance(where, Settings):
        return where
    return Settings.load() if where is None else Settings.at(where)


def _caller(settings: Settings) -> Caller:
    scope = settings.scope
    agent = settings.agents.get(scope.agent or "")
    here = Scope(org=scope.org, workspace=scope.workspace, agent=scope.agent, user=scope.user)
    return Caller(
        scope=here, children=agent.children if agent is not None else (), principal=here.actor
    )


def _open_database(settings: Settings) -> Database:
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
    database = Database(
        path,
        synchronous="off" if is_temporary else settings.storage.synchronous,
        busy_timeout=settings.storage.busy_timeout,
        is_temporary=is_temporary,
    )
    try:
        bring_up_to_date(database)
    except RecollectError:
        database.close_here()
        raise
    return database


def _temporary_path() -> Path:
    """Memory that ends with the process is an ordinary database in a folder that goes with it."""
    return Path(tempfile.mkdtemp(prefix="recollect-")) / "memory.db"
