"""Records and turns: save, list, read, change, undo and delete them."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from recollect.domain.page import Page
from recollect.domain.record import Record, Version
from recollect.domain.turn import Turn
from recollect.domain.upkeep import BulkChange
from recollect.domain.views import Items
from recollect.server.bodies import (
    BulkDelete,
    BulkEdit,
    ChangedRecord,
    Conversation,
    Listing,
    NewRecord,
    NewRecords,
    Use,
    said,
)
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import (
    Expected,
    IdempotencyKey,
    IfMatch,
    IfNoneMatch,
    Paged,
    Reason,
    etag,
    page_of,
    seen_version,
    tagged,
)
from recollect.server.problems import problems
from recollect.server.spooled import SPOOLED, tell_spooled

router = APIRouter(prefix="/v1/records", tags=["records"], route_class=IdempotentRoute)

AsOf = Annotated[datetime | None, Query(description="as it was known at this time")]


@router.post(
    "",
    status_code=201,
    response_description="The record as it was stored",
    responses={**SPOOLED, **problems(409, 413)},
)
async def save_record(
    memory: CallersMemory,
    body: NewRecord,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> Record:
    """Save one record; once this returns, it is durable and can be recalled."""
    record = await memory.remember(
        body.content,
        namespace=body.namespace,
        idempotency_key=idempotency_key,
        reason=body.reason,
        **body.given(),
    )
    response.headers["Location"] = f"/v1/records/{record.id}"
    tell_spooled(response, record)
    return tagged(response, record)


@router.post("/batch", status_code=201, responses={**SPOOLED, **problems(409, 413)})
async def save_records(
    memory: CallersMemory,
    body: NewRecords,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> Items[Record]:
    """Save several records in one transaction: all of them, or none."""
    records = await memory.remember_many(
        body.drafts(),
        namespace=body.namespace,
        idempotency_key=idempotency_key,
        reason=body.reason,
    )
    tell_spooled(response, *records)
    return Items(items=records)


@router.post("/bulk-edit", responses=problems(413))
async def edit_records(memory: CallersMemory, body: BulkEdit) -> BulkChange:
    """Set the same fields on many records, and add or remove tags.

    Each record is changed on its own; failures are listed under `failed`.
    """
    return await memory.update_many(
        body.ids,
        add_tags=body.add_tags,
        remove_tags=body.remove_tags,
        reason=body.reason,
        **body.given(),
    )


@router.post("/bulk-delete", responses=problems(413))
async def delete_records(memory: CallersMemory, body: BulkDelete) -> BulkChange:
    """Hide many records everywhere; undo restores each of them."""
    return await memory.delete_many(body.ids, reason=body.reason)


@router.get("")
async def list_records(memory: CallersMemory, wanted: Annotated[Listing, Query()]) -> Page[Record]:
    """List the records that match the filters, latest first."""
    return await memory.list(**wanted.arguments())


@router.get(
    "/{record_id}",
    response_model=Record,
    responses={304: {"description": "It is still at that version"}, **problems(404)},
)
async def get_record(
    memory: CallersMemory,
    record_id: str,
    response: Response,
    as_of: AsOf = None,
    if_none_match: IfNoneMatch = None,
) -> Any:
    """Return one record, as it is now or as it was known at a past time."""
    record = await memory.get(record_id, as_of=as_of)
    if if_none_match == etag(record):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": etag(record)})
    return tagged(response, record)


@router.patch("/{record_id}", responses=problems(404, 409, 412, 413))
async def change_record(
    memory: CallersMemory,
    record_id: str,
    body: ChangedRecord,
    response: Response,
    if_match: IfMatch = None,
) -> Record:
    """Change a record; the previous version stays in its history."""
    changed = await memory.update(
        record_id,
        body.content,
        expected_version=seen_version(if_match, body.expected_version),
        reason=body.reason,
        **body.given(),
    )
    return tagged(response, changed)


@router.delete("/{record_id}", responses=problems(404, 409, 412))
async def delete_record(
    expected: Expected,
    memory: CallersMemory,
    record_id: str,
    response: Response,
    reason: Reason = "",
) -> Record:
    """Hide a record everywhere; undo restores it."""
    deleted = await memory.delete(record_id, expected_version=expected, reason=reason)
    return tagged(response, deleted)


@router.post("/{record_id}/undo", responses=problems(404, 409, 412))
async def undo_record(
    expected: Expected,
    memory: CallersMemory,
    record_id: str,
    response: Response,
    reason: Reason = "",
) -> Record:
    """Revert the last change of a record, including a deletion; repeat to go further back."""
    back = await memory.undo(record_id, expected_version=expected, reason=reason)
    return tagged(response, back)


@router.post("/{record_id}/purge", status_code=204, responses=problems(404, 409))
async def purge_record(memory: CallersMemory, record_id: str) -> None:
    """Remove a deleted record and its versions for good."""
    await memory.purge(record_id)


@router.get("/{record_id}/history", responses=problems(404))
async def record_history(page: Paged, memory: CallersMemory, record_id: str) -> Page[Version]:
    """List every version of a record, oldest first, with its author, time and reason."""
    versions = await memory.history(record_id)
    return page_of(versions, page, lambda it: str(it.number))


@router.post("/{record_id}/used", responses=problems(404))
async def record_used(memory: CallersMemory, record_id: str, body: Use | None = None) -> Record:
    """Report that a record was used and whether it helped; later recalls consider it."""
    return await memory.used(record_id, success=body is None or body.success)


@router.post("/{record_id}/rejected", responses=problems(404))
async def record_rejected(memory: CallersMemory, record_id: str) -> Record:
    """Report that a recalled record did not help; later recalls consider it."""
    return await memory.rejected(record_id)


# --- Turns: the messages of conversations, kept as they were said ---------------------------------

turns_router = APIRouter(prefix="/v1", tags=["turns"], route_class=IdempotentRoute)


@turns_router.post("/observe", status_code=201, responses={**SPOOLED, **problems(409, 413)})
async def observe(
    memory: CallersMemory,
    body: Conversation,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> Items[Turn]:
    """Store the messages of a conversation in order."""
    turns = await memory.observe(
        said(body.messages),
        session=body.session,
        task=body.task,
        idempotency_key=idempotency_key,
    )
    tell_spooled(response, *turns)
    return Items(items=turns)


@turns_router.get("/turns")
async def list_turns(memory: CallersMemory, wanted: Annotated[Listing, Query()]) -> Page[Turn]:
    """List the turns of a session in order, or of all sessions latest first."""
    return await memory.turns(**wanted.arguments())


@turns_router.get("/turns/{turn_id}", responses=problems(404))
async def get_turn(memory: CallersMemory, turn_id: str) -> Turn:
    """Return one turn of a conversation."""
    return await memory.turn(turn_id)
