"""The server in the test's own process: with a socket and uvicorn, or the app alone."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from recollect.server.app import create_app
from recollect.server.wire import ProblemProtocol
from recollect.settings import Settings


@asynccontextmanager
async def served(where: Path | Settings) -> AsyncIterator[str]:
    """The address of a server for this memory; it has stopped when this is left."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            create_app(where),
            http=ProblemProtocol,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        # The socket listens already: whoever connects waits until the app is there.
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running


@asynccontextmanager
async def calling(
    app: FastAPI, base_url: str = "http://127.0.0.1:7077", **options: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the app itself, which needs no socket; an unexpected error is a response."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=base_url, **options) as client,
    ):
        yield client
