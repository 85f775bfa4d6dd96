"""A session on a server: its window is kept there, what it told last is kept here."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from recollect.client.connection import Connection, at, decoded
from recollect.client.views import RemoteArchives, ScopedRemote, earlier_result, spelled_range
from recollect.context.anthropic_messages import AnthropicMessages
from recollect.context.archives.manager import ToolResultManager
from recollect.context.edits import AnyMessage, Drop, Edit, Insert, Keep, Replace
from recollect.context.history import SessionPlan
from recollect.context.message_formats import Format, GivenMessage
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
from recollect.domain.notes import Cached, Hint, ScratchpadUpdate
from recollect.domain.operation import Operation
from recollect.domain.scope import Scope
from recollect.domain.sections import ArchiveSettings
from recollect.domain.summary import SegmentSummary, SessionDigest, Summary
from recollect.domain.turn import Turn
from recollect.domain.views import as_json
from recollect.domain.write import Pending

T = TypeVar("T")
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


class RemoteSession(ScopedRemote, Session):
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
        super().__init__(connection, scope)
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
        said = [it for message in given for it in _as_mappings(message)]
        path = at("sessions", self._id, "observe")
        told = await self._ask("POST", path, body={"messages": said, "task": task})
        has_calls = any(it.get("tool_calls") or isinstance(it.get("content"), list) for it in said)
        self._told_offers = _offers(await self._own("GET", "offers")) if has_calls else {}
        await self._read_notes()
        return tuple(decoded(Turn, it) for it in told["items"])

    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Format = "openai",
        with_notes: bool = True,
        with_scratchpad: bool = False,
        with_guide: bool | None = None,
    ) -> Any:
        body = {
            "query": query,
            "load": load,
            "format": format,
            "with_notes": with_notes,
            "with_scratchpad": with_scratchpad,
            "with_guide": with_guide,
        }
        told = await self._ask("POST", at("sessions", self._id, "prepare"), body=body)
        self._usage = decoded(SessionUsage, told["usage"])
        await self._read_summaries()
        match format:
            case "anthropic":
                return AnthropicMessages(system=told["system"], messages=told["messages"])
            case "neutral":
                return tuple(decoded(Message, it) for it in told["messages"])
            case _:
                return told["messages"]

    async def expand(self, summary: Summary | str) -> tuple[Turn, ...]:
        await self._begin()
        name = summary.id if isinstance(summary, Summary) else summary
        path = at("sessions", self._id, "summaries", name, "turns")
        return await self._connection.all_pages(Turn, path, self._scope)

    async def settle(self) -> None:
        await self._begin()
        self._take(await self._own("POST", "settle", patient=True))
        await self._read_summaries()

    async def refresh(self) -> None:
        self._is_open = False
        await self._begin()

    async def save(self) -> None:
        await self._begin()
        if (noted := self._notes.dump()) != self._noted:
            structures = {it["document"]: it["value"] for it in noted["structures"]}
            await self._own("PUT", "notes", body={**noted, "structures": structures})
            self._noted = noted

    async def close(self) -> Pending:
        if self._is_open and not self._is_over:
            await self.save()
            self._pending = decoded(Pending, await self._own("POST", "leave"))
        return self._pending

    async def discard(self) -> None:
        self._notes.reset()
        self._is_over = True

    async def end(self) -> Pending:
        await self._begin()
        self._pending = decoded(Pending, await self._own("POST", "end"))
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
        told = await self._own("GET", "notes")
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
        told = await self._own("GET", "summaries")
        self._told_summaries = tuple(_summary(it) for it in told["items"])

    def _wire(self, operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
        if "messages" in given:
            given["messages"] = [
                it for message in given["messages"] for it in _as_mappings(message)
            ]
        return {**given, "session_id": self._id}

    async def _ask(self, method: str, path: str, **given: Any) -> Any:
        """Ask a session that is open and knows what was noted here."""
        await self._begin()
        await self.save()
        return await super()._ask(method, path, **given)

    async def _result(self, operation: Operation, kind: type[T], told: Any) -> T:
        if operation.name == "find_known_result":
            return cast("T", None if told is None else _offer(told))
        await self._read_notes()
        match operation.name:
            case "process_tool_result":
                return told
            case "plan_session":
                self._usage = decoded(SessionUsage, told["usage"])
                edits = tuple(_edit(it) for it in told["edits"])
                degraded = tuple(told["degraded"])
                return cast("T", SessionPlan(edits=edits, system=told["system"], degraded=degraded))
            case _:
                return await super()._result(operation, kind, told)

    async def _own(self, method: str, what: str, **given: Any) -> Any:
        """Ask without sending what was noted."""
        return await super()._ask(method, at("sessions", self._id, what), **given)


class RemoteScratchpad(ScopedRemote, SessionScratchpad):
    """The scratchpad of one session."""

    def __init__(self, connection: Connection, scope: Scope, session: str) -> None:
        super().__init__(connection, scope)
        self._session = session

    def _wire(self, operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
        changes = as_json(given["update"]) if "update" in given else {}
        return {**changes, "session_id": self._session}

    async def touch(self) -> None:
        await self.update(ScratchpadUpdate())


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
        archives = RemoteArchives(self._connection, self._scope)
        return await archives.find_earlier(tool_name, tool_input)

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
