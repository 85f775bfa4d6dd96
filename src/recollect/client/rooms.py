"""The rooms of a remote memory: shared, upkeep, audit, archives, jobs, keys and the workspace."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Unpack

from recollect.client.connection import Connection, at
from recollect.client.values import decoded
from recollect.domain.access import ApiKey, NewKey
from recollect.domain.agent import Agent
from recollect.domain.archive import Archive, ContentRange, EarlierResult, SweptArchives
from recollect.domain.audit import AuditEntry, AuditVerdict
from recollect.domain.conflict import Resolution
from recollect.domain.directory import (
    LabelEntry,
    NameEntry,
    RecordsFound,
    ScopeEntry,
    SessionEntry,
)
from recollect.domain.event import Changes
from recollect.domain.filters import FilterFields
from recollect.domain.health import Health
from recollect.domain.hit import Recalled
from recollect.domain.job import JobReport, JobState
from recollect.domain.page import Page
from recollect.domain.proposal import Proposal
from recollect.domain.record import Record
from recollect.domain.replay import Replay
from recollect.domain.route import WritePolicy
from recollect.domain.scope import Scope
from recollect.domain.tool_result import ToolResult
from recollect.domain.upkeep import Dispute, Swept
from recollect.memory.agents import Agents
from recollect.memory.archives import ToolArchives
from recollect.memory.audit import AuditTrail
from recollect.memory.jobs import BackgroundJobs
from recollect.memory.keys import ApiKeys
from recollect.memory.shared import SharedMemory
from recollect.memory.upkeep import Upkeep
from recollect.memory.workspace import WorkspaceView


class RemoteShared(SharedMemory):
    """What all agents of the workspace know."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

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
        return decoded(Proposal, await self._ask("POST", at("proposals"), body=body))

    async def proposals(
        self,
        status: str | None = "pending",
        *,
        type: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Proposal]:
        query = {"status": status or "any", "type": type, "limit": limit, "cursor": cursor}
        return decoded(Page[Proposal], await self._ask("GET", at("proposals"), query=query))

    async def proposal(self, proposal_id: str) -> Proposal:
        return decoded(Proposal, await self._ask("GET", at("proposals", proposal_id)))

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
        return decoded(Page[Record], await self._ask("GET", at("shared"), query=query))

    async def get(self, record_id: str) -> Record:
        return decoded(Record, await self._ask("GET", at("shared", record_id)))

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
        return decoded(Record, await self._ask("PATCH", at("shared", record_id), body=body))

    async def delete(
        self, record_id: str, *, expected_version: int | None = None, reason: str = ""
    ) -> Record:
        query = {"reason": reason, "expected_version": expected_version}
        return decoded(Record, await self._ask("DELETE", at("shared", record_id), query=query))

    async def _decide(self, proposal_id: str, how: str, body: dict[str, Any]) -> Proposal:
        return decoded(
            Proposal, await self._ask("POST", at("proposals", proposal_id, how), body=body)
        )

    async def _ask(self, method: str, path: str, **given: Any) -> Any:
        return await self._connection.ask(method, path, self._scope, **given)


class RemoteUpkeep(Upkeep):
    """How memory is kept in order."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

    async def health(self) -> Health:
        return decoded(Health, await self._ask("GET", at("upkeep", "health")))

    async def buffer(self) -> tuple[Record, ...]:
        return await self._connection.all_pages(Record, at("upkeep", "buffer"), self._scope)

    async def promote(self, record_id: str, *, reason: str = "") -> Record:
        path = at("upkeep", "buffer", record_id, "promote")
        return decoded(Record, await self._ask("POST", path, body={"reason": reason}))

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
        return decoded(Dispute, await self._ask("POST", path, body=body))

    async def quarantined(self, *, limit: int = 50, cursor: str | None = None) -> Page[Record]:
        query = {"limit": limit, "cursor": cursor}
        return decoded(
            Page[Record], await self._ask("GET", at("upkeep", "quarantine"), query=query)
        )

    async def accept(
        self, record_id: str, content: str | None = None, *, reason: str = ""
    ) -> Record:
        path = at("upkeep", "quarantine", record_id, "accept")
        body = {"content": content, "reason": reason}
        return decoded(Record, await self._ask("POST", path, body=body))

    async def reject(self, record_id: str, reason: str = "") -> Record:
        path = at("upkeep", "quarantine", record_id, "reject")
        return decoded(Record, await self._ask("POST", path, body={"reason": reason}))

    async def expire(self, *, dry_run: bool = False) -> Swept:
        return await self._sweep("expire", {"dry_run": dry_run})

    async def retain(self, *, dry_run: bool = False) -> Swept:
        return await self._sweep("retain", {"dry_run": dry_run})

    async def sweep(self, *, dry_run: bool = False, all_scopes: bool = False) -> Swept:
        return await self._sweep("sweep", {"dry_run": dry_run, "all_scopes": all_scopes})

    async def _sweep(self, how: str, body: dict[str, Any]) -> Swept:
        return decoded(Swept, await self._ask("POST", at("upkeep", how), body=body, patient=True))

    async def _ask(self, method: str, path: str, **given: Any) -> Any:
        return await self._connection.ask(method, path, self._scope, **given)


class RemoteAudit(AuditTrail):
    """Who wrote, read and changed what, and why."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

    async def tail(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        action: str | None = None,
        target: str | None = None,
    ) -> Page[AuditEntry]:
        query = {"limit": limit, "cursor": cursor, "action": action, "target": target}
        return decoded(Page[AuditEntry], await self._ask("GET", at("audit"), query=query))

    async def show(self, id: str) -> tuple[AuditEntry, ...]:
        return await self._connection.all_pages(AuditEntry, at("audit", id), self._scope)

    async def verify(self) -> AuditVerdict:
        return decoded(AuditVerdict, await self._ask("GET", at("audit", "verify"), patient=True))

    async def replay(self, recall_id: str) -> Replay:
        return decoded(Replay, await self._ask("GET", at("recalls", recall_id, "replay")))

    async def seal(self) -> int:
        return (await self._ask("POST", at("audit", "seal")))["sealed"]

    async def _ask(self, method: str, path: str, **given: Any) -> Any:
        return await self._connection.ask(method, path, self._scope, **given)


