"""The tools that write: saving, changing and deleting memories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from recollect.domain.category import is_user_profile
from recollect.domain.fields import RecordFields, revised
from recollect.domain.record import Record
from recollect.domain.relation import Strategy
from recollect.domain.views import Json
from recollect.errors import InvalidInput, NotAllowed, NotFound
from recollect.recall.listing import MAX_PAGE
from recollect.tools.arguments import DeleteFilters, DeleteMemory, SaveMemory, UpdateMemory
from recollect.tools.arguments import WriteMemory as Write
from recollect.tools.desk import Desk
from recollect.tools.metadata import fields_of
from recollect.writing.reconcile import merge, still_standing
from recollect.writing.strategy import strategy_of


async def save(desk: Desk, asked: SaveMemory) -> Json:
    """Create, update or delete a memory of one of the four types."""
    fields: RecordFields = {"title": asked.name, "category": asked.type}
    if asked.description is not None:
        fields["description"] = asked.description
    if asked.action == "create":
        return await _written(desk, _required(asked.content, "content"), None, fields)
    record_id = _required(asked.id, "id")
    if asked.action == "delete":
        await desk.memory.delete(record_id, reason="memory_save")
        return {"id": record_id, "status": "deleted"}
    record = await desk.memory.update(record_id, asked.content, reason="memory_save", **fields)
    return {"id": record.id, "status": "updated"}


async def write(desk: Desk, asked: Write) -> Json:
    """Remember a text; what is known already is confirmed or changed and not doubled."""
    fields = fields_of(asked.metadata, desk.parts.clock.now())
    return await _written(desk, asked.content, asked.namespace, fields)


async def update(desk: Desk, asked: UpdateMemory) -> Json:
    """Change a memory: merged with what is stored, or in its place."""
    if asked.content is None and asked.metadata is None:
        raise InvalidInput(
            "Neither content nor metadata was given; there is nothing to change",
            code="missing_field",
        )
    metadata = asked.metadata or {}
    # How to merge is said about this change, not about the memory.
    told = {name: it for name, it in metadata.items() if name != "strategy"}
    now = desk.parts.clock.now()

    def change(record: Record) -> Record:
        content, said = asked.content, told
        if asked.merge:
            strategy = strategy_of(record.evolve(metadata=metadata), record)
            content = None if content is None else _merged(strategy, record.content, content)
            said = _with_stored(told, record)
        fields = fields_of(said, now)
        if asked.metadata is not None and "metadata" not in fields:
            fields["metadata"] = {}
        return revised(record, content, fields, now)

    record = await desk.parts.saver.revise(desk.caller, asked.id, change, reason="memory_update")
    return {"id": record.id, "status": "updated"}


async def delete(desk: Desk, asked: DeleteMemory) -> Json:
    """Delete one memory, or all that meet the conditions; undo brings each of them back."""
    if (asked.id is None) == (asked.filters is None):
        raise InvalidInput("Give an id or filters, one of the two", code="missing_field")
    if asked.id is not None:
        if asked.dry_run:
            _require_own(desk, await desk.memory.get(asked.id))
        else:
            await desk.memory.delete(asked.id, reason="memory_delete")
        return {"deleted": 1}
    assert asked.filters is not None
    if not asked.filters.model_dump(exclude_defaults=True):
        raise InvalidInput(
            "No condition was given: that would delete everything",
            code="empty_filters",
            hint="Name a category, tags, a time, a session or a task.",
        )
    going = [record async for record in _matching(desk, asked.filters)]
    if asked.dry_run:
        return {"deleted": len(going)}
    return {"deleted": sum([await _deleted(desk, record) for record in going])}


async def _written(desk: Desk, content: str, namespace: str | None, fields: RecordFields) -> Json:
    if desk.named_session is not None:
        fields = {"session": desk.named_session, **fields}
    written = await desk.parts.writing.pipeline.write(
        desk.caller, content, namespace=namespace, **fields
    )
    if written.record is None:
        raise NotAllowed(
            f"Not kept: {written.reason}",
            code="not_kept",
            hint="Go on without it; this agent's settings do not let it be written.",
        )
    return {"id": written.record.id, "status": written.status}


async def _matching(desk: Desk, wanted: DeleteFilters) -> AsyncIterator[Record]:
    """The records that meet the conditions and that this caller may delete."""
    cursor: str | None = None
    while True:
        page = await desk.memory.list(limit=MAX_PAGE, cursor=cursor, **wanted.model_dump())
        for record in page.items:
            if record.scope in desk.caller.writable and _is_own(desk, record):
                yield record
        if (cursor := page.next_cursor) is None:
            return


async def _deleted(desk: Desk, record: Record) -> bool:
    """Whether it was there to be deleted; somebody else may have been faster."""
    try:
        await desk.memory.delete(record.id, reason="memory_delete")
    except NotFound:
        return False
    return True


def _is_own(desk: Desk, record: Record) -> bool:
    try:
        _require_own(desk, record)
    except NotAllowed:
        return False
    return True


def _require_own(desk: Desk, record: Record) -> None:
    desk.caller.require_write(record.scope, is_profile=is_user_profile(record.category))


def _with_stored(metadata: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """What is said now over what was said before."""
    said = {**record.metadata, **metadata}
    if isinstance(tags := metadata.get("tags"), list):
        said["tags"] = [*record.tags, *tags]
    return said


def _merged(strategy: Strategy, old: str, new: str) -> str:
    """One text for two; a fact whose value has changed does not stand beside its old value."""
    return merge(strategy, still_standing(old, new) if strategy == "summarise" else old, new)


def _required(value: str | None, name: str) -> str:
    if value is None:
        raise InvalidInput(
            f"{name} is missing",
            code="missing_field",
            hint="memory_recall shows the ids." if name == "id" else "",
        )
    return value
