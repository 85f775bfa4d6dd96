"""memory.archives: the large tool results that were put away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recollect.domain.archive import Archive, SweptArchives
from recollect.domain.fields import MAX_TITLE, checked_text
from recollect.domain.page import checked_limit
from recollect.domain.scope import Caller
from recollect.errors import NotFound

if TYPE_CHECKING:
    from recollect.parts import Parts

_MOST: Final = 1_000


class ToolArchives:
    """What is known of archived tool results; `memory.load_tool_history` loads one."""

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    async def list(
        self, *, session: str | None = None, tool: str | None = None, limit: int = 50
    ) -> tuple[Archive, ...]:
        """The archives of a session, of a tool or of all, newest first."""
        for name, given in (("session", session), ("tool", tool)):
            if given is not None:
                checked_text(given, name, MAX_TITLE, blank=True)
        found = await self._parts.working.archives.find(
            self._caller.readable, session=session, tool=tool, limit=checked_limit(limit, _MOST)
        )
        return tuple(found)

    async def get(self, archive_id: str) -> Archive:
        """One archive, without its content."""
        checked_text(archive_id, "id", MAX_TITLE, blank=True)
        found = await self._parts.working.archives.find(self._caller.readable, ids=[archive_id])
        if not found:
            raise NotFound(
                f"There is no archived tool result {archive_id!r}",
                code="unknown_archive",
                hint="Ids are shown by the list of archives and in placeholders.",
            )
        return found[0]

    async def sweep(self, *, dry_run: bool = False) -> SweptArchives:
        """Remove what is past its time or beyond the limits; a dry run only tells what would go."""
        return await self._parts.working.retention.sweep(self._caller.scope, dry_run=dry_run)
