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
    """The fields of a record that can be changed."""

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
        """Save one record."""
        return await self._memory.remember(
            content,
            title=name,
            category=type,
            description=description,
            metadata=metadata or {},
        )

    async def update(self, id: str, **partial: Unpack[EntryFields]) -> Record:
        """Change the given fields of a record."""
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
        """Delete a record; `memory.undo` restores it."""
        await self._memory.delete(id)

    async def search(
        self, query: str, *, type: MemoryType | None = None, limit: int = _LIMIT
    ) -> list[Record]:
        """Return the records about a query, best first."""
        found = await self._memory.recall(query, limit=limit, category=type, owners="record")
        return [hit.record for hit in found if hit.record is not None]

    async def list(self, *, type: MemoryType | None = None, limit: int = _LIMIT) -> list[Record]:
        """Return the latest records."""
        return [*(await self._memory.list(limit=limit, category=type)).items]

    async def get_by_id(self, id: str) -> Record | None:
        """Return one record, or None if there is none that the caller may read."""
        try:
            return await self._memory.get(id)
        except NotFound:
            return None

    async def close(self) -> None:
        """Close the memory if this provider opened it."""
        await self._memory.close()
