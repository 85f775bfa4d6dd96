"""Memory behind the interface of S1's providers: a few plain calls, one scope, records only."""

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
    """What may be changed of an entry."""

    name: str
    content: str
    description: str
    type: MemoryType
    metadata: Mapping[str, Any]


class MemoryProvider:
    """An agent's memory of a user, given by the memory it is made with: `memory.scope(…)`."""

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
        """Change what is given of an entry; the rest stays as it is."""
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
        """Delete an entry; `memory.undo` brings it back."""
        await self._memory.delete(id)

    async def search(
        self, query: str, *, type: MemoryType | None = None, limit: int = _LIMIT
    ) -> list[Record]:
        """The entries about a question, best first."""
        found = await self._memory.recall(query, limit=limit, category=type, owners="record")
        return [hit.record for hit in found if hit.record is not None]

    async def list(self, *, type: MemoryType | None = None, limit: int = _LIMIT) -> list[Record]:
        """The latest entries."""
        return [*(await self._memory.list(limit=limit, category=type)).items]

    async def get_by_id(self, id: str) -> Record | None:
        """One entry; None when there is none that may be seen."""
        try:
            return await self._memory.get(id)
        except NotFound:
            return None

    async def close(self) -> None:
        """Close the memory, if this provider was given the one that was opened."""
        await self._memory.close()
