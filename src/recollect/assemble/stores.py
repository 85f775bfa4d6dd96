"""Settings → the database and its blobs, and copies of a store."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, select

from recollect.backends.audit_anchor import known_heads
from recollect.backends.sql.chain_head import require_newest
from recollect.backends.sql.companions import Reserve, require_nothing_lost
from recollect.backends.sql.migrate import bring_up_to_date, require_usable, revision
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.archive import Blob, contents_beside
from recollect.domain.files import is_read_only, make_file, make_folder
from recollect.errors import InvalidInput, NotFound, RecollectError, StorageError
from recollect.settings import Settings
from recollect.settings.place import driver_url

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from recollect.backends.objects import ObjectBlobs
    from recollect.backends.outbox import OutboxBlobs
    from recollect.backends.sql.database import Database
    from recollect.backends.sql.journaled_database import JournaledDatabase
    from recollect.backends.sql.server_database import ServerDatabase
    from recollect.domain.job import Progress
    from recollect.domain.transfer import Copied

    Contents: TypeAlias = ObjectBlobs | OutboxBlobs

_log: Final = logging.getLogger(__name__)


# --- Settings → the database ----------------------------------------------------------------------


def open_database(settings: Settings, *, may_be_away: bool = False) -> Database:
    """Open the database that the settings name, and bring it up to date.

    A server that `may_be_away` is brought up to date when it returns.
    """
    if settings.is_journal:
        return _open_journal(settings)
    if settings.server_url:
        return _open_server(settings, may_be_away=may_be_away)
    return _open_file(settings)


def server_at(settings: Settings) -> ServerDatabase:
    """Return the database server that the settings name, without connecting to it."""
    from recollect.backends.sql.server_database import ServerDatabase

    return ServerDatabase(
        driver_url(settings.server_url),
        beside=settings.database,
        contents=blobs_at(settings),
        connections=settings.storage.connections,
    )


def _open_server(settings: Settings, *, may_be_away: bool) -> Database:
    from recollect.backends.sql.outage import UNREACHABLE
    from recollect.backends.sql.server_schema import bring_server_up_to_date

    def prepare(server: ServerDatabase) -> None:
        bring_server_up_to_date(server)
        _carry_over(settings.database, server)

    database = server_at(settings)
    try:
        prepare(database)
    except StorageError as problem:
        if may_be_away and problem.code == UNREACHABLE:
            database.begin_away(problem, prepare)
            return database
        database.close_here()
        raise
    return database


def _carry_over(beside: Path, database: Database) -> None:
    """Put what earlier versions kept in a folder of this machine where all machines see it."""
    from recollect.backends.audit_anchor import AnchorFile, anchor_of
    from recollect.backends.sql.forget_ledger import LedgerFile, ledger_of, merge

    ledger, anchor = ledger_of(beside), anchor_of(beside)
    if ledger.exists():
        merge(LedgerFile(ledger), database.ledger)
        ledger.unlink(missing_ok=True)
    if anchor.exists():
        for head in AnchorFile(anchor).heads():
            database.anchor.keep(head)
        anchor.unlink(missing_ok=True)


def _open_journal(settings: Settings) -> Database:
    database = journal_at(settings)
    try:
        bring_up_to_date(database)
        known = known_heads(database.path)
        database.read_here(lambda connection: require_newest(connection, database.path, known))
        database.keep()
    except RecollectError:
        database.close_here()
        raise
    return database


def journal_at(settings: Settings) -> JournaledDatabase:
    """Return the memory that a journal holds; writes are not added to the journal yet."""
    from recollect.backends.sql.journaled_database import JournaledDatabase

    return JournaledDatabase(settings.database, busy_timeout=settings.storage.busy_timeout)


def _open_file(settings: Settings) -> SqliteDatabase:
    is_temporary = settings.is_temporary
    path = _temporary_path() if is_temporary else settings.database
    try:
        database = _open_at(settings, path, is_temporary=is_temporary)
    except StorageError as problem:
        # Opening needs a little space too, and nothing can be deleted before it is open.
        if problem.code != "disk_full" or not Reserve(path).lend():
            raise
        database = _open_at(settings, path, is_temporary=is_temporary)
    if not is_temporary and not is_read_only(path):
        database.reserve.keep()
    return database


def _open_at(settings: Settings, path: Path, *, is_temporary: bool) -> SqliteDatabase:
    require_usable(path)
    try:
        make_folder(path.parent)
        # SQLite creates its other files with the same permissions.
        make_file(path)
    except OSError as problem:
        raise StorageError(
            f"{path} cannot be created: {problem.strerror}",
            code="database_unreachable",
            hint="Choose another place: --data, RECOLLECT_DATA_DIR or Memory.open(path).",
        ) from None
    # Read before the database, which is never behind it. Without `synchronous = full` the last
    # moments may be lost, so nothing is compared then.
    is_durable = settings.storage.synchronous == "full"
    known = known_heads(path) if is_durable and not is_temporary else ()
    database = database_at(settings, path, is_temporary=is_temporary)
    try:
        bring_up_to_date(database)
        database.read_here(lambda connection: require_newest(connection, path, known))
    except RecollectError:
        database.close_here()
        raise
    return database


def database_at(settings: Settings, path: Path, *, is_temporary: bool = False) -> SqliteDatabase:
    return SqliteDatabase(
        path,
        synchronous="off" if is_temporary else settings.storage.synchronous,
        busy_timeout=settings.storage.busy_timeout,
        is_temporary=is_temporary,
    )


def _temporary_path() -> Path:
    """Return a path in a temporary folder, for memory that ends with the process."""
    return Path(tempfile.mkdtemp(prefix="recollect-")) / "memory.db"


# --- A store → a copy of it in another store, of any kind -----------------------------------------


async def copy_store(
    source: Settings, target: Settings, *, progress: Progress | None = None
) -> Copied:
    """Copy every table, archived content and ledger of a store to an empty one."""
    from recollect.backends.sql.journaled_database import JournaledDatabase
    from recollect.backends.sql.table_copy import copy_tables, finish
    from recollect.domain.transfer import Copied
    from recollect.transfer.backup import copy_contents

    await _require_two_places(source, target)
    origin = await asyncio.to_thread(open_database, source)
    try:
        made = await asyncio.to_thread(_new_database, target)
        try:

            def copy(connection: Connection) -> tuple[dict[str, int], list[Blob]]:
                rows = copy_tables(connection, made, origin.name, progress)
                return rows, _blobs(connection)

            rows, blobs = await origin.read(copy)
            if isinstance(made, JournaledDatabase):
                await asyncio.to_thread(made.keep)
            contents = await copy_contents(blobs, _all_blobs_at(source), blobs_at(target))
            await asyncio.to_thread(_copy_companions, origin, made)
            await asyncio.to_thread(finish, made)
        finally:
            await made.close()
    finally:
        await origin.close()
    return Copied(rows=rows, contents=contents.copied, lost=tuple(contents.lost))


async def copy_agent(
    source: Settings, target: Settings, agent: str, *, progress: Progress | None = None
) -> Copied:
    """Copy the memory of one agent to a store that has none of it; nothing else is copied."""
    from recollect.agents.copying import AgentCopy, count_of
    from recollect.domain.ids import new_id
    from recollect.domain.times import to_micros
    from recollect.domain.transfer import Copied
    from recollect.ports.runtime import SystemClock

    await _require_two_places(source, target)
    origin = await asyncio.to_thread(open_database, source)
    try:
        if not await origin.read(lambda connection: count_of(connection, agent)):
            raise NotFound(
                f"There is no memory of {agent} in {source.store_name}; nothing was copied",
                code="no_such_memory",
                hint="`recollect workspace agents` lists the agents that have memory.",
            )
        made = await asyncio.to_thread(open_database, target)
        copy = AgentCopy(
            agent=agent,
            move_id=new_id("job"),
            source=origin,
            target=made,
            source_blobs=contents_of(source, origin),
            target_blobs=contents_of(target, made),
            now=to_micros(SystemClock().now()),
            progress=progress,
        )
        try:
            rows = await origin.read(copy.copy_once)
        finally:
            await made.close()
    finally:
        await origin.close()
    return Copied(rows=rows, contents=rows["archives"], lost=tuple(sorted(copy.lost)))


async def _require_two_places(source: Settings, target: Settings) -> None:
    if source.store_name == target.store_name:
        raise InvalidInput("A store cannot be copied to itself", hint="Give two different places.")
    if source.is_temporary or target.is_temporary:
        raise InvalidInput(
            "Memory in a process ends with it and cannot be copied",
            hint="Give a file, a server's URL or json:///FOLDER.",
        )
    await asyncio.to_thread(_require_memory, source)


def _require_memory(settings: Settings) -> None:
    """Refuse a source that has no memory, which opening it would make."""
    if not has_memory(settings):
        raise NotFound(
            f"There is no memory in {settings.store_name}; nothing was copied",
            code="no_such_memory",
            hint="Check what is given with --from; `recollect where` shows the default place.",
        )


def has_memory(settings: Settings) -> bool:
    """Return whether there is a store where the settings say, which opening it would make."""
    if settings.server_url:
        database = server_at(settings)
        try:
            return database.read_here(revision) is not None
        finally:
            database.close_here()
    if settings.is_journal:
        from recollect.backends.sql.journaled_database import journal_of

        return journal_of(settings.database).exists()
    return settings.database.exists()


def finds_memory(settings: Settings) -> bool:
    """Return whether a caller finds a memory, the agent's own or the common one.

    Where one is missing that was there, the error says how to get it back.
    """
    places = (settings, settings.of_agent(None))
    if any(it.is_temporary or has_memory(it) for it in places):
        return True
    require_nothing_lost(settings.database)
    return False


def _new_database(settings: Settings) -> Database:
    """Open a database without creating its tables, which are copied."""
    if settings.server_url:
        return _new_server(settings)
    make_folder(settings.database.parent)
    if settings.is_journal:
        return journal_at(settings)
    require_usable(settings.database)
    make_file(settings.database)
    return database_at(settings, settings.database)


def _new_server(settings: Settings) -> ServerDatabase:
    from recollect.backends.sql.server_schema import require_usable as require_usable_server

    database = server_at(settings)
    try:
        database.read_here(lambda connection: require_usable_server(connection, database.name))
    except RecollectError:
        database.close_here()
        raise
    return database


def _blobs(connection: Connection) -> list[Blob]:
    from recollect.backends.sql import schema

    table = schema.blobs.c
    columns = (table.hash, table.key, table.size, table.stored_size, table.stored_hash)
    return [Blob(**row) for row in connection.execute(select(*columns)).mappings()]


def _copy_companions(source: Database, target: Database) -> None:
    """Copy the ledger of forgotten data and the position of the audit log."""
    from recollect.backends.sql.forget_ledger import merge

    merge(source.ledger, target.ledger)
    for head in source.anchor.heads():
        target.anchor.keep(head)


# --- A backup → the database, without what was forgotten since ------------------------------------


async def restore(copy: Path, where: str | Path | Settings) -> Path:
    """Replace a database that nobody has open with a backup; return its path.

    Everything that takes long is done first. If the process is killed, the database is either the
    old one or the restored one.
    """
    from recollect.backends.sql import maintenance
    from recollect.followers.rows import follow_anew

    settings = where if isinstance(where, Settings) else Settings.at(where)
    if settings.is_journal:
        raise StorageError(
            f"{settings.store_name} is a journal, and a backup cannot be restored into one; "
            "nothing was changed",
            code="restore_by_copy",
            hint=f"Copy it into an empty folder: recollect copy --from {copy} --to json:///FOLDER",
        )
    staged = await asyncio.to_thread(maintenance.stage, copy, settings.database)
    try:
        await _restore_contents(copy, staged, settings)
        await asyncio.to_thread(maintenance.switch, staged, copy, settings.database)
    finally:
        await asyncio.to_thread(staged.unlink, missing_ok=True)
    database = await asyncio.to_thread(open_database, settings)
    try:
        # What derived stores have is not that of the copy: they are emptied and built anew.
        await database.write(follow_anew)
        await _empty_redis(settings)
        await _forget_again(settings, database)
    finally:
        await database.close()
    return settings.database


async def _empty_redis(settings: Settings) -> None:
    """Delete what Redis has of the replaced database, also whose it was.

    The scopes of the copy may come to the same versions once more, with other content.
    """
    from recollect.assemble.redis import redis_of
    from recollect.ports.runtime import SystemClock

    redis = redis_of(settings, SystemClock())
    if redis is None:
        return
    try:
        await redis.link.remove(redis.keys.every(), lambda _: True)
    except RecollectError as problem:
        _log.warning("delete the keys of %s yourself: %s", redis.keys.every(), problem)
    finally:
        await redis.close()


async def _forget_again(settings: Settings, database: Database) -> None:
    """Erase what was forgotten after the backup was made that this database comes from."""
    from recollect.erasure.forgetting import clean_up, erase
    from recollect.erasure.rows import SqlErasure
    from recollect.ports.runtime import SystemClock

    erasure = SqlErasure(database, SystemClock(), in_place=settings.storage.erase_in_place)
    for forget_id in await erasure.reapply():
        away = await erase(erasure, contents_of(settings, database), forget_id)
        await clean_up(erasure, forget_id, even_large=True, away=away)


async def _restore_contents(copy: Path, staged: Path, settings: Settings) -> None:
    """Restore the contents that the backup refers to; very old backups have none."""
    from recollect.backends.objects import open_blobs
    from recollect.backends.sql import maintenance
    from recollect.transfer.backup import copy_contents

    contents = contents_beside(copy)
    if contents.is_dir():
        blobs = await asyncio.to_thread(maintenance.blobs_of, staged)
        await copy_contents(blobs, open_blobs(contents), blobs_at(settings))


# --- Settings → the blob store of archived contents -----------------------------------------------


def blobs_at(settings: Settings, owner: Callable[[], str] | None = None) -> ObjectBlobs:
    """Return the blob store that the settings name."""
    from recollect.backends.objects import open_blobs

    return open_blobs(settings.blobs, owner, settings.s3)


def _all_blobs_at(settings: Settings, owner: Callable[[], str] | None = None) -> Contents:
    """Return the same with what this machine has yet to send there."""
    blobs = blobs_at(settings, owner)
    if isinstance(settings.blobs, Path):
        return blobs
    from recollect.backends.outbox import OutboxBlobs, outbox_beside

    return OutboxBlobs(blobs, outbox_beside(settings.database))


def contents_of(settings: Settings, database: Database) -> Contents:
    """Return the blob store of a database; a temporary database has a temporary one."""
    if settings.is_temporary:
        from recollect.backends.objects import open_blobs

        return open_blobs(contents_beside(database.path))
    # A place that somebody chose may be chosen for other memories too.
    is_shared = bool(settings.archive.place)
    return _all_blobs_at(settings, (lambda: database.identity) if is_shared else None)
