"""All that is stored about a tool result besides its content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from recollect.context.archive_passages import passage_size
from recollect.context.archive_sources import sources_of
from recollect.context.archive_summary import (
    MAX_QUERY,
    canonical_input,
    parsed,
    query_of,
    summary_of,
)
from recollect.context.placeholder import one_line
from recollect.domain.archive import Archive
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.ids import new_id
from recollect.domain.scope import Scope
from recollect.domain.tool_result import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a result comes from: which tool was asked what, in which conversation."""

    scope: Scope
    session: str
    thread: str | None
    tool: str
    input: object

    def __post_init__(self) -> None:
        checked_text(self.tool, "tool_name", MAX_LABEL)
        checked_text(self.session, "conversation_id", MAX_LABEL)
        if self.thread is not None:
            checked_text(self.thread, "thread_id", MAX_LABEL)


def describe(
    content: Content,
    origin: Origin,
    *,
    now: datetime,
    expires_at: datetime | None,
    indexed_passages: int,
) -> Archive:
    """A new archive for a result."""
    asked = canonical_input(origin.input)
    query = query_of(origin.input)
    text = content.text or ""
    value = parsed(content)
    return Archive(
        id=new_id("arc"),
        scope=origin.scope,
        session=origin.session,
        thread=origin.thread,
        tool=origin.tool,
        input=asked,
        input_hash=hash_of(asked.encode()),
        query=one_line(query, MAX_QUERY),
        summary=summary_of(content, value, query),
        sources=sources_of(text, value),
        form=content.form,
        content_hash=hash_of(content.data),
        chars=len(text),
        lines=text.count("\n") + 1 if text else 0,
        bytes=len(content.data),
        indexed_chars=min(len(text), indexed_passages * passage_size(text)),
        created_at=now,
        expires_at=expires_at,
    )


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
