"""The tools that write: save, change and delete memories, and update the scratchpad."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Any, Final

from recollect.domain.fields import RecordFields, checked_content, revised
from recollect.domain.filters import make_filter
from recollect.domain.notes import Decision, ScratchpadUpdate
from recollect.domain.profile import edited, unmarked, with_tag, written_by
from recollect.domain.record import Record, is_user_profile
from recollect.domain.views import Json
from recollect.errors import InvalidInput, NotAllowed, NotFound, StaleVersion
from recollect.ports.judge import Statement
from recollect.recall.listing import MAX_PAGE
from recollect.tools.arguments import (
    DeleteFilters,
    DeleteMemory,
    MemoryType,
    ProposeMemory,
    SaveMemory,
    UpdateMemory,
    UpdateScratchpad,
)
from recollect.tools.arguments import WriteMemory as Write
from recollect.tools.metadata import fields_of
from recollect.tools.tool_context import ToolContext
from recollect.writing.judges import statement_of
from recollect.writing.strategy import Merged, strategy_of

_MAX_ATTEMPTS: Final = 8
_LINK: Final = re.compile(r"https?://|www\.", re.IGNORECASE)
# How agents refer to the user in what they save.
_ABOUT_USER: Final = re.compile(r"\s*(?:(?:the )?user(?:'s)?\b|i\b|my\b|用户|我)", re.IGNORECASE)


async def save(context: ToolContext, asked: SaveMemory) -> Json:
    """Create, update or delete a record of one of the four types."""
    fields: RecordFields = {}
    if asked.name is not None:
        fields["title"] = asked.name
    if asked.type is not None:
        fields["category"] = asked.type
    if asked.description is not None:
        fields["description"] = asked.description
    action = asked.action
    if asked.id is not None and "action" not in asked.model_fields_set:
        action = "update"
    if action == "create":
        content = _required(asked.content, "content")
        if asked.type is None:
            fields["category"] = await _type_of(context, content)
        return await _written(context, content, None, fields)
    record_id = _required(asked.id, "id")
    if action == "delete":
        await context.parts.versions.delete(context.caller, record_id, reason="memory_save")
        return {"id": record_id, "status": "deleted"}
    record = await context.parts.saver.update(
        context.caller, record_id, asked.content, fields, reason="memory_save", author="model"
    )
    return {"id": record.id, "status": "updated"}


async def write(context: ToolContext, asked: Write) -> Json:
    """Store a text; if it is already known, confirm or update the record."""
    fields = fields_of(asked.metadata, context.parts.clock.now())
    part = context.places.part(asked.namespace)
    if part is not None and "category" not in fields:
        fields["category"] = part
    return await _written(context, asked.content, context.places.scope(asked.namespace), fields)


async def propose(context: ToolContext, asked: ProposeMemory) -> Json:
    """Propose to share something with all agents of the workspace."""
    made = await context.parts.sharing.proposals.propose(
        context.caller, asked.content, asked.type, reason=asked.reason or ""
    )
    return {"id": made.id, "status": made.status}


async def update(context: ToolContext, asked: UpdateMemory) -> Json:
    """Change a record: merge the new content with the stored one, or replace it."""
    if asked.content is None and asked.metadata is None:
        raise InvalidInput(
            "Neither content nor metadata was given; there is nothing to change",
            code="missing_field",
        )
    if asked.content is not None:
        checked_content(asked.content)
    for attempt in count(1):
        stored = await context.parts.listing.get(context.caller, asked.id)
        merged = await _merged(context, asked, stored) if asked.merge else None
        try:
            record = await _revised(context, asked, stored, merged)
        except StaleVersion:
            # The record was changed while it was merged.
            if attempt == _MAX_ATTEMPTS:
                raise
            continue
        degraded = merged.degraded if merged is not None else ""
        return {
            "id": record.id,
            "status": "updated",
            **({"degraded": degraded} if degraded else {}),
        }
    raise AssertionError("the last attempt returns or raises")


async def _merged(context: ToolContext, asked: UpdateMemory, stored: Record) -> Merged | None:
    """Return the merged text of the stored and the new content; None without new content."""
    # The strategy is for this change only and is not stored.
    strategy = strategy_of(stored.evolve(metadata=asked.metadata or {}), stored)
    if asked.content is None:
        return None
    writing = context.parts.writing
    # Redact first, so that no model sees what is not stored.
    new = writing.redactor.text(asked.content).value
    if new is None:
        return Merged(text=asked.content)
    statement = Statement(text=new, said_at=context.parts.clock.now())
    return await writing.merger.merge(strategy, statement_of(stored), statement)


async def _revised(
    context: ToolContext, asked: UpdateMemory, stored: Record, merged: Merged | None
) -> Record:
    given = {name: value for name, value in (asked.metadata or {}).items() if name != "strategy"}
    now = context.parts.clock.now()

    def change(record: Record) -> Record:
        if merged is not None and record.content != stored.content:
            raise StaleVersion(f"{record.id} was changed while it was merged")
        fields = fields_of(_with_stored(given, record) if asked.merge else given, now)
        if asked.metadata is not None and "metadata" not in fields:
            fields["metadata"] = {}
        text = asked.content if merged is None else merged.text
        return edited(record, revised(record, text, fields, now), "model")

    return await context.parts.saver.revise(
        context.caller, asked.id, change, reason="memory_update"
    )


async def delete(context: ToolContext, asked: DeleteMemory) -> Json:
    """Delete one record, or all that match the filters; undo restores each of them."""
    if (asked.id is None) == (asked.filters is None):
        raise InvalidInput("Give an id or filters, one of the two", code="missing_field")
    if asked.id is not None:
        if asked.dry_run:
            _require_own(context, await context.parts.listing.get(context.caller, asked.id))
        else:
            await context.parts.versions.delete(context.caller, asked.id, reason="memory_delete")
        return {"deleted": 1}
    assert asked.filters is not None
    if not asked.filters.model_dump(exclude_defaults=True):
        raise InvalidInput(
            "No condition was given: that would delete everything",
            code="empty_filters",
            hint="Name a category, tags, a time, a session or a task.",
        )
    going = [record async for record in _matching(context, asked.filters)]
    if asked.dry_run:
        return {"deleted": len(going)}
    return {"deleted": sum([await _delete_one(context, record) for record in going])}


async def _written(
    context: ToolContext, content: str, namespace: str | None, fields: RecordFields
) -> Json:
    if context.named_session is not None:
        fields = {"session": context.named_session, **fields}
    # The words are a model's, which may have read them anywhere.
    if isinstance(tags := fields.get("tags"), list):
        fields["tags"] = with_tag(tags, False)
    fields["metadata"] = written_by(unmarked(fields.get("metadata", {})), "model")
    written = await context.parts.writing.pipeline.write(
        context.caller, content, namespace=namespace, **fields
    )
    if written.record is None:
        raise NotAllowed(
            f"Not kept: {written.reason}",
            code="not_kept",
            hint="Go on without it; this agent's settings do not let it be written.",
        )
    degraded = {"degraded": written.degraded} if written.degraded else {}
    return {"id": written.record.id, "status": written.status, **degraded}


async def _matching(context: ToolContext, wanted: DeleteFilters) -> AsyncIterator[Record]:
    """Yield the records that match the filters and that this caller may delete."""
    conditions = wanted.model_dump(exclude={"namespace"})
    if categories := context.places.categories(wanted.namespace):
        conditions["category"] = [wanted.category] if wanted.category else sorted(categories)
    where, scopes = make_filter(**conditions), context.places.readable(wanted.namespace)
    cursor: str | None = None
    while True:
        page = await context.parts.listing.records(scopes, where, limit=MAX_PAGE, cursor=cursor)
        for record in page.items:
            if record.scope in context.caller.writable and _is_own(context, record):
                yield record
        if (cursor := page.next_cursor) is None:
            return


async def _delete_one(context: ToolContext, record: Record) -> bool:
    """Delete a record; return False if it was already deleted."""
    try:
        await context.parts.versions.delete(context.caller, record.id, reason="memory_delete")
    except NotFound:
        return False
    return True


def _is_own(context: ToolContext, record: Record) -> bool:
    try:
        _require_own(context, record)
    except NotAllowed:
        return False
    return True


def _require_own(context: ToolContext, record: Record) -> None:
    context.caller.require_write(record.scope, is_profile=is_user_profile(record.category))


def _with_stored(metadata: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """Return the new metadata over the stored metadata."""
    said = {**record.metadata, **metadata}
    if isinstance(tags := metadata.get("tags"), list):
        said["tags"] = [*record.tags, *tags]
    return said


async def _type_of(context: ToolContext, content: str) -> MemoryType:
    """Return the type of a record that was saved without one."""
    routed = await context.parts.writing.route(context.caller, content, None)
    if "user-profile" in routed.namespaces or _ABOUT_USER.match(content):
        return "user"
    return "reference" if _LINK.search(content) else "project"


def _required(value: str | None, name: str) -> str:
    if value is None:
        raise InvalidInput(
            f"{name} is missing",
            code="missing_field",
            hint="memory_recall shows the ids." if name == "id" else "",
        )
    return value


# --- The tool that updates the scratchpad of a task -----------------------------------------------


async def update_scratchpad(context: ToolContext, asked: UpdateScratchpad) -> Json:
    """Update the scratchpad and return it."""
    news = ScratchpadUpdate(
        current_goal=asked.current_goal,
        sub_goals=tuple(asked.sub_goals),
        completed=tuple(asked.completed),
        current_step=asked.current_step,
        decisions=tuple(Decision(what=made.what, why=made.why) for made in asked.decisions),
        blockers=tuple(asked.blockers),
        unblocked=tuple(asked.unblocked),
    )
    sessions = context.parts.working.sessions
    pad = await sessions.open(context.caller, context.session, None, None).scratchpad.update(news)
    return pad.to_json()
