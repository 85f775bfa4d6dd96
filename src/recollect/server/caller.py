"""Whose memory a request is about. The one place that reads a scope from a request."""

from __future__ import annotations

from typing import Annotated, Any, Final, cast

from fastapi import Depends, FastAPI, Query, Request
from fastapi.routing import APIRoute

from recollect.errors import InvalidInput
from recollect.memory import Memory

SCOPE_PARTS: Final = frozenset({"org", "workspace", "agent", "user"})
Part = Annotated[str | None, Query(description="default: from the server's settings")]


async def opened(request: Request) -> Memory:
    """The memory that the server has open."""
    return cast("Memory", request.app.state.memory)


async def only_known_parameters(request: Request) -> None:
    """Refuse an address with a name that its route does not know.

    With `?user_id=ann` everybody would otherwise share the memory of the server's own user, and a
    filter with a typing mistake would list everything.
    """
    known = _parameters(request)
    if unknown := sorted(set(request.query_params) - known):
        raise InvalidInput(
            f"The address has {', '.join(unknown)}, which {request.url.path} does not take;"
            " nothing was changed",
            code="unknown_field",
            hint=f"In the address it takes: {', '.join(sorted(known))}.",
        )


def _parameters(request: Request) -> set[str]:
    """What the route of this request takes in its address, as its description says."""
    route, app = request.scope["route"], cast("FastAPI", request.app)
    assert isinstance(route, APIRoute)
    operation: dict[str, Any] = app.openapi()["paths"][route.path][request.method.lower()]
    return {it["name"] for it in operation.get("parameters", ()) if it["in"] == "query"}


async def scoped(
    memory: Annotated[Memory, Depends(opened)],
    org: Part = None,
    workspace: Part = None,
    agent: Part = None,
    user: Part = None,
) -> Memory:
    """The same memory seen by this caller."""
    return memory.scope(
        org=... if org is None else org,
        workspace=... if workspace is None else workspace,
        agent=... if agent is None else agent,
        user=... if user is None else user,
    )


CallersMemory = Annotated[Memory, Depends(scoped)]
