"""Transfer: export and import as streams, and a backup of the whole database."""

from __future__ import annotations

import asyncio
import tarfile
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from pathlib import Path
from typing import Annotated, BinaryIO, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from recollect.domain.archive import contents_beside
from recollect.domain.views import Json, as_json
from recollect.server import answers, streams
from recollect.server.caller import CallersMemory
from recollect.server.identity import Asking
from recollect.server.once import OnceRoute
from recollect.server.problems import problems

router = APIRouter(prefix="/v1", tags=["operation"], route_class=OnceRoute)

_LINES: Final = "application/x-ndjson"
_TAR: Final = "application/x-tar"
_BINARY: Final = {"schema": {"type": "string", "format": "binary"}}

AllScopes = Annotated[
    bool, Query(description="everybody's and what is shared, not only this caller's")
]
SkipBad = Annotated[bool, Query(description="leave bad lines out and list them")]


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"description": "JSON lines", "content": {_LINES: _BINARY}}},
)
async def export_memory(
    memory: CallersMemory, asking: Asking, all_scopes: AllScopes = False
) -> StreamingResponse:
    """Stream what this caller may import again, as JSON lines.

    The first line says how many follow: an export that was cut off is not taken for a whole one.
    """
    if all_scopes:
        asking.require_server("Exporting everybody's memory")
    pieces = await streams.written(lambda out: memory.export_to(out, all_scopes=all_scopes))
    return _download(pieces, _LINES, "memory.jsonl")


@router.put(
    "/import",
    response_model=answers.Imported,
    responses=problems(409),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {_LINES: _BINARY, "application/gzip": _BINARY},
        }
    },
)
async def import_memory(
    memory: CallersMemory,
    asking: Asking,
    request: Request,
    all_scopes: AllScopes = False,
    skip_bad: SkipBad = False,
) -> Json:
    """Add what an export holds and is missing here; nothing stored is changed.

    The body is an export, plain or compressed, of any size. After a break the same request goes on.
    """
    if all_scopes:
        asking.require_server("Importing for everybody")
    source = streams.read(request.stream())
    return as_json(await memory.import_from(source, all_scopes=all_scopes, skip_bad=skip_bad))


@router.put(
    "/import/chat",
    response_model=answers.ImportedChats,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                _LINES: _BINARY,
                "application/json": _BINARY,
                "application/gzip": _BINARY,
                "application/zip": _BINARY,
            },
        }
    },
)
async def import_chat(
    memory: CallersMemory,
    request: Request,
    session: Annotated[
        str | None, Query(description="the conversation of messages that name none")
    ] = None,
    skip_bad: SkipBad = False,
) -> Json:
    """Take over a chat history; what was taken over before is not added again.

    The body is JSON lines of messages, or what ChatGPT or Claude exports, plain or compressed.
    """
    source = streams.read(request.stream())
    return as_json(await memory.import_chat(source, session=session, skip_bad=skip_bad))


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
    folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="recollect-backup-")
    copy = Path(folder.name) / "memory.db"
    try:
        contents = await memory.backup(copy)
        pieces = await streams.written(lambda out: asyncio.to_thread(_pack, copy, out))
    except BaseException:
        folder.cleanup()
        raise
    told = {
        "X-Recollect-Contents": str(contents.copied),
        "X-Recollect-Lost": ",".join(contents.lost),
        "X-Recollect-Left-Out": ",".join(quote(it, safe="") for it in contents.agents_left_out),
    }
    return _download(_then_removed(pieces, folder), _TAR, "recollect-backup.tar", told)


def _pack(copy: Path, out: BinaryIO) -> None:
    with tarfile.open(fileobj=out, mode="w|") as tar:
        for path in (copy, contents_beside(copy)):
            if path.exists():
                tar.add(path, arcname=path.name)


async def _then_removed(
    pieces: AsyncGenerator[bytes], folder: tempfile.TemporaryDirectory[str]
) -> AsyncGenerator[bytes]:
    try:
        async for piece in pieces:
            yield piece
    finally:
        await pieces.aclose()
        await asyncio.to_thread(folder.cleanup)


def _download(
    pieces: AsyncIterator[bytes], media_type: str, name: str, told: Mapping[str, str] | None = None
) -> StreamingResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **(told or {})}
    return StreamingResponse(pieces, media_type=media_type, headers=headers)
