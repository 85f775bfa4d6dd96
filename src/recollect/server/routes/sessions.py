"""Sessions: conversations whose window stays within a model's budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from recollect.context import offers as known_offers
from recollect.context.anthropic_messages import AnthropicMessages
from recollect.context.edits import Drop, Edit, Insert, Keep, Replace
from recollect.context.history import Synced
from recollect.context.message_formats import Format
from recollect.context.session import Session
from recollect.domain.archive import Archive, EarlierResult
from recollect.domain.context import SessionUsage
from recollect.domain.notes import (
    Cached,
    ChunkType,
    ContentChunk,
    Hint,
    Scratchpad,
    ScratchpadUpdate,
)
from recollect.domain.operation import Operation
from recollect.domain.page import Page
from recollect.domain.scope import Role, Scope
from recollect.domain.summary import Summary
from recollect.domain.turn import Turn
from recollect.domain.views import Items, as_json
from recollect.domain.write import Pending
from recollect.errors import NotFound
from recollect.server.bodies import Body, Message, Several, described, said
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.open_sessions import CallersSession, SessionsInUse
from recollect.server.parameters import Paged, page_of
from recollect.server.problems import problems
from recollect.wire import decoded

router = APIRouter(prefix="/v1/sessions", tags=["sessions"], route_class=IdempotentRoute)


class NewSession(Body):
    """A session to open; without an id, a new one."""

    model_config = described({"id": "monday", "model": "claude-sonnet-4-5"})

    id: str | None = None
    model: str | None = Field(
        default=None, description="the model whose context the window must fit"
    )
    context_tokens: int | None = Field(default=None, description="if no model says it")


class Said(Body):
    """New messages in order, in OpenAI's or Anthropic's format."""

    model_config = described({"messages": [{"role": "user", "content": "Where did we stop?"}]})

    messages: list[Message]
    task: str | None = None


class Wanted(Body):
    """What to send to the model."""

    model_config = described({"query": "Where did we stop?", "format": "anthropic"})

    query: str | None = Field(
        default=None, description="adds what memory knows about it to the prompt"
    )
    load: Several[str] = Field(default=[], description="archives that are open for this call")
    format: Format = "openai"
    with_notes: bool = True
    with_scratchpad: bool = False
    with_guide: bool | None = Field(
        default=None,
        description="include the guide to the memory tools; default: when a query is given",
    )


class History(Body):
    """A framework's history, from its beginning or from where it was cut off."""

    model_config = described({"messages": [{"role": "user", "content": "Where did we stop?"}]})

    messages: list[Message]
    task: str | None = None


class PlanWanted(Body):
    """A framework's history and options for what to send of it."""

    model_config = described(
        {"messages": [{"role": "user", "content": "Where did we stop?"}], "query": "Where?"}
    )

    messages: list[Message]
    query: str | None = None
    load: Several[str] = Field(default=[])
    with_notes: bool = True
    with_scratchpad: bool = False
    with_guide: bool | None = None


class SessionStatus(BaseModel):
    """A session and how full its window is."""

    id: str
    scope: Scope
    usage: SessionUsage


class Prepared(BaseModel):
    """The messages to send now, in the form that was asked for."""

    format: Format
    system: Any = Field(description="of the form `anthropic`: its system prompt")
    messages: list[dict[str, Any]]
    usage: SessionUsage


class PlannedEdit(BaseModel):
    """An edit of one message; an inserted message goes before the message at `index`."""

    kind: Literal["keep", "drop", "replace", "insert"]
    index: int
    message: dict[str, Any] | None = None


class PlannedSession(BaseModel):
    """The edits of a history before a model call."""

    edits: list[PlannedEdit]
    system: str
    degraded: tuple[str, ...]
    usage: SessionUsage


class StructureCall(BaseModel):
    """The call that a structure came from."""

    tool: str
    arguments: str = Field(description="as JSON, in a form that is equal for equal ones")
    archive: str = Field(description="the archive of the whole result, or empty")


class Notes(BaseModel):
    """What the tools of a session have found."""

    current_query: str
    known_chapters: Sequence[str]
    structures: dict[str, Any] = Field(description="the cached structures by document")
    structure_calls: dict[str, StructureCall] = Field(description="by document")
    chunks: tuple[ContentChunk, ...]
    found_text: str = Field(description="what was found, as a prompt shows it")
    structure_hint: str = Field(description="which structures are known, as a prompt shows it")


class ProcessedResult(BaseModel):
    """What to show of a tool result: itself, or a placeholder once it is archived."""

    result: Any
    is_archived: bool


