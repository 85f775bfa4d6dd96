"""`memory.keys`: the API keys of a server on this database, for an administrator."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.domain.access import ApiKey, NewKey
from recollect.domain.page import Page, PageWanted
from recollect.domain.scope import Caller
from recollect.memory.administration import CREATE_KEY, REVOKE_KEY, audit_administration

if TYPE_CHECKING:
    from recollect.memory.parts import Parts


class ApiKeys:
    """API keys with a role, optionally limited to workspaces, users and agents."""

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    async def create(
        self,
        name: str,
        role: str = "writer",
        *,
        workspaces: Iterable[str] = (),
        users: Iterable[str] = (),
        agents: Iterable[str] = (),
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Create a key; its `secret` is returned only here and never stored.

        The role is reader, writer, coordinator or admin. An empty list of workspaces (each
        `org/workspace`, or a name in `local`), users or agents means all.
        """
        made = await self._parts.keys.create(
            name, role, workspaces=workspaces, users=users, agents=agents, expires_at=expires_at
        )
        key = made.key
        await audit_administration(
            self._parts.store,
            self._caller,
            CREATE_KEY,
            key.id,
            {"name": key.name, "role": key.role},
        )
        return made

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[ApiKey]:
        """Return a page of keys, newest first, including revoked ones; never their secrets."""
        return await self._parts.keys.list(PageWanted(limit=limit, cursor=cursor))

    async def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key and end its sign-ins."""
        revoked = await self._parts.keys.revoke(key_id)
        await audit_administration(
            self._parts.store, self._caller, REVOKE_KEY, key_id, {"name": revoked.name}
        )
        return revoked
