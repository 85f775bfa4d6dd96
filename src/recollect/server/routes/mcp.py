"""MCP over HTTP: each request stands alone, for the memory of whoever sends it.

The protocol's sessions are not used: memory belongs to people and agents, not to connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Final, cast

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.types import Receive, Scope, Send

from recollect.domain.context import Tongue
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.operation import Operation
from recollect.domain.scope import Role
from recollect.errors import NotAvailable
from recollect.server.caller import CallersMemory, only_known_parameters
from recollect.server.identity import Asking
from recollect.server.permissions import require_permission

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from recollect.mcp.server import Connection, Context

PATH: Final = "/mcp"
_LIBRARIES: Final = frozenset({"mcp", "mcp_types"})


@asynccontextmanager
async def serving_mcp() -> AsyncGenerator[StreamableHTTPSessionManager | None]:
    """Run what answers MCP requests; None where the library is not installed."""
    try:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from recollect.mcp.server import create_mcp_server
    except ModuleNotFoundError as missing:
        if missing.name not in _LIBRARIES:
            raise
        yield None
        return
    manager = StreamableHTTPSessionManager(
        create_mcp_server(_find_connection), json_response=True, stateless=True
    )
    async with _held_open(manager):
        yield manager


@asynccontextmanager
async def _held_open(manager: StreamableHTTPSessionManager) -> AsyncGenerator[None]:
    """Run a manager in a task of its own.

    Its task group must end in the task that began it, which a lifespan does not promise.
    """
    started, leaving = asyncio.Event(), asyncio.Event()

    async def run() -> None:
        try:
            async with manager.run():
                started.set()
                await leaving.wait()
        finally:
            started.set()

    running = asyncio.create_task(run())
    await started.wait()
    try:
        yield
    finally:
        leaving.set()
        await running


router = APIRouter(dependencies=[Depends(require_permission), Depends(only_known_parameters)])


@router.post(PATH, include_in_schema=False)
@Operation("POST", "/mcp", "answer_mcp", Role.READER)
async def answer_mcp(
    request: Request,
    memory: CallersMemory,
    asking: Asking,
    language: Annotated[Tongue, Query()] = "en",
    session: Annotated[str | None, Query()] = None,
) -> Response:
    """Answer one message of an MCP client."""
    manager = cast("StreamableHTTPSessionManager | None", request.app.state.mcp)
    if manager is None:
        raise NotAvailable(
            "The MCP server needs mcp, which is not installed",
            hint="Install it with: pip install 'recollect[mcp]'",
        )
    from recollect.mcp.server import Connection

    if session is not None:
        checked_text(session, "session", MAX_LABEL)
    request.state.connection = Connection(
        memory=memory, language=language, session=session, role=asking.grant.role
    )
    return _HandedOver(manager)


class _HandedOver(Response):
    """An answer that another application gives to the same request."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The space around a header's value is no part of it; the fast protocol leaves it there.
        headers = [(name, value.strip()) for name, value in scope["headers"]]
        await self._manager.handle_request({**scope, "headers": headers}, receive, send)


async def _find_connection(context: Context) -> Connection:
    request = cast("Request", context.request)
    return cast("Connection", request.state.connection)
