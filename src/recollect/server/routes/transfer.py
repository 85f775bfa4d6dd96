"""Transfer: export and import as streams, and a backup of the whole database."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import io
import shutil
import tarfile
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final, cast
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from recollect.domain.archive import contents_beside
from recollect.domain.files import make_folder
from recollect.domain.job import is_gone, new_holder
from recollect.domain.transfer import Imported, ImportedChats, MovedIn, Origin
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.identity import Asking
from recollect.server.limits import Limits
from recollect.server.problems import problems
from recollect.transfer.unpacking import in_thread

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


# --------------------------------------------------------------------------------------------------
# Bodies too large to hold: a blocking writer or reader on one side, the network on the other.

_CHUNK: Final = 1 << 16
_MOST_WAITING: Final = 8


async def written(write: Callable[[BinaryIO], Awaitable[object]]) -> AsyncGenerator[bytes]:
    """What `write` writes in another thread, in pieces; it waits when nobody takes them.

    A fault before the first piece is raised here, so that it can still be told as a problem.
    """
    pipe = _Outgoing()
    out = io.BufferedWriter(pipe, _CHUNK)
    writing = asyncio.ensure_future(_finished(write, cast("BinaryIO", out)))
    pieces = _pieces(pipe, writing)
    first = await anext(pieces, b"")

    async def all_pieces() -> AsyncGenerator[bytes]:
        async with contextlib.aclosing(pieces):
            yield first
            async for piece in pieces:
                yield piece

    return all_pieces()


def read(pieces: AsyncIterator[bytes]) -> BinaryIO:
    """A file for another thread to read that holds what arrives."""
    return cast("BinaryIO", io.BufferedReader(_Arriving(pieces), _CHUNK))


async def _finished(write: Callable[[BinaryIO], Awaitable[object]], out: BinaryIO) -> None:
    await write(out)
    await in_thread(out.flush)


async def _pieces(pipe: _Outgoing, writing: asyncio.Future[None]) -> AsyncGenerator[bytes]:
    try:
        while not (writing.done() and pipe.waiting.empty()):
            taking = asyncio.ensure_future(pipe.waiting.get())
            await asyncio.wait([taking, writing], return_when=asyncio.FIRST_COMPLETED)
            if taking.done():
                yield taking.result()
            else:
                taking.cancel()
        writing.result()
    finally:
        # Whoever stops reading also ends the writing.
        pipe.abandon()
        writing.cancel()
        await asyncio.wait([writing])


class _Outgoing(io.RawIOBase):
    """Hands on what is written in a thread to the loop that it was made in."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[bytes] = asyncio.Queue(_MOST_WAITING)
        self._loop = asyncio.get_running_loop()
        self._is_abandoned = False

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        piece = bytes(data)
        if not self._is_abandoned:
            asyncio.run_coroutine_threadsafe(self.waiting.put(piece), self._loop).result()
        if self._is_abandoned:
            raise BrokenPipeError(errno.EPIPE, "nobody reads any more")
        return len(piece)

    def abandon(self) -> None:
        """Nobody reads any more: whoever waits to write goes on, and fails."""
        self._is_abandoned = True
        while not self.waiting.empty():
            self.waiting.get_nowait()


