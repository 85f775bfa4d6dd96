"""`memory.archives`: read and remove archived tool results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.domain.archive import Archive, ContentRange, EarlierResult, SweptArchives, ToolResult
from recollect.domain.fields import MAX_TITLE, checked_text
from recollect.domain.filters import make_filter
from recollect.domain.hit import Recalled
from recollect.domain.operation import Operation
from recollect.domain.page import Cursor, Page, PageWanted
from recollect.domain.scope import Caller, Role
from recollect.domain.times import to_micros
from recollect.domain.unit import ARCHIVE
from recollect.errors import NotAllowed, NotFound

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


class ToolArchives:
    """The archived tool results that a caller may read, from any session."""

    def __init__(self, parts: Wiring, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    @Operation("GET", "/v1/archives", "list_archives", Role.READER, command="archives list")
    async def list(
        self,
        *,
        session: str | None = None,
        tool: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Archive]:
        """Return archives, newest first, optionally of one session or tool."""
        for name, given in (("session", session), ("tool", tool)):
            if given is not None:
                checked_text(given, name, MAX_TITLE, blank=True)
        page = PageWanted(limit=limit, cursor=cursor)
        found = await self._parts.working.archives.find(
            self._caller.readable,
            session=session,
            tool=tool,
            after=page.after,
            limit=page.one_more,
        )
        return page.of(
            [
                (Cursor(at=to_micros(archive.created_at), id=archive.id), archive)
                for archive in found
            ]
        )

    @Operation(
        "GET", "/v1/archives/{archive_id}", "get_archive", Role.READER, command="archives show"
    )
    async def get(self, archive_id: str) -> Archive:
        """Return one archive without its content."""
        checked_text(archive_id, "id", MAX_TITLE, blank=True)
        found = await self._parts.working.archives.find(self._caller.readable, ids=[archive_id])
        if not found:
            raise NotFound(
                f"There is no archived tool result {archive_id!r}",
                code="unknown_archive",
                hint="Ids are shown by the list of archives and in placeholders.",
            )
        return found[0]

    @Operation(
        "GET",
        "/v1/archives/{archive_id}/content",
        "load_archive",
        Role.READER,
        command="archives show",
    )
    async def load(
        self, archive_id: str, query: str | None = None, range: ContentRange | str | None = None
    ) -> ToolResult:
        """Return the original result, or as text the passages about a query or a range."""
        archives = self._parts.working.sessions.archive(self._caller)
        return await archives.load_tool_result(archive_id, query, range)

    @Operation(
        "POST",
        "/v1/archives/search",
        "search_archives",
        Role.READER,
        repeat="read",
        command="archives search",
    )
    async def search(
        self, query: str, *, session: str | None = None, limit: int | None = None
    ) -> Recalled:
        """Return the passages of archived results about a query, best first.

        A result is found from the moment on in which it was archived.
        """
        await self._parts.working.indexer.catch_up(self._caller.readable)
        where = make_filter(owners=ARCHIVE, session=session)
        return await self._parts.recaller.recall(query, self._caller.readable, where, limit=limit)

    @Operation("POST", "/v1/archives/earlier", "find_earlier_result", Role.READER, repeat="read")
    async def find_earlier(self, tool: str, input: object) -> EarlierResult | None:
        """Return what the same tool returned for the same input before, in any session."""
        archives = self._parts.working.sessions.archive(self._caller)
        return await archives.find_earlier(tool, input)

    @Operation(
        "DELETE",
        "/v1/archives/{archive_id}",
        "delete_archive",
        Role.WRITER,
        command="archives delete",
    )
    async def delete(self, archive_id: str) -> Archive:
        """Delete an archive and its content for good; its placeholder stays in the conversation."""
        archive = await self.get(archive_id)
        if archive.scope not in self._caller.writable:
            raise NotAllowed(
                f"{self._caller.scope.key} may not delete {archive_id}; it was kept",
                hint="Only the caller whose session it comes from may delete an archive.",
            )
        store = self._parts.router.of_agent(archive.scope.agent)
        await store.working.retention.remove([archive], by=self._caller.principal)
        return archive

    @Operation(
        "POST",
        "/v1/archives/sweep",
        "sweep_archives",
        Role.ADMIN,
        repeat="repeatable",
        patient=True,
        command="archives sweep",
    )
    async def sweep(self, *, dry_run: bool = False) -> SweptArchives:
        """Delete archives past retention or over the limits; a dry run only reports them."""
        return await self._parts.working.retention.sweep(self._caller.scope, dry_run=dry_run)
