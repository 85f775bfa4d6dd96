"""The routes of the write pipeline."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.route import WritePolicy
from recollect.domain.views import Json, as_json
from recollect.server.bodies import Body, NewRecord
from recollect.server.caller import CallersMemory
from recollect.server.routes import IdempotencyKey

router = APIRouter(prefix="/v1", tags=["writing"])


class NewClaim(NewRecord):
    """A claim to remember, with what is known about it."""

    explicit: bool = Field(
        default=True, description="false lets it prove itself in the short-term buffer"
    )


class Reading(Body):
    """Which conversations to read."""

    session: str | None = Field(default=None, description="one session; default: all of them")


class RoutedMessage(Body):
    """A message to judge."""

    message: str
    policy: WritePolicy | None = Field(default=None, description="default: from the settings")


@router.post("/write")
async def write(
    memory: CallersMemory, body: NewClaim, idempotency_key: IdempotencyKey = None
) -> Json:
    """Remember a claim unless it is known: new, said again, changed or contradicted."""
    return as_json(
        await memory.write(
            body.content,
            namespace=body.namespace,
            explicit=body.explicit,
            idempotency_key=idempotency_key,
            **body.given(),
        )
    )


@router.post("/extract")
async def extract(memory: CallersMemory, body: Reading | None = None) -> Json:
    """Read conversations now for what is worth remembering; no turn is read twice."""
    return as_json(await memory.extract(None if body is None else body.session))


@router.get("/writes/{write_id}")
async def trace(memory: CallersMemory, write_id: str) -> Json:
    """What each step of a write decided, and why."""
    return as_json(await memory.trace(write_id))


@router.post("/route")
async def route(memory: CallersMemory, body: RoutedMessage) -> Json:
    """Whether a message should be answered with memory, and whether it should become some."""
    return as_json(await memory.route(body.message, policy=body.policy))
