"""Whose memory a request is about. The one place that reads a scope from a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import EllipsisType
from typing import Annotated, Any, Final, cast, get_origin
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Query, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Cookie, Header, Path
from fastapi.routing import APIRoute

from recollect.domain.access import Grant
from recollect.domain.scope import MAX_PART
from recollect.errors import InvalidInput, NotAllowed
from recollect.memory import Memory
from recollect.server.identity import identify

SCOPE_PARTS: Final = frozenset({"org", "workspace", "agent", "user"})
# What the domain takes as a name, for the description; the domain itself refuses the rest.
_NAME: Final[dict[str, Any]] = {
    "minLength": 1,
    "maxLength": MAX_PART,
    "pattern": r"^[^/\x00-\x1f\x7f]*[^\s/\x00-\x1f\x7f][^/\x00-\x1f\x7f]*$",
}
Part = Annotated[
    str | None, Query(description="default: from the server's settings", json_schema_extra=_NAME)
]
OptionalPart = Annotated[
    str | None,
    Query(description="default: from the server's settings; `-` is none", json_schema_extra=_NAME),
]
_NONE: Final = "-"


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
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    known = query_parameters(route)
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
            hint="Percent-encode non-ASCII characters as UTF-8.",
        ) from None


def query_parameters(route: APIRoute) -> Mapping[str, bool]:
    """Return the names that a route takes in its address, each with whether it may be repeated.

    Read from the route itself: to describe the whole API takes seconds, which the first request
    would wait for.
    """
    return {
        field.alias: get_origin(field.field_info.annotation) is list
        for field in get_flat_params(route.dependant)
        if not isinstance(field.field_info, (Path, Header, Cookie))
    }


async def scoped(
    request: Request,
    memory: Annotated[Memory, Depends(opened)],
    org: Part = None,
    workspace: Part = None,
    agent: OptionalPart = None,
    user: OptionalPart = None,
) -> Memory:
    """Return the same memory seen by this caller, whose key reaches that far."""
    identity = await identify(request)
    grant = identity.grant
    here = _workspace(memory, grant, org, workspace)
    seen = here.scope(agent=_meant(agent, grant.agents), user=_meant(user, grant.users))
    grant.require_scope(seen.caller_scope)
    return seen.scope(
        children=grant.agents_among(seen.caller.children),
        principal=identity.principal,
        role=grant.role,
    )


def _workspace(memory: Memory, grant: Grant, org: str | None, workspace: str | None) -> Memory:
    """Return the memory in the workspace that an address means; the only one of a key, else."""
    if org is None and workspace is None and len(grant.workspaces) == 1:
        org, _, workspace = grant.workspaces[0].partition("/")
    return memory.scope(
        org=... if org is None else org, workspace=... if workspace is None else workspace
    )


def _meant(name: str | None, granted: tuple[str, ...]) -> str | EllipsisType | None:
    """Return the agent or user that an address means.

    One that it does not name is the only one of the key, or as in the settings.
    """
    if name is None:
        return granted[0] if len(granted) == 1 else ...
    return None if name == _NONE else name


async def workspace_of(
    request: Request,
    memory: Annotated[Memory, Depends(opened)],
    org: Part = None,
    workspace: Part = None,
) -> Memory:
    """Return the same memory seen by the workspace itself, without an agent and a user."""
    identity = await identify(request)
    grant = identity.grant
    seen = _workspace(memory, grant, org, workspace).scope(agent=None, user=None)
    here = seen.caller_scope
    if not grant.holds_for_workspace(here.org, here.workspace):
        raise NotAllowed(
            f"This key does not reach all of {here.org}/{here.workspace}",
            code="foreign_scope",
            hint=f"It reaches {grant.reach}.",
        )
    return seen.scope(principal=identity.principal, role=grant.role)


async def administered(request: Request, memory: Annotated[Memory, Depends(opened)]) -> Memory:
    """Return the server's own memory, with the caller as the one who acts."""
    return memory.scope(principal=(await identify(request)).principal)


OpenMemory = Annotated[Memory, Depends(opened)]
AdministeredMemory = Annotated[Memory, Depends(administered)]
CallersMemory = Annotated[Memory, Depends(scoped)]
WholeWorkspace = Annotated[Memory, Depends(workspace_of)]
