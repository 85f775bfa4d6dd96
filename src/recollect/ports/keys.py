"""Storage for administrators: API keys and sign-ins as hashes, and settings of agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.domain.access import ApiKey
from recollect.domain.page import Cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A key and the hash of its secret."""

    key: ApiKey
    salt: str
    digest: str


class Keys(Protocol):
    """The API keys of the server that uses this database."""

    async def add(self, stored: StoredKey) -> None:
        """Store a new key; refuse a name that a usable key has."""
        ...

    async def find(self, key_id: str) -> StoredKey | None: ...

    async def listed(self, *, after: Cursor | None, limit: int) -> list[ApiKey]:
        """Return keys, newest first, including revoked ones."""
        ...

    async def has_any(self) -> bool:
        """Return whether a key was ever created."""
        ...

    async def has_usable(self, now: datetime) -> bool:
        """Return whether there is a usable key."""
        ...

    async def revoke(self, key_id: str, now: datetime) -> ApiKey | None:
        """Revoke a key and end its sign-ins; return None if there is no such key."""
        ...

    async def used(self, key_id: str, now: datetime) -> None:
        """Record that a key was used."""
        ...

    async def sign_in(self, digest: str, key_id: str, now: datetime, until: datetime) -> None:
        """Store a sign-in under the hash of its token, and remove expired ones."""
        ...

    async def signed_in(self, digest: str, now: datetime) -> tuple[ApiKey, datetime] | None:
        """Return the key of a sign-in and when it ends; None if it has ended or does not exist."""
        ...

    async def sign_out(self, digest: str) -> None: ...


# --- Settings of agents in the database, which override the settings file -------------------------


class AgentOverlays(Protocol):
    """Overrides of the settings of agents, by name."""

    async def put(self, name: str, settings: Mapping[str, Any], now: datetime) -> None: ...

    async def get(self, name: str) -> Mapping[str, Any]:
        """Return the overrides of an agent; empty if it has none."""
        ...

    async def delete(self, name: str, now: datetime) -> bool:
        """Remove the overrides of an agent; return whether there were any."""
        ...

    async def names(self) -> frozenset[str]:
        """Return the agents that have overrides."""
        ...

    async def has_memory(self, name: str) -> bool:
        """Return whether this store holds records or turns of an agent."""
        ...
