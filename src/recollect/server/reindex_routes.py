"""The routes /v1/reindex: changing the model that makes vectors, in the background."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.views import Json, as_json
from recollect.server.bodies import Body
from recollect.server.caller import CallersMemory

router = APIRouter(prefix="/v1/reindex", tags=["operation"])


class ReindexWanted(Body):
    """Which model is to answer everywhere."""

    model: str | None = Field(
        default=None, description="as settings name it; default: the one of the settings"
    )


@router.post("", status_code=HTTPStatus.ACCEPTED)
async def reindex(memory: CallersMemory, body: ReindexWanted | None = None) -> Json:
    """Begin to make the vectors that are missing, of this model or another; how far that is.

    In each scope the old vectors answer until the new ones are all there.
    """
    await memory.reindex(model=(body or ReindexWanted()).model, background=True)
    return as_json(await memory.reindexing())


@router.get("")
async def progress(memory: CallersMemory) -> Json:
    """How far a change of the model is, or what the model in use has yet to read."""
    return as_json(await memory.reindexing())


@router.delete("")
async def stop(memory: CallersMemory) -> Json:
    """End a change that goes on; what it has made is kept, and the same request goes on with it."""
    return {"stopped": await memory.stop_reindexing(), **as_json(await memory.reindexing())}
