"""The routes under /v1: each one call of the facade, its answer as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from recollect.domain.views import Json, as_json
from recollect.server.bodies import (
    ChangedRecord,
    Conversation,
    Listing,
    NewRecord,
    Prompt,
    Question,
    Use,
)
from recollect.server.caller import CallersMemory

IdempotencyKey = Annotated[
    str | None, Header(description="the same key with the same request happens only once")
]
Reason = Annotated[str, Query(description="why, for the history")]

router = APIRouter(prefix="/v1")


@router.post("/records", status_code=201, tags=["records"])
async def save(
    memory: CallersMemory,
    body: NewRecord,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> Json:
    """Save one record; when this answers, it is durable and can be recalled."""
    record = await memory.remember(
        body.content,
        namespace=body.namespace,
        idempotency_key=idempotency_key,
        reason=body.reason,
        **body.given(),
    )
    response.headers["Location"] = f"/v1/records/{record.id}"
    return as_json(record)


@router.get("/records", tags=["records"])
async def list_records(memory: CallersMemory, wanted: Annotated[Listing, Query()]) -> Json:
    """Records that pass the filters, those that happened last first, a page at a time."""
    return as_json(await memory.list(limit=wanted.limit, cursor=wanted.cursor, **wanted.filters()))


@router.get("/records/{record_id}", tags=["records"])
async def get(memory: CallersMemory, record_id: str, as_of: datetime | None = None) -> Json:
    """One record, as it is now or as it was known at a past moment."""
    return as_json(await memory.get(record_id, as_of=as_of))


@router.patch("/records/{record_id}", tags=["records"])
async def change(memory: CallersMemory, record_id: str, body: ChangedRecord) -> Json:
    """Change a record; the version before stays in its history."""
    return as_json(
        await memory.update(
            record_id,
            body.content,
            expected_version=body.expected_version,
            reason=body.reason,
            **body.given(),
        )
    )


@router.delete("/records/{record_id}", tags=["records"])
async def delete(memory: CallersMemory, record_id: str, reason: Reason = "") -> Json:
    """Hide a record everywhere; undo brings it back."""
    return as_json(await memory.delete(record_id, reason=reason))


@router.post("/records/{record_id}/undo", tags=["records"])
async def undo(memory: CallersMemory, record_id: str, reason: Reason = "") -> Json:
    """Take back the last change of a record, a deletion too; again, the one before it."""
    return as_json(await memory.undo(record_id, reason=reason))


@router.post("/records/{record_id}/purge", status_code=204, tags=["records"])
async def purge(memory: CallersMemory, record_id: str) -> None:
    """Remove a deleted record and its versions for good."""
    await memory.purge(record_id)


@router.get("/records/{record_id}/history", tags=["records"])
async def history(memory: CallersMemory, record_id: str) -> Json:
    """Every version of a record, oldest first, with who made it, when and why."""
    return as_json(await memory.history(record_id))


@router.post("/recall", tags=["recall"])
async def recall(memory: CallersMemory, body: Question) -> Json:
    """What is remembered about a question, best first, each hit with its explanation."""
    return as_json(
        await memory.recall(
            body.query,
            limit=body.limit,
            min_score=body.min_score,
            namespace=body.namespace,
            asked_at=body.asked_at,
            **body.filters(),
        )
    )


@router.post("/context", tags=["recall"])
async def context(memory: CallersMemory, body: Prompt) -> Json:
    """What is remembered for a message, as a block for the prompt; empty when nothing is."""
    return as_json(await memory.context(body.message, **body.wanted()))


@router.post("/records/{record_id}/used", tags=["recall"])
async def used(memory: CallersMemory, record_id: str, body: Use | None = None) -> Json:
    """Tell that a record was used, and whether it helped; later recalls weigh it."""
    return as_json(await memory.used(record_id, success=body is None or body.success))


@router.post("/records/{record_id}/rejected", tags=["recall"])
async def rejected(memory: CallersMemory, record_id: str) -> Json:
    """Tell that a recalled record was no help; later recalls weigh it."""
    return as_json(await memory.rejected(record_id))


@router.post("/observe", status_code=201, tags=["turns"])
async def observe(
    memory: CallersMemory, body: Conversation, idempotency_key: IdempotencyKey = None
) -> Json:
    """Keep messages of a conversation in order, durably."""
    return as_json(
        await memory.observe(
            [message.model_dump(exclude_unset=True) for message in body.messages],
            session=body.session,
            task=body.task,
            idempotency_key=idempotency_key,
        )
    )


@router.get("/turns", tags=["turns"])
async def list_turns(memory: CallersMemory, wanted: Annotated[Listing, Query()]) -> Json:
    """Turns of a session in their order, or without a session the latest ones first."""
    return as_json(await memory.turns(limit=wanted.limit, cursor=wanted.cursor, **wanted.filters()))


@router.get("/turns/{turn_id}", tags=["turns"])
async def get_turn(memory: CallersMemory, turn_id: str) -> Json:
    """One turn of a conversation."""
    return as_json(await memory.turn(turn_id))


@router.get("/stats", tags=["operation"])
async def stats(memory: CallersMemory) -> Json:
    """How much is stored for this caller, and how the parts are doing."""
    return as_json(await memory.stats())
