"""Whose memory a request is about. The one place that reads a scope from a request."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Final, cast
from urllib.parse import unquote_to_bytes

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
    """Refuse an address that leaves open what is meant.

    With `?user_id=ann` everybody would otherwise share the memory of the server's own user, and a
    filter with a typing mistake would list everything. Of `?user=ann&user=bob` somebody in
    between may have looked at the other one, and all broken text would be the same user.
    """
    _require_text(request)
    known = _parameters(request)
    if unknown := sorted(set(request.query_params) - known.keys()):
        raise InvalidInput(
            f"The address has {', '.join(unknown)}, which {request.url.path} does not take;"
            " nothing was changed",
            code="unknown_field",
            hint=f"In the address it takes: {', '.join(sorted(known))}.",
        )
    given = Counter(name for name, _ in request.query_params.multi_items())
    if repeated := sorted(it for it, count in given.items() if count > 1 and not known[it]):
        raise InvalidInput(
            f"The address has {', '.join(repeated)} more than once; nothing was changed",
            code="repeated_field",
            hint="Give it once.",
        )


def _require_text(request: Request) -> None:
    """Refuse bytes that are no text: they would all be read as the same replacement character."""
    path = cast("bytes", request.scope.get("raw_path") or b"")
    query = cast("bytes", request.scope["query_string"])
    try:
        unquote_to_bytes(b"%s?%s" % (path, query)).decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            "The address is not valid UTF-8; nothing was changed",
            code="invalid_utf8",
            hint="Write what is no ASCII as UTF-8, each byte as % and two digits.",
        ) from None


def _parameters(request: Request) -> dict[str, bool]:
    """What the route takes in its address, as its description says, and whether several times."""
    route, app = request.scope["route"], cast("FastAPI", request.app)
    assert isinstance(route, APIRoute)
    operation: dict[str, Any] = app.openapi()["paths"][route.path][request.method.lower()]
    return {
        it["name"]: it["schema"].get("type") == "array"
        for it in operation.get("parameters", ())
        if it["in"] == "query"
    }


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
