"""Keys and sign-ins as rows."""

from __future__ import annotations

import json
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import Connection, and_, delete, insert, or_, select, update

from recollect.backends.sql.database import (
    OnDatabase,
    reading,
    reading_quickly,
    removing,
    writing,
)
from recollect.backends.sql.rows import Coder, RowForm, rows_of
from recollect.backends.sql.schema import keys, sign_ins
from recollect.domain.access import ApiKey
from recollect.domain.page import Cursor
from recollect.domain.scope import Role
from recollect.domain.times import from_micros, to_micros
from recollect.errors import Conflict
from recollect.ports.keys import StoredKey

_KEY: Final = keys.c
_SIGN_IN: Final = sign_ins.c


class SqlKeys(OnDatabase):
    """The API keys of the server that uses this database."""

    @writing
    def add(self, connection: Connection, stored: StoredKey) -> None:
        """Store a new key; refuse a name that a usable key has."""
        key = stored.key
        row = {**_KEY_FORM.row(key), "salt": stored.salt, "digest": stored.digest}
        same_name = select(_KEY.id).where(_KEY.name == key.name, _is_usable(key.created_at))
        if connection.execute(same_name).first() is not None:
            raise Conflict(
                f"There is a key {key.name!r} already; no key was made",
                code="key_exists",
                hint="Choose another name, or revoke that key first.",
            )
        connection.execute(insert(keys), row)

    @reading_quickly
    def find(self, connection: Connection, key_id: str) -> StoredKey | None:
        for row in rows_of(connection, select(keys).where(_KEY.id == key_id)):
            return StoredKey(key=_key(row), salt=row["salt"], digest=row["digest"])
        return None

    @reading
    def listed(self, connection: Connection, *, after: Cursor | None, limit: int) -> list[ApiKey]:
        """Return keys, newest first, including revoked ones."""
        chosen = select(keys).order_by(_KEY.created_at.desc(), _KEY.id.desc()).limit(limit)
        if after is not None:
            same_time = and_(_KEY.created_at == after.at, _KEY.id < after.id)
            chosen = chosen.where(or_(_KEY.created_at < after.at, same_time))
        return [_key(row) for row in rows_of(connection, chosen)]

    @reading_quickly
    def has_any(self, connection: Connection) -> bool:
        """Return whether a key was ever created."""
        chosen = select(_KEY.id).limit(1)
        return connection.execute(chosen).first() is not None

    @reading
    def has_usable(self, connection: Connection, now: datetime) -> bool:
        """Return whether there is a usable key."""
        chosen = select(_KEY.id).where(_is_usable(now)).limit(1)
        return connection.execute(chosen).first() is not None

    @removing
    def revoke(self, connection: Connection, key_id: str, now: datetime) -> ApiKey | None:
        """Revoke a key and end its sign-ins; return None if there is no such key."""
        connection.execute(
            update(keys)
            .where(_KEY.id == key_id, _KEY.revoked_at.is_(None))
            .values(revoked_at=to_micros(now))
        )
        connection.execute(delete(sign_ins).where(_SIGN_IN.key_id == key_id))
        for row in rows_of(connection, select(keys).where(_KEY.id == key_id)):
            return _key(row)
        return None

    @writing
    def used(self, connection: Connection, key_id: str, now: datetime) -> None:
        """Record that a key was used."""
        noted = update(keys).where(_KEY.id == key_id).values(last_used_at=to_micros(now))
        connection.execute(noted).close()

    @writing
    def sign_in(
        self, connection: Connection, digest: str, key_id: str, now: datetime, until: datetime
    ) -> None:
        """Store a sign-in under the hash of its token, and remove expired ones."""
        connection.execute(delete(sign_ins).where(_SIGN_IN.expires_at <= to_micros(now)))
        row = {
            "digest": digest,
            "key_id": key_id,
            "created_at": to_micros(now),
            "expires_at": to_micros(until),
        }
        connection.execute(insert(sign_ins), row)

    @reading_quickly
    def signed_in(
        self, connection: Connection, digest: str, now: datetime
    ) -> tuple[ApiKey, datetime] | None:
        """Return the key of a sign-in and when it ends; None if it has ended or does not exist."""
        chosen = (
            select(keys, _SIGN_IN.expires_at.label("signed_in_until"))
            .join(sign_ins, _SIGN_IN.key_id == _KEY.id)
            .where(_SIGN_IN.digest == digest, _SIGN_IN.expires_at > to_micros(now))
        )
        for row in rows_of(connection, chosen):
            return _key(row), from_micros(row["signed_in_until"])
        return None

    @writing
    def sign_out(self, connection: Connection, digest: str) -> None:
        gone = delete(sign_ins).where(_SIGN_IN.digest == digest)
        connection.execute(gone).close()


def _is_usable(now: datetime) -> Any:
    is_current = or_(_KEY.expires_at.is_(None), _KEY.expires_at > to_micros(now))
    return and_(_KEY.revoked_at.is_(None), is_current)


def _names_from(encoded: str) -> tuple[str, ...]:
    return tuple(json.loads(encoded))


# Written with the spaces of `json.dumps`.
_NAMES: Final[Coder] = (json.dumps, _names_from)
_KEY_FORM: Final = RowForm(
    ApiKey,
    times=("created_at", "expires_at", "last_used_at", "revoked_at"),
    coders={
        "role": (attrgetter("value"), Role),
        "workspaces": _NAMES,
        "users": _NAMES,
        "agents": _NAMES,
    },
)
_key: Final = _KEY_FORM.value