class _Arriving(io.RawIOBase):
    """Lets a thread wait for what arrives in the loop that it was made in."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._loop = asyncio.get_running_loop()
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        room = memoryview(buffer)
        while not self._rest:
            piece = asyncio.run_coroutine_threadsafe(self._next(), self._loop).result()
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(room), len(self._rest))
        room[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    async def _next(self) -> bytes | None:
        return await anext(self._pieces, None)


# --- Transfer: export and import as streams, and a backup of the whole database -------------------

router = APIRouter(prefix="/v1", tags=["operation"], route_class=IdempotentRoute)

_LINES: Final = "application/x-ndjson"
_TAR: Final = "application/x-tar"
_BINARY: Final = {"schema": {"type": "string", "format": "binary"}}


def _body_of(*types: str) -> dict[str, Any]:
    """Describe a body that is read piece by piece."""
    return {"requestBody": {"required": True, "content": dict.fromkeys(types, _BINARY)}}


AllScopes = Annotated[
    bool, Query(description="all scopes and what is shared, not only this caller's")
]
SkipBad = Annotated[bool, Query(description="skip bad lines and list them")]


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"description": "JSON lines", "content": {_LINES: _BINARY}}},
)
async def export_memory(
    memory: CallersMemory, asking: Asking, all_scopes: AllScopes = False
) -> StreamingResponse:
    """Stream an export of what this caller may import again, as JSON lines.

    The first line says how many follow: an export that was cut off is not taken for a whole one.
    """
    if all_scopes:
        asking.require_server("Exporting everybody's memory")
    pieces = await written(lambda out: memory.export_to(out, all_scopes=all_scopes))
    return _download(pieces, _LINES, "memory.jsonl")


@router.put(
    "/import",
    responses=problems(409),
    openapi_extra=_body_of(_LINES, "application/gzip"),
)
async def import_memory(
    memory: CallersMemory,
    asking: Asking,
    request: Request,
    all_scopes: AllScopes = False,
    skip_bad: SkipBad = False,
) -> Imported:
    """Import what an export holds and this database lacks; nothing stored is changed.

    The body is an export, plain or compressed, of any size. An interrupted request can be repeated.
    """
    if all_scopes:
        asking.require_server("Importing for everybody")
    with _limits(request).importing(asking.key_id or asking.name):
        source = read(request.stream())
        return await memory.import_from(source, all_scopes=all_scopes, skip_bad=skip_bad)


@router.put(
    "/import/chat",
    openapi_extra=_body_of(_LINES, "application/json", "application/gzip", "application/zip"),
)
async def import_chat(
    memory: CallersMemory,
    asking: Asking,
    request: Request,
    session: Annotated[
        str | None, Query(description="the conversation of messages that name none")
    ] = None,
    skip_bad: SkipBad = False,
) -> ImportedChats:
    """Import a chat history; messages that were imported before are not added again.

    The body is JSON lines of messages, or what ChatGPT or Claude exports, plain or compressed.
    """
    with _limits(request).importing(asking.key_id or asking.name):
        source = read(request.stream())
        return await memory.import_chat(source, session=session, skip_bad=skip_bad)


@router.put(
    "/import/from",
    openapi_extra=_body_of(
        "application/octet-stream", "application/json", "application/gzip", "application/zip"
    ),
)
async def move_in(
    memory: CallersMemory,
    asking: Asking,
    request: Request,
    origin: Annotated[Origin, Query(description="whose memory it is")],
    namespace: Annotated[
        str | None, Query(description="for langmem: which labels name the user, as 'app/{user}/*'")
    ] = None,
    all_scopes: AllScopes = False,
    dry_run: Annotated[bool, Query(description="count only; change nothing")] = False,
) -> MovedIn:
    """Import what another memory exported; what was imported before is not added again.

    The body is a file of it, or a folder as a zip archive. What names other users or agents than
    the caller's is left out unless `all_scopes`.
    """
    if all_scopes:
        asking.require_server("Importing for everybody")
    with _limits(request).importing(asking.key_id or asking.name):
        return await memory.move_in(
            read(request.stream()),
            origin,
            namespace=namespace,
            all_scopes=all_scopes,
            dry_run=dry_run,
        )


def _limits(request: Request) -> Limits:
    return cast("Limits", request.app.state.limits)


@router.get(
    "/backup",
    response_class=StreamingResponse,
    responses={200: {"description": "A tar file", "content": {_TAR: _BINARY}}},
)
async def back_up(memory: CallersMemory) -> StreamingResponse:
    """Stream a checked copy of the database and its archived contents, as a tar file.

    Unpacked, `recollect restore memory.db` brings it back. Agents with a store of their own, whose
    memory is not in it, are named in `X-Recollect-Left-Out`; a copy of it needs `agent`.
    """
    folder = await asyncio.to_thread(_outgoing_folder, memory.settings.outgoing_dir)
    copy = folder / "memory.db"
    try:
        contents = await memory.backup(copy)
        pieces = await written(lambda out: in_thread(lambda: _pack(copy, out)))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    told = {
        "X-Recollect-Contents": str(contents.copied),
        "X-Recollect-Lost": ",".join(contents.lost),
        "X-Recollect-Left-Out": ",".join(quote(it, safe="") for it in contents.agents_left_out),
    }
    return _download(_then_removed(pieces, folder), _TAR, "recollect-backup.tar", told)


def _outgoing_folder(outgoing: Path) -> Path:
    """Make a folder for a copy, named after this process."""
    make_folder(outgoing)
    return Path(tempfile.mkdtemp(prefix=f"{_name_of_process()}-", dir=outgoing))


def remove_left_over(outgoing: Path) -> None:
    """Remove the copies of processes that were killed while they sent them."""
    for folder in outgoing.glob("*"):
        if is_gone(folder.name.replace("@", "/")):
            shutil.rmtree(folder, ignore_errors=True)


def _name_of_process() -> str:
    machine, process, _ = new_holder().split("/")
    return f"{machine}@{process}@"


def _pack(copy: Path, out: BinaryIO) -> None:
    with tarfile.open(fileobj=out, mode="w|") as tar:
        for path in (copy, contents_beside(copy)):
            if path.exists():
                tar.add(path, arcname=path.name)


async def _then_removed(pieces: AsyncGenerator[bytes], folder: Path) -> AsyncGenerator[bytes]:
    try:
        async for piece in pieces:
            yield piece
    finally:
        await pieces.aclose()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _download(
    pieces: AsyncIterator[bytes], media_type: str, name: str, told: Mapping[str, str] | None = None
) -> StreamingResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **(told or {})}
    return StreamingResponse(pieces, media_type=media_type, headers=headers)
