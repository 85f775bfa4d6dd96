"""Turns: the messages of conversations, kept as they were said."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from recollect.domain.views import Json, as_json
from recollect.server import answers
from recollect.server.bodies import Conversation, Listing, said
from recollect.server.caller import CallersMemory
from recollect.server.once import OnceRoute
from recollect.server.parameters import IdempotencyKey
from recollect.server.problems import problems

router = APIRouter(prefix="/v1", tags=["turns"], route_class=OnceRoute)


@router.post(
    "/observe", status_code=201, response_model=answers.Turns, responses=problems(409, 413)
)
async def observe(
    memory: CallersMemory, body: Conversation, idempotency_key: IdempotencyKey = None
) -> Json:
    """Keep messages of a conversation in order, durably."""
    return as_json(
        await memory.observe(
            said(body.messages),
            session=body.session,
            task=body.task,
            idempotency_key=idempotency_key,
        )
    )


@router.get("/turns", response_model=answers.TurnPage)
async def list_turns(memory: CallersMemory, wanted: Annotated[Listing, Query()]) -> Json:
    """List the turns of a session in their order, or without a session the latest ones first."""
    return as_json(
        await memory.turns(
            limit=wanted.limit,
            cursor=wanted.cursor,
            namespace=wanted.namespace,
            **wanted.filters(),
        )
    )


@router.get("/turns/{turn_id}", response_model=answers.Turn, responses=problems(404))
async def get_turn(memory: CallersMemory, turn_id: str) -> Json:
    """Read one turn of a conversation."""
    return as_json(await memory.turn(turn_id))
