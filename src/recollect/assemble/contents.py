"""Settings → the blob store of archived contents."""

from __future__ import annotations

from recollect.backends.objects import ObjectBlobs, open_blobs
from recollect.backends.sql.database import Database
from recollect.domain.archive import contents_beside
from recollect.settings import Settings


def contents_of(settings: Settings, database: Database) -> ObjectBlobs:
    """Return the blob store of a database; a temporary database has a temporary one."""
    is_temporary = settings.is_temporary
    return open_blobs(contents_beside(database.path) if is_temporary else settings.blobs)
