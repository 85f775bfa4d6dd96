"""Reindexing: changing the model that makes vectors, in the background."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.views import Json, as_json
from recollect.server import answers
from recollect.server.bodies import Body, described
from recollect.server.caller import CallersMemory
from recollect.server.once import OnceRoute

router = APIRouter(prefix="/v1/reindex", tags=["operation"], route_class=OnceRoute)


class ReindexWanted(Body):
    """Which model is to answer everywhere."""

    model_config = described({"model": "local"})

    model: str | None = Field(
        default=None, description="as settings name it; default: the one of the settings"
    )


@router.post("", status_code=HTTPStatus.ACCEPTED, response_model=answers.Reindexing)
async def start_reindexing(memory: CallersMemory, body: ReindexWanted | None = None) -> Json:
    """Begin to make the vectors that are missing, of this model or another.

    In each scope the old vectors answer until the new ones are all there.
    """
    await memory.reindex(model=(body or ReindexWanted()).model, background=True)
    return as_json(await memory.reindexing())


@router.get("", response_model=answers.Reindexing)
async def get_reindexing(memory: CallersMemory) -> Json:
    """Tell how far a change of the model is, or what the model in use has yet to read."""
    return as_json(await memory.reindexing())


@router.delete("", response_model=answers.StoppedReindexing)
async def stop_reindexing(memory: CallersMemory) -> Json:
    """End a change of the model; what it has made is kept."""
    return {"stopped": await memory.stop_reindexing(), **as_json(await memory.reindexing())}
