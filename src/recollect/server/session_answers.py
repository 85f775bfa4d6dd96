"""What the server answers with about sessions: prompts, notes, archives and tools."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from recollect.domain.context import Tongue
from recollect.domain.notes import ChunkType
from recollect.domain.summary import PointKind
from recollect.server.answers import SCOPE_EXAMPLE, Answer, Scope, example


class Tools(Answer):
    """The memory tools, in the form that was asked for."""

    items: list[dict[str, Any]]


class ToolResult(Answer):
    """What a tool gave, as a model would read it."""

    result: Any


class SessionUsage(Answer):
    """How full a session's window was when it was last prepared, and what lies outside it."""

    messages: int
    window_messages: int
    window_tokens: int
    budget_tokens: int
    saved_tokens: int = Field(description="of the conversation, what is kept out of the window")
    level: int = Field(description="how far it is compressed: not at all (0) up to a digest (3)")
    pending: bool = Field(description="a smaller window is being made in the background")
    archived: int
    degraded: list[str]


class PendingReading(Answer):
    """The turns that are stored but not read yet; the server reads them in the background."""

    model_config = example({"turns": 8, "sessions": 1})

    turns: int
    sessions: int


class SessionStatus(Answer):
    """A session and how full its window is."""

    model_config = example(
        {
            "id": "monday",
            "scope": SCOPE_EXAMPLE,
            "usage": {
                "messages": 120,
                "window_messages": 42,
                "window_tokens": 51_200,
                "budget_tokens": 89_600,
                "saved_tokens": 3_100,
                "level": 1,
                "pending": False,
                "archived": 3,
                "degraded": [],
            },
        }
    )

    id: str
    scope: Scope
    usage: SessionUsage


class Prepared(Answer):
    """The messages to send now, in the form that was asked for."""

    format: Literal["openai", "anthropic", "neutral"]
    system: Any = Field(description="of the form `anthropic`: its system prompt")
    messages: list[dict[str, Any]]
    usage: SessionUsage


class Point(Answer):
    """One thing worth keeping, and the message it is from, where known."""

    kind: PointKind
    text: str
    weight: float
    position: int | None


class Summary(Answer):
    """What stands for the messages from `start` up to, not including, `end`."""

    id: str
    key: str
    start: int
    end: int
    turn_ids: list[str]
    language: Tongue
    points: list[Point]
    degraded: str


class Summaries(Answer):
    """What stands for the beginning of a conversation, in its order."""

    items: list[Summary]


class NoteChunk(Answer):
    """A piece of content that a tool found."""

    content: str
    source: str
    relevance_score: float
    chunk_type: ChunkType
    metadata: dict[str, Any]


class StructureCall(Answer):
    """The call that a structure came from."""

    tool: str
    arguments: str = Field(description="as JSON, in a form that is equal for equal ones")
    archive: str = Field(description="the archive of the whole result, or empty")


class Notes(Answer):
    """What the tools of a session have found."""

    current_query: str
    known_chapters: list[str]
    structures: dict[str, Any] = Field(description="the cached structures by document")
    structure_calls: dict[str, StructureCall] = Field(description="by document")
    chunks: list[NoteChunk]
    found_text: str = Field(description="what was found, as a prompt shows it")
    structure_hint: str = Field(description="which structures are known, as a prompt shows it")


class ScratchpadDecision(Answer):
    """What was decided, and why."""

    what: str
    why: str


class Scratchpad(Answer):
    """Where an agent stands in a task of several steps."""

    current_goal: str
    sub_goals: list[str]
    completed: list[str]
    current_step: str
    decisions: list[ScratchpadDecision]
    blockers: list[str]


class Archive(Answer):
    """A large tool result that was put away, without its content."""

    id: str
    scope: Scope
    session: str
    thread: str | None
    tool: str
    input: str = Field(description="canonical JSON")
    input_hash: str
    query: str
    summary: str
    sources: list[str]
    form: Literal["text", "json", "bytes"]
    content_hash: str
    chars: int
    lines: int
    bytes: int
    indexed_chars: int
    created_at: datetime
    expires_at: datetime | None
    last_loaded: datetime | None
    loads: int


class ArchivePage(Answer):
    """A page of archives."""

    items: list[Archive]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class ArchiveText(Answer):
    """An archived result for a model to read, under its placeholder."""

    id: str
    text: str


class SweptArchives(Answer):
    """The archives that went, or in a dry run what would."""

    archives: list[Archive]
    is_dry_run: bool


class EarlierResult(Answer):
    """What the same call gave before; both are null when it was not made."""

    archive: Archive | None
    age_seconds: float | None


class ProcessedResult(Answer):
    """What to show of a tool result: itself, or a placeholder once it is archived."""

    result: Any
    is_archived: bool


class Messages(Answer):
    """Messages, changed as was asked."""

    items: list[dict[str, Any]]


class Offer(Answer):
    """What is known of a tool call before it is made."""

    kind: Literal["hint", "cached", "earlier"]
    document: str | None = None
    text: str | None = None
    result: Any = None
    archive: Archive | None = None
    age_seconds: float | None = None


class KnownResult(Answer):
    """What is known of a tool call before it is made; null if nothing is."""

    offer: Offer | None


class Offers(Answer):
    """What is known of this turn's tool calls, by their ids."""

    items: dict[str, Offer]


class Guide(Answer):
    """How to use memory, for a system prompt."""

    text: str
