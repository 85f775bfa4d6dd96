"""Directory: sessions, tags, categories and facets of a caller, and all that is in a workspace."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from recollect.domain.audit import AuditEntry
from recollect.domain.directory import (
    LabelEntry,
    NameEntry,
    RecordOrder,
    RecordsFound,
    ScopeEntry,
    SessionEntry,
    WorkspaceEntry,
)
from recollect.domain.facets import Facet, facets
from recollect.domain.graph import NameGraph
from recollect.domain.hit import Recalled
from recollect.domain.operation import Operation
from recollect.domain.page import Page
from recollect.domain.scope import Role
from recollect.domain.stats import Health
from recollect.domain.upkeep import Dispute
from recollect.domain.views import Items
from recollect.server.bodies import Filters, PagedFilters, described
from recollect.server.caller import CallersMemory, WholeWorkspace
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import Limit, PageMark, page_of

router = APIRouter(prefix="/v1", tags=["directory"], route_class=IdempotentRoute)

OfAgent = Annotated[str | None, Query(description="only of this agent; `-` is none")]
OfUser = Annotated[str | None, Query(description="only of this user; `-` is none")]


class WorkspaceListing(PagedFilters):
    """Filters for the records of a workspace."""

    agent: str | None = None
    user: str | None = None
    facets: bool = False
    order: RecordOrder = "newest"


@router.get("/sessions")
async def list_sessions(
    memory: CallersMemory, limit: Limit = 50, cursor: PageMark = None
) -> Page[SessionEntry]:
    """List this caller's sessions, most recently active first."""
    return await memory.sessions(limit=limit, cursor=cursor)


@router.get("/tags")
async def list_tags(
    memory: CallersMemory, limit: Limit = 50, cursor: PageMark = None
) -> Page[LabelEntry]:
    """List the tags of this caller's records, most frequent first."""
    return await memory.tags(limit=limit, cursor=cursor)


@router.get("/categories")
async def list_categories(
    memory: CallersMemory, limit: Limit = 50, cursor: PageMark = None
) -> Page[LabelEntry]:
    """List the categories of this caller's records, most frequent first."""
    return await memory.categories(limit=limit, cursor=cursor)


@router.get("/facets")
@Operation("GET", "/v1/facets", "list_facets", Role.READER)
async def list_facets(memory: CallersMemory) -> Items[Facet]:
    """List the attributes that records can state, with their labels."""
    return Items(items=tuple(facets().values()))


