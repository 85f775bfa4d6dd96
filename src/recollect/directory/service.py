"""List the scopes, agents, users, sessions, labels and records of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import ChangeSet
from recollect.domain.directory import (
    Extent,
    LabelEntry,
    LabelKind,
    NameEntry,
    Part,
    RecordOrder,
    RecordsFound,
    ScopeEntry,
    SessionEntry,
    Workspace,
    WorkspaceEntry,
)
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.filters import Filter
from recollect.domain.page import Cursor, Page, PageWanted
from recollect.domain.record import Record
from recollect.domain.scope import Caller, Role, Scope
from recollect.domain.times import to_micros
from recollect.errors import InvalidInput, NotAllowed
from recollect.ports.runtime import Clock
from recollect.ports.store import Store

if TYPE_CHECKING:
    from recollect.directory.rows import SqlDirectory

# The audit action of reading a whole workspace.
INSPECT: Final = "inspect"
# A page that refreshes itself is audited once in this time.
INSPECT_EVERY: Final = timedelta(minutes=10)
_KNOWN_LOOKS: Final = 10_000
# The maximum number of scopes of a search or health check over a whole workspace.
MAX_SCOPES: Final = 5_000


T = TypeVar("T")


class WorkspaceDirectory:
    """Lists a caller's own sessions and labels or, for an operator, a whole workspace."""

    def __init__(self, directory: SqlDirectory, store: Store, clock: Clock) -> None:
        self._directory = directory
        self._store = store
        self._clock = clock
        # When each access was last audited, by who, where and what.
        self._looks: dict[tuple[object, ...], datetime] = {}

    async def sessions(self, extent: Extent, page: PageWanted) -> Page[SessionEntry]:
        """Return sessions, most recently active first."""
        found = await self._directory.sessions(extent, after=page.after, limit=page.one_more)
        return page.of(found)

    async def labels(self, extent: Extent, kind: LabelKind, page: PageWanted) -> Page[LabelEntry]:
        """Return tags or categories, most frequent first."""
        offset = _offset(page)
        found = await self._directory.labels(extent, kind, offset=offset, limit=page.one_more)
        return page.of(_numbered(found, offset))

    async def scopes(self, within: Workspace, page: PageWanted) -> Page[ScopeEntry]:
        """Return the scopes that something was written to, newest first."""
        found = await self._directory.scopes(within, after=page.after, limit=page.one_more)
        return page.of(found)

    async def scopes_within(self, within: Workspace) -> Sequence[Scope]:
        """Return only the scopes of a workspace, oldest first."""
        return await self._directory.scopes_within(within, limit=MAX_SCOPES)

    async def names(self, within: Workspace, part: Part, page: PageWanted) -> Page[NameEntry]:
        """Return the agents or users of a workspace, newest first."""
        found = await self._directory.names(within, part, after=page.after, limit=page.one_more)
        return page.of(found)

    async def count_users(self, workspaces: Sequence[str]) -> int:
        """Return how many users some workspaces have, each `org/workspace`, or all of them."""
        return len(await self._directory.users(workspaces))

    async def workspaces(self, caller: Caller, page: PageWanted) -> Page[WorkspaceEntry]:
        """Return the workspaces of the whole server, those with the most records first."""
        caller.role.require(Role.ADMIN, "Listing all workspaces")
        found = sorted(
            await self._directory.workspaces(),
            key=lambda it: (-it.contents.records, -it.contents.turns, it.org, it.workspace),
        )
        offset = _offset(page)
        return page.of(_numbered(found[offset : offset + page.one_more], offset))

    async def records(
        self,
        within: Workspace,
        where: Filter,
        page: PageWanted,
        *,
        with_facets: bool,
        order: RecordOrder = "newest",
    ) -> RecordsFound:
        """Return the records of a workspace that match the filter, latest first."""
        if where.as_of is not None:
            raise InvalidInput(
                "A workspace is listed as it is now; as_of works for the records of one scope only",
                code="bad_filter",
            )
        now = self._clock.now()
        listed = page.of(await self._placed_records(within, where, page, order, now))
        return RecordsFound(
            items=listed.items,
            next_cursor=listed.next_cursor,
            total=await self._directory.count(within, where, now=now),
            facets=await self._directory.facets(within, where, now=now) if with_facets else None,
        )

    async def _placed_records(
        self, within: Workspace, where: Filter, page: PageWanted, order: RecordOrder, now: datetime
    ) -> list[tuple[Cursor, Record]]:
        if order != "newest":
            offset = _offset(page)
            found = await self._directory.records_by(
                within, where, order, now=now, offset=offset, limit=page.one_more
            )
            return _numbered(found, offset)
        found = await self._directory.records(
            within, where, now=now, after=page.after, limit=page.one_more
        )
        return [
            (Cursor(at=to_micros(record.observed_at), id=record.id), record) for record in found
        ]

    async def inspected(
        self, caller: Caller, agent: str | None, user: str | None, what: str | None
    ) -> Workspace:
        """Return the caller's workspace if they may inspect it, and audit the access.

        Without `what`, the access continues one that is already audited. The same view by the same
        person is audited once in `INSPECT_EVERY`, to keep the log readable.
        """
        if (caller.scope.agent, caller.scope.user) != (None, None):
            raise NotAllowed(
                f"{caller.scope.key} may not read the whole workspace",
                hint="Call without an agent and a user.",
            )
        for name, given in (("agent", agent), ("user", user)):
            if given is not None:
                checked_text(given, name, MAX_LABEL, blank=True)
        look = (caller.principal, caller.scope, what, agent, user)
        if what is not None and self._is_due(look):
            entry = NewAuditEntry(
                scope=caller.scope,
                action=INSPECT,
                target=what,
                payload={"agent": agent, "user": user},
            )
            await self._store.commit(
                ChangeSet(principal=caller.principal, scope=caller.scope, audit=(entry,))
            )
            self._looks[look] = self._clock.now()
        return Workspace(
            org=caller.scope.org, workspace=caller.scope.workspace, agent=agent, user=user
        )

    def _is_due(self, look: tuple[object, ...]) -> bool:
        """Return whether this access was not audited recently."""
        since = self._clock.now() - INSPECT_EVERY
        if len(self._looks) >= _KNOWN_LOOKS:
            self._looks = {it: at for it, at in self._looks.items() if at > since}
        told = self._looks.get(look)
        return told is None or told <= since


def _offset(page: PageWanted) -> int:
    """Return where a page of a list begins that is continued by number."""
    return 0 if page.after is None else max(0, page.after.at)


def _numbered(found: Sequence[T], offset: int) -> list[tuple[Cursor, T]]:
    return [(Cursor(at=offset + place, id="n"), one) for place, one in enumerate(found, 1)]
