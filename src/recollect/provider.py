"""A minimal provider interface to memory: a few plain calls, one scope, records only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypedDict, Unpack

from recollect.domain.fields import RecordFields
from recollect.domain.record import Record
from recollect.errors import NotFound
from recollect.memory import Memory

MemoryType = Literal["user", "project", "feedback", "reference"]
_LIMIT: Final = 10


class EntryFields(TypedDict, total=False):
    """The fields of an entry that can be changed."""

    name: str
    content: str
    description: str
    type: MemoryType
    metadata: Mapping[str, Any]


class MemoryProvider:
    """The memory of one agent and user: pass `memory.scope(…)`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def save(
        self,
        name: str,
        content: str,
        *,
        type: MemoryType,
        description: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> Record:
        """Save one entry."""
        return await self._memory.remember(
            content,
            title=name,
            category=type,
            description=description,
            metadata=metadata or {},
        )

    async def update(self, id: str, **partial: Unpack[EntryFields]) -> Record:
        """Change the given fields of an entry."""
        fields: RecordFields = {}
        if "name" in partial:
            fields["title"] = partial["name"]
        if "type" in partial:
            fields["category"] = partial["type"]
        if "description" in partial:
            fields["description"] = partial["description"]
        if "metadata" in partial:
            fields["metadata"] = partial["metadata"]
        return await self._memory.update(id, partial.get("content"), **fields)

    async def delete(self, id: str) -> None:
        """Delete an entry; `memory.undo` restores it."""
        await self._memory.delete(id)

    async def search(
        self, query: str, *, type: MemoryType | None = None, limit: int = _LIMIT
    ) -> list[Record]:
        """Return the entries about a query, best first."""
        found = await self._memory.recall(query, limit=limit, category=type, owners="record")
        return [hit.record for hit in found if hit.record is not None]

    async def list(self, *, type: MemoryType | None = None, limit: int = _LIMIT) -> list[Record]:
        """Return the latest entries."""
        return [*(await self._memory.list(limit=limit, category=type)).items]

    async def get_by_id(self, id: str) -> Record | None:
        """Return one entry, or None if there is none that may be read."""
        try:
            return await self._memory.get(id)
        except NotFound:
            return None

    async def close(self) -> None:
        """Close the memory if it is the one that was opened."""
        await self._memory.close()