@router.get("/workspace/scopes")
async def list_workspace_scopes(
    memory: WholeWorkspace,
    agent: OfAgent = None,
    user: OfUser = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Page[ScopeEntry]:
    """List the scopes of a workspace, newest first, with counts."""
    return await memory.workspace.scopes(agent=agent, user=user, limit=limit, cursor=cursor)


@router.get("/workspaces")
async def list_workspaces(
    memory: WholeWorkspace, limit: Limit = 50, cursor: PageMark = None
) -> Page[WorkspaceEntry]:
    """List all workspaces of the server, those with the most records first, with counts."""
    return await memory.workspace.every(limit=limit, cursor=cursor)


@router.get("/workspace/users")
async def list_workspace_users(
    memory: WholeWorkspace, limit: Limit = 50, cursor: PageMark = None
) -> Page[NameEntry]:
    """List the users of a workspace, newest first, with counts."""
    return await memory.workspace.users(limit=limit, cursor=cursor)


@router.get("/workspace/agents")
async def list_workspace_agents(
    memory: WholeWorkspace, limit: Limit = 50, cursor: PageMark = None
) -> Page[NameEntry]:
    """List the agents of a workspace, newest first, with counts."""
    return await memory.workspace.agents(limit=limit, cursor=cursor)


@router.get("/workspace/sessions")
async def list_workspace_sessions(
    memory: WholeWorkspace,
    agent: OfAgent = None,
    user: OfUser = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Page[SessionEntry]:
    """List the sessions of a workspace, most recently active first."""
    return await memory.workspace.sessions(agent=agent, user=user, limit=limit, cursor=cursor)


@router.get("/workspace/tags")
async def list_workspace_tags(
    memory: WholeWorkspace,
    agent: OfAgent = None,
    user: OfUser = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Page[LabelEntry]:
    """List the tags of a workspace, most frequent first."""
    return await memory.workspace.tags(agent=agent, user=user, limit=limit, cursor=cursor)


@router.get("/workspace/categories")
async def list_workspace_categories(
    memory: WholeWorkspace,
    agent: OfAgent = None,
    user: OfUser = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Page[LabelEntry]:
    """List the categories of a workspace, most frequent first."""
    return await memory.workspace.categories(agent=agent, user=user, limit=limit, cursor=cursor)


class WorkspaceQuestion(Filters):
    """What to recall from all scopes of a workspace."""

    model_config = described({"query": "which seat does Ann prefer?", "limit": 3})

    query: str
    limit: int | None = None
    min_score: float | None = None


@router.post("/workspace/recall")
async def recall_in_workspace(
    memory: WholeWorkspace,
    body: WorkspaceQuestion,
    agent: OfAgent = None,
    user: OfUser = None,
) -> Recalled:
    """Recall from all scopes of a workspace what is remembered about a question, best first."""
    return await memory.workspace.recall(
        body.query,
        agent=agent,
        user=user,
        limit=body.limit,
        min_score=body.min_score,
        **body.filters(),
    )


@router.get("/workspace/health")
async def workspace_health(
    memory: WholeWorkspace,
    agent: OfAgent = None,
    user: OfUser = None,
    compare: Annotated[
        bool, Query(description="also look for duplicates, which takes longer than everything else")
    ] = True,
) -> Health:
    """Return how much a workspace holds, how far it is trusted, and what needs attention."""
    return await memory.workspace.health(agent=agent, user=user, compare=compare)


@router.get("/workspace/conflicts")
async def list_workspace_conflicts(
    memory: WholeWorkspace,
    agent: OfAgent = None,
    user: OfUser = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Page[Dispute]:
    """List the open conflicts of a workspace."""
    disputes = await memory.workspace.conflicts(agent=agent, user=user)
    return page_of(disputes, limit, cursor, lambda dispute: dispute.conflict.id)


@router.get("/workspace/audit")
async def list_workspace_audit(
    memory: WholeWorkspace,
    agent: OfAgent = None,
    user: OfUser = None,
    action: Annotated[str | None, Query(description="remember, update, observe, inject …")] = None,
    about: Annotated[str | None, Query(description="only entries that name this id")] = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Page[AuditEntry]:
    """List the audit entries of all scopes of a workspace, newest first."""
    return await memory.workspace.audit(
        agent=agent, user=user, action=action, about=about, limit=limit, cursor=cursor
    )


@router.get("/graph")
async def get_graph(memory: CallersMemory, limit: Limit = 200) -> NameGraph:
    """Return the names in the caller's records, and which are told of together."""
    return await memory.graph(limit=limit)


@router.get("/workspace/graph")
async def get_workspace_graph(
    memory: WholeWorkspace, agent: OfAgent = None, user: OfUser = None, limit: Limit = 200
) -> NameGraph:
    """Return the names in the records of all scopes, and which are told of together."""
    return await memory.workspace.graph(agent=agent, user=user, limit=limit)


@router.get("/workspace/records")
async def list_workspace_records(
    memory: WholeWorkspace, wanted: Annotated[WorkspaceListing, Query()]
) -> RecordsFound:
    """List the records of all scopes of a workspace, with their total and optional counts."""
    return await memory.workspace.records(
        agent=wanted.agent,
        user=wanted.user,
        facets=wanted.facets,
        order=wanted.order,
        limit=wanted.limit,
        cursor=wanted.cursor,
        **wanted.filters(),
    )
