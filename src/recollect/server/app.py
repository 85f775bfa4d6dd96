"""The application: one open memory, the routes, the guards, one form for errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from fastapi import Depends, FastAPI
from fastapi.responses import JSONResponse

from recollect.memory import Memory
from recollect.server import console, description
from recollect.server.caller import only_known_parameters
from recollect.server.description import ABOUT, TAGS, describe, operation_id
from recollect.server.guards import LOCAL_HOSTS, BodyLimit, OnlyFromHere
from recollect.server.identity import SignInMethods, token_check
from recollect.server.limits import LimitedRequests, Limits
from recollect.server.open_sessions import OpenSessions
from recollect.server.permissions import require_permission
from recollect.server.problems import RESPONSES, tell_problems
from recollect.server.request_log import Journal, sending_traces
from recollect.server.routes import (
    access,
    archives,
    audit,
    directory,
    events,
    forgetting,
    items,
    knowledge,
    mcp,
    operation,
    recall,
    records,
    sessions,
    shared,
    tools,
    transfer,
    upkeep,
    writing,
)
from recollect.settings import Settings

# --- JSON answers that can hold every text a tool can produce -------------------------------------


class LosslessJson(JSONResponse):
    """A JSON response in UTF-8, with escapes where UTF-8 has no form for a text.

    Tool results may contain lone surrogates. The framework's own response fails on them.
    """

    def render(self, content: Any) -> bytes:
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


# --- The application: one open memory, the routes, the guards, one form for errors ----------------

# The longest record in the widest script, with room for the rest of the request.
MOST_BYTES: Final = 5_000_000
# What is read piece by piece takes no room, however long it is; a key or a name is short.
BODY_BYTES: Final[Mapping[str, int | None]] = {
    "/v1/import": None,
    "/v1/knowledge": None,
    "/v1/knowledge/documents": None,
    "/v1/import/chat": None,
    "/v1/sign-in": 10_000,
    "/v1/sign-out": 10_000,
    "/v1/keys": 100_000,
    "/v1/agents": 100_000,
}
# Where a form with files may be sent.
FORMS: Final = frozenset({"/v1/knowledge"})
ROUTERS: Final = (
    records.router,
    recall.router,
    records.turns_router,
    directory.router,
    events.router,
    sessions.router,
    archives.router,
    knowledge.router,
    writing.router,
    upkeep.router,
    shared.router,
    tools.router,
    items.router,
    audit.router,
    forgetting.router,
    operation.reindex_router,
    operation.reconcile_router,
    operation.jobs_router,
    transfer.router,
    access.router,
    access.agents_router,
    operation.router,
    operation.demo_router,
)
# Somebody will say something: what reads either language loads before the first request comes.
_FIRST_WORDS: Final = "hello 你好"


def create_app(
    where: str | Path | Settings | None = None,
    *,
    hosts: Collection[str] = LOCAL_HOSTS,
    is_open_here: bool = True,
    beside: Callable[[Memory], AbstractAsyncContextManager[None]] | None = None,
) -> FastAPI:
    """Make a server for the memory at `where`, which answers for these host names only.

    If it `is_open_here`, whoever reaches it may do everything until the first key is made. What is
    to run `beside` it is entered when the memory is open.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with Memory.open(where).expecting(_FIRST_WORDS) as memory:
            await asyncio.to_thread(transfer.remove_left_over, memory.settings.outgoing_dir)
            app.state.memory = memory
            app.state.sessions = OpenSessions()
            app.state.sign_in_methods = SignInMethods(
                is_open_here, token_check(memory.settings.server.tokens)
            )
            app.state.limits = Limits(memory.settings.server)
            with sending_traces(memory.settings.server.traces_endpoint):
                async with (
                    mcp.serving_mcp() as app.state.mcp,
                    nullcontext() if beside is None else beside(memory),
                ):
                    yield

    # The framework's documentation page loads its parts from elsewhere; `description` has ours.
    app = FastAPI(
        title="Recollect",
        version=version("recollect"),
        description=ABOUT,
        openapi_tags=list(TAGS),
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        responses=RESPONSES,
        default_response_class=LosslessJson,
        generate_unique_id_function=operation_id,
    )
    for router in ROUTERS:
        app.include_router(
            router,
            dependencies=[Depends(require_permission), Depends(only_known_parameters)],
        )
    app.include_router(mcp.router)
    app.include_router(description.router)
    console.add_to(app)
    describe(app, ROUTERS)
    app.add_middleware(LimitedRequests)
    app.add_middleware(BodyLimit, usual=MOST_BYTES, by_path=BODY_BYTES)
    app.add_middleware(OnlyFromHere, hosts=hosts, forms=FORMS)
    app.add_middleware(Journal)
    tell_problems(app)
    return app
