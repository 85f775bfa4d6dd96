"""A way to a server that can be cut: every connection through it breaks at once."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType


class CuttingProxy:
    """Listens on a port of its own and hands everything on."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.cuts = 0

    async def __aenter__(self) -> CuttingProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()

    def cut(self) -> None:
        """Break every connection in the middle of whatever it carries."""
        for writer in [*self._writers]:
            self.cuts += 1
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            inner, outer = await asyncio.open_connection("127.0.0.1", self._target)
            self._writers.add(outer)
            try:
                await asyncio.gather(_carry(reader, outer), _carry(inner, writer))
            finally:
                self._writers.discard(outer)
                outer.transport.abort()
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while content := await reader.read(65_536):
            writer.write(content)
            await writer.drain()
    writer.transport.abort()
