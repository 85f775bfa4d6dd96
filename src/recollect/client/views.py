"""The views of a remote memory: shared, upkeep, audit, archives, jobs, keys and the workspace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import timedelta
from typing import Any, BinaryIO, Final, TypeVar

from recollect.client.connection import Connection, at, decoded
from recollect.client.remote import Remote
from recollect.domain.access import Agent
from recollect.domain.archive import Archive, ContentRange, EarlierResult, ToolResult
from recollect.domain.context import TONGUES, Tongue, checked_choice
from recollect.domain.document import DEFAULT_COLLECTION, Document
from recollect.domain.item import ItemDraft
from recollect.domain.job import Progress
from recollect.domain.operation import Operation
from recollect.domain.scope import Scope
from recollect.domain.views import as_json
from recollect.memory.administration import Agents, ApiKeys, BackgroundJobs
from recollect.memory.archives import ToolArchives
from recollect.memory.audit import AuditTrail
from recollect.memory.items import Items
from recollect.memory.knowledge import KnowledgeDocuments, as_file
from recollect.memory.shared import SharedMemory
from recollect.memory.upkeep import Upkeep
from recollect.memory.workspace import WorkspaceView
from recollect.tools import SPECS, Toolbox
from recollect.tools.toolbox import as_mapping

T = TypeVar("T")
_POLL_SECONDS: Final = 0.5
_PIECE: Final = 1 << 20


class ScopedRemote(Remote):
    """A view of one scope of a remote memory."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        super().__init__(connection, scope)
        self._scope = scope


