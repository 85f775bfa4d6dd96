"""Which collections a caller may read and write; nothing of documents is needed for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.domain.document import Collection, collection_name, collection_scope
from recollect.domain.scope import Caller, Scope
from recollect.errors import NotFound

if TYPE_CHECKING:
    from recollect.knowledge.rows import SqlDocuments


class ReadableCollections:
    """The collections of a database, as far as a caller may read them."""

    def __init__(self, documents: SqlDocuments) -> None:
        self._documents = documents

    async def all(self, caller: Caller) -> list[Collection]:
        """Return the collections that a caller may read, with counts."""
        return await self._documents.collections(readable_owners(caller))

    async def scopes(self, caller: Caller, names: Iterable[str] | None = None) -> list[Scope]:
        """Return the scopes of the collections with these names that a caller may read."""
        found = await self._documents.scopes(readable_owners(caller))
        if names is None:
            return found
        wanted = set(names)
        if missing := wanted.difference(map(collection_name, found)):
            raise NotFound(
                f"There is no collection {', '.join(sorted(missing))}",
                code="unknown_collection",
                hint="`recollect kb stats` lists the collections.",
            )
        return [scope for scope in found if collection_name(scope) in wanted]


def readable_owners(caller: Caller) -> tuple[Scope, ...]:
    """Return the scopes whose collections a caller may read.

    These are the workspace's, the user's, the agent's own and those of its children.
    """
    here = caller.scope
    workspace = replace(here, agent=None, user=None)
    agent = replace(here, user=None)
    return tuple(dict.fromkeys((here, here.of_user, agent, workspace, *caller.writable)))


def writable_scopes(caller: Caller, name: str) -> Sequence[Scope]:
    """Return the scopes of collections with this name that the caller may write to."""
    owners = (
        owner for owner in caller.writable if owner == caller.scope or owner != caller.scope.of_user
    )
    return [collection_scope(owner, name) for owner in owners]
