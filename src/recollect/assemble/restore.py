"""A backup → the database, without what was forgotten since."""

from __future__ import annotations

import asyncio
from pathlib import Path

from recollect.assemble.database import open_database
from recollect.assemble.erasure import forget_again
from recollect.assemble.places import settings_at
from recollect.backends.objects import open_blobs
from recollect.backends.sql import backup
from recollect.domain.archive import contents_beside
from recollect.errors import StorageError
from recollect.settings import Settings
from recollect.transfer.backup import copy_contents


async def restore(copy: Path, where: str | Path | Settings | None = None) -> Path:
    """Put a backup in the place of a database that nobody has open; where it is now.

    All that takes long comes first. A kill leaves the database from before or the restored one.
    """
    settings = settings_at(where)
    if settings.is_journal:
        raise StorageError(
            f"{settings.store_name} is a journal, into which no backup is restored; nothing was "
            "changed",
            code="restore_by_copy",
            hint=f"Copy it into an empty folder: recollect copy --from {copy} --to json:///FOLDER",
        )
    staged = await asyncio.to_thread(backup.stage, copy, settings.database)
    try:
        await _bring_contents(copy, staged, settings)
        await asyncio.to_thread(backup.switch, staged, copy, settings.database)
    finally:
        await asyncio.to_thread(staged.unlink, missing_ok=True)
    database = await asyncio.to_thread(open_database, settings)
    try:
        await forget_again(settings, database)
    finally:
        await database.close()
    return settings.database


async def _bring_contents(copy: Path, staged: Path, settings: Settings) -> None:
    """Bring back what the copy refers to; a backup from before contents were copied has none."""
    contents = contents_beside(copy)
    if contents.is_dir():
        blobs = await asyncio.to_thread(backup.blobs_of, staged)
        await copy_contents(blobs, open_blobs(contents), open_blobs(settings.blobs))
