"""Idempotency-Key on every write: a repeated request is answered as the first one was.

Saving, observing and writing keep their key in the same transaction as what they write; they take
it themselves. Of every other write the answer is kept when it is done.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final
from urllib.parse import unquote

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from recollect.errors import StorageBusy
from recollect.server.caller import opened, scoped
from recollect.server.permissions import declared, require_permission

# --- Names in an address: a slash that is written as %2F belongs to a name and separates nothing


class NamedRoute(APIRoute):
    """A route that also finds sessions, documents and agents with a slash in their names."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        sent: bytes = scope.get("raw_path") or b""
        if b"%2f" not in sent.lower():
            return super().matches(scope)
        # What the server has decoded cannot be told apart any more, so what was sent is matched.
        match, found = super().matches({**scope, "path": sent.decode("latin-1")})
        if match is not Match.NONE:
            names: dict[str, Any] = found["path_params"]
            found["path_params"] = {
                name: unquote(value) if isinstance(value, str) else value
                for name, value in names.items()
            }
        return match, found


# --- Idempotency-Key on every write: a repeated request is answered as the first one was ---

HEADER: Final = "Idempotency-Key"
_KEPT_HEADERS: Final = ("location", "etag", "content-type")

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class IdempotentRoute(NamedRoute):
    """A route whose writes happen once under one key, and whose recalls end in time."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        operation = declared(self.name)
        if operation.timed:
            return _timed(handle)
        takes_key = any(param.alias == HEADER for param in self.dependant.header_params)
        if operation.is_read or takes_key or operation.repeat != "once":
            return handle

        async def answer(request: Request) -> Response:
            key = request.headers.get(HEADER)
            return await (handle(request) if key is None else _once(request, key, handle))

        return answer


def _timed(handle: Handler) -> Handler:
    async def answer(request: Request) -> Response:
        seconds = (await opened(request)).settings.server.recall_timeout
        try:
            async with asyncio.timeout(seconds):
                return await handle(request)
        except TimeoutError:
            raise StorageBusy(
                f"The request took longer than {seconds:g} seconds and was cancelled",
                code="recall_timeout",
                hint="Try again, or ask for less; server.recall_timeout sets the limit.",
            ) from None

    return answer


async def _once(
    request: Request, key: str, handle: Callable[[Request], Awaitable[Response]]
) -> Response:
    # What was answered to somebody else's request is nobody's to see.
    await require_permission(request)
    whose = request.query_params
    memory = await scoped(
        request,
        await opened(request),
        org=whose.get("org"),
        workspace=whose.get("workspace"),
        agent=whose.get("agent"),
        user=whose.get("user"),
    )
    asked = {
        "method": request.method,
        "path": request.url.path,
        "query": sorted(whose.multi_items()),
        "body": hashlib.sha256(await request.body()).hexdigest(),
    }

    async def work() -> Mapping[str, Any]:
        response = await handle(request)
        headers = {it: response.headers[it] for it in _KEPT_HEADERS if it in response.headers}
        body = bytes(response.body)
        kept = {"status": response.status_code, "headers": headers}
        return {**kept, "body": json.loads(body)} if body else kept

    told = await memory.once(key, asked, work)
    body = json.dumps(told["body"], ensure_ascii=False).encode() if "body" in told else b""
    return Response(body, status_code=told["status"], headers=dict(told["headers"]))