class Offer(BaseModel):
    """What is known of a tool call before it is made."""

    kind: Literal["hint", "cached", "earlier"]
    document: str | None = None
    text: str | None = None
    result: Any = None
    archive: Archive | None = None
    age_seconds: float | None = None


class KnownResult(BaseModel):
    """What is known of a tool call before it is made; null if nothing is."""

    offer: Offer | None


class Offers(BaseModel):
    """What is known of this turn's tool calls, by their ids."""

    items: dict[str, Offer]


class NewChunk(Body):
    """A piece of content to note."""

    model_config = described(
        {"content": "The limit is 30 days", "source": "manual p. 12", "relevance_score": 0.9}
    )

    content: str
    source: str
    relevance_score: float = 0.8
    chunk_type: ChunkType = "search_result"
    metadata: dict[str, Any] = Field(default={})


class NewStructure(Body):
    """The structure of a document, such as its table of contents."""

    model_config = described({"structure": [{"title": "1 Scope"}, {"title": "2 Terms"}]})

    structure: dict[str, Any] | list[Any]


class AllNotes(Body):
    """All notes of a session."""

    model_config = described({"known_chapters": ["1 Scope"], "chunks": []})

    current_query: str = ""
    known_chapters: list[str] = Field(default=[])
    structures: dict[str, Any] = Field(default={}, description="by document")
    chunks: list[NewChunk] = Field(default=[])


class ScratchpadDecisionBody(Body):
    """A decision and its reason."""

    model_config = described({"what": "Use SQLite", "why": "one machine"})

    what: str
    why: str = ""


class ScratchpadNews(Body):
    """Changes of the scratchpad; omitted fields stay unchanged."""

    model_config = described({"current_goal": "Book the trip", "sub_goals": ["find a flight"]})

    current_goal: str | None = None
    sub_goals: list[str] = Field(default=[])
    completed: list[str] = Field(default=[])
    current_step: str | None = None
    decisions: list[ScratchpadDecisionBody] = Field(default=[])
    blockers: list[str] = Field(default=[])
    unblocked: list[str] = Field(default=[])


class GivenResult(Body):
    """What a tool gave."""

    model_config = described({"tool": "search", "input": {"q": "tea"}, "result": "…"})

    tool: str
    input: Any = None
    result: Any
    thread: str | None = None
    question: str = Field(default="", description="the purpose of the call")
    call_id: str | None = Field(
        default=None, description="the call's id in a conversation that is synced"
    )
    failed: bool = Field(default=False, description="a failed result is not noted")


class WantedCall(Body):
    """A tool call that an agent is about to make."""

    model_config = described({"tool": "get_toc", "input": {"reg_id": "angui_2024"}})

    tool: str
    input: Any = None


class ArchivesToOpen(Body):
    """Messages and the archives to open in them."""

    model_config = described({"messages": [{"role": "tool", "content": "…"}], "load": ["arc_…"]})

    messages: list[dict[str, Any]]
    load: Several[str] = Field(default=[])
    query: str | None = Field(default=None, description="only the passages about it")


class ArchivesToClose(Body):
    """Messages whose archives are to be closed."""

    model_config = described({"messages": [{"role": "tool", "content": "…"}]})

    messages: list[dict[str, Any]]


@router.post(
    "",
    status_code=201,
)
async def open_session(
    memory: CallersMemory, sessions: SessionsInUse, response: Response, body: NewSession
) -> SessionStatus:
    """Open a new or an existing session.

    The server may forget the model; name it again after a break.
    """
    async with sessions.use(memory, body.id, **body.arguments("id")) as session:
        response.headers["Location"] = f"/v1/sessions/{quote(session.id, safe='')}"
        return await _status(session)


@router.get("/{session_id}", responses=problems(404))
@Operation("GET", "/v1/sessions/{session_id}", "session_status", Role.READER)
async def session_status(
    memory: CallersMemory, sessions: SessionsInUse, session_id: str
) -> SessionStatus:
    """Return the state of a session's window: tokens, budget and level of compression."""
    is_open = sessions.has(memory, session_id)
    async with sessions.use(memory, session_id) as session:
        if not is_open and not session.usage.messages:
            raise NotFound(
                f"There is no session {session_id!r} in {memory.caller_scope.key}",
                code="unknown_session",
                hint="POST /v1/sessions opens one; it is stored with its first message.",
            )
        return await _status(session)


@router.post("/{session_id}/observe", status_code=201, responses=problems(404, 409, 413))
async def observe_in_session(session: CallersSession, body: Said) -> Items[Turn]:
    """Store new messages of a session: all or none."""
    return Items(items=await session.observe(said(body.messages), task=body.task))


