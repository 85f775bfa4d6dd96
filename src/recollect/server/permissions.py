"""Who may call an operation: the role and the reach of its declaration.

An operation that is not declared is closed to everybody but an administrator of the whole server; a
test holds that none is forgotten.
"""

from __future__ import annotations

from typing import Final, cast

from fastapi import Request
from fastapi.routing import APIRoute

from recollect.context.archives.manager import ToolResultManager
from recollect.context.scratchpad import SessionScratchpad
from recollect.context.session import Session
from recollect.domain.operation import OPERATIONS, Operation
from recollect.domain.scope import Role
from recollect.memory import Memory
from recollect.memory.administration import Agents, ApiKeys, BackgroundJobs
from recollect.memory.archives import ToolArchives
from recollect.memory.audit import AuditTrail
from recollect.memory.items import Items
from recollect.memory.knowledge import KnowledgeDocuments
from recollect.memory.shared import SharedMemory
from recollect.memory.upkeep import Upkeep
from recollect.memory.workspace import WorkspaceView
from recollect.server.identity import Identity, identify
from recollect.server.limits import Limits

# The classes that declare operations; those that only a server has are declared by their routes.
DECLARING: Final[tuple[type, ...]] = (
    Memory,
    Session,
    SessionScratchpad,
    ToolResultManager,
    SharedMemory,
    Upkeep,
    AuditTrail,
    ToolArchives,
    KnowledgeDocuments,
    Items,
    BackgroundJobs,
    Agents,
    ApiKeys,
    WorkspaceView,
)
_CLOSED: Final = Operation("", "", "", Role.ADMIN, reach="server")


def declared(name: str) -> Operation:
    """Return the operation with this name."""
    return OPERATIONS.get(name, _CLOSED)


async def require_permission(request: Request) -> None:
    """Refuse a request whose sender may not call this operation at all."""
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    needed = declared(route.name)
    if needed.role is None:
        return
    identity = await identify(request)
    _begin(request, identity)
    what = f"{request.method} {route.path}"
    identity.grant.role.require(needed.role, what)
    if needed.reach == "server":
        identity.require_server(what)


def _begin(request: Request, identity: Identity) -> None:
    """Let a request count against the limits of its key, once; see `limits`."""
    if identity.means != "open" and not hasattr(request.state, "limited"):
        name = identity.key_id or identity.name
        cast("Limits", request.app.state.limits).begin(name)
        request.state.limited = name
