"""The views of a remote memory: shared, upkeep, audit, archives, jobs, keys and the workspace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar, Unpack

from recollect.client.connection import Connection, at, decoded
from recollect.domain.access import Agent, ApiKey, NewKey
from recollect.domain.archive import Archive, ContentRange, EarlierResult, SweptArchives, ToolResult
from recollect.domain.audit import AuditEntry, AuditVerdict
from recollect.domain.change import Changes
from recollect.domain.context import TONGUES, Tongue, checked_choice
from recollect.domain.directory import (
    LabelEntry,
    NameEntry,
    RecordsFound,
    ScopeEntry,
    SessionEntry,
)
from recollect.domain.document import (
    DEFAULT_COLLECTION,
    Chunk,
    Collection,
    Document,
    DocumentStatus,
    Passages,
    Section,
    SyncedFolder,
)
from recollect.domain.fields import checked_items
from recollect.domain.filters import FilterFields
from recollect.domain.hit import Recalled
from recollect.domain.ids import new_id
from recollect.domain.injection import Replay
from recollect.domain.item import ItemDraft, ItemHit, Namespace, StoredItem
from recollect.domain.job import JobReport, JobState, Progress
from recollect.domain.page import Page
from recollect.domain.record import Record
from recollect.domain.relation import Resolution
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal
from recollect.domain.stats import Health
from recollect.domain.upkeep import Dispute, Swept
from recollect.domain.write import WritePolicy
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


class _Room:
    """A view of a remote memory: ask the server and decode what it answers."""

    _asking_scope: Scope | None = None

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def _ask(self, method: str, path: str, **given: Any) -> Any:
        return await self._connection.ask(method, path, self._asking_scope, **given)

    async def _told(self, kind: type[T], method: str, path: str, **given: Any) -> T:
        return decoded(kind, await self._ask(method, path, **given))


class _ScopedRoom(_Room):
    """A view of one scope of a remote memory."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        super().__init__(connection)
        self._asking_scope = self._scope = scope