@router.post("/{session_id}/prepare", responses=problems(404, 413))
async def prepare_session(session: CallersSession, body: Wanted) -> Prepared:
    """Return the messages to send to the model; the stored history is unchanged."""
    prepared = await session.prepare(
        body.query,
        load=body.load,
        format=body.format,
        with_notes=body.with_notes,
        with_scratchpad=body.with_scratchpad,
        with_guide=body.with_guide,
    )
    is_anthropic = isinstance(prepared, AnthropicMessages)
    messages: Any = prepared.messages if is_anthropic else prepared
    return Prepared(
        format=body.format,
        system=prepared.system if is_anthropic else None,
        messages=as_json(messages)["items"],
        usage=session.usage,
    )


@router.post("/{session_id}/sync", responses=problems(404, 409, 413))
async def sync_session(session: CallersSession, body: History) -> Synced:
    """Synchronise a framework's history: store what is new, mark what was withdrawn."""
    return await session.sync(said(body.messages), task=body.task)


@router.post("/{session_id}/plan", responses=problems(404, 413))
async def plan_session(session: CallersSession, body: PlanWanted) -> PlannedSession:
    """Return the edits of a framework's history before a model call, by index."""
    plan = await session.plan(said(body.messages), **body.arguments("messages"))
    return PlannedSession(
        edits=[_edit(edit) for edit in plan.edits],
        system=plan.system,
        degraded=plan.degraded,
        usage=session.usage,
    )


@router.get("/{session_id}/summaries", responses=problems(404))
@Operation("GET", "/v1/sessions/{session_id}/summaries", "session_summaries", Role.READER)
async def session_summaries(session: CallersSession) -> Items[Summary]:
    """List the summaries in the window, in order."""
    return Items(items=session.summaries)


@router.get("/{session_id}/summaries/{summary_id}/turns", responses=problems(404))
async def expand_summary(page: Paged, session: CallersSession, summary_id: str) -> Page[Turn]:
    """List the turns that a summary covers."""
    turns = await session.expand(summary_id)
    return page_of(turns, page, lambda it: it.id)


@router.get("/{session_id}/offers", responses=problems(404))
@Operation("GET", "/v1/sessions/{session_id}/offers", "session_offers", Role.READER)
async def session_offers(session: CallersSession) -> Offers:
    """Return what is known about this turn's tool calls before they are made."""
    return Offers(items={call: _offer(it) for call, it in session.offers.items()})


@router.get("/{session_id}/notes", responses=problems(404))
@Operation("GET", "/v1/sessions/{session_id}/notes", "session_notes", Role.READER)
async def session_notes(session: CallersSession) -> Notes:
    """Return the notes of a session."""
    return _notes(session)


@router.put("/{session_id}/notes", responses=problems(404, 413))
async def replace_notes(session: CallersSession, body: AllNotes) -> Notes:
    """Replace the notes of a session."""
    known = {it["document"]: it for it in session.notes.dump()["structures"]}
    session.notes.load(
        {
            "current_query": body.current_query,
            "known_chapters": body.known_chapters,
            # One that is known stays with the call that it came from.
            "structures": [
                known[name]
                if name in known and known[name]["value"] == value
                else {"document": name, "value": value}
                for name, value in body.structures.items()
            ],
            "chunks": [chunk.model_dump() for chunk in body.chunks],
        }
    )
    await session.save()
    return _notes(session)


@router.post("/{session_id}/notes/chunks", responses=problems(404, 413))
@Operation(
    "POST", "/v1/sessions/{session_id}/notes/chunks", "add_note", Role.WRITER, repeat="repeatable"
)
async def add_note(session: CallersSession, body: NewChunk) -> Notes:
    """Note a piece of content if it is relevant enough; the least relevant one is dropped."""
    session.notes.add_chunk(ContentChunk(**body.model_dump()))
    await session.save()
    return _notes(session)


@router.put("/{session_id}/notes/structures/{document}", responses=problems(404, 413))
@Operation(
    "PUT",
    "/v1/sessions/{session_id}/notes/structures/{document}",
    "note_structure",
    Role.WRITER,
    repeat="repeatable",
)
async def note_structure(session: CallersSession, document: str, body: NewStructure) -> Notes:
    """Note the structure of a document, so that it is not fetched again."""
    session.notes.cache_toc(document, body.structure)
    await session.save()
    return _notes(session)


