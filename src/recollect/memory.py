"""Memory: the one facade. It binds a caller to the parts and delegates; it decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack, cast

from recollect.bound.archives import ToolArchives
from recollect.bound.audit import AuditTrail
from recollect.bound.opening import Opening
from recollect.bound.removing import RemovingVerbs
from recollect.bound.renewing import RenewingVerbs
from recollect.bound.shared import SharedMemory
from recollect.bound.upkeep import Upkeep
from recollect.bound.writing import WritingVerbs
from recollect.domain.archive import ContentRange
from recollect.domain.context import ContextFields, MemoryContext, Tongue
from recollect.domain.fields import Draft, RecordFields, checked_items
from recollect.domain.filters import FilterFields, make_filter
from recollect.domain.guide import memory_guide
from recollect.domain.hit import Hit, Recalled
from recollect.domain.ids import new_id
from recollect.domain.page import Page
from recollect.domain.progress import Progress
from recollect.domain.record import Record, Version
from recollect.domain.scope import Caller, Scope
from recollect.domain.stats import Stats
from recollect.domain.transfer import CopiedContents, ExportCounts, Imported
from recollect.domain.turn import Turn

if TYPE_CHECKING:
    from recollect.context.session import Session
    from recollect.parts import Parts
    from recollect.ports.clock import Clock
    from recollect.ports.embedder import Embedder
    from recollect.settings import Settings
    from recollect.tools import Toolbox

Namespace = str | tuple[str, str]


class Memory(WritingVerbs, RemovingVerbs, RenewingVerbs):
    """An agent's memory, seen from one scope.

    `async with Memory.open() as memory:` opens it; `memory.scope(user="ann")` is the same memory
    for somebody else. Every call either happened and is durable, or raises a `RecollectError`.
    """

    def __init__(self, parts: Parts, caller: Caller, *, is_root: bool = True) -> None:
        self._parts = parts
        self._caller = caller
        self._is_root = is_root
        self._session = new_id("sess")
        self._anonymous = new_id("anon")

    @classmethod
    def open(
        cls,
        where: str | Path | Settings | None = None,
        *,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
    ) -> Opening:
        """Open a database file, a data folder or settings; by default what `recollect where` shows.

        Use it as `async with Memory.open(…) as memory` or `memory = await Memory.open(…)`.
        An `embedder` of your own takes the place of the one in the settings.
        """
        return Opening(where, clock, embedder)

    @property
    def caller_scope(self) -> Scope:
        """The scope this memory writes to."""
        return self._caller.scope

    @property
    def settings(self) -> Settings:
        return self._parts.settings

    @property
    def anonymous_user(self) -> str:
        """A user id for a run whose user is unknown: made once, the same for the whole run."""
        return self._anonymous

    @property
    def shared(self) -> SharedMemory:
        """What all agents of the workspace know, and what is proposed to become so."""
        return SharedMemory(self._parts, self._caller)

    @property
    def upkeep(self) -> Upkeep:
        """Keeping memory in order: its health, conflicts, quarantine, expiry and retention."""
        return Upkeep(self._parts, self._caller)

    @property
    def archives(self) -> ToolArchives:
        """The large tool results that were put away."""
        return ToolArchives(self._parts, self._caller)

    @property
    def audit(self) -> AuditTrail:
        """What happened to this memory, by whom and why."""
        return AuditTrail(self._parts, self._caller)

    def scope(
        self,
        *,
        agent: str | EllipsisType | None = ...,
        user: str | EllipsisType | None = ...,
        workspace: str | EllipsisType = ...,
        org: str | EllipsisType = ...,
        children: Iterable[str] | None = None,
        principal: str | None = None,
    ) -> Memory:
        """The same memory seen from another scope; what is left out stays as it is here."""
        here = self._caller.scope
        scope = Scope(
            org=here.org if isinstance(org, EllipsisType) else org,
            workspace=here.workspace if isinstance(workspace, EllipsisType) else workspace,
            agent=here.agent if isinstance(agent, EllipsisType) else agent,
            user=here.user if isinstance(user, EllipsisType) else user,
        )
        self._parts.settings.require_store_of(scope.agent)
        declared = self._parts.settings.agents.get(scope.agent or "")
        known = declared.children if declared is not None else ()
        caller = Caller(
            scope=scope,
            children=tuple(known if children is None else checked_items(children, "children")),
            principal=scope.actor if principal is None else principal,
        )
        memory = Memory(self._parts, caller, is_root=False)
        memory._anonymous = self._anonymous
        return memory

    async def remember(
        self,
        content: str,
        *,
        namespace: Namespace | None = None,
        idempotency_key: str | None = None,
        reason: str = "",
        **fields: Unpack[RecordFields],
    ) -> Record:
        """Save one record; when this returns it is durable and can be recalled."""
        draft: Draft = {**fields, "content": content}
        (record,) = await self._parts.saver.create(
            self._caller,
            [draft],
            namespace=namespace,
            idempotency_key=idempotency_key,
            reason=reason,
        )
        return record

    async def remember_many(
        self,
        items: Iterable[str | Draft],
        *,
        namespace: Namespace | None = None,
        idempotency_key: str | None = None,
        reason: str = "",
    ) -> tuple[Record, ...]:
        """Save several records in one transaction: all of them, or none."""
        given = checked_items(items, "items")
        drafts = [item if isinstance(item, dict) else Draft(content=item) for item in given]
        return await self._parts.saver.create(
            self._caller,
            drafts,
            namespace=namespace,
            idempotency_key=idempotency_key,
            reason=reason,
        )

    async def observe(
        self,
        messages: Mapping[str, Any] | Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        task: str | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[Turn, ...]:
        """Keep messages of a conversation in order; `at` gives a message a past time."""
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

    def session(
        self, id: str | None = None, *, model: str | None = None, context_tokens: int | None = None
    ) -> Session:
        """A conversation whose window stays within its model's budget; without an id a new one."""
        return self._parts.working.sessions.open(self._caller, id, model, context_tokens)

    async def load_tool_history(
        self, uuid: str, query: str | None = None, range: ContentRange | str | None = None
    ) -> str:
        """An archived tool result for a model to read: whole, what a query is about, or a range."""
        archive = self._parts.working.sessions.archive(self._caller)
        return await archive.load_tool_history(uuid, query, range)

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
        """What is remembered about a question, best first; empty when nothing is good enough.

        `asked_at` is the time that "yesterday" is counted from, if that is not now.
        """
        return await self._parts.recaller.recall(
            query,
            self._readable(namespace),
            make_filter(**filters),
            limit=limit,
            min_score=min_score,
            asked_at=asked_at,
        )

    async def context(self, message: str, **wanted: Unpack[ContextFields]) -> MemoryContext:
        """What is remembered for a message, as a block for the prompt; empty when nothing is.

        `window` is what the prompt holds already, `session` the one it belongs to; agents that
        name the same `run` are not given the same item twice. What enters is counted once a
        session. `memory.audit` keeps it under its `recall_id` and can ask it again.
        """
        return await self._parts.prefetch.context(self._caller, self._session, message, **wanted)

    def guide(self, language: Tongue = "en") -> str:
        """How to use memory, for an agent's system prompt; empty where it is disabled."""
        guide = memory_guide(language)
        return guide if self.settings.agent(self._caller.scope.agent).enabled else ""

    def tools(self, language: Tongue = "en", *, session: str | None = None) -> Toolbox:
        """The memory tools for a model in a session; none when memory is disabled for the agent."""
        # Arguments are checked by a library that memory itself does not need.
        from recollect.tools import open_toolbox

        return open_toolbox(self, self._parts, self._caller, self._session, session, language)

    async def used(self, hit: Hit | Record | str, *, success: bool = True) -> Record:
        """Tell that a record was used, and whether it helped; later recalls weigh it."""
        return await self._parts.feedback.used(self._caller, hit, success=success)

    async def rejected(self, hit: Hit | Record | str) -> Record:
        """Tell that a recalled record was no help; later recalls weigh it."""
        return await self._parts.feedback.rejected(self._caller, hit)

    async def get(self, record_id: str, *, as_of: datetime | None = None) -> Record:
        """One record, as it is now or as we knew it at a past moment."""
        return await self._parts.listing.get(self._caller, record_id, as_of=as_of)

    async def turn(self, turn_id: str) -> Turn:
        """One turn of a conversation."""
        return await self._parts.listing.turn(self._caller, turn_id)

    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        namespace: Namespace | None = None,
        **filters: Unpack[FilterFields],
    ) -> Page[Record]:
        """Records that pass the filters, those that happened last first, a page at a time."""
        return await self._parts.listing.records(
            self._readable(namespace), make_filter(**filters), limit=limit, cursor=cursor
        )

    async def turns(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        namespace: Namespace | None = None,
        **filters: Unpack[FilterFields],
    ) -> Page[Turn]:
        """Turns of a session in their order, or without a session the latest ones first."""
        return await self._parts.listing.turns(
            self._readable(namespace), make_filter(**filters), limit=limit, cursor=cursor
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
        """Change a record; the version before stays in its history."""
        return await self._parts.saver.update(
            self._caller,
            record_id,
            content,
            fields,
            expected_version=expected_version,
            reason=reason,
        )

    async def delete(self, record_id: str, *, reason: str = "") -> Record:
        """Hide a record everywhere; `undo` brings it back."""
        return await self._parts.versions.delete(self._caller, record_id, reason=reason)

    async def purge(self, record_id: str) -> None:
        """Remove a deleted record and its versions for good."""
        await self._parts.versions.purge(self._caller, record_id)

    async def history(self, record_id: str) -> tuple[Version, ...]:
        """Every version of a record, oldest first, with who made it, when and why."""
        return await self._parts.versions.history(self._caller, record_id)

    async def undo(self, record_id: str, *, reason: str = "") -> Record:
        """Take back the last change of a record, a deletion too; again, the one before it."""
        return await self._parts.versions.undo(self._caller, record_id, reason=reason)

    async def stats(self) -> Stats:
        """How much is stored for this caller, and how the parts are doing."""
        return await self._parts.figures.stats(self._caller.readable)

    async def backup(self, target: str | Path) -> CopiedContents:
        """Copy the database and what it refers to, checked, while others go on using it."""
        return await self._parts.backups.make(Path(target))

    async def export_to(
        self,
        target: str | Path | BinaryIO,
        *,
        all_scopes: bool = False,
        progress: Progress | None = None,
    ) -> ExportCounts:
        """Write what this caller may import again as JSON lines; a name in .gz compresses them.

        `all_scopes` is for an operator: it writes what anybody keeps in this database, what is
        shared and proposals too. The scratch state of sessions, traces and the audit stay here.
        """
        scopes = None if all_scopes else self._caller.readable
        return await self._parts.exporter.export(scopes, target, progress)

    async def import_from(
        self,
        source: str | Path | BinaryIO,
        *,
        all_scopes: bool = False,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> Imported:
        """Add what an export holds and is missing here, with its ids, times and versions.

        Nothing stored is changed. A bad line, or one this caller may not write (`all_scopes` is
        for an operator), ends it; with `skip_bad` it is listed and left out.
        """
        return await self._parts.importer.import_from(
            None if all_scopes else self._caller, source, skip_bad=skip_bad, progress=progress
        )

    async def work(self) -> int:
        """Run the background jobs that are due now; the number that ran."""
        return await self._parts.worker.run_due()

    async def drain(self) -> None:
        """Wait until all background work is done or given up."""
        await self._parts.late_vectors.settled()
        await self._parts.worker.drain()
        await self._parts.usage.flush()

    async def close(self) -> None:
        """Finish and close everything; on a memory made by `scope()` this does nothing."""
        if self._is_root:
            await self._parts.close()

    async def __aenter__(self) -> Memory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _readable(self, namespace: Namespace | None) -> tuple[Scope, ...]:
        return self._caller.readable if namespace is None else (self._caller.namespace(namespace),)
