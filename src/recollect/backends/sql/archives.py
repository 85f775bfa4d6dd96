"""Archives and the references to their blobs as rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    exists,
    insert,
    select,
    tuple_,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.database import OnDatabase, reading, writing
from recollect.backends.sql.forgotten import NAMELESS_SCOPES
from recollect.backends.sql.portable import InsertOrIgnore, listed, listed_numbers
from recollect.backends.sql.prepared_statement import KEPT_STATEMENTS, PreparedStatement
from recollect.backends.sql.rows import Row, RowForm, rows_of, to_json
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.domain.archive import Archive, Blob, NewArchive
from recollect.domain.page import Cursor
from recollect.domain.scope import Scope
from recollect.domain.times import to_micros
from recollect.errors import Conflict

# --- How often the contents of a workspace are referred to; the last to let go frees one ----------

_BLOBS: Final = schema.blobs
_ADD_BLOB: Final = PreparedStatement(InsertOrIgnore(_BLOBS))
_BLOB: Final = RowForm(Blob)


def same_blob(scope: Scope, content_hash: str) -> ColumnElement[bool]:
    """Return the condition for the blob of this content in the scope's workspace."""
    table = _BLOBS.c
    return and_(
        table.org == scope.org, table.workspace == scope.workspace, table.hash == content_hash
    )


def find_blob(connection: Connection, scope: Scope, content_hash: str) -> Blob | None:
    """Return where a content lies, if the workspace has it."""
    key = {"org": scope.org, "workspace": scope.workspace, "hash": content_hash}
    for row in _BLOB_BY_HASH.rows(connection, key):
        return _BLOB.value(row)
    return None


def take_blob(
    connection: Connection, scope: Scope, content_hash: str, brought: Blob | None, now: int
) -> tuple[str, ...]:
    """Count one more reference; return the key of a blob that was brought in vain."""
    same = same_blob(scope, content_hash)
    there = connection.scalar(select(_BLOBS.c.key).where(same).with_for_update())
    if there is None and brought is not None:
        place = {"org": scope.org, "workspace": scope.workspace}
        row = {**_BLOB.row(brought), **place, "reference_count": 0, "created_at": now}
        _ADD_BLOB.run(connection, [row])
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


# --- Archives and the references to their blobs as rows -------------------------------------------

_ARCHIVES: Final = schema.archives
# The column of the sources also says who wrote the summary.
_ARCHIVE: Final = RowForm(
    Archive,
    times=("created_at", "expires_at", "last_loaded"),
    apart=("scope", "sources", "summarised_by"),
)
_HAS_UNITS: Final = exists().where(schema.units.c.owner_id == _ARCHIVES.c.id)
_BLOB_BY_HASH: Final = PreparedStatement(
    select(_BLOBS).where(
        *(_BLOBS.c[name] == bindparam(name) for name in ("org", "workspace", "hash"))
    )
)


_TO_INDEX: Final = PreparedStatement(
    select(_ARCHIVES)
    .where(_ARCHIVES.c.id > bindparam("after"), _ARCHIVES.c.indexed_chars > 0, ~_HAS_UNITS)
    .where(_ARCHIVES.c.scope_id.not_in(NAMELESS_SCOPES))
    .order_by(_ARCHIVES.c.id)
    .limit(bindparam("most"))
)