@router.delete("/{session_id}/notes", responses=problems(404))
@Operation(
    "DELETE", "/v1/sessions/{session_id}/notes", "clear_notes", Role.WRITER, repeat="repeatable"
)
async def clear_notes(session: CallersSession, what: Literal["query", "all"] = "all") -> Notes:
    """Clear the notes: all of them, or only those of the current question."""
    if what == "query":
        session.notes.clear_query_context()
    else:
        session.notes.reset()
    await session.save()
    return _notes(session)


@router.get("/{session_id}/scratchpad", responses=problems(404))
async def get_scratchpad(session: CallersSession) -> Scratchpad:
    """Return the scratchpad of a session."""
    return await session.scratchpad.read()


@router.patch("/{session_id}/scratchpad", responses=problems(404, 413))
async def update_scratchpad(session: CallersSession, body: ScratchpadNews) -> Scratchpad:
    """Update the scratchpad; omitted fields stay unchanged."""
    return await session.scratchpad.update(decoded(ScratchpadUpdate, body.model_dump()))


@router.delete("/{session_id}/scratchpad", status_code=204, responses=problems(404))
async def clear_scratchpad(session: CallersSession) -> None:
    """Clear the scratchpad at the end of a task."""
    await session.scratchpad.clear()


@router.post("/{session_id}/tool-results", responses=problems(404, 413))
async def process_tool_result(session: CallersSession, body: GivenResult) -> ProcessedResult:
    """Note a tool result and archive it if it is large; return what to show of it."""
    shown = await session.process_tool_result(
        body.tool, body.input, **body.arguments("tool", "input")
    )
    return ProcessedResult(result=shown, is_archived=shown != body.result)


@router.post("/{session_id}/tool-results/known", responses=problems(404, 413))
async def find_known_result(session: CallersSession, body: WantedCall) -> KnownResult:
    """Return what the notes know about a call before it is made."""
    known = await session.known_result(body.tool, body.input)
    return KnownResult(offer=None if known is None else _offer(known))


@router.post("/{session_id}/archives/open", responses=problems(404, 413))
async def open_archives(session: CallersSession, body: ArchivesToOpen) -> Items[Mapping[str, Any]]:
    """Open some archives in a list of messages and close all others."""
    return Items(items=await session.archive.prepare_context(body.messages, body.load, body.query))


@router.post("/{session_id}/archives/close", responses=problems(404, 413))
async def close_archives(
    session: CallersSession, body: ArchivesToClose
) -> Items[Mapping[str, Any]]:
    """Restore the placeholders of all archives in a list of messages, for the next turn."""
    return Items(items=await session.archive.restore_placeholders(body.messages))


@router.post("/{session_id}/settle", responses=problems(404))
async def settle_session(session: CallersSession) -> SessionStatus:
    """Wait for background compression to finish."""
    await session.settle()
    return await _status(session)


@router.post("/{session_id}/leave", responses=problems(404))
async def leave_session(session: CallersSession) -> Pending:
    """Leave a session: extract what was said now; it can be continued later."""
    return await session.close()


@router.post("/{session_id}/end", responses=problems(404))
async def end_session(session: CallersSession) -> Pending:
    """End a session: clear its notes and scratchpad, keep and extract what was said."""
    return await session.end()


async def _status(session: Session) -> SessionStatus:
    if session.usage.messages and not session.usage.window_messages:
        # Nobody has prepared it since it was opened; how full it is shows when it is.
        await session.prepare()
    return SessionStatus(id=session.id, scope=session.scope, usage=session.usage)


def _notes(session: Session) -> Notes:
    notes = session.notes
    return Notes(
        current_query=notes.current_query,
        known_chapters=notes.known_chapters,
        structures=notes.toc_cache,
        structure_calls={
            it["document"]: StructureCall.model_validate(it) for it in notes.dump()["structures"]
        },
        chunks=notes.relevant_chunks,
        found_text=notes.get_memory_context(),
        structure_hint=notes.get_toc_cache_hint(),
    )


def _offer(offer: known_offers.Offer) -> Offer:
    match offer:
        case Hint():
            return Offer(kind="hint", document=offer.document, text=offer.text)
        case Cached():
            return Offer(kind="cached", document=offer.document, result=offer.result)
        case EarlierResult():
            age = offer.age.total_seconds()
            return Offer(kind="earlier", archive=offer.archive, age_seconds=age)


def _edit(edit: Edit) -> PlannedEdit:
    match edit:
        case Keep(index=index):
            return PlannedEdit(kind="keep", index=index)
        case Drop(index=index):
            return PlannedEdit(kind="drop", index=index)
        case Replace(index=index, message=message):
            return PlannedEdit(kind="replace", index=index, message=as_json(message))
        case Insert(before=index, message=message):
            return PlannedEdit(kind="insert", index=index, message=as_json(message))
