"""A session on a server: its window is kept there, what it told last is kept here."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast, overload

from recollect.client.connection import Connection, at, decoded
from recollect.client.views import RemoteArchives, earlier_result, spelled_range
from recollect.context.anthropic_messages import AnthropicMessages
from recollect.context.archives.manager import ToolResultManager
from recollect.context.edits import AnyMessage, Drop, Edit, Insert, Keep, Replace
from recollect.context.history import SessionPlan, Synced
from recollect.context.message_formats import Format, GivenMessage, Prepared
from recollect.context.notes import SessionNotes
from recollect.context.offers import Offer
from recollect.context.openai_messages import to_openai
from recollect.context.scratchpad import SessionScratchpad
from recollect.context.session import Session
from recollect.domain.archive import ContentRange, EarlierResult, ToolResult
from recollect.domain.context import SessionUsage
from recollect.domain.fields import MAX_LABEL, checked_items, checked_text
from recollect.domain.ids import new_id
from recollect.domain.message import Message
from recollect.domain.notes import Cached, Hint, Scratchpad, ScratchpadUpdate
from recollect.domain.scope import Scope
from recollect.domain.sections import ArchiveSettings
from recollect.domain.summary import SegmentSummary, SessionDigest, Summary
from recollect.domain.turn import Turn
from recollect.domain.write import Pending

_UNUSED = SessionUsage(
    messages=0,
    window_messages=0,
    window_tokens=0,
    budget_tokens=0,
    saved_tokens=0,
    level=0,
    pending=False,
    archived=0,
    degraded=(),
)


class RemoteSession(Session):
    """One conversation of one caller, on a server.

    `usage`, `summaries`, `offers` and `notes` are as the last call found them. What is noted here
    reaches the server with the next call.
    """

    def __init__(
        self,
        connection: Connection,
        scope: Scope,
        id: str | None,
        model: str | None,
        context_tokens: int | None,
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._id = checked_text(new_id("sess") if id is None else id, "session", MAX_LABEL)
        self._wanted = {"id": self._id, "model": model, "context_tokens": context_tokens}
        self._is_open = False
        self._is_over = False
        self._usage = _UNUSED
        self._pending = Pending()
        self._told_summaries: tuple[Summary, ...] = ()
        self._told_offers: Mapping[str, Offer] = {}
        self._notes = SessionNotes()
        # What of the notes the server knows.
        self._noted = self._notes.dump()

    def __await__(self) -> Generator[Any, None, Session]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Session:
        await self._begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def scope(self) -> Scope:
        return self._scope

    @property
    def scratchpad(self) -> SessionScratchpad:
        return RemoteScratchpad(self._connection, self._scope, self._id)

    @property
    def archive(self) -> ToolResultManager:
        return RemoteToolResults(self._connection, self._scope, self._id)

    @property
    def offers(self) -> Mapping[str, Offer]:
        return self._told_offers

    @property
    def summaries(self) -> tuple[Summary, ...]:
        return self._told_summaries

    @property
    def usage(self) -> SessionUsage:
        return self._usage

    async def observe(
        self, messages: GivenMessage | Iterable[GivenMessage], *, task: str | None = None
    ) -> tuple[Turn, ...]:
        is_one = isinstance(messages, Message | Mapping)
        given = [cast("GivenMessage", messages)] if is_one else checked_items(messages, "messages")
        if not given:
            return ()
        await self._begin()
        await self.save()
        said = [it for message in given for it in _as_mappings(message)]
        told = await self._ask("POST", "observe", body={"messages": said, "task": task})
        has_calls = any(it.get("tool_calls") or isinstance(it.get("content"), list) for it in said)
        self._told_offers = _offers(await self._ask("GET", "offers")) if has_calls else {}
        await self._read_notes()
        return tuple(decoded(Turn, it) for it in told["items"])

    @overload
    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Literal["openai"] = "openai",
        with_notes: bool = True,
        with_scratchpad: bool = False,
        with_guide: bool | None = None,
    ) -> list[dict[str, Any]]: ...

    @overload
    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Literal["anthropic"],
        with_notes: bool = True,
        with_scratchpad: bool = False,
        with_guide: bool | None = None,
    ) -> AnthropicMessages: ...

    @overload
    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Literal["neutral"],
        with_notes: bool = True,
        with_scratchpad: bool = False,
        with_guide: bool | None = None,
    ) -> tuple[Message, ...]: ...

    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Format = "openai",
        with_notes: bool = True,
        with_scratchpad: bool = False,
        with_guide: bool | None = None,
    ) -> Prepared:
        await self._begin()
        await self.save()
        body = {
            "query": query,
            "load": load,
            "format": format,
            "with_notes": with_notes,
            "with_scratchpad": with_scratchpad,
            "with_guide": with_guide,
        }
        told = await self._ask("POST", "prepare", body=body)
        self._usage = decoded(SessionUsage, told["usage"])
        await self._read_summaries()
        match format:
            case "anthropic":
                return AnthropicMessages(system=told["system"], messages=told["messages"])
            case "neutral":
                return tuple(decoded(Message, it) for it in told["messages"])
            case _:
                return told["messages"]

    async def process_tool_result(
        self,
        tool: str,
        arguments: object,
        result: ToolResult,
        *,
        thread: str | None = None,
        question: str = "",
        call_id: str | None = None,
        failed: bool = False,
    ) -> ToolResult:
        await self._begin()
        await self.save()
        body = {
            "tool": tool,
            "input": arguments,
            "result": result,
            "thread": thread,
            "question": question,
            "call_id": call_id,
            "failed": failed,
        }
        told = await self._ask("POST", "tool-results", body=body)
        await self._read_notes()
        return told["result"]

    async def known_result(self, tool: str, arguments: object) -> Hint | Cached | None:
        await self._begin()
        await self.save()
        path = at("sessions", self._id, "tool-results", "known")
        body = {"tool": tool, "input": arguments}
        offer = (await self._connection.ask("POST", path, self._scope, body=body))["offer"]
        return None if offer is None else cast("Hint | Cached", _offer(offer))

    async def sync(self, messages: Iterable[GivenMessage], *, task: str | None = None) -> Synced:
        await self._begin()
        await self.save()
        said = [it for message in messages for it in _as_mappings(message)]
        told = await self._ask("POST", "sync", body={"messages": said, "task": task})
        await self._read_notes()
        return decoded(Synced, told)

    async def plan(
        self,
        messages: Iterable[GivenMessage],
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        with_notes: bool = True,
        with_scratchpad: bool = False,
        with_guide: bool | None = None,
    ) -> SessionPlan:
        await self._begin()
        await self.save()
        body = {
            "messages": [it for message in messages for it in _as_mappings(message)],
            "query": query,
            "load": load,
            "with_notes": with_notes,
            "with_scratchpad": with_scratchpad,
            "with_guide": with_guide,
        }
        told = await self._ask("POST", "plan", body=body)
        self._usage = decoded(SessionUsage, told["usage"])
        await self._read_notes()
        return SessionPlan(
            edits=tuple(_edit(it) for it in told["edits"]),
            system=told["system"],
            degraded=tuple(told["degraded"]),
        )

    async def expand(self, summary: Summary | str) -> tuple[Turn, ...]:
        await self._begin()
        name = summary.id if isinstance(summary, Summary) else summary
        path = at("sessions", self._id, "summaries", name, "turns")
        return await self._connection.all_pages(Turn, path, self._scope)

    async def settle(self) -> None:
        await self._begin()
        self._take(await self._ask("POST", "settle", patient=True))
        await self._read_summaries()

    async def refresh(self) -> None:
        self._is_open = False
        await self._begin()

    async def save(self) -> None:
        await self._begin()
        if (noted := self._notes.dump()) != self._noted:
            structures = {it["document"]: it["value"] for it in noted["structures"]}
            await self._ask("PUT", "notes", body={**noted, "structures": structures})
            self._noted = noted

    async def close(self) -> Pending:
        if self._is_open and not self._is_over:
            await self.save()
            self._pending = decoded(Pending, await self._ask("POST", "leave"))
        return self._pending

    async def discard(self) -> None:
        self._notes.reset()
        self._is_over = True

    async def end(self) -> Pending:
        await self._begin()
        self._pending = decoded(Pending, await self._ask("POST", "end"))
        self._notes.reset()
        self._is_over = True
        return self._pending

    async def _begin(self) -> None:
        """Open it on the server, if that was not done yet."""
        if self._is_open:
            return
        wanted = {name: it for name, it in self._wanted.items() if it is not None}
        told = await self._connection.ask("POST", at("sessions"), self._scope, body=wanted)
        self._is_open = True
        self._take(told)
        # What was noted before it was open stays noted.
        if self._notes.dump() == self._noted:
            await self._read_notes()

    def _take(self, status: dict[str, Any]) -> None:
        self._usage = decoded(SessionUsage, status["usage"])

    async def _read_notes(self) -> None:
        told = await self._ask("GET", "notes")
        self._notes.load(
            {
                "current_query": told["current_query"],
                "known_chapters": told["known_chapters"],
                "structures": [
                    {"document": name, "value": value, **told["structure_calls"].get(name, {})}
                    for name, value in told["structures"].items()
                ],
                "chunks": told["chunks"],
            }
        )
        self._noted = self._notes.dump()

    async def _read_summaries(self) -> None:
        told = await self._ask("GET", "summaries")
        self._told_summaries = tuple(_summary(it) for it in told["items"])

    async def _ask(self, method: str, what: str, **given: Any) -> Any:
        path = at("sessions", self._id, what)
        return await self._connection.ask(method, path, self._scope, **given)


class RemoteScratchpad(SessionScratchpad):
    """The scratchpad of one session."""

    def __init__(self, connection: Connection, scope: Scope, session: str) -> None:
        self._connection = connection
        self._scope = scope
        self._path = at("sessions", session, "scratchpad")

    async def read(self) -> Scratchpad:
        return decoded(Scratchpad, await self._connection.ask("GET", self._path, self._scope))

    async def update(self, update: ScratchpadUpdate) -> Scratchpad:
        told = await self._connection.ask("PATCH", self._path, self._scope, body=update)
        return decoded(Scratchpad, told)

    async def touch(self) -> None:
        await self.update(ScratchpadUpdate())

    async def clear(self) -> None:
        await self._connection.ask("DELETE", self._path, self._scope)


class RemoteToolResults(ToolResultManager):
    """The archived tool results of a caller, put away by this session."""

    def __init__(self, connection: Connection, scope: Scope, session: str) -> None:
        self._connection = connection
        self._scope = scope
        self._session = session
        # Only for what is told of an archive here; what is archived is the server's decision.
        self._settings = ArchiveSettings()

    async def process_tool_result(
        self,
        tool_name: str,
        tool_input: object,
        result: ToolResult,
        conversation_id: str,
        thread_id: str | None = None,
        *,
        question: str = "",
    ) -> ToolResult:
        body = {
            "tool": tool_name,
            "input": tool_input,
            "result": result,
            "thread": thread_id,
            "question": question,
        }
        path = at("sessions", conversation_id, "tool-results")
        return (await self._connection.ask("POST", path, self._scope, body=body))["result"]

    async def load_tool_result(
        self, uuid: str, query: str | None = None, range: ContentRange | str | None = None
    ) -> ToolResult:
        return await RemoteArchives(self._connection, self._scope).load(uuid, query, range)

    async def load_tool_history(
        self, uuid: str, query: str | None = None, range: ContentRange | str | None = None
    ) -> str:
        asked = {"query": query, "range": spelled_range(range)}
        path = at("archives", uuid, "text")
        return (await self._connection.ask("GET", path, self._scope, query=asked))["text"]

    async def prepare_context(
        self,
        messages: Sequence[AnyMessage],
        load_uuids: Sequence[str] | None = None,
        query: str | None = None,
    ) -> list[AnyMessage]:
        body = {"messages": messages, "load": load_uuids or (), "query": query}
        return await self._changed("open", messages, body)

    async def restore_placeholders(self, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        return await self._changed("close", messages, {"messages": messages})

    async def find_earlier(self, tool_name: str, tool_input: object) -> EarlierResult | None:
        body = {"tool": tool_name, "input": tool_input}
        path = at("archives", "earlier")
        return earlier_result(await self._connection.ask("POST", path, self._scope, body=body))

    async def _changed(
        self, how: str, messages: Sequence[AnyMessage], body: dict[str, Any]
    ) -> list[AnyMessage]:
        path = at("sessions", self._session, "archives", how)
        told = await self._connection.ask("POST", path, self._scope, body=body)
        changed = [
            decoded(Message, it) if isinstance(before, Message) else it
            for before, it in zip(messages, told["items"], strict=True)
        ]
        return cast("list[AnyMessage]", changed)


def _as_mappings(message: GivenMessage) -> list[dict[str, Any]]:
    """A message as providers write it; the server reads either form."""
    if not isinstance(message, Message):
        return [dict(message)]
    written = to_openai((replace(message, id=None),))
    named = {} if message.id is None else {"id": message.id}
    return [{**written[0], **named}, *written[1:]]


def _edit(told: dict[str, Any]) -> Edit:
    match told["kind"]:
        case "keep":
            return Keep(told["index"])
        case "drop":
            return Drop(told["index"])
        case "replace":
            return Replace(told["index"], decoded(Message, told["message"]))
        case _:
            return Insert(told["index"], decoded(Message, told["message"]))


def _summary(told: dict[str, Any]) -> Summary:
    is_digest = told["id"].startswith(SessionDigest.ID_PREFIX)
    return decoded(SessionDigest if is_digest else SegmentSummary, told)


def _offers(told: dict[str, Any]) -> dict[str, Offer]:
    return {call: _offer(it) for call, it in told["items"].items()}


def _offer(told: dict[str, Any]) -> Offer:
    match told["kind"]:
        case "hint":
            return Hint(document=told["document"], text=told["text"])
        case "cached":
            return Cached(document=told["document"], result=told["result"])
        case _:
            earlier = earlier_result(told)
            assert earlier is not None
            return earlier