class SqlArchives(OnDatabase):
    """The descriptions of archives. Reads only see the given scopes."""

    @reading
    def find(
        self,
        connection: Connection,
        scopes: Sequence[Scope],
        *,
        ids: Sequence[str] | None = None,
        session: str | None = None,
        tool: str | None = None,
        input_hash: str | None = None,
        content_hash: str | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Archive]:
        """Return the archives that match all conditions, newest first, starting after `after`."""
        equal = {"session": session, "tool": tool}
        equal |= {"input_hash": input_hash, "content_hash": content_hash}
        given: dict[str, Any] = {name: it for name, it in equal.items() if it is not None}
        statement = _find_statement(
            tuple(given),
            by_id=ids is not None,
            goes_on=after is not None,
            is_limited=limit is not None,
        )
        if after is not None:
            given |= {"after_at": after.at, "after_id": after.id}
        if limit is not None:
            given["most"] = limit
        if ids is not None:
            given["ids"] = to_json(list(ids))
        found = find_scopes(connection, scopes)
        rows = statement.rows(connection, {**given, "scopes": to_json(list(found))})
        return [archive_from(row, found[row["scope_id"]]) for row in rows]

    @reading
    def with_blob(
        self, connection: Connection, scopes: Sequence[Scope], archive_id: str
    ) -> tuple[Archive, Blob] | None:
        """Return an archive and its blob."""
        found = find_scopes(connection, scopes)
        table = _ARCHIVES.c
        wanted = select(_ARCHIVES).where(table.id == archive_id, table.scope_id.in_(found))
        for row in rows_of(connection, wanted):
            archive = archive_from(row, found[row["scope_id"]])
            blob = find_blob(connection, archive.scope, archive.content_hash)
            assert blob is not None, "an archive refers to its blob"
            return archive, blob
        return None

    @reading
    def blob(self, connection: Connection, scope: Scope, content_hash: str) -> Blob | None:
        """Return the blob with this hash, if the scope's workspace has it."""
        return find_blob(connection, scope, content_hash)

    @writing
    def note_load(self, connection: Connection, archive: Archive, at: datetime) -> None:
        """Remember that its content was asked for."""
        table = _ARCHIVES.c
        noted = (
            update(_ARCHIVES)
            .where(table.id == archive.id)
            .values(loads=table.loads + 1, last_loaded=to_micros(at))
        )
        connection.execute(noted)

    @writing
    def set_summary(self, connection: Connection, archive: Archive) -> None:
        """Store the summary and the sources of an archive anew."""
        told = (
            update(_ARCHIVES)
            .where(_ARCHIVES.c.id == archive.id)
            .values(summary=archive.summary, sources=_stored_sources(archive))
        )
        connection.execute(told)

    @reading
    def to_index(self, connection: Connection, *, after: str, limit: int) -> list[Archive]:
        """Return archives of all scopes without units, by id, starting after `after`."""
        rows = _TO_INDEX.rows(connection, {"after": after, "most": limit})
        scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
        return [archive_from(row, scopes[row["scope_id"]]) for row in rows]

    @reading
    def referenced(self, connection: Connection, keys: Sequence[str]) -> set[str]:
        """Return those of the blob keys that an archive still needs."""
        wanted = select(_BLOBS.c.key).where(_BLOBS.c.key.in_(listed("keys")))
        return set(connection.scalars(wanted, {"keys": to_json(list(keys))}))

    @reading
    def scopes(self, connection: Connection) -> list[Scope]:
        """Return every scope that holds archives."""
        named = _ARCHIVES.c.scope_id.not_in(NAMELESS_SCOPES)
        ids = connection.scalars(select(_ARCHIVES.c.scope_id).where(named).distinct()).all()
        return list(scopes_by_id(connection, ids).values())


def add_archive(
    connection: Connection, new: NewArchive, scope_id: int, now: int
) -> tuple[str, ...]:
    """Insert an archive and count its blob; the key of a blob that was brought in vain."""
    archive = new.archive
    unused = take_blob(connection, archive.scope, archive.content_hash, new.blob, now)
    row = {**_ARCHIVE.row(archive, scope_id), "sources": _stored_sources(archive)}
    connection.execute(insert(_ARCHIVES), row)
    return unused


def remove_archive(connection: Connection, archive: Archive) -> tuple[str, ...] | None:
    """Delete an archive; the key of its blob if nothing else needs it. None if it was gone."""
    gone = connection.execute(delete(_ARCHIVES).where(_ARCHIVES.c.id == archive.id))
    if not gone.rowcount:
        return None
    return release_blob(connection, archive.scope, archive.content_hash)


# Building a statement costs more than running it, so the few there are are kept.
@lru_cache(maxsize=KEPT_STATEMENTS)
def _find_statement(
    equal: tuple[str, ...], *, by_id: bool, goes_on: bool, is_limited: bool
) -> PreparedStatement:
    table = _ARCHIVES.c
    parts = [table[name] == bindparam(name) for name in equal]
    if by_id:
        parts.append(table.id.in_(listed("ids")))
    if goes_on:
        place = tuple_(bindparam("after_at"), bindparam("after_id"))
        parts.append(tuple_(table.created_at, table.id) < place)
    found = (
        select(_ARCHIVES)
        .where(table.scope_id.in_(listed_numbers("scopes")), *parts)
        .order_by(table.created_at.desc(), table.id.desc())
    )
    return PreparedStatement(found.limit(bindparam("most")) if is_limited else found)


def _stored_sources(archive: Archive) -> str:
    """Return the sources with who wrote the summary; without that it is a list."""
    named = list(archive.sources)
    return to_json(
        {"sources": named, "by": archive.summarised_by} if archive.summarised_by else named
    )


def archive_from(row: Row, scope: Scope) -> Archive:
    found: Any = json.loads(row["sources"])
    told: dict[str, Any] = {"sources": found, "by": ""} if isinstance(found, list) else found
    return _ARCHIVE.value(row, scope, sources=tuple(told["sources"]), summarised_by=told["by"])
