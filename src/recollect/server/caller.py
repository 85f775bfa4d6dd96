"""Whose memory a request is about. The one place that reads a scope from a request."""

from __future__ import annotations

from typing import Annotated, Final, cast

from fastapi import Depends, Query, Request

from recollect.memory import Memory

SCOPE_PARTS: Final = frozenset({"org", "workspace", "agent", "user"})
Part = Annotated[str | None, Query(description="default: from the server's settings")]


async def opened(request: Request) -> Memory:
    """The memory that the server has open."""
    return cast("Memory", request.app.state.memory)


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
