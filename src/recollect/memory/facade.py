"""The facade: bind a caller to the services and delegate to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack, cast

from recollect.domain.fields import Draft, RecordFields, checked_items
from recollect.domain.filters import CommonFilters, FilterFields, make_filter
from recollect.domain.ids import new_id
from recollect.domain.operation import Operation
from recollect.domain.page import Page, PageWanted
from recollect.domain.scope import Caller, Role, Scope
from recollect.domain.write import Pending
from recollect.memory.opening import Opening

# The views, which few programs use, are imported by those that hand them out.
if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.context.session import Session
    from recollect.domain.archive import ContentRange
    from recollect.domain.change import Changes
    from recollect.domain.context import ContextFields, MemoryContext, Tongue
    from recollect.domain.directory import LabelEntry, SessionEntry
    from recollect.domain.embedding import Reindexing
    from recollect.domain.followers import Reconciled
    from recollect.domain.forgetting import Forgotten
    from recollect.domain.graph import NameGraph
    from recollect.domain.hit import Hit, Recalled
    from recollect.domain.job import Progress
    from recollect.domain.meter import Meter, Metrics
    from recollect.domain.preview import ContextPreview, TriedChange
    from recollect.domain.profile import Profile
    from recollect.domain.record import Record, Version
    from recollect.domain.stats import SpoolStats, Stats
    from recollect.domain.transfer import (
        CopiedContents,
        ExportCounts,
        Imported,
        ImportedChats,
        MovedIn,
    )
    from recollect.domain.turn import Turn
    from recollect.domain.upkeep import BulkChange
    from recollect.domain.write import Route, Trace, WritePolicy, Written
    from recollect.keys.service import KeyService
    from recollect.memory.administration import Agents, ApiKeys, BackgroundJobs
    from recollect.memory.archives import ToolArchives
    from recollect.memory.audit import AuditTrail
    from recollect.memory.items import Items
    from recollect.memory.knowledge import KnowledgeDocuments
    from recollect.memory.shared import SharedMemory
    from recollect.memory.upkeep import Upkeep
    from recollect.memory.workspace import WorkspaceView
    from recollect.ports.embedder import Embedder
    from recollect.ports.judge import Judge
    from recollect.ports.runtime import Clock
    from recollect.settings import Settings
    from recollect.tools import Toolbox

Namespace = str | tuple[str, str]


class Memory:
    """An agent's memory, seen from one scope.

    Open it with `async with Memory.open() as memory:`; `memory.scope(user="ann")` is the same
    memory in another scope. A call that returns has succeeded and is durable; otherwise it raises a
    `RecollectError`.
    """

    def __init__(self, parts: Wiring, caller: Caller, *, is_root: bool = True) -> None:
        self._opened = parts
        self._caller = caller
        self._is_root = is_root
        self._user_is_named = False
        self._session = new_id("sess")
        self._anonymous = new_id("anon")

    @classmethod
    def open(
        cls,
        where: str | Path | Settings | None = None,
        *,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        judge: Judge | None = None,
        key: str | None = None,
    ) -> Opening[Memory]:
        """Open a database file, a data folder, settings or the address of a server.

        Without an argument, open what `recollect where` shows. A server may ask for a `key`.

        Use it as `async with Memory.open(…) as memory` or `memory = await Memory.open(…)`. Pass an
        `embedder` to replace the one in the settings, or a `judge` to replace the local model that
        decides how statements relate.
        """
        return Opening(Memory, where, clock, embedder, judge, key)

    @property
    def _parts(self) -> Wiring:
        """The services on the store of this agent, which may be moved to another one."""
        return self._opened.router.of_agent(self._caller.scope.agent)

    @property
    def caller_scope(self) -> Scope:
        """Return the scope that this memory writes to."""
        return self._caller.scope

    @property
    def caller(self) -> Caller:
        """Return who is asking and what they may do."""
        return self._caller

    @property
    def access(self) -> KeyService:
        """Return the service that checks keys and signs browsers in; for building a face."""
        return self._parts.keys

    @property
    def meter(self) -> Meter:
        """Return the counters of this process; for building a face."""
        return self._parts.meter

    @property
    def spool(self) -> SpoolStats | None:
        """Return what waits on this machine for a database server that is away.

        It is None where nothing can wait: for a file, or if `storage.spool` is off.
        """
        return None if self._parts.spool is None else self._parts.spool.stats()

    @property
    def settings(self) -> Settings:
        return self._parts.settings

    @property
    def anonymous_user(self) -> str:
        """Return a user id for an unknown user; it stays the same for the whole run."""
        return self._anonymous

    @property
    def user_is_named(self) -> bool:
        """Return whether the program, a key or a token said whose memory this is.

        Otherwise it belongs to the default user of the settings, or to nobody; an adapter, which
        may serve many people, then uses an anonymous user for each conversation.
        """
        return self._user_is_named and self.caller_scope.user is not None

    @property
    def shared(self) -> SharedMemory:
        """Return the view of what all agents of the workspace share, and of proposals."""
        from recollect.memory.shared import SharedMemory

        return SharedMemory(self._parts, self._caller)

    @property
    def upkeep(self) -> Upkeep:
        """Return the view of health, conflicts, quarantine, expiry and retention."""
        from recollect.memory.upkeep import Upkeep

        return Upkeep(self._parts, self._caller)

    @property
    def archives(self) -> ToolArchives:
        """Return the view of archived tool results."""
        from recollect.memory.archives import ToolArchives

        return ToolArchives(self._parts, self._caller)

    @property
    def knowledge(self) -> KnowledgeDocuments:
        """Return the view of documents."""
        from recollect.memory.knowledge import KnowledgeDocuments

        return KnowledgeDocuments(self._parts, self._caller)

    @property
    def audit(self) -> AuditTrail:
        """Return the view of the audit log."""
        from recollect.memory.audit import AuditTrail

        return AuditTrail(self._parts, self._caller)

    @property
    def items(self) -> Items:
        """Return the view of items: JSON that frameworks store under a namespace and a key."""
        from recollect.memory.items import Items

        return Items(self._parts, self._caller)

    @property
    def jobs(self) -> BackgroundJobs:
        """Return the view of background jobs; for an operator."""
        from recollect.memory.administration import BackgroundJobs

        return BackgroundJobs(self._parts)

    @property
    def agents(self) -> Agents:
        """Return the view of how agents are set up; for an administrator."""
        from recollect.memory.administration import Agents

        return Agents(self._parts, self._caller)

    @property
    def keys(self) -> ApiKeys:
        """Return the view of the keys that open a server; for an administrator."""
        from recollect.memory.administration import ApiKeys

        return ApiKeys(self._parts, self._caller)

    @property
    def workspace(self) -> WorkspaceView:
        """Return the view of the whole workspace; for an operator."""
        from recollect.memory.workspace import WorkspaceView

        return WorkspaceView(self._parts, self._caller)

    @Operation("GET", "/v1/scope", "get_scope", Role.READER)
    def scope(
        self,
        *,
        agent: str | EllipsisType | None = ...,
        user: str | EllipsisType | None = ...,
        workspace: str | EllipsisType = ...,
        org: str | EllipsisType = ...,
        children: Iterable[str] | None = None,
        principal: str | None = None,
        role: Role | None = None,
    ) -> Memory:
        """Return the same memory in another scope; what is not given stays unchanged.

        A `role` takes rights away and never gives any.
        """
        here = self._caller.scope
        scope = Scope(
            org=here.org if isinstance(org, EllipsisType) else org,
            workspace=here.workspace if isinstance(workspace, EllipsisType) else workspace,
            agent=here.agent if isinstance(agent, EllipsisType) else agent,
            user=here.user if isinstance(user, EllipsisType) else user,
        )
        declared = self._opened.settings.agents.get(scope.agent or "")
        known = declared.children if declared is not None else ()
        caller = Caller(
            scope=scope,
            children=tuple(known if children is None else checked_items(children, "children")),
            principal=scope.actor if principal is None else principal,
            role=self._caller.role if role is None else self._caller.role.at_most(role),
        )
        memory = Memory(self._opened.router.of_agent(scope.agent), caller, is_root=False)
        memory._anonymous = self._anonymous
        memory._user_is_named = self._user_is_named or not isinstance(user, EllipsisType)
        return memory

    @Operation(
        "POST", "/v1/records", "save_record", Role.WRITER, command="remember", tool="memory_save"
    )
    async def remember(
        self,
        content: str,
        *,
        namespace: Namespace | None = None,
        idempotency_key: str | None = None,
        reason: str = "",
        **fields: Unpack[RecordFields],
    ) -> Record:
        """Save one record; once this returns, it is durable and can be recalled."""
        draft: Draft = {**fields, "content": content}
        (record,) = await self._parts.saver.create(
            self._caller,
            [draft],
            namespace=namespace,
            idempotency_key=idempotency_key,
            reason=reason,
        )
        return record

    @Operation("POST", "/v1/records/batch", "save_records", Role.WRITER)
    async def remember_many(
        self,
        items: Iterable[str | Draft],
        *,
        namespace: Namespace | None = None,
        idempotency_key: str | None = None,
        reason: str = "",
    ) -> tuple[Record, ...]:
        """Save several records in one transaction: all or none."""
        given = checked_items(items, "items")
        drafts = [item if isinstance(item, dict) else Draft(content=item) for item in given]
        return await self._parts.saver.create(
            self._caller,
            drafts,
            namespace=namespace,
            idempotency_key=idempotency_key,
            reason=reason,
        )

    @Operation(
        "POST", "/v1/write", "write_claim", Role.WRITER, command="write", tool="memory_write"
    )
    async def write(
        self,
        content: str,
        *,
        namespace: Namespace | None = None,
        explicit: bool = True,
        idempotency_key: str | None = None,
        **fields: Unpack[RecordFields],
    ) -> Written:
        """Remember a claim after comparing it with what is already stored.

        Unlike `remember`, it decides where the claim belongs and whether it is new, a repetition, a
        change or a contradiction. `metadata={"strategy": …}` chooses how a change is applied:
        overwrite, append or summarise. A claim that is not `explicit` starts in the short-term
        buffer.
        """
        return await self._parts.writing.pipeline.write(
            self._caller,
            content,
            namespace=namespace,
            explicit=explicit,
            idempotency_key=idempotency_key,
            **fields,
        )

    @Operation(
        "POST",
        "/v1/extract",
        "extract_conversations",
        Role.WRITER,
        repeat="repeatable",
        patient=True,
        command="extract",
    )
    async def extract(self, session: str | None = None) -> tuple[Written, ...]:
        """Extract now what one session, or every session, says that is worth remembering.

        This also happens in the background, every few turns and at the end of a session. No turn is
        read twice.
        """
        return await self._parts.writing.extraction.extract(self._caller, session)

    @Operation("GET", "/v1/user-names", "get_user_names", Role.READER, command="names")
    async def user_names(self) -> frozenset[str]:
        """Return the names of the user of this scope, in lower case."""
        return await self._parts.writing.names.of(self._caller.scope)

    @Operation(
        "PUT", "/v1/user-names", "set_user_names", Role.WRITER, repeat="repeatable", command="names"
    )
    async def set_user_names(self, names: Iterable[str]) -> Record:
        """Set the names of the user of this scope, replacing those set before.

        Statements about these names are statements about the user. Names are also learned from the
        user's id and from what they say ("my name is …").
        """
        return await self._parts.writing.naming.set(self._caller, checked_items(names, "names"))

    @Operation("GET", "/v1/writes/{write_id}", "get_trace", Role.READER, command="trace")
    async def trace(self, write_id: str) -> Trace:
        """Return what each step of a write decided, and why."""
        return await self._parts.writing.trace(self._caller, write_id)

    @Operation(
        "POST",
        "/v1/route",
        "route_message",
        Role.READER,
        repeat="read",
        command="route",
        tool="memory_route",
    )
    async def route(
        self, message: str, *, policy: WritePolicy | None = None, context: str = ""
    ) -> Route:
        """Decide whether a message needs memory to be answered and whether to remember it.

        `context` is what the assistant said before it.
        """
        return await self._parts.writing.route(self._caller, message, policy, before=context)

    @Operation("POST", "/v1/observe", "observe", Role.WRITER, command="observe")
    async def observe(
        self,
        messages: Mapping[str, Any] | Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        task: str | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[Turn, ...]:
        """Store the messages of a conversation in order.

        `at` or `timestamp` sets the time of a past message: a datetime, ISO text or epoch seconds.
        """
        is_one = isinstance(messages, Mapping)
        said = [cast("Mapping[str, Any]", messages)] if is_one else messages
        return await self._parts.observer.observe(
            self._caller,
            checked_items(said, "messages"),
            session=session,
            new_session=self._session,
            task=task,
            idempotency_key=idempotency_key,
        )

    @Operation("POST", "/v1/sessions", "open_session", Role.WRITER, repeat="repeatable")
    def session(
        self, id: str | None = None, *, model: str | None = None, context_tokens: int | None = None
    ) -> Session:
        """Open a conversation whose window fits its model's budget; without an id, a new one."""
        return self._parts.working.sessions.open(self._caller, id, model, context_tokens)

    @Operation(
        "GET",
        "/v1/archives/{archive_id}/text",
        "load_archive_text",
        Role.READER,
        names={"uuid": "archive_id"},
        answer="text",
        command="archives show",
        tool="load_tool_history",
    )
    async def load_tool_history(
        self, uuid: str, query: str | None = None, range: ContentRange | str | None = None
    ) -> str:
        """Return an archived tool result for a model: whole, or what matches a query or a range."""
        archive = self._parts.working.sessions.archive(self._caller)
        return await archive.load_tool_history(uuid, query, range)

    @Operation(
        "POST",
        "/v1/recall",
        "recall",
        Role.READER,
        repeat="read",
        timed=True,
        command="recall",
        tool="memory_recall",
    )
    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        namespace: Namespace | None = None,
        asked_at: datetime | None = None,
        **filters: Unpack[FilterFields],
    ) -> Recalled:
        """Return what is remembered about a query, best first; empty when nothing is good enough.

        `asked_at` is the time that words such as "yesterday" refer to; the default is now.
        """
        return await self._parts.recaller.recall(
            query,
            self._readable(namespace),
            make_filter(**filters),
            limit=limit,
            min_score=min_score,
            asked_at=asked_at,
        )

    @Operation(
        "POST",
        "/v1/context",
        "make_context",
        Role.READER,
        repeat="read",
        timed=True,
        command="context",
    )
    async def context(self, message: str, **wanted: Unpack[ContextFields]) -> MemoryContext:
        """Return what is remembered for a message, as text for the prompt.

        It begins with the profile of the user, if there is one. What is recalled stands in a block
        of its own, which is left out when nothing is good enough. `window` is what the prompt
        already holds and `session` is the session it belongs to; agents that pass the same `run`
        are not given the same item twice. An item counts as used once per session. `memory.audit`
        stores the result under its `recall_id` and can replay it.
        """
        return await self._parts.prefetch.context(self._caller, self._session, message, **wanted)

    @Operation(
        "POST",
        "/v1/context/preview",
        "preview_context",
        Role.READER,
        repeat="read",
        timed=True,
        command="context",
    )
    async def preview(
        self,
        message: str,
        *,
        changes: Iterable[TriedChange] = (),
        **wanted: Unpack[ContextFields],
    ) -> ContextPreview:
        """Return what `context` would return, part by part, with what is left out and why.

        It is as for a reader who was given nothing yet: nothing counts as used, and no audit entry
        is made. With `as_of`, it is what would have been told then. `changes` are tried as if they
        were saved and nothing of them is stored: a new record, `{"id": …}` with other words, or
        with `"delete": True`.
        """
        return await self._parts.previews.preview(self._caller, message, changes, **wanted)

    @Operation(
        "GET", "/v1/profile", "get_profile", Role.READER, command="profile", tool="memory_profile"
    )
    async def profile(self) -> Profile:
        """Return the profile of the user: the lines in every prompt, one per record."""
        return await self._parts.profiles.read(self._caller)

    @Operation("PUT", "/v1/profile/{record_id}", "show_in_profile", Role.WRITER, command="profile")
    async def show_in_profile(self, record_id: str, *, shown: bool = True) -> Record:
        """Show a record in the profile, whatever its facet and origin, or hide it from there."""
        return await self._parts.profile_keeper.show(self._caller, record_id, shown=shown)

    @Operation("GET", "/v1/graph", "get_graph", Role.READER, command="graph")
    async def graph(self, *, limit: int = 200) -> NameGraph:
        """Return the names in the records of this caller, and which are told of together."""
        return await self._parts.names.of_caller(self._caller, limit)

    @Operation("GET", "/v1/tools/guide", "get_guide", Role.READER, command="tools guide")
    def guide(self, language: Tongue = "en") -> str:
        """Return instructions on using memory for a system prompt; empty if memory is disabled."""
        from recollect.domain.memory_tools import memory_guide

        guide = memory_guide(language)
        return guide if self.settings.agent(self._caller.scope.agent).enabled else ""

    @Operation("GET", "/v1/tools", "list_tools", Role.READER, command="tools list")
    def tools(self, language: Tongue = "en", *, session: str | None = None) -> Toolbox:
        """Return the memory tools for a model in a session; none if memory is disabled."""
        # Imported here: memory itself does not need the library that checks arguments.
        from recollect.tools import open_toolbox

        return open_toolbox(self._opened, self._caller, self._session, session, language)

    @Operation(
        "POST",
        "/v1/records/{record_id}/used",
        "record_used",
        Role.WRITER,
        names={"hit": "record_id"},
        command="used",
    )
    async def used(self, hit: Hit | Record | str, *, success: bool = True) -> Record:
        """Report that a record was used and whether it helped; later recalls consider it."""
        return await self._parts.feedback.used(self._caller, hit, success=success)

    @Operation(
        "POST",
        "/v1/records/{record_id}/rejected",
        "record_rejected",
        Role.WRITER,
        names={"hit": "record_id"},
        command="rejected",
    )
    async def rejected(self, hit: Hit | Record | str) -> Record:
        """Report that a recalled record did not help; later recalls consider it."""
        return await self._parts.feedback.rejected(self._caller, hit)

    @Operation("GET", "/v1/records/{record_id}", "get_record", Role.READER, command="show")
    async def get(self, record_id: str, *, as_of: datetime | None = None) -> Record:
        """Return one record, as it is now or as it was known at a past time."""
        return await self._parts.listing.get(self._caller, record_id, as_of=as_of)

    @Operation("GET", "/v1/turns/{turn_id}", "get_turn", Role.READER, command="show")
    async def turn(self, turn_id: str) -> Turn:
        """Return one turn of a conversation."""
        return await self._parts.listing.turn(self._caller, turn_id)

    @Operation("GET", "/v1/records", "list_records", Role.READER, command="list")
    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        namespace: Namespace | None = None,
        **filters: Unpack[FilterFields],
    ) -> Page[Record]:
        """Return a page of the records that match the filters, latest first."""
        return await self._parts.listing.records(
            self._readable(namespace), make_filter(**filters), limit=limit, cursor=cursor
        )

    @Operation("GET", "/v1/turns", "list_turns", Role.READER, command="turns")
    async def turns(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        namespace: Namespace | None = None,
        **filters: Unpack[FilterFields],
    ) -> Page[Turn]:
        """Return a page of turns: of one session in order, or of all sessions latest first."""
        return await self._parts.listing.turns(
            self._readable(namespace), make_filter(**filters), limit=limit, cursor=cursor
        )

    @Operation("GET", "/v1/sessions", "list_sessions", Role.READER, command="sessions")
    async def sessions(self, *, limit: int = 50, cursor: str | None = None) -> Page[SessionEntry]:
        """Return a page of this caller's sessions, most recently active first."""
        page = PageWanted(limit=limit, cursor=cursor)
        return await self._parts.directory.sessions(self._caller.readable, page)

    @Operation("GET", "/v1/tags", "list_tags", Role.READER, command="tags")
    async def tags(self, *, limit: int = 50, cursor: str | None = None) -> Page[LabelEntry]:
        """Return a page of the tags of active records, most frequent first."""
        page = PageWanted(limit=limit, cursor=cursor)
        return await self._parts.directory.labels(self._caller.readable, "tag", page)

    @Operation("GET", "/v1/categories", "list_categories", Role.READER, command="categories")
    async def categories(self, *, limit: int = 50, cursor: str | None = None) -> Page[LabelEntry]:
        """Return a page of the categories of active records, most frequent first."""
        page = PageWanted(limit=limit, cursor=cursor)
        return await self._parts.directory.labels(self._caller.readable, "category", page)

    @Operation("GET", "/v1/changes", "list_changes", Role.READER)
    async def changes(
        self, after: str | None = None, *, limit: int = 100, wait: float = 0
    ) -> Changes:
        """Return what changed since a mark in the scopes this caller may read.

        Without a mark, return one to continue from. `wait` is how many seconds to wait for a
        change.
        """
        return await self._parts.following.changes(
            self._caller.readable, after, limit=limit, wait=wait
        )

    @Operation(
        "PATCH",
        "/v1/records/{record_id}",
        "change_record",
        Role.WRITER,
        command="edit",
        tool="memory_update",
    )
    async def update(
        self,
        record_id: str,
        content: str | None = None,
        *,
        expected_version: int | None = None,
        reason: str = "",
        **fields: Unpack[RecordFields],
    ) -> Record:
        """Change a record; the previous version stays in its history."""
        return await self._parts.saver.update(
            self._caller,
            record_id,
            content,
            fields,
            expected_version=expected_version,
            reason=reason,
        )

    @Operation(
        "DELETE",
        "/v1/records/{record_id}",
        "delete_record",
        Role.WRITER,
        command="delete",
        tool="memory_delete",
    )
    async def delete(
        self, record_id: str, *, expected_version: int | None = None, reason: str = ""
    ) -> Record:
        """Hide a record everywhere; `undo` restores it."""
        return await self._parts.versions.delete(
            self._caller, record_id, expected_version=expected_version, reason=reason
        )

    @Operation("POST", "/v1/records/{record_id}/purge", "purge_record", Role.ADMIN, command="purge")
    async def purge(self, record_id: str) -> None:
        """Remove a deleted record and its versions for good."""
        await self._parts.versions.purge(self._caller, record_id)

    @Operation(
        "POST",
        "/v1/records/bulk-edit",
        "edit_records",
        Role.WRITER,
        names={"record_ids": "ids"},
        command="tag",
    )
    async def update_many(
        self,
        record_ids: Iterable[str],
        *,
        add_tags: Iterable[str] = (),
        remove_tags: Iterable[str] = (),
        reason: str = "",
        **fields: Unpack[RecordFields],
    ) -> BulkChange:
        """Set the same fields on up to 1,000 records and add or remove tags."""
        return await self._parts.bulk.update(
            self._caller,
            record_ids,
            fields,
            add_tags=add_tags,
            remove_tags=remove_tags,
            reason=reason,
        )

    @Operation(
        "POST",
        "/v1/records/bulk-delete",
        "delete_records",
        Role.WRITER,
        names={"record_ids": "ids"},
        command="delete",
    )
    async def delete_many(self, record_ids: Iterable[str], *, reason: str = "") -> BulkChange:
        """Hide up to 1,000 records everywhere; `undo` restores each of them."""
        return await self._parts.bulk.delete(self._caller, record_ids, reason=reason)

    @Operation(
        "GET",
        "/v1/records/{record_id}/history",
        "record_history",
        Role.READER,
        pages=True,
        command="history",
    )
    async def history(self, record_id: str) -> tuple[Version, ...]:
        """Return every version of a record, oldest first, with its author, time and reason."""
        return await self._parts.versions.history(self._caller, record_id)

    @Operation(
        "POST",
        "/v1/records/{record_id}/undo",
        "undo_record",
        Role.WRITER,
        in_query=("expected_version", "reason"),
        command="undo",
    )
    async def undo(
        self, record_id: str, *, expected_version: int | None = None, reason: str = ""
    ) -> Record:
        """Revert the last change of a record, including a deletion; repeat to go further back.

        With `expected_version`, only if the record is still at that version: a repeated call is
        then refused (`stale_version`) instead of going further back.
        """
        return await self._parts.versions.undo(
            self._caller, record_id, expected_version=expected_version, reason=reason
        )

    @Operation("POST", "/v1/forget", "forget", Role.ADMIN, repeat="repeatable", command="forget")
    async def forget(
        self,
        target: str | Iterable[str] | None = None,
        *,
        session: str | None = None,
        user: str | None = None,
        everything: bool = False,
        with_evidence: bool = False,
        all_agents: bool = False,
        dry_run: bool = False,
        verify: bool = False,
        progress: Progress | None = None,
        **filters: Unpack[CommonFilters],
    ) -> Forgotten:
        """Erase every trace of records, a session, a user, matching records or `everything`.

        A record is erased with everything derived from it. The turns that support it are kept and
        listed, unless `with_evidence` is set. A session or a user is erased with all that was said.
        A user may be forgotten by themselves, by a caller without an agent, or with `all_agents` by
        an operator. `dry_run` only counts; `verify` searches every store and file for the erased
        text.
        """
        # Imported here: only forgetting needs these modules.
        from recollect.erasure.forgetting import make_forget_request

        wish = make_forget_request(
            target,
            session,
            user,
            everything=everything,
            with_evidence=with_evidence,
            all_agents=all_agents,
            **filters,
        )
        return await self._parts.forgetting.forget(
            self._caller, wish, dry_run=dry_run, verify=verify, progress=progress
        )

    async def once(
        self,
        key: str,
        request: Mapping[str, Any],
        work: Callable[[], Awaitable[Mapping[str, Any]]],
    ) -> Mapping[str, Any]:
        """Run some work once: for a day, the same key and request return the first result.

        The result must be JSON. Methods with an `idempotency_key` do not need this: they store the
        key in the transaction that writes.
        """
        return await self._parts.once.do(self._caller, key, request, work)

    @Operation(
        "GET",
        "/v1/metrics",
        "get_metrics",
        Role.ADMIN,
        reach="server",
        names={"since": "from", "until": "to", "step_hours": "step"},
        command="stats",
    )
    async def metrics(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        step_hours: int = 1,
    ) -> Metrics:
        """Return what all processes did, hour by hour, in all open stores; for an operator.

        By default it is the last day; totals are kept for 30 days. A recall that reads two stores
        counts in both.
        """
        return await self._parts.metrics.read(since, until, step_hours)

    @Operation("GET", "/v1/stats", "get_stats", Role.READER, command="stats")
    async def stats(self) -> Stats:
        """Return how much this caller can read and the state of the services.

        Without a user, that is what belongs to no user; `workspace.users()` counts the others.
        """
        return await self._parts.statistics.stats(self._caller.readable)

    @Operation("GET", "/v1/backup", "back_up", Role.ADMIN, reach="server", command="backup")
    async def backup(self, target: str | Path) -> CopiedContents:
        """Copy the database and the files it refers to, and check the copy, while it is in use.

        The store of an agent that has its own is copied by a memory of that agent
        (`memory.scope(agent=NAME).backup(…)`); the result names those that are not in this copy.
        """
        return await self._parts.backups.make(Path(target))

    @Operation("GET", "/v1/export", "export_memory", Role.ADMIN, command="export")
    async def export_to(
        self,
        target: str | Path | BinaryIO,
        *,
        all_scopes: bool = False,
        progress: Progress | None = None,
    ) -> ExportCounts:
        """Write what this caller may import again as JSON lines; a name in .gz compresses them.

        `all_scopes` is for an operator: it writes the records of everybody in this database, shared
        records and proposals. The scratch state of sessions, traces and the audit log are not
        exported.
        """
        scopes = None if all_scopes else self._caller.readable
        return await self._parts.exporter.export(scopes, target, progress)

    @Operation(
        "PUT", "/v1/import", "import_memory", Role.ADMIN, repeat="repeatable", command="import"
    )
    async def import_from(
        self,
        source: str | Path | BinaryIO,
        *,
        all_scopes: bool = False,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> Imported:
        """Add what an export holds and this database lacks, with ids, times and versions.

        Nothing stored is changed. The import stops at a bad line or at one that this caller may not
        write (`all_scopes` is for an operator); with `skip_bad` such lines are reported and left
        out.
        """
        # What is needed to import is not needed to remember.
        from recollect.transfer.importer import import_into

        importers = [parts.importer for parts in self._parts.router.opened]
        return await import_into(
            importers,
            None if all_scopes else self._caller,
            source,
            skip_bad=skip_bad,
            progress=progress,
        )

    @Operation("PUT", "/v1/import/chat", "import_chat", Role.WRITER, command="import")
    async def import_chat(
        self,
        source: str | Path | BinaryIO,
        *,
        session: str | None = None,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> ImportedChats:
        """Import a chat history: messages as JSON lines, or an export of ChatGPT or Claude.

        Messages that were imported before are not added again. Messages without a conversation go
        to `session`, by default the name of the file; a time without a zone is local. The import
        stops at a bad message; with `skip_bad` it is reported and left out.
        """
        return await self._parts.chat_importer.import_from(
            self._caller, source, session=session, skip_bad=skip_bad, progress=progress
        )

    @Operation("PUT", "/v1/import/from", "move_in", Role.WRITER, command="import")
    async def move_in(
        self,
        source: str | Path | BinaryIO,
        origin: str,
        *,
        namespace: str | None = None,
        all_scopes: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> MovedIn:
        """Import what another memory stores or exported.

        `origin` is `mem0`, `langmem`, `langgraph`, `letta`, `zep`, `chatgpt` or `claude`, and
        `source` a file, a folder, or the address of a server. What names another user or agent than
        this caller's is left out; `all_scopes`, for an operator, gives it to them. `namespace` says
        where a LangMem namespace names its user, such as `app/{user}/*`. With `dry_run` it is only
        counted. Importing again adds nothing twice and changes nothing that is stored.
        """
        return await self._parts.migration.move_in(
            self._caller,
            origin,
            source,
            namespace=namespace,
            all_scopes=all_scopes,
            dry_run=dry_run,
            progress=progress,
        )

    @Operation(
        "POST",
        "/v1/reindex",
        "start_reindexing",
        Role.ADMIN,
        reach="server",
        repeat="repeatable",
        command="reindex",
    )
    async def reindex(
        self,
        progress: Progress | None = None,
        *,
        model: str | None = None,
        background: bool = False,
    ) -> int:
        """Create the missing vectors, with the model of the settings or another `model`.

        In each scope the old vectors are used until all new ones exist. Any open memory continues
        the work; with `background`, this call does not wait for it. Return how many units had no
        vector of the model.
        """
        return await self._parts.reindex.reindex(progress, model, in_background=background)

    @Operation(
        "GET", "/v1/reindex", "get_reindexing", Role.ADMIN, reach="server", command="reindex"
    )
    async def reindexing(self) -> Reindexing:
        """Return the progress of a model switch, or what the current model still has to embed."""
        return await self._parts.reindex.progress()

    @Operation(
        "DELETE",
        "/v1/reindex",
        "stop_reindexing",
        Role.ADMIN,
        reach="server",
        repeat="repeatable",
        answer="stopped",
        command="reindex",
    )
    async def stop_reindexing(self) -> bool:
        """Stop a model switch in whichever process runs it; return False if there is none.

        Vectors made so far are kept, and every scope keeps the model it uses now.
        """
        return await self._parts.reindex.stop()

    @Operation(
        "POST",
        "/v1/reconcile",
        "reconcile",
        Role.ADMIN,
        reach="server",
        repeat="repeatable",
        patient=True,
        command="reconcile",
    )
    async def reconcile(
        self, *, dry_run: bool = False, rebuild: bool = False
    ) -> tuple[Reconciled, ...]:
        """Compare derived stores, such as a vector store, with the database, and repair them.

        With `dry_run`, only compare; with `rebuild`, empty the stores and build them anew. Recall
        goes on meanwhile; `stats` shows the progress.
        """
        return tuple(
            [
                await following.put_right(dry_run=dry_run, rebuild=rebuild)
                for following in self._parts.every_following
            ]
        )

    @Operation(
        "POST",
        "/v1/jobs/run",
        "run_due_jobs",
        Role.ADMIN,
        reach="server",
        repeat="repeatable",
        patient=True,
        answer="ran",
        command="work",
    )
    async def work(self) -> int:
        """Run the background jobs that are due; return how many ran."""
        ran = sum([await parts.worker.run_due() for parts in self._parts.router.opened])
        for following in self._parts.every_following:
            await following.catch_up()
        return ran

    @Operation(
        "POST",
        "/v1/jobs/drain",
        "drain_jobs",
        Role.ADMIN,
        reach="server",
        repeat="repeatable",
        patient=True,
    )
    async def drain(self) -> None:
        """Wait until all background work has finished or failed."""
        for parts in self._parts.router.opened:
            await parts.late_vectors.settled()
            await parts.worker.drain()
            await parts.usage.flush()
        for following in self._parts.every_following:
            await following.finish()

    async def close(self) -> Pending:
        """Finish and close everything; does nothing on a memory returned by `scope()`.

        What was said here is read first, for up to `writing.close_seconds`. Return what is still to
        be read, which happens by itself after the next opening.
        """
        if not self._is_root:
            return Pending()
        return await self._opened.lifetime.close()

    async def __aenter__(self) -> Memory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def as_opened(self, settings: Settings) -> Memory:
        """Return this memory as opening these settings for the same store returns it.

        For building a face that answers for programs which would open the store themselves.
        """
        from recollect.assemble.memory import first_caller

        scope = {"scope": settings.scope}
        caller = first_caller(self._opened.settings.model_copy(update=scope))
        return Memory(self._opened.router.of_agent(caller.scope.agent), caller)

    def _readable(self, namespace: Namespace | None) -> tuple[Scope, ...]:
        return self._caller.readable if namespace is None else (self._caller.namespace(namespace),)
