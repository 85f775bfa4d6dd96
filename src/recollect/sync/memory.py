"""Memory for blocking code: the calls of `recollect.Memory` without await."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from recollect.domain.write import Pending
from recollect.memory import Memory as AsyncMemory
from recollect.sync.loop import Loop
from recollect.sync.twin import Twin, blocking, wrapped

# Views, sessions and tools are imported by what hands them out.
if TYPE_CHECKING:
    from recollect.context.session import Session as AsyncSession
    from recollect.domain.meter import Meter
    from recollect.domain.scope import Caller, Scope
    from recollect.domain.stats import SpoolStats
    from recollect.keys.service import KeyService
    from recollect.ports.embedder import Embedder
    from recollect.ports.judge import Judge
    from recollect.ports.runtime import Clock
    from recollect.settings import Settings
    from recollect.sync.session import Session
    from recollect.sync.toolbox import Toolbox
    from recollect.sync.views import (
        Agents,
        ApiKeys,
        AuditTrail,
        BackgroundJobs,
        Items,
        KnowledgeDocuments,
        SharedMemory,
        ToolArchives,
        Upkeep,
        WorkspaceView,
    )
    from recollect.tools import Toolbox as AsyncToolbox


def _memory_of(inner: AsyncMemory, loop: Loop) -> Memory:
    return Memory(inner, loop, is_root=False)


def _session_of(inner: AsyncSession, loop: Loop) -> Session:
    from recollect.sync.session import Session

    return Session(inner, loop)


def _toolbox_of(inner: AsyncToolbox, loop: Loop) -> Toolbox:
    from recollect.sync.toolbox import Toolbox

    return Toolbox(inner, loop)


class Memory(Twin[AsyncMemory]):
    """An agent's memory, seen from one scope.

    Open it with `with Memory.open() as memory:`; `memory.scope(user="ann")` is the same
    memory in another scope. A call that returns has succeeded and is durable; otherwise it raises a
    `RecollectError`.
    """

    def __init__(self, memory: AsyncMemory, loop: Loop, *, is_root: bool = True) -> None:
        super().__init__(memory, loop)
        self._is_root = is_root

    @property
    def _unwrapped(self) -> tuple[AsyncMemory, AbstractEventLoop]:
        """The memory itself and the event loop that its calls are made on, for adapters."""
        return (self._inner, self._loop.event_loop)

    @classmethod
    def open(
        cls,
        where: str | Path | Settings | None = None,
        *,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        judge: Judge | None = None,
        key: str | None = None,
    ) -> Memory:
        """Open a database file, a data folder, settings or the address of a server.

        Without an argument, open what `recollect where` shows. A server may ask for a `key`.

        Use it as `with Memory.open(…) as memory` or `memory = Memory.open(…)`. Pass an
        `embedder` to replace the one in the settings, or a `judge` to replace the local model that
        decides how statements relate.
        """
        loop = Loop()
        try:
            return Memory(
                loop.run(
                    lambda: AsyncMemory.open(
                        where, clock=clock, embedder=embedder, judge=judge, key=key
                    )
                ),
                loop,
            )
        except BaseException:
            loop.close()
            raise

    @property
    def caller_scope(self) -> Scope:
        """Return the scope that this memory writes to."""
        return self._inner.caller_scope

    @property
    def caller(self) -> Caller:
        """Return who is asking and what they may do."""
        return self._inner.caller

    @property
    def access(self) -> KeyService:
        """Return the service that checks keys and signs browsers in; for building a face."""
        return self._inner.access

    @property
    def meter(self) -> Meter:
        """Return the counters of this process; for building a face."""
        return self._inner.meter

    @property
    def spool(self) -> SpoolStats | None:
        """Return what waits on this machine for a database server that is away.

        It is None where nothing can wait: for a file, or if `storage.spool` is off.
        """
        return self._inner.spool

    @property
    def settings(self) -> Settings:
        return self._inner.settings

    @property
    def anonymous_user(self) -> str:
        """Return a user id for an unknown user; it stays the same for the whole run."""
        return self._inner.anonymous_user

    @property
    def user_is_named(self) -> bool:
        """Return whether the program, a key or a token said whose memory this is.

        Otherwise it belongs to the default user of the settings, or to nobody; an adapter, which
        may serve many people, then uses an anonymous user for each conversation.
        """
        return self._inner.user_is_named

    @property
    def shared(self) -> SharedMemory:
        """Return the view of what all agents of the workspace share, and of proposals."""
        from recollect.sync.views import SharedMemory

        return SharedMemory(self._inner.shared, self._loop)

    @property
    def upkeep(self) -> Upkeep:
        """Return the view of health, conflicts, quarantine, expiry and retention."""
        from recollect.sync.views import Upkeep

        return Upkeep(self._inner.upkeep, self._loop)

    @property
    def archives(self) -> ToolArchives:
        """Return the view of archived tool results."""
        from recollect.sync.views import ToolArchives

        return ToolArchives(self._inner.archives, self._loop)

    @property
    def knowledge(self) -> KnowledgeDocuments:
        """Return the view of documents."""
        from recollect.sync.views import KnowledgeDocuments

        return KnowledgeDocuments(self._inner.knowledge, self._loop)

    @property
    def audit(self) -> AuditTrail:
        """Return the view of the audit log."""
        from recollect.sync.views import AuditTrail

        return AuditTrail(self._inner.audit, self._loop)

    @property
    def items(self) -> Items:
        """Return the view of items: JSON that frameworks store under a namespace and a key."""
        from recollect.sync.views import Items

        return Items(self._inner.items, self._loop)

    @property
    def jobs(self) -> BackgroundJobs:
        """Return the view of background jobs; for an operator."""
        from recollect.sync.views import BackgroundJobs

        return BackgroundJobs(self._inner.jobs, self._loop)

    @property
    def agents(self) -> Agents:
        """Return the view of how agents are set up; for an administrator."""
        from recollect.sync.views import Agents

        return Agents(self._inner.agents, self._loop)

    @property
    def keys(self) -> ApiKeys:
        """Return the view of the keys that open a server; for an administrator."""
        from recollect.sync.views import ApiKeys

        return ApiKeys(self._inner.keys, self._loop)

    @property
    def workspace(self) -> WorkspaceView:
        """Return the view of the whole workspace; for an operator."""
        from recollect.sync.views import WorkspaceView

        return WorkspaceView(self._inner.workspace, self._loop)

    scope = wrapped(AsyncMemory.scope, _memory_of)
    as_opened = wrapped(AsyncMemory.as_opened, lambda inner, loop: Memory(inner, loop))
    session = wrapped(AsyncMemory.session, _session_of)
    tools = wrapped(AsyncMemory.tools, _toolbox_of)
    guide = wrapped(AsyncMemory.guide, lambda text, _: text)
    remember = blocking(AsyncMemory.remember)
    remember_many = blocking(AsyncMemory.remember_many)
    write = blocking(AsyncMemory.write)
    extract = blocking(AsyncMemory.extract)
    user_names = blocking(AsyncMemory.user_names)
    set_user_names = blocking(AsyncMemory.set_user_names)
    trace = blocking(AsyncMemory.trace)
    route = blocking(AsyncMemory.route)
    observe = blocking(AsyncMemory.observe)
    load_tool_history = blocking(AsyncMemory.load_tool_history)
    recall = blocking(AsyncMemory.recall)
    context = blocking(AsyncMemory.context)
    preview = blocking(AsyncMemory.preview)
    profile = blocking(AsyncMemory.profile)
    graph = blocking(AsyncMemory.graph)
    show_in_profile = blocking(AsyncMemory.show_in_profile)
    used = blocking(AsyncMemory.used)
    rejected = blocking(AsyncMemory.rejected)
    get = blocking(AsyncMemory.get)
    turn = blocking(AsyncMemory.turn)
    list = blocking(AsyncMemory.list)
    turns = blocking(AsyncMemory.turns)
    sessions = blocking(AsyncMemory.sessions)
    tags = blocking(AsyncMemory.tags)
    categories = blocking(AsyncMemory.categories)
    changes = blocking(AsyncMemory.changes)
    update = blocking(AsyncMemory.update)
    delete = blocking(AsyncMemory.delete)
    purge = blocking(AsyncMemory.purge)
    update_many = blocking(AsyncMemory.update_many)
    delete_many = blocking(AsyncMemory.delete_many)
    history = blocking(AsyncMemory.history)
    undo = blocking(AsyncMemory.undo)
    forget = blocking(AsyncMemory.forget)
    once = blocking(AsyncMemory.once)
    metrics = blocking(AsyncMemory.metrics)
    stats = blocking(AsyncMemory.stats)
    backup = blocking(AsyncMemory.backup)
    export_to = blocking(AsyncMemory.export_to)
    import_from = blocking(AsyncMemory.import_from)
    import_chat = blocking(AsyncMemory.import_chat)
    move_in = blocking(AsyncMemory.move_in)
    reindex = blocking(AsyncMemory.reindex)
    reindexing = blocking(AsyncMemory.reindexing)
    stop_reindexing = blocking(AsyncMemory.stop_reindexing)
    reconcile = blocking(AsyncMemory.reconcile)
    work = blocking(AsyncMemory.work)
    drain = blocking(AsyncMemory.drain)

    def close(self) -> Pending:
        """Finish and close everything; does nothing on a memory returned by `scope()`.

        What was said here is read first, for up to `writing.close_seconds`. Return what is still to
        be read, which happens by itself after the next opening.
        """
        if not self._is_root:
            return Pending()
        return self._loop.close(self._inner.close) or Pending()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
