"""A store → a copy of it in another store, of any kind."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy import Connection, select

from recollect.assemble.database import database_at, journal_at, open_database, server_at
from recollect.assemble.erasure import forget_again
from recollect.assemble.places import settings_at
from recollect.backends.objects import open_blobs
from recollect.backends.sql import backup, schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.forget_ledger import merge
from recollect.backends.sql.journaled_database import JournaledDatabase
from recollect.backends.sql.table_copy import copy_tables
from recollect.domain.archive import Blob, contents_beside
from recollect.domain.private_files import make_file, make_folder
from recollect.domain.progress import Progress
from recollect.domain.transfer import Copied
from recollect.errors import InvalidInput, StorageError
from recollect.settings import Settings
from recollect.transfer.backup import copy_contents


async def copy_store(
    source: Settings, target: Settings, *, progress: Progress | None = None
) -> Copied:
    """Copy every table, archived content and ledger of a store to an empty one."""
    if source.store_name == target.store_name:
        raise InvalidInput("A store cannot be copied to itself", hint="Give two different places.")
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
            contents = await copy_contents(
                blobs, open_blobs(source.blobs), open_blobs(target.blobs)
            )
            await asyncio.to_thread(_copy_companions, origin, made)
        finally:
            await made.close()
    finally:
        await origin.close()
    return Copied(rows=rows, contents=contents.copied, lost=tuple(contents.lost))


def _new_database(settings: Settings) -> Database:
    """Open a database without creating its tables, which are copied."""
    if settings.server_url:
        return server_at(settings)
    make_folder(settings.database.parent)
    if settings.is_journal:
        return journal_at(settings)
    make_file(settings.database)
    return database_at(settings, settings.database)


def _blobs(connection: Connection) -> list[Blob]:
    table = schema.blobs.c
    columns = (table.hash, table.key, table.size, table.stored_size, table.stored_hash)
    return [Blob(**row) for row in connection.execute(select(*columns)).mappings()]


def _copy_companions(source: Database, target: Database) -> None:
    """Copy the ledger of forgotten data and the position of the audit log."""
    merge(source.ledger, target.ledger)
    for head in source.anchor.heads():
        target.anchor.keep(head)


# --- A backup → the database, without what was forgotten since ------------------------------------


async def restore(copy: Path, where: str | Path | Settings | None = None) -> Path:
    """Replace a database that nobody has open with a backup; return its path.

    Everything that takes long is done first. If the process is killed, the database is either the
    old one or the restored one.
    """
    settings = settings_at(where)
    if settings.is_journal:
        raise StorageError(
            f"{settings.store_name} is a journal, and a backup cannot be restored into one; "
            "nothing was changed",
            code="restore_by_copy",
            hint=f"Copy it into an empty folder: recollect copy --from {copy} --to json:///FOLDER",
        )
    staged = await asyncio.to_thread(backup.stage, copy, settings.database)
    try:
        await _restore_contents(copy, staged, settings)
        await asyncio.to_thread(backup.switch, staged, copy, settings.database)
    finally:
        await asyncio.to_thread(staged.unlink, missing_ok=True)
    database = await asyncio.to_thread(open_database, settings)
    try:
        await forget_again(settings, database)
    finally:
        await database.close()
    return settings.database


async def _restore_contents(copy: Path, staged: Path, settings: Settings) -> None:
    """Restore the contents that the backup refers to; very old backups have none."""
    contents = contents_beside(copy)
    if contents.is_dir():
        blobs = await asyncio.to_thread(backup.blobs_of, staged)
        await copy_contents(blobs, open_blobs(contents), open_blobs(settings.blobs))
