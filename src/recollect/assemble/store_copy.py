"""A store → a copy of it in another store, of any kind."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy import Connection, select

from recollect.assemble.database import database_at, journal_at, open_database, server_at
from recollect.backends.audit_anchor import AnchorFile, anchor_of, known_heads
from recollect.backends.objects import open_blobs
from recollect.backends.sql import erasers_ledger, schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.journaled_database import JournaledDatabase
from recollect.backends.sql.table_copy import copy_tables
from recollect.domain.archive import Blob
from recollect.domain.copying import Copied
from recollect.domain.private_files import make_file, make_folder
from recollect.domain.progress import Progress
from recollect.errors import InvalidInput
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
            await asyncio.to_thread(_copy_companions, origin.path, made.path)
        finally:
            await made.close()
    finally:
        await origin.close()
    return Copied(rows=rows, contents=contents.copied, lost=tuple(contents.lost))


def _new_database(settings: Settings) -> Database:
    """Open a database without creating its tables, which are copied."""
    make_folder(settings.database.parent)
    if settings.server_url:
        return server_at(settings)
    if settings.is_journal:
        return journal_at(settings)
    make_file(settings.database)
    return database_at(settings, settings.database)


def _blobs(connection: Connection) -> list[Blob]:
    table = schema.blobs.c
    columns = (table.hash, table.key, table.size, table.stored_size, table.stored_hash)
    return [Blob(**row) for row in connection.execute(select(*columns)).mappings()]


def _copy_companions(source: Path, target: Path) -> None:
    """Copy the ledger of forgotten data and the position of the audit log."""
    erasers_ledger.merge(erasers_ledger.ledger_of(source), erasers_ledger.ledger_of(target))
    anchor = AnchorFile(anchor_of(target))
    for head in known_heads(source):
        anchor.keep(head)
