"""Where keys and sign-ins are kept: hashes, never secrets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.access import ApiKey
from recollect.domain.page import Cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A key and what its secret is checked against."""

    key: ApiKey
    salt: str
    digest: str


class Keys(Protocol):
    """Keys of the server that uses this database."""

    async def add(self, stored: StoredKey) -> None:
        """Keep a new key; a name that a usable key has is refused."""
        ...

    async def find(self, key_id: str) -> StoredKey | None: ...

    async def listed(self, *, after: Cursor | None, limit: int) -> list[ApiKey]:
        """Return keys, the newest first, revoked ones too."""
        ...

    async def has_any(self) -> bool:
        """Return whether a key was ever made."""
        ...

    async def has_usable(self, now: datetime) -> bool:
        """Return whether there is a key that opens something."""
        ...

    async def revoke(self, key_id: str, now: datetime) -> ApiKey | None:
        """Revoke a key and end its sign-ins; None when there is no such key."""
        ...

    async def used(self, key_id: str, now: datetime) -> None:
        """Note that a key was used."""
        ...

    async def sign_in(self, digest: str, key_id: str, now: datetime, until: datetime) -> None:
        """Keep a sign-in by the hash of its token; those that are over go along."""
        ...

    async def signed_in(self, digest: str, now: datetime) -> tuple[ApiKey, datetime] | None:
        """Return the key of a sign-in and when it ends; None when it is over or was none."""
        ...

    async def sign_out(self, digest: str) -> None: ...
