"""`memory.workspace`: who and what is in the whole workspace, for an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from recollect.domain.audit import AuditEntry
from recollect.domain.change import Changes
from recollect.domain.directory import (
    RECORD_ORDERS,
    LabelEntry,
    NameEntry,
    RecordOrder,
    RecordsFound,
    ScopeEntry,
    SessionEntry,
    WorkspaceEntry,
)
from recollect.domain.filters import FilterFields, make_filter
from recollect.domain.graph import NameGraph
from recollect.domain.hit import Recalled
from recollect.domain.operation import Operation
from recollect.domain.page import Page, PageWanted
from recollect.domain.scope import Caller, Role, Scope
from recollect.domain.stats import Health
from recollect.domain.upkeep import Dispute
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


class WorkspaceView:
    """All scopes of a workspace, for callers without an agent and a user; reading is audited.

    `agent` and `user` narrow a listing; `-` selects the scopes that have none.
    """

    def __init__(self, parts: Wiring, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    @Operation(
        "GET",
        "/v1/workspace/scopes",
        "list_workspace_scopes",
        Role.ADMIN,
        command="workspace scopes",
    )
    async def scopes(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[ScopeEntry]:
        """Return a page of the scopes that ever held anything, newest first, with counts."""
        page = PageWanted(limit=limit, cursor=cursor)
        directory = self._parts.directory
        within = await directory.inspected(self._caller, agent, user, "scopes")
        return await directory.scopes(within, page)

    @Operation(
        "GET",
        "/v1/workspaces",
        "list_workspaces",
        Role.ADMIN,
        reach="server",
        command="workspace list",
    )
    async def every(self, *, limit: int = 50, cursor: str | None = None) -> Page[WorkspaceEntry]:
        """Return a page of all workspaces of the server, those with the most records first."""
        page = PageWanted(limit=limit, cursor=cursor)
        return await self._parts.directory.workspaces(self._caller, page)

    @Operation(
        "GET", "/v1/workspace/users", "list_workspace_users", Role.ADMIN, command="workspace users"
    )
    async def users(self, *, limit: int = 50, cursor: str | None = None) -> Page[NameEntry]:
        """Return a page of the users of the workspace, newest first, with counts."""
        directory = self._parts.directory
        within = await directory.inspected(self._caller, None, None, "users")
        return await directory.names(within, "user", PageWanted(limit=limit, cursor=cursor))

    @Operation(
        "GET",
        "/v1/workspace/agents",
        "list_workspace_agents",
        Role.ADMIN,
        command="workspace agents",
    )
    async def agents(self, *, limit: int = 50, cursor: str | None = None) -> Page[NameEntry]:
        """Return a page of the agents of the workspace, newest first, with counts."""
        directory = self._parts.directory
        within = await directory.inspected(self._caller, None, None, "agents")
        return await directory.names(within, "agent", PageWanted(limit=limit, cursor=cursor))

    @Operation(
        "GET",
        "/v1/workspace/sessions",
        "list_workspace_sessions",
        Role.ADMIN,
        command="workspace sessions",
    )
    async def sessions(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[SessionEntry]:
        """Return a page of the sessions of the workspace, most recently active first."""
        directory = self._parts.directory
        within = await directory.inspected(self._caller, agent, user, "sessions")
        return await directory.sessions(within, PageWanted(limit=limit, cursor=cursor))

    @Operation(
        "GET", "/v1/workspace/tags", "list_workspace_tags", Role.ADMIN, command="workspace tags"
    )
    async def tags(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[LabelEntry]:
        """Return a page of the tags of active records, most frequent first."""
        directory = self._parts.directory
        within = await directory.inspected(self._caller, agent, user, "tags")
        return await directory.labels(within, "tag", PageWanted(limit=limit, cursor=cursor))

    @Operation(
        "GET",
        "/v1/workspace/categories",
        "list_workspace_categories",
        Role.ADMIN,
        command="workspace categories",
    )
    async def categories(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[LabelEntry]:
        """Return a page of the categories of active records, most frequent first."""
        directory = self._parts.directory
        within = await directory.inspected(self._caller, agent, user, "categories")
        return await directory.labels(within, "category", PageWanted(limit=limit, cursor=cursor))

    @Operation(
        "GET",
        "/v1/workspace/records",
        "list_workspace_records",
        Role.ADMIN,
        command="workspace records",
    )
    async def records(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        facets: bool = False,
        order: RecordOrder = "newest",
        limit: int = 50,
        cursor: str | None = None,
        **filters: Unpack[FilterFields],
    ) -> RecordsFound:
        """Return the records of every scope that match the filters, with their total.

        `facets` adds counts by kind, category, status, tag, agent and user. Another `order` than
        the newest first is `oldest`, `surest`, `least_sure` or `most_used`.
        """
        if order not in RECORD_ORDERS:
            raise InvalidInput(
                f"order {order!r} is not one of: {', '.join(RECORD_ORDERS)}", code="unknown_value"
            )
        where = make_filter(**filters)
        directory = self._parts.directory
        within = await directory.inspected(self._caller, agent, user, "records")
        page = PageWanted(limit=limit, cursor=cursor)
        return await directory.records(within, where, page, with_facets=facets, order=order)

    @Operation(
        "GET",
        "/v1/workspace/graph",
        "get_workspace_graph",
        Role.ADMIN,
        command="workspace graph",
    )
    async def graph(
        self, *, agent: str | None = None, user: str | None = None, limit: int = 200
    ) -> NameGraph:
        """Return the names in the records of every scope, and which are told of together."""
        scopes = await self._inspected_scopes(agent, user, "graph")
        return await self._parts.names.of_scopes(scopes, limit, user)

    @Operation(
        "POST",
        "/v1/workspace/recall",
        "recall_in_workspace",
        Role.ADMIN,
        repeat="read",
        in_query=("agent", "user"),
        command="workspace recall",
    )
    async def recall(
        self,
        query: str,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int | None = None,
        min_score: float | None = None,
        **filters: Unpack[FilterFields],
    ) -> Recalled:
        """Recall from every scope what is remembered about a question, best first."""
        where = make_filter(**filters)
        scopes = await self._inspected_scopes(agent, user, "recall")
        return await self._parts.recaller.recall(
            query, scopes, where, limit=limit, min_score=min_score
        )

    @Operation(
        "GET", "/v1/workspace/health", "workspace_health", Role.ADMIN, command="workspace health"
    )
    async def health(
        self, *, agent: str | None = None, user: str | None = None, compare: bool = True
    ) -> Health:
        """Return how much is stored, how far it is trusted, and what needs attention.

        Without `compare` no duplicates are looked for, which takes longer than all the rest.
        """
        scopes = await self._inspected_scopes(agent, user, "health")
        return await self._parts.upkeep.health.health(scopes, compare=compare)

    @Operation(
        "GET",
        "/v1/workspace/conflicts",
        "list_workspace_conflicts",
        Role.ADMIN,
        pages=True,
        command="workspace conflicts",
    )
    async def conflicts(
        self, *, agent: str | None = None, user: str | None = None
    ) -> tuple[Dispute, ...]:
        """Return the open conflicts of the workspace, latest first."""
        scopes = await self._inspected_scopes(agent, user, "conflicts")
        return await self._parts.upkeep.conflicts.open(scopes)

    @Operation(
        "GET", "/v1/workspace/audit", "list_workspace_audit", Role.ADMIN, command="workspace audit"
    )
    async def audit(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        action: str | None = None,
        about: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[AuditEntry]:
        """Return what happened in every scope, newest first.

        `about` is the id of a record, a turn or a recall that an entry names.
        """
        scopes = await self._inspected_scopes(agent, user, "audit")
        return await self._parts.audit.page(
            scopes, limit=limit, cursor=cursor, action=action, about=about
        )

    @Operation("GET", "/v1/workspace/changes", "list_workspace_changes", Role.ADMIN)
    async def changes(
        self, after: str | None = None, *, limit: int = 100, wait: float = 0
    ) -> Changes:
        """Return what changed anywhere in the workspace since a mark.

        Without a mark, return one to continue from, and record in the audit log that somebody is
        watching.
        """
        scopes = await self._inspected_scopes(None, None, None if after else "changes")
        return await self._parts.following.changes(
            scopes, after, limit=limit, wait=wait, may_grow=True
        )

    async def _inspected_scopes(
        self, agent: str | None, user: str | None, what: str | None
    ) -> tuple[Scope, ...]:
        directory = self._parts.directory
        within = await directory.inspected(self._caller, agent, user, what)
        # An empty workspace still has the caller's scope.
        return tuple(await directory.scopes_within(within)) or (self._caller.scope,)
