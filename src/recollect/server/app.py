"""The application: one open memory, the routes, the guards, one form for errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final

from fastapi import Depends, FastAPI

from recollect.domain.views import Json
from recollect.memory import Memory
from recollect.server.audit_routes import router as audit_router
from recollect.server.caller import only_known_parameters, opened
from recollect.server.forget_routes import router as forget_router
from recollect.server.guards import LOCAL_HOSTS, BodyLimit, OnlyFromHere
from recollect.server.problems import RESPONSES, tell_problems
from recollect.server.reindex_routes import router as reindex_router
from recollect.server.routes import router
from recollect.server.sharing_routes import router as sharing_router
from recollect.server.tool_routes import router as tool_router
from recollect.server.upkeep_routes import router as upkeep_router
from recollect.server.writing_routes import router as writing_router
from recollect.settings import Settings

# The longest record in the widest script, with room for the rest of the request.
MOST_BYTES: Final = 5_000_000
_ROUTERS: Final = (
    router,
    writing_router,
    upkeep_router,
    sharing_router,
    tool_router,
    audit_router,
    forget_router,
    reindex_router,
)
# Somebody will say something: what reads either language loads before the first request comes.
_FIRST_WORDS: Final = "hello 你好"


def create_app(
    where: str | Path | Settings | None = None, *, hosts: Collection[str] = LOCAL_HOSTS
) -> FastAPI:
    """A server for the memory at `where`, which answers for these host names only."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with Memory.open(where).expecting(_FIRST_WORDS) as memory:
            app.state.memory = memory
            yield

    # The documentation page of the framework loads its parts from elsewhere: left out.
    app = FastAPI(
        title="Recollect",
        version=version("recollect"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses=RESPONSES,
    )
    app.get("/health", tags=["operation"])(health)
    for routes in _ROUTERS:
        app.include_router(routes, dependencies=[Depends(only_known_parameters)])
    app.add_middleware(BodyLimit, most_bytes=MOST_BYTES)
    app.add_middleware(OnlyFromHere, hosts=hosts)
    tell_problems(app)
    return app


async def health(memory: Annotated[Memory, Depends(opened)]) -> Json:
    """Whether the server works: it has just read from its database, or this is an error."""
    await memory.list(limit=1)
    return {"status": "ok", "version": version("recollect"), "database": "ok"}
