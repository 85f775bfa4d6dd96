"""A real server in the test's own process: a socket, uvicorn and the app."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn

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
