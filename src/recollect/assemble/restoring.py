"""A backup → the database, without what was forgotten since."""

from __future__ import annotations

import asyncio
from pathlib import Path

from recollect.assemble.database import open_database
from recollect.assemble.forgetting import forget_again
from recollect.assemble.where import settings_at
from recollect.backends.audit_anchor import anchor_of
from recollect.backends.objects import open_blobs
from recollect.backends.sql import backup
from recollect.domain.archive import contents_beside
from recollect.lifecycle.backing_up import copy_contents
from recollect.settings import Settings


async def restore(copy: Path, where: str | Path | Settings | None = None) -> Path:
    """Put a backup in the place of a database that nobody has open; where it is now."""
    settings = settings_at(where)
    await asyncio.to_thread(backup.restore, copy, settings.database)
    # The audit of the copy ends where it did then, and that is no fault of it.
    anchor_of(settings.database).unlink(missing_ok=True)
    await _bring_contents(copy, settings)
    database = await asyncio.to_thread(open_database, settings)
    try:
        await forget_again(settings, database)
    finally:
        await database.close()
    return settings.database


async def _bring_contents(copy: Path, settings: Settings) -> None:
    """Bring back what the copy refers to; a backup from before contents were copied has none."""
    contents = contents_beside(copy)
    if contents.is_dir():
        blobs = await asyncio.to_thread(backup.blobs_of, settings.database)
        await copy_contents(blobs, open_blobs(contents), open_blobs(settings.blobs))