class RemoteShared(_ScopedRoom, SharedMemory):
    """What all agents of the workspace know."""

    async def propose(
        self,
        content: str,
        type: str | None = None,
        *,
        title: str = "",
        reason: str = "",
        tags: Iterable[str] | None = None,
        confidence: float = 1.0,
        target: str | None = None,
    ) -> Proposal:
        body = {
            "content": content,
            "type": type,
            "title": title,
            "reason": reason,
            "tags": tags,
            "confidence": confidence,
            "target": target,
        }
        return await self._told(Proposal, "POST", at("proposals"), body=body)

    async def proposals(
        self,
        status: str | None = "pending",
        *,
        type: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Proposal]:
        query = {"status": status or "any", "type": type, "limit": limit, "cursor": cursor}
        return await self._told(Page[Proposal], "GET", at("proposals"), query=query)

    async def proposal(self, proposal_id: str) -> Proposal:
        return await self._told(Proposal, "GET", at("proposals", proposal_id))

    async def approve(
        self,
        proposal_id: str,
        content: str | None = None,
        *,
        title: str | None = None,
        reason: str = "",
    ) -> Proposal:
        body = {"content": content, "title": title, "reason": reason}
        return await self._decide(proposal_id, "approve", body)

    async def reject(self, proposal_id: str, reason: str) -> Proposal:
        return await self._decide(proposal_id, "reject", {"reason": reason})

    async def withdraw(self, proposal_id: str, reason: str = "") -> Proposal:
        return await self._decide(proposal_id, "withdraw", {"reason": reason})

    async def list(
        self, *, type: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[Record]:
        query = {"type": type, "limit": limit, "cursor": cursor}
        return await self._told(Page[Record], "GET", at("shared"), query=query)

    async def get(self, record_id: str) -> Record:
        return await self._told(Record, "GET", at("shared", record_id))

    async def update(
        self,
        record_id: str,
        content: str | None = None,
        *,
        title: str | None = None,
        tags: Iterable[str] | None = None,
        confidence: float | None = None,
        expected_version: int | None = None,
        reason: str = "",
    ) -> Record:
        body = {
            "content": content,
            "title": title,
            "tags": tags,
            "confidence": confidence,
            "expected_version": expected_version,
            "reason": reason,
        }
        return await self._told(Record, "PATCH", at("shared", record_id), body=body)

    async def delete(
        self, record_id: str, *, expected_version: int | None = None, reason: str = ""
    ) -> Record:
        query = {"reason": reason, "expected_version": expected_version}
        return await self._told(Record, "DELETE", at("shared", record_id), query=query)

    async def _decide(self, proposal_id: str, how: str, body: dict[str, Any]) -> Proposal:
        return await self._told(Proposal, "POST", at("proposals", proposal_id, how), body=body)


class RemoteUpkeep(_ScopedRoom, Upkeep):
    """How memory is kept in order."""

    async def health(self) -> Health:
        return await self._told(Health, "GET", at("upkeep", "health"))

    async def buffer(self) -> tuple[Record, ...]:
        return await self._connection.all_pages(Record, at("upkeep", "buffer"), self._scope)

    async def promote(self, record_id: str, *, reason: str = "") -> Record:
        path = at("upkeep", "buffer", record_id, "promote")
        return await self._told(Record, "POST", path, body={"reason": reason})

    async def conflicts(self) -> tuple[Dispute, ...]:
        return await self._connection.all_pages(Dispute, at("upkeep", "conflicts"), self._scope)

    async def resolve(
        self,
        conflict_id: str,
        resolution: Resolution,
        *,
        content: str | None = None,
        at: datetime | None = None,
        reason: str = "",
    ) -> Dispute:
        body = {"resolution": resolution, "content": content, "at": at, "reason": reason}
        path = _at("upkeep", "conflicts", conflict_id, "resolve")
        return await self._told(Dispute, "POST", path, body=body)

    async def quarantined(self, *, limit: int = 50, cursor: str | None = None) -> Page[Record]:
        query = {"limit": limit, "cursor": cursor}
        return await self._told(Page[Record], "GET", at("upkeep", "quarantine"), query=query)

    async def accept(
        self, record_id: str, content: str | None = None, *, reason: str = ""
    ) -> Record:
        path = at("upkeep", "quarantine", record_id, "accept")
        body = {"content": content, "reason": reason}
        return await self._told(Record, "POST", path, body=body)

    async def reject(self, record_id: str, reason: str = "") -> Record:
        path = at("upkeep", "quarantine", record_id, "reject")
        return await self._told(Record, "POST", path, body={"reason": reason})

    async def expire(self, *, dry_run: bool = False) -> Swept:
        return await self._sweep("expire", {"dry_run": dry_run})

    async def retain(self, *, dry_run: bool = False) -> Swept:
        return await self._sweep("retain", {"dry_run": dry_run})

    async def sweep(self, *, dry_run: bool = False, all_scopes: bool = False) -> Swept:
        return await self._sweep("sweep", {"dry_run": dry_run, "all_scopes": all_scopes})

    async def _sweep(self, how: str, body: dict[str, Any]) -> Swept:
        return await self._told(Swept, "POST", at("upkeep", how), body=body, patient=True)


class RemoteAudit(_ScopedRoom, AuditTrail):
    """Who wrote, read and changed what, and why."""

    async def tail(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        action: str | None = None,
        target: str | None = None,
    ) -> Page[AuditEntry]:
        query = {"limit": limit, "cursor": cursor, "action": action, "target": target}
        return await self._told(Page[AuditEntry], "GET", at("audit"), query=query)

    async def show(self, id: str) -> tuple[AuditEntry, ...]:
        return await self._connection.all_pages(AuditEntry, at("audit", id), self._scope)

    async def verify(self) -> AuditVerdict:
        return await self._told(AuditVerdict, "GET", at("audit", "verify"), patient=True)

    async def replay(self, recall_id: str) -> Replay:
        return await self._told(Replay, "GET", at("recalls", recall_id, "replay"))

    async def seal(self) -> int:
        return (await self._ask("POST", at("audit", "seal")))["sealed"]


class RemoteArchives(_ScopedRoom, ToolArchives):
    """The large tool results that were put away."""

    async def list(
        self,
        *,
        session: str | None = None,
        tool: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Archive]:
        query = {"session": session, "tool": tool, "limit": limit, "cursor": cursor}
        return await self._told(Page[Archive], "GET", at("archives"), query=query)

    async def get(self, archive_id: str) -> Archive:
        return await self._told(Archive, "GET", at("archives", archive_id))

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

    async def delete(self, archive_id: str) -> Archive:
        return await self._told(Archive, "DELETE", at("archives", archive_id))

    async def sweep(self, *, dry_run: bool = False) -> SweptArchives:
        body = {"dry_run": dry_run}
        return await self._told(
            SweptArchives, "POST", at("archives", "sweep"), body=body, patient=True
        )


class RemoteJobs(_ScopedRoom, BackgroundJobs):
    """What is done in the background."""

    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[JobReport]:
        query = {"state": state, "kind": kind, "limit": limit, "cursor": cursor}
        return await self._told(Page[JobReport], "GET", at("jobs"), query=query)

    async def get(self, job_id: str) -> JobReport:
        return await self._told(JobReport, "GET", at("jobs", job_id))

    async def cancel(self, job_id: str) -> JobReport:
        return await self._told(JobReport, "DELETE", at("jobs", job_id))


class RemoteAgents(_Room, Agents):
    """How agents are set up on the server."""

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[Agent]:
        query = {"limit": limit, "cursor": cursor}
        return await self._told(Page[Agent], "GET", at("agents"), query=query)

    async def get(self, name: str) -> Agent:
        return await self._told(Agent, "GET", at("agents", name))

    async def put(
        self,
        name: str,
        *,
        enabled: bool | None = None,
        store: str | None = None,
        backend: str | None = None,
        url: str | None = None,
        password_env: str | None = None,
        sqlite_path: str | None = None,
        prefetch_limit: int | None = None,
        write_policy: WritePolicy | None = None,
        role: str | None = None,
        children: Iterable[str] | None = None,
    ) -> Agent:
        body = {
            "enabled": enabled,
            "store": store,
            "backend": backend,
            "url": url,
            "password_env": password_env,
            "sqlite_path": sqlite_path,
            "prefetch_limit": prefetch_limit,
            "write_policy": write_policy,
            "role": role,
            "children": children,
        }
        return await self._told(Agent, "PUT", at("agents", name), body=body)

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
        agent = await self._told(Agent, "POST", at("agents", name, "move"), body=body)
        while not background and agent.move is not None and agent.move.state == "copying":
            if progress is not None:
                progress(agent.move.done, agent.move.total)
            await asyncio.sleep(_POLL_SECONDS)
            agent = await self.get(name)
        return agent

    async def purge_copy(self, name: str) -> int:
        return (await self._ask("DELETE", at("agents", name, "copy")))["rows"]

    async def delete(self, name: str) -> None:
        await self._ask("DELETE", at("agents", name))


class RemoteKeys(_Room, ApiKeys):
    """The keys that open the server."""

    async def create(
        self,
        name: str,
        role: str = "writer",
        *,
        workspaces: Iterable[str] = (),
        users: Iterable[str] = (),
        all_users: bool = False,
        agents: Iterable[str] = (),
        expires_at: datetime | None = None,
    ) -> NewKey:
        body = {
            "name": name,
            "role": role,
            "workspaces": workspaces,
            "users": users,
            "all_users": all_users,
            "agents": agents,
            "expires_at": expires_at,
        }
        return await self._told(NewKey, "POST", at("keys"), body=body)

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[ApiKey]:
        query = {"limit": limit, "cursor": cursor}
        return await self._told(Page[ApiKey], "GET", at("keys"), query=query)

    async def revoke(self, key_id: str) -> ApiKey:
        return await self._told(ApiKey, "DELETE", at("keys", key_id))


class RemoteWorkspace(_ScopedRoom, WorkspaceView):
    """Who and what is in the whole workspace."""

    async def scopes(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[ScopeEntry]:
        query = {"agent": agent, "user": user, "limit": limit, "cursor": cursor}
        return decoded(Page[ScopeEntry], await self._look("scopes", query))

    async def users(self, *, limit: int = 50, cursor: str | None = None) -> Page[NameEntry]:
        found = await self._look("users", {"limit": limit, "cursor": cursor})
        return decoded(Page[NameEntry], found)

    async def agents(self, *, limit: int = 50, cursor: str | None = None) -> Page[NameEntry]:
        found = await self._look("agents", {"limit": limit, "cursor": cursor})
        return decoded(Page[NameEntry], found)

    async def sessions(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[SessionEntry]:
        query = {"agent": agent, "user": user, "limit": limit, "cursor": cursor}
        return decoded(Page[SessionEntry], await self._look("sessions", query))

    async def tags(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[LabelEntry]:
        query = {"agent": agent, "user": user, "limit": limit, "cursor": cursor}
        return decoded(Page[LabelEntry], await self._look("tags", query))

    async def categories(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[LabelEntry]:
        query = {"agent": agent, "user": user, "limit": limit, "cursor": cursor}
        return decoded(Page[LabelEntry], await self._look("categories", query))

    async def records(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        facets: bool = False,
        limit: int = 50,
        cursor: str | None = None,
        **filters: Unpack[FilterFields],
    ) -> RecordsFound:
        query: dict[str, Any] = {"agent": agent, "user": user, "facets": facets}
        query |= {"limit": limit, "cursor": cursor, **filters}
        return decoded(RecordsFound, await self._look("records", query))

    async def recall(
        self,
        query: str,
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int | None = None,
        min_score: float | None = None,
        **filters: Unpack[FilterFields],
    ) -> Recalled:
        body = {"query": query, "limit": limit, "min_score": min_score, **filters}
        within = {"org": self._scope.org, "workspace": self._scope.workspace}
        found = await self._connection.ask(
            "POST",
            at("workspace", "recall"),
            None,
            query={**within, "agent": agent, "user": user},
            body=body,
        )
        return decoded(Recalled, found)

    async def health(
        self, *, agent: str | None = None, user: str | None = None, compare: bool = True
    ) -> Health:
        query = {"agent": agent, "user": user, "compare": compare}
        return decoded(Health, await self._look("health", query))

    async def conflicts(
        self, *, agent: str | None = None, user: str | None = None
    ) -> tuple[Dispute, ...]:
        disputes: list[Dispute] = []
        query: dict[str, Any] = {"agent": agent, "user": user, "limit": 100, "cursor": None}
        while True:
            found = await self._look("conflicts", query)
            disputes.extend(decoded(Dispute, dispute) for dispute in found["items"])
            query["cursor"] = found["next_cursor"]
            if query["cursor"] is None:
                return tuple(disputes)

    async def audit(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        action: str | None = None,
        about: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[AuditEntry]:
        query = {"agent": agent, "user": user, "action": action, "about": about}
        found = await self._look("audit", {**query, "limit": limit, "cursor": cursor})
        return decoded(Page[AuditEntry], found)

    async def changes(
        self, after: str | None = None, *, limit: int = 100, wait: float = 0
    ) -> Changes:
        query = {"after": after, "limit": limit, "wait": wait}
        return decoded(Changes, await self._look("changes", query))

    async def _look(self, what: str, query: dict[str, Any]) -> Any:
        within = {"org": self._scope.org, "workspace": self._scope.workspace}
        path = at("workspace", what)
        return await self._connection.ask("GET", path, None, query={**within, **query})


# Where an argument is called `at` too.
_at = at


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


class RemoteItems(_ScopedRoom, Items):
    """The items of one scope on a server."""

    async def put(
        self,
        namespace: Iterable[str],
        key: str,
        value: Mapping[str, Any],
        *,
        ttl: timedelta | None = None,
        texts: Iterable[str] | None = None,
        vectors: Sequence[Sequence[float]] | None = None,
    ) -> StoredItem:
        draft = ItemDraft(
            namespace=checked_items(namespace, "namespace"),
            key=key,
            value=value,
            ttl=ttl,
            texts=None if texts is None else checked_items(texts, "texts"),
            vectors=vectors,
        )
        (item,) = await self.write([draft])
        return item

    async def write(
        self,
        drafts: Iterable[ItemDraft] = (),
        removed: Iterable[tuple[Sequence[str], str]] = (),
    ) -> tuple[StoredItem, ...]:
        gone = [{"namespace": [*namespace], "key": key} for namespace, key in removed]
        put = [_given(draft) for draft in drafts]
        told = await self._post("write", {"put": put, "removed": gone})
        return tuple(self._item(it) for it in told["items"])

    async def get(
        self, namespace: Iterable[str], key: str, *, refresh: bool = True
    ) -> StoredItem | None:
        told = await self._post("get", {**_named(namespace), "key": key, "refresh": refresh})
        return None if told["item"] is None else self._item(told["item"])

    async def delete(self, namespace: Iterable[str], key: str) -> None:
        await self.write(removed=[(checked_items(namespace, "namespace"), key)])

    async def search(
        self,
        prefix: Iterable[str] = (),
        *,
        query: str | None = None,
        vector: Sequence[float] | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh: bool = True,
    ) -> tuple[ItemHit, ...]:
        body = {
            "prefix": checked_items(prefix, "prefix"),
            "query": query,
            "vector": vector,
            "where": where or {},
            "limit": limit,
            "offset": offset,
            "refresh": refresh,
        }
        told = await self._post("search", body)
        return tuple(
            ItemHit(item=self._item(it["item"]), score=it["score"]) for it in told["items"]
        )

    async def namespaces(
        self,
        prefix: Iterable[str] = (),
        suffix: Iterable[str] = (),
        *,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> tuple[Namespace, ...]:
        body = {
            "prefix": checked_items(prefix, "prefix"),
            "suffix": checked_items(suffix, "suffix"),
            "max_depth": max_depth,
            "limit": limit,
            "offset": offset,
        }
        return tuple(tuple(it) for it in (await self._post("namespaces", body))["items"])

    async def append(
        self, namespace: Iterable[str], values: Iterable[Mapping[str, Any]]
    ) -> tuple[StoredItem, ...]:
        labels = checked_items(namespace, "namespace")
        return await self.write(
            ItemDraft(namespace=labels, key=new_id("item"), value=value, texts=())
            for value in values
        )

    async def listed(
        self, namespace: Iterable[str], *, limit: int | None = None, last_first: bool = False
    ) -> tuple[StoredItem, ...]:
        body = {**_named(namespace), "limit": limit, "last_first": last_first}
        return tuple(self._item(it) for it in (await self._post("list", body))["items"])

    async def pop(self, namespace: Iterable[str]) -> StoredItem | None:
        told = await self._post("pop", _named(namespace))
        return None if told["item"] is None else self._item(told["item"])

    async def clear(self, namespace: Iterable[str]) -> int:
        return (await self._post("clear", _named(namespace)))["removed"]

    async def _post(self, what: str, body: Mapping[str, Any]) -> Any:
        return await self._ask("POST", at("items", what), body=body)

    def _item(self, told: Mapping[str, Any]) -> StoredItem:
        ttl, expires_at = told["ttl"], told["expires_at"]
        return StoredItem(
            id=told["id"],
            scope=self._scope,
            namespace=tuple(told["namespace"]),
            key=told["key"],
            value=told["value"],
            created_at=datetime.fromisoformat(told["created_at"]),
            updated_at=datetime.fromisoformat(told["updated_at"]),
            expires_at=None if expires_at is None else datetime.fromisoformat(expires_at),
            ttl=None if ttl is None else timedelta(seconds=ttl),
            position=told["position"],
            texts=tuple(told["texts"]),
        )


def _named(namespace: Iterable[str]) -> dict[str, Any]:
    return {"namespace": checked_items(namespace, "namespace")}


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


_PIECE: Final = 1 << 20


class RemoteKnowledge(_ScopedRoom, KnowledgeDocuments):
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

    async def sync(
        self,
        folder: str | Path,
        *,
        collection: str = DEFAULT_COLLECTION,
        tags: Iterable[str] = (),
        archive: bool = True,
        progress: Progress | None = None,
    ) -> SyncedFolder:
        # The files lie here; only those that are new or changed are sent.
        return await super().sync(
            folder, collection=collection, tags=tags, archive=archive, progress=progress
        )

    async def collections(self) -> tuple[Collection, ...]:
        answer = await self._ask("GET", at("knowledge", "collections"))
        return decoded(tuple[Collection, ...], answer["items"])

    async def list(
        self,
        *,
        collection: str | None = None,
        source: str | None = None,
        status: DocumentStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Document]:
        query = {"collection": collection, "source": source, "status": status}
        query |= {"limit": limit, "cursor": cursor}
        return await self._told(Page[Document], "GET", at("knowledge", "documents"), query=query)

    async def get(self, document_id: str) -> Document:
        return await self._told(Document, "GET", self._at(document_id))

    async def sections(
        self, document_id: str, *, after: int = -1, limit: int = 100
    ) -> tuple[Section, ...]:
        query = {"after": after, "limit": limit}
        answer = await self._ask("GET", self._at(document_id, "sections"), query=query)
        return decoded(tuple[Section, ...], answer["items"])

    async def chunks(
        self, document_id: str, *, after: int = 0, limit: int = 100
    ) -> tuple[Chunk, ...]:
        query = {"after": after, "limit": limit}
        answer = await self._ask("GET", self._at(document_id, "chunks"), query=query)
        return decoded(tuple[Chunk, ...], answer["items"])

    async def original(self, document_id: str) -> bytes:
        path = self._at(document_id, "original")
        async with self._connection.download(path, self._scope) as response:
            return await response.aread()

    async def search(
        self,
        query: str,
        *,
        collections: str | Iterable[str] | None = None,
        types: str | Iterable[str] | None = None,
        tags: str | Iterable[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 5,
        min_score: float = 0.0,
        max_tokens: int | None = None,
    ) -> Passages:
        body = {
            "query": query,
            "collections": collections,
            "types": types,
            "tags": tags,
            "since": since,
            "until": until,
            "limit": limit,
            "min_score": min_score,
            "max_tokens": max_tokens,
        }
        given = {name: value for name, value in body.items() if value is not None}
        return await self._told(Passages, "POST", at("knowledge", "search"), body=given)

    async def archive(self, document_id: str) -> Document:
        return await self._told(Document, "POST", self._at(document_id, "archive"))

    async def delete(self, document_id: str) -> Document:
        return await self._told(Document, "DELETE", self._at(document_id))

    async def retry(self, document_id: str) -> Document:
        answer = await self._ask("POST", self._at(document_id, "retry"), patient=True)
        return decoded(Document, answer)

    def _at(self, document_id: str, *parts: str) -> str:
        return at("knowledge", "documents", document_id, *parts)


async def _pieces(content: BinaryIO) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(content.read, _PIECE):
        yield piece
