"""How often the contents of a workspace are referred to; the last to let go frees one."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, delete, select, update

from recollect.backends.sql import schema
from recollect.backends.sql.portable import InsertOrIgnore
from recollect.backends.sql.prepared_statement import Quick
from recollect.domain.archive import Blob
from recollect.domain.scope import Scope
from recollect.errors import Conflict

_BLOBS: Final = schema.blobs
_ADD_BLOB: Final = Quick(InsertOrIgnore(_BLOBS))


def same_blob(scope: Scope, content_hash: str) -> ColumnElement[bool]:
    """Return the condition for the blob of this content in the scope's workspace."""
    table = _BLOBS.c
    return and_(
        table.org == scope.org, table.workspace == scope.workspace, table.hash == content_hash
    )


def find_blob(connection: Connection, scope: Scope, content_hash: str) -> Blob | None:
    """Return where a content lies, if the workspace has it."""
    row = connection.execute(select(_BLOBS).where(same_blob(scope, content_hash))).one_or_none()
    if row is None:
        return None
    return Blob(
        hash=row.hash,
        key=row.key,
        size=row.size,
        stored_size=row.stored_size,
        stored_hash=row.stored_hash,
    )


def take_blob(
    connection: Connection, scope: Scope, content_hash: str, brought: Blob | None, now: int
) -> tuple[str, ...]:
    """Count one more reference; return the key of a blob that was brought in vain."""
    same = same_blob(scope, content_hash)
    there = connection.scalar(select(_BLOBS.c.key).where(same).with_for_update())
    if there is None and brought is not None:
        _ADD_BLOB.run(connection, [_row(brought, scope, now)])
        # Another process may have added the same content at the same moment.
        there = connection.scalar(select(_BLOBS.c.key).where(same).with_for_update())
    if there is None:
        raise Conflict(
            "The content was removed a moment ago; nothing was stored",
            code="blob_gone",
            hint="Store the content again.",
        )
    counted = _BLOBS.c.reference_count + 1
    connection.execute(update(_BLOBS).where(same).values(reference_count=counted))
    return () if brought is None or brought.key == there else (brought.key,)


def _row(blob: Blob, scope: Scope, now: int) -> dict[str, object]:
    return {
        "org": scope.org,
        "workspace": scope.workspace,
        "hash": blob.hash,
        "key": blob.key,
        "size": blob.size,
        "stored_size": blob.stored_size,
        "stored_hash": blob.stored_hash,
        "reference_count": 0,
        "created_at": now,
    }


def release_blob(connection: Connection, scope: Scope, content_hash: str) -> tuple[str, ...]:
    """Count one reference less; return the key of the blob if that was the last."""
    same = same_blob(scope, content_hash)
    counted = select(_BLOBS.c.key, _BLOBS.c.reference_count).where(same).with_for_update()
    row = connection.execute(counted).one()
    if row.reference_count > 1:
        fewer = _BLOBS.c.reference_count - 1
        connection.execute(update(_BLOBS).where(same).values(reference_count=fewer))
        return ()
    connection.execute(delete(_BLOBS).where(same))
    return (row.key,)