class RemoteArchives(ToolArchives):
    """The large tool results that were put away."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

    async def list(
        self,
        *,
        session: str | None = None,
        tool: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Archive]:
        query = {"session": session, "tool": tool, "limit": limit, "cursor": cursor}
        return decoded(Page[Archive], await self._ask("GET", at("archives"), query=query))

    async def get(self, archive_id: str) -> Archive:
        return decoded(Archive, await self._ask("GET", at("archives", archive_id)))

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
        return decoded(Archive, await self._ask("DELETE", at("archives", archive_id)))

    async def sweep(self, *, dry_run: bool = False) -> SweptArchives:
        body = {"dry_run": dry_run}
        return decoded(
            SweptArchives, await self._ask("POST", at("archives", "sweep"), body=body, patient=True)
        )

    async def _ask(self, method: str, path: str, **given: Any) -> Any:
        return await self._connection.ask(method, path, self._scope, **given)


class RemoteJobs(BackgroundJobs):
    """What is done in the background."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[JobReport]:
        query = {"state": state, "kind": kind, "limit": limit, "cursor": cursor}
        found = await self._connection.ask("GET", at("jobs"), self._scope, query=query)
        return decoded(Page[JobReport], found)

    async def get(self, job_id: str) -> JobReport:
        return decoded(
            JobReport, await self._connection.ask("GET", at("jobs", job_id), self._scope)
        )

    async def cancel(self, job_id: str) -> JobReport:
        return decoded(
            JobReport, await self._connection.ask("DELETE", at("jobs", job_id), self._scope)
        )


class RemoteAgents(Agents):
    """How agents are set up on the server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[Agent]:
        query = {"limit": limit, "cursor": cursor}
        found = await self._connection.ask("GET", at("agents"), None, query=query)
        return decoded(Page[Agent], found)

    async def get(self, name: str) -> Agent:
        return decoded(Agent, await self._connection.ask("GET", at("agents", name), None))

    async def put(
        self,
        name: str,
        *,
        enabled: bool | None = None,
        store: str | None = None,
        prefetch_limit: int | None = None,
        write_policy: WritePolicy | None = None,
        role: str | None = None,
        children: Iterable[str] | None = None,
    ) -> Agent:
        body = {
            "enabled": enabled,
            "store": store,
            "prefetch_limit": prefetch_limit,
            "write_policy": write_policy,
            "role": role,
            "children": children,
        }
        told = await self._connection.ask("PUT", at("agents", name), None, body=body)
        return decoded(Agent, told)

    async def delete(self, name: str) -> None:
        await self._connection.ask("DELETE", at("agents", name), None)


class RemoteKeys(ApiKeys):
    """The keys that open the server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def create(
        self,
        name: str,
        role: str = "writer",
        *,
        workspaces: Iterable[str] = (),
        users: Iterable[str] = (),
        agents: Iterable[str] = (),
        expires_at: datetime | None = None,
    ) -> NewKey:
        body = {
            "name": name,
            "role": role,
            "workspaces": workspaces,
            "users": users,
            "agents": agents,
            "expires_at": expires_at,
        }
        return decoded(NewKey, await self._connection.ask("POST", at("keys"), None, body=body))

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[ApiKey]:
        query = {"limit": limit, "cursor": cursor}
        found = await self._connection.ask("GET", at("keys"), None, query=query)
        return decoded(Page[ApiKey], found)

    async def revoke(self, key_id: str) -> ApiKey:
        return decoded(ApiKey, await self._connection.ask("DELETE", at("keys", key_id), None))


class RemoteWorkspace(WorkspaceView):
    """Who and what is in the whole workspace."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

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

    async def health(self, *, agent: str | None = None, user: str | None = None) -> Health:
        return decoded(Health, await self._look("health", {"agent": agent, "user": user}))

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
