"""Directory: sessions, tags, categories and facets of a caller, and all that is in a workspace."""

from __future__ import annotations

from typing import Annotated, TypedDict

from fastapi import APIRouter, Depends, Query

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
from recollect.server.parameters import Limit, Paged, PageMark, page_of

router = APIRouter(prefix="/v1", tags=["directory"], route_class=IdempotentRoute)

OfAgent = Annotated[str | None, Query(description="only of this agent; `-` is none")]
OfUser = Annotated[str | None, Query(description="only of this user; `-` is none")]


class ScopesAsked(TypedDict):
    """Which scopes of a workspace; the library takes it as it is."""

    agent: str | None
    user: str | None


async def _scopes_asked(agent: OfAgent = None, user: OfUser = None) -> ScopesAsked:
    return {"agent": agent, "user": user}


# Before the parameter with the memory, so that the description has it before the scope.
Within = Annotated[ScopesAsked, Depends(_scopes_asked)]


class WorkspaceListing(PagedFilters):
    """Filters for the records of a workspace."""

    agent: str | None = None
    user: str | None = None
    facets: bool = False
    order: RecordOrder = "newest"


@router.get("/sessions")
async def list_sessions(page: Paged, memory: CallersMemory) -> Page[SessionEntry]:
    """List this caller's sessions, most recently active first."""
    return await memory.sessions(**page)


@router.get("/tags")
async def list_tags(page: Paged, memory: CallersMemory) -> Page[LabelEntry]:
    """List the tags of this caller's records, most frequent first."""
    return await memory.tags(**page)


@router.get("/categories")
async def list_categories(page: Paged, memory: CallersMemory) -> Page[LabelEntry]:
    """List the categories of this caller's records, most frequent first."""
    return await memory.categories(**page)


@router.get("/facets")
@Operation("GET", "/v1/facets", "list_facets", Role.READER)
async def list_facets(memory: CallersMemory) -> Items[Facet]:
    """List the attributes that records can state, with their labels."""
    return Items(items=tuple(facets().values()))


@router.get("/workspace/scopes")
async def list_workspace_scopes(
    within: Within, page: Paged, memory: WholeWorkspace
) -> Page[ScopeEntry]:
    """List the scopes of a workspace, newest first, with counts."""
    return await memory.workspace.scopes(**within, **page)


@router.get("/workspaces")
async def list_workspaces(page: Paged, memory: WholeWorkspace) -> Page[WorkspaceEntry]:
    """List all workspaces of the server, those with the most records first, with counts."""
    return await memory.workspace.every(**page)


@router.get("/workspace/users")
async def list_workspace_users(page: Paged, memory: WholeWorkspace) -> Page[NameEntry]:
    """List the users of a workspace, newest first, with counts."""
    return await memory.workspace.users(**page)


@router.get("/workspace/agents")
async def list_workspace_agents(page: Paged, memory: WholeWorkspace) -> Page[NameEntry]:
    """List the agents of a workspace, newest first, with counts."""
    return await memory.workspace.agents(**page)


@router.get("/workspace/sessions")
async def list_workspace_sessions(
    within: Within, page: Paged, memory: WholeWorkspace
) -> Page[SessionEntry]:
    """List the sessions of a workspace, most recently active first."""
    return await memory.workspace.sessions(**within, **page)


@router.get("/workspace/tags")
async def list_workspace_tags(
    within: Within, page: Paged, memory: WholeWorkspace
) -> Page[LabelEntry]:
    """List the tags of a workspace, most frequent first."""
    return await memory.workspace.tags(**within, **page)


@router.get("/workspace/categories")
async def list_workspace_categories(
    within: Within, page: Paged, memory: WholeWorkspace
) -> Page[LabelEntry]:
    """List the categories of a workspace, most frequent first."""
    return await memory.workspace.categories(**within, **page)


class WorkspaceQuestion(Filters):
    """What to recall from all scopes of a workspace."""

    model_config = described({"query": "which seat does Ann prefer?", "limit": 3})

    query: str
    limit: int | None = None
    min_score: float | None = None


@router.post("/workspace/recall")
async def recall_in_workspace(
    within: Within, memory: WholeWorkspace, body: WorkspaceQuestion
) -> Recalled:
    """Recall from all scopes of a workspace what is remembered about a question, best first."""
    return await memory.workspace.recall(**within, **body.arguments())


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
    within: Within, page: Paged, memory: WholeWorkspace
) -> Page[Dispute]:
    """List the open conflicts of a workspace."""
    disputes = await memory.workspace.conflicts(**within)
    return page_of(disputes, page, lambda dispute: dispute.conflict.id)


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
    return await memory.workspace.records(**wanted.arguments())
