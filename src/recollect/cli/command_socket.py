"""Running commands of other processes of this user on the memory that a server has open.

They come through a socket beside the database that only its owner can use
(`recollect.cli.running_server`). Such a command can do what it could by opening the file itself,
under the same scope: there is nothing to gain by asking.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import io
import json
import logging
import os
import socket
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from recollect.cli.answer import Answer, render
from recollect.cli.app import run_for_guest
from recollect.cli.command import Body, Guest
from recollect.cli.options import Shared
from recollect.cli.running_server import address_of, same_variables, socket_at
from recollect.errors import RecollectError
from recollect.memory import Memory
from recollect.settings import Settings

_log: Final = logging.getLogger(__name__)
_MOST_BYTES: Final = 32 << 20
_READY_SECONDS: Final = 5.0
_MODE: Final = 0o600
_FREQUENT: Final = (
    "recollect.cli.commands.lookups",
    "recollect.cli.commands.records",
    "recollect.cli.commands.write",
    "rich.console",
)

Result = TypeVar("Result")


@asynccontextmanager
async def answering_commands(memory: Memory, settings: Settings) -> AsyncGenerator[None]:
    """Answer commands on an open memory, unless another server of the database does."""
    listener = None if settings.is_temporary else _listening(settings.database)
    if listener is None:
        yield
        return
    host = _Host(memory, settings)
    mine = _identity(settings.database)
    server = await asyncio.start_unix_server(host.answer, sock=listener, limit=_MOST_BYTES)
    # In a thread, because importing takes a while; the first command would wait for it.
    loading = asyncio.create_task(asyncio.to_thread(_load), name="recollect-load-commands")
    try:
        yield
    finally:
        server.close()
        await asyncio.wait([loading])
        _remove(settings.database, mine)


def _load() -> None:
    """Import what the most frequent commands need."""
    for module in _FREQUENT:
        importlib.import_module(module)


def _remove(database: Path, mine: int | None) -> None:
    if _identity(database) == mine:
        Path(socket_at(str(database))).unlink(missing_ok=True)


def _identity(database: Path) -> int | None:
    """Return what tells the socket of a database from one that took its place."""
    with contextlib.suppress(FileNotFoundError):
        return Path(socket_at(str(database))).stat().st_ino
    return None


def _listening(database: Path) -> socket.socket | None:
    """Return a listening socket that only its owner can use; None where there can be none."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    place = socket_at(str(database))
    handle: int | None = None
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        address, handle = address_of(place)
        _remove_dead(place, address)
        listener.bind(address)
        # Nobody can connect before it listens.
        Path(place).chmod(_MODE)
        listener.listen()
    except OSError as problem:
        listener.close()
        _log.info("commands open the database themselves: %s", problem)
        return None
    finally:
        if handle is not None:
            os.close(handle)
    return listener


def _remove_dead(place: str, address: str) -> None:
    """Remove the socket of a server that was killed; a living one is left, and binding fails."""
    if not Path(place).is_socket():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(address)
        except ConnectionRefusedError:
            Path(place).unlink()


class _Declined(Exception):
    """The command is one for the process that asks."""


class _Host:
    """Answers one command a connection."""

    def __init__(self, memory: Memory, settings: Settings) -> None:
        self._memory = memory
        self._settings = settings
        self._folder = Path.cwd()
        self._variables = same_variables(os.environ)
        self._loop = asyncio.get_running_loop()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = json.loads(await asyncio.wait_for(reader.readline(), _READY_SECONDS))
            told = await self._carried_out(request, reader, writer)
            if told is not None:
                writer.write(json.dumps(told).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError, KeyError, TypeError, TimeoutError) as problem:
            _log.info("a command was not answered: %s", problem)
        finally:
            writer.close()

    async def _carried_out(
        self, request: Mapping[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> dict[str, Any] | None:
        if request["variables"] != self._variables:
            return {"declined": "other variables"}
        guest = _SocketGuest(self, request, reader, writer)
        try:
            status = await asyncio.to_thread(run_for_guest, request["arguments"], guest)
        except _Declined as reason:
            return {"declined": str(reason)}
        if not guest.has_begun:
            # What it says about wrong arguments, the process that asks says itself.
            return {"declined": "not begun"}
        return {"status": status, "out": guest.out.getvalue(), "err": guest.told.getvalue()}

    def seen_by(self, shared: Shared, folder: str) -> Memory:
        """Return the memory as these options open it, if that is the one that is open here."""
        asked = shared.settings()
        if not _is_same(asked, self._settings):
            raise _Declined("other settings")
        if not asked.database.is_absolute() and Path(folder) != self._folder:
            raise _Declined("another folder")
        return self._memory.as_opened(asked)

    def wait_for(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run work in the server's loop, from the thread of a command."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class _SocketGuest(Guest):
    """A command from another process: its memory is the open one, what it prints goes back."""

    def __init__(
        self,
        host: _Host,
        request: Mapping[str, Any],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._host = host
        self._request = request
        self._reader = reader
        self._writer = writer
        self.has_begun = False
        self.out = io.StringIO()
        self.told = self.err = io.StringIO()

    def run(self, body: Body, shared: Shared, arguments: dict[str, Any]) -> int:
        try:
            memory = self._host.seen_by(shared, self._request["folder"])
        except RecollectError as problem:
            raise _Declined(str(problem)) from None
        if not self._host.wait_for(self._is_wanted()):
            raise _Declined("nobody waits")
        self.has_begun = True
        answer = self._host.wait_for(_answered(body, memory, arguments))
        if answer is None:
            return 0
        self.out.write(
            render(
                answer,
                as_object=shared.json,
                width=self._request["width"],
                environment=self._request["terminal"],
            )
        )
        return answer.status

    async def _is_wanted(self) -> bool:
        """Return whether the process still waits: one that gave up does it itself."""
        self._writer.write(b"ready\n")
        await self._writer.drain()
        return await asyncio.wait_for(self._reader.readline(), _READY_SECONDS) == b"go\n"


async def _answered(body: Body, memory: Memory, arguments: dict[str, Any]) -> Answer | None:
    result = body(memory, **arguments)
    return await result if isinstance(result, Coroutine) else result


def _is_same(asked: Settings, own: Settings) -> bool:
    """Return whether two settings open the same memory in the same way, for whichever caller."""
    caller = {"scope": own.scope, "server": own.server}
    return asked.model_copy(update=caller) == own
