"""Memory for blocking code: the calls of `recollect.Memory` without await.

Generated from memory.py by tools/generate_sync.py; do not edit. After a change of memory.py:

    .venv/bin/python tools/generate_sync.py
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Future
from datetime import datetime
from pathlib import Path
from types import EllipsisType, TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, Unpack

from recollect.domain.fields import Draft, RecordFields
from recollect.domain.filters import FilterFields
from recollect.domain.hit import Recalled
from recollect.domain.page import Page
from recollect.domain.progress import Progress
from recollect.domain.record import Record, Version
from recollect.domain.scope import Scope
from recollect.domain.stats import Stats
from recollect.domain.transfer import ExportCounts, Imported
from recollect.domain.turn import Turn
from recollect.errors import Closed, RecollectError
from recollect.memory import Memory as AsyncMemory
from recollect.memory import Namespace

if TYPE_CHECKING:
    from recollect.ports.clock import Clock
    from recollect.ports.embedder import Embedder
    from recollect.settings import Settings

_T = TypeVar("_T")


class _Loop:
    """An event loop on a thread of its own, shared by all views of one opened memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_closed = False
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        # A daemon: a program that is interrupted, or forgets to close, must still come to its end.
        self._thread = threading.Thread(target=self._serve, name="recollect-loop", daemon=True)
        self._thread.start()
        self._loop, self._stopping = self._started.result()

    def run(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make a call on the loop and wait for its result, from any thread but the loop's own."""
        if threading.current_thread() is self._thread:
            raise RecollectError(
                "A blocking call inside another call of the same memory would wait for itself",
                code="would_deadlock",
                hint="Make a list of the items first, then hand it over.",
            )
        with self._lock:
            if not self._is_running:
                raise Closed("This memory was closed", hint="Open it again with Memory.open().")
            running = self._start(call)
        return _result(running)

    def close(self, last: Callable[[], Awaitable[None]] | None = None) -> None:
        """Make a last call, then end the loop and its thread; a second time this does nothing."""
        with self._lock:
            if not self._is_running:
                return
            self._is_closed = True
            running = None if last is None else self._start(last)
        try:
            if running is not None:
                _result(running)
        finally:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    @property
    def _is_running(self) -> bool:
        # In a process made by fork() the thread does not exist.
        return not self._is_closed and self._thread.is_alive()

    def _start(self, call: Callable[[], Awaitable[_T]]) -> Future[_T]:
        return asyncio.run_coroutine_threadsafe(_awaited(call), self._loop)

    def _serve(self) -> None:
        asyncio.run(self._until_closed())

    async def _until_closed(self) -> None:
        stopping = asyncio.Event()
        self._started.set_result((asyncio.get_running_loop(), stopping))
        await stopping.wait()


async def _awaited(call: Callable[[], Awaitable[_T]]) -> _T:
    return await call()


def _result(running: Future[_T]) -> _T:
    try:
        return running.result()
    except CancelledError:
        raise Closed("This memory was closed during the call") from None
    finally:
        # Whoever stops waiting, as on Ctrl-C, leaves no call behind.
        running.cancel()


class Memory:
    """An agent's memory, seen from one scope.

    `with Memory.open() as memory:` opens it; `memory.scope(user="ann")` is the same memory
    for somebody else. Every call either happened and is durable, or raises a `RecollectError`.
    """

    def __init__(self, memory: AsyncMemory, loop: _Loop, *, is_root: bool = True) -> None:
        self._memory = memory
        self._loop = loop
        self._is_root = is_root

    @classmethod
    def open(
        cls,
        where: str | Path | Settings | None = None,
        *,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
    ) -> Memory:
        """Open a database file, a data folder or settings; by default what `recollect where` shows.

        Use it as `with Memory.open(…) as memory` or `memory = Memory.open(…)`.
        An `embedder` of your own takes the place of the one in the settings.
        """
        loop = _Loop()
        try:
            return Memory(
                loop.run(lambda: AsyncMemory.open(where, clock=clock, embedder=embedder)), loop
            )
        except BaseException:
            loop.close()
            raise

    @property
    def caller_scope(self) -> Scope:
        """The scope this memory writes to."""
        return self._memory.caller_scope

    @property
    def settings(self) -> Settings:
        return self._memory.settings

    @property
    def anonymous_user(self) -> str:
        """A user id for a run whose user is unknown: made once, the same for the whole run."""
        return self._memory.anonymous_user

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
        return Memory(
            self._memory.scope(
                agent=agent,
                user=user,
                workspace=workspace,
                org=org,
                children=children,
                principal=principal,
            ),
            self._loop,
            is_root=False,
        )

    def remember(
        self,
        content: str,
        *,
        namespace: Namespace | None = None,
        idempotency_key: str | None = None,
        reason: str = "",
        **fields: Unpack[RecordFields],
    ) -> Record:
        """Save one record; when this returns it is durable and can be recalled."""
        return self._loop.run(
            lambda: self._memory.remember(
                content,
                namespace=namespace,
                idempotency_key=idempotency_key,
                reason=reason,
                **fields,
            )
        )

    def remember_many(
        self,
        items: Iterable[str | Draft],
        *,
        namespace: Namespace | None = None,
        idempotency_key: str | None = None,
        reason: str = "",
    ) -> tuple[Record, ...]:
        """Save several records in one transaction: all of them, or none."""
        return self._loop.run(
            lambda: self._memory.remember_many(
                items, namespace=namespace, idempotency_key=idempotency_key, reason=reason
            )
        )

    def observe(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        task: str | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[Turn, ...]:
        """Keep messages of a conversation in order; `at` gives a message a past time."""
        return self._loop.run(
            lambda: self._memory.observe(
                messages, session=session, task=task, idempotency_key=idempotency_key
            )
        )

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        namespace: Namespace | None = None,
        **filters: Unpack[FilterFields],
    ) -> Recalled:
        """What is remembered about a question, best first; empty when nothing is good enough."""
        return self._loop.run(
            lambda: self._memory.recall(
                query, limit=limit, min_score=min_score, namespace=namespace, **filters
            )
        )

    def get(self, record_id: str, *, as_of: datetime | None = None) -> Record:
        """One record, as it is now or as we knew it at a past moment."""
        return self._loop.run(lambda: self._memory.get(record_id, as_of=as_of))

    def turn(self, turn_id: str) -> Turn:
        """One turn of a conversation."""
        return self._loop.run(lambda: self._memory.turn(turn_id))

    def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        namespace: Namespace | None = None,
        **filters: Unpack[FilterFields],
    ) -> Page[Record]:
        """Records that pass the filters, those that happened last first, a page at a time."""
        return self._loop.run(
            lambda: self._memory.list(limit=limit, cursor=cursor, namespace=namespace, **filters)
        )

    def turns(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        namespace: Namespace | None = None,
        **filters: Unpack[FilterFields],
    ) -> Page[Turn]:
        """Turns of a session in their order, or without a session the latest ones first."""
        return self._loop.run(
            lambda: self._memory.turns(limit=limit, cursor=cursor, namespace=namespace, **filters)
        )

    def update(
        self,
        record_id: str,
        content: str | None = None,
        *,
        expected_version: int | None = None,
        reason: str = "",
        **fields: Unpack[RecordFields],
    ) -> Record:
        """Change a record; the version before stays in its history."""
        return self._loop.run(
            lambda: self._memory.update(
                record_id, content, expected_version=expected_version, reason=reason, **fields
            )
        )

    def delete(self, record_id: str, *, reason: str = "") -> Record:
        """Hide a record everywhere; `undo` brings it back."""
        return self._loop.run(lambda: self._memory.delete(record_id, reason=reason))

    def purge(self, record_id: str) -> None:
        """Remove a deleted record and its versions for good."""
        self._loop.run(lambda: self._memory.purge(record_id))

    def forget(self, record_id: str) -> None:
        """Delete and purge at once: all of the record is gone for good, or nothing is."""
        self._loop.run(lambda: self._memory.forget(record_id))

    def history(self, record_id: str) -> tuple[Version, ...]:
        """Every version of a record, oldest first, with who made it, when and why."""
        return self._loop.run(lambda: self._memory.history(record_id))

    def undo(self, record_id: str, *, reason: str = "") -> Record:
        """Take back the last change of a record, a deletion too; again, the one before it."""
        return self._loop.run(lambda: self._memory.undo(record_id, reason=reason))

    def stats(self) -> Stats:
        """How much is stored for this caller, and how the parts are doing."""
        return self._loop.run(lambda: self._memory.stats())

    def reindex(self, progress: Progress | None = None) -> int:
        """Make the vectors that are missing, all in one go; how many pieces were looked at."""
        return self._loop.run(lambda: self._memory.reindex(progress))

    def backup(self, target: str | Path) -> None:
        """Copy the whole database, checked, while others go on using it."""
        self._loop.run(lambda: self._memory.backup(target))

    def export_to(
        self,
        target: str | Path | BinaryIO,
        *,
        all_scopes: bool = False,
        progress: Progress | None = None,
    ) -> ExportCounts:
        """Write everything this caller may read as JSON lines; a name in .gz compresses them.

        `all_scopes` is for an operator: it writes what anybody keeps in this database.
        """
        return self._loop.run(
            lambda: self._memory.export_to(target, all_scopes=all_scopes, progress=progress)
        )

    def import_from(
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
        return self._loop.run(
            lambda: self._memory.import_from(
                source, all_scopes=all_scopes, skip_bad=skip_bad, progress=progress
            )
        )

    def work(self) -> int:
        """Run the background jobs that are due now; the number that ran."""
        return self._loop.run(lambda: self._memory.work())

    def drain(self) -> None:
        """Wait until all background work is done or given up."""
        self._loop.run(lambda: self._memory.drain())

    def close(self) -> None:
        """Finish and close everything; on a memory made by `scope()` this does nothing."""
        if self._is_root:
            self._loop.close(self._memory.close)

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
