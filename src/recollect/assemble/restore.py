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