class RemoteShared(ScopedRemote, SharedMemory):
    """What all agents of the workspace know."""

    def _wire(self, operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
        return {"status": "any", **given} if operation.name == "list_proposals" else given


class RemoteUpkeep(ScopedRemote, Upkeep):
    """How memory is kept in order."""


class RemoteAudit(ScopedRemote, AuditTrail):
    """Who wrote, read and changed what, and why."""


class RemoteArchives(ScopedRemote, ToolArchives):
    """The large tool results that were put away."""

    async def load(
        self, archive_id: str, query: str | None = None, range: ContentRange | str | None = None
    ) -> ToolResult:
        path = at("archives", archive_id, "content")
        asked = {"query": query, "range": spelled_range(range)}
        async with self._connection.download(path, self._scope, asked) as response:
            data = await response.aread()
            match response.headers["content-type"].partition(";")[0]:
                case "application/octet-stream":
                    return data
                case "application/json":
                    return response.json()
                case _:
                    return data.decode("utf-8", "surrogatepass")

    async def find_earlier(self, tool: str, input: object) -> EarlierResult | None:
        body = {"tool": tool, "input": input}
        return earlier_result(await self._ask("POST", at("archives", "earlier"), body=body))


class RemoteJobs(ScopedRemote, BackgroundJobs):
    """What is done in the background."""


class RemoteAgents(Remote, Agents):
    """How agents are set up on the server."""

    async def move(
        self,
        name: str,
        to: str | None = None,
        *,
        backend: str | None = None,
        url: str | None = None,
        password_env: str | None = None,
        sqlite_path: str | None = None,
        background: bool = False,
        progress: Progress | None = None,
    ) -> Agent:
        body = {
            "store": to,
            "backend": backend,
            "url": url,
            "password_env": password_env,
            "sqlite_path": sqlite_path,
        }
        agent = decoded(Agent, await self._ask("POST", at("agents", name, "move"), body=body))
        while not background and agent.move is not None and agent.move.state == "copying":
            if progress is not None:
                progress(agent.move.done, agent.move.total)
            await asyncio.sleep(_POLL_SECONDS)
            agent = await self.get(name)
        return agent


class RemoteKeys(Remote, ApiKeys):
    """The keys that open the server."""


class RemoteWorkspace(ScopedRemote, WorkspaceView):
    """Who and what is in the whole workspace."""

    def _wire(self, operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
        # They narrow what is asked for, and are not those of the scope.
        return {"agent": None, "user": None, **given}


def earlier_result(told: dict[str, Any]) -> EarlierResult | None:
    """What the same call gave before, as the server tells it."""
    if told["archive"] is None:
        return None
    age = timedelta(seconds=told["age_seconds"])
    return EarlierResult(archive=decoded(Archive, told["archive"]), age=age)


def spelled_range(range: ContentRange | str | None) -> str | None:
    """A range as an address has it."""
    if not isinstance(range, ContentRange):
        return range
    unit = "chars" if range.unit == "characters" else "lines"
    return f"{unit} {range.first}-{range.last}"


# --- The memory tools for a model, called on a server ---------------------------------------------


class RemoteToolbox(Toolbox):
    """The tools of one caller; what they do is done on the server."""

    def __init__(
        self,
        connection: Connection,
        scope: Scope,
        session: str,
        language: Tongue,
        *,
        is_enabled: bool,
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._session = session
        self._language = checked_choice(language, TONGUES)
        # What is left out of a call is as the server's settings say.
        self._defaults: Mapping[str, int | float] = {}
        self._specs = {spec.name: spec for spec in SPECS} if is_enabled else {}

    async def run(self, name: str, arguments: Mapping[str, Any] | str = "") -> Any:
        """The result of a call as a value, and errors raised."""
        told = await self._connection.ask(
            "POST",
            at("tools", self._spec(name).name),
            self._scope,
            query={"language": self._language, "session": self._session},
            body=as_mapping(arguments),
        )
        return told["result"]


# --- The items of a remote memory -----------------------------------------------------------------


class RemoteItems(ScopedRemote, Items):
    """The items of one scope on a server."""

    def _wire(self, operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
        match operation.name:
            case "write_items":
                put = [_given(draft) for draft in given["put"]]
                removed = [{"namespace": [*names], "key": key} for names, key in given["removed"]]
                return {"put": put, "removed": removed}
            case "search_items":
                return {"where": {}, **given}
            case _:
                return given

    async def _result(self, operation: Operation, kind: type[T], told: Any) -> T:
        return await super()._result(operation, kind, self._complete(told))

    def _complete(self, told: Any) -> Any:
        """Add to each item what the server leaves out or writes as a number."""
        match told:
            case {"item": item, "score": score}:
                return {"item": self._complete(item), "score": score}
            case {"ttl": ttl}:
                lasting = None if ttl is None else timedelta(seconds=ttl)
                return {**told, "scope": as_json(self._scope), "ttl": lasting}
            case [*several]:
                return [self._complete(each) for each in several]
            case _:
                return told


def _given(draft: ItemDraft) -> dict[str, Any]:
    return {
        "namespace": [*draft.namespace],
        "key": draft.key,
        "value": draft.value,
        "ttl": None if draft.ttl is None else draft.ttl.total_seconds(),
        "texts": draft.texts,
        "vectors": draft.vectors,
    }


# --- The documents of a remote memory -------------------------------------------------------------


class RemoteKnowledge(ScopedRemote, KnowledgeDocuments):
    """Documents that an agent can rely on."""

    @property
    def _owner(self) -> Scope:
        return self._scope

    async def add(
        self,
        content: bytes | str | BinaryIO,
        source: str,
        *,
        collection: str = DEFAULT_COLLECTION,
        title: str = "",
        tags: Iterable[str] = (),
        wait: bool = True,
        progress: Progress | None = None,
    ) -> Document:
        query = {"source": source, "collection": collection, "title": title}
        query |= {"tag": list(tags), "wait": wait}
        answer = await self._connection.upload(
            at("knowledge", "documents"), self._scope, query, _pieces(as_file(content))
        )
        return decoded(Document, answer)

    async def original(self, document_id: str) -> bytes:
        path = at("knowledge", "documents", document_id, "original")
        async with self._connection.download(path, self._scope) as response:
            return await response.aread()


async def _pieces(content: BinaryIO) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(content.read, _PIECE):
        yield piece
