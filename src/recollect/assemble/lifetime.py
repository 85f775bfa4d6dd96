"""What an open store does by itself: from opening to closing."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from recollect.domain.forgetting import FORGET
from recollect.domain.write import READING, Pending
from recollect.errors import RecollectError, StorageError
from recollect.ports.runtime import work_in_background

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.assemble.redis import Redis
    from recollect.backends.redis.messages import Message
    from recollect.domain.scope import Caller

_log = logging.getLogger(__name__)

# A program that is open only for a moment leaves background work to others; on a busy machine its
# moment is longer: what it does after each pause is seen by the share of a core that it took.
_START_DELAY_SECONDS: Final = 3.0
_MOST_DELAYS: Final = 4
_AT_WORK: Final = 0.1
# At most so many times as long takes what a busy machine does.
_BUSY_FACTOR: Final = 6.0
# How often it is tried to read a ledger that is away.
_LEDGER_SECONDS: Final = 5.0
# How often closing looks whether another process has read what was told.
_POLL_SECONDS: Final = 0.1
# What background work needs and takes long to import.
_BACKGROUND_MODULES: Final = (
    "recollect.assemble.background",
    "recollect.assemble.recall",
    "recollect.assemble.sessions",
    "recollect.assemble.sharing",
    "recollect.assemble.upkeep",
    "recollect.backends.local.keyword_index",
    "recollect.backends.local.vector_index",
    "recollect.erasure.rows",
    "recollect.items.rows",
    "recollect.context.sessions",
    "recollect.erasure.forgetting",
    "recollect.knowledge.base",
    "recollect.knowledge.ingest",
    "recollect.knowledge.retrieval",
    "recollect.audit.service",
    "recollect.items.service",
    "recollect.assemble.working_memory",
    "recollect.models.language.tiers",
    "recollect.models.byte_products",
    "recollect.recall.prefetch",
    "recollect.sharing.proposals",
)


class Lifetime:
    """The tasks that run while a store is open, and what is finished before it closes."""

    def __init__(self, parts: Wiring) -> None:
        self._parts = parts
        self._starting: asyncio.Task[None] | None = None
        self._catching_up: asyncio.Task[None] | None = None
        self._erasing: asyncio.Task[None] | None = None
        self._loading: asyncio.Task[None] | None = None
        # Set as soon as prompts need not wait for models any more.
        self._loaded = asyncio.Event()
        self._ready_by = 0.0
        self._following: asyncio.Task[None] | None = None
        self._rousing: asyncio.Task[None] | None = None
        self._hiding: asyncio.Task[None] | None = None
        self._closed: Pending | None = None

    async def settle_in(self) -> None:
        """Do what comes before anything is read or written here."""
        await self.hide_forgotten()
        await self.go_on_forgetting()
        await self._parts.moves.follow()

    async def hide_forgotten(self) -> None:
        """Hide what an older copy of the database brought back, before anybody sees it.

        The ledger of a database server may lie in a bucket. While that is away nobody can know
        whether the database is an older copy; it is opened, and looked at when the bucket is back.
        """
        try:
            await self._hide_forgotten()
        except StorageError as problem:
            if problem.code != "blobs_unreachable":
                raise
            _log.warning("what was forgotten is compared with the ledger later: %s", problem)
            self._hiding = asyncio.create_task(self._hide_later(), name="recollect-hide")

    async def _hide_forgotten(self) -> None:
        if await asyncio.to_thread(self._parts.database.ledger.ids):
            from recollect.assemble.upkeep import hide_forgotten

            await hide_forgotten(self._parts.database, self._parts.clock)

    async def _hide_later(self) -> None:
        while True:
            await asyncio.sleep(_LEDGER_SECONDS)
            try:
                return await self._hide_forgotten()
            except StorageError as problem:
                _log.debug("the ledger is still away: %s", problem)

    async def go_on_forgetting(self) -> None:
        """Finish in the background any forgetting that was interrupted before it was erased."""
        if await self._parts.jobs.has(FORGET):
            self._erasing = asyncio.create_task(self._erase(), name="recollect-erase")

    async def _erase(self) -> None:
        # In a thread, because importing takes a while and callers would wait.
        await asyncio.to_thread(importlib.import_module, "recollect.assemble.background")
        from recollect.assemble.background import eraser_of
        from recollect.erasure.rows import SqlErasure

        await SqlErasure(self._parts.database, self._parts.clock).rouse()
        await eraser_of(self._parts).run_due()

    def start(self) -> None:
        """Read what earlier programs could not, and start the background work after a moment."""
        self._catching_up = asyncio.create_task(self._catch_up(), name="recollect-read")
        self._starting = asyncio.create_task(self._start(), name="recollect-start")
        if self._parts.router.common is self._parts and not self._parts.settings.is_temporary:
            # Only this process sees a temporary one.
            forever = self._parts.moves.follow_forever()
            self._following = asyncio.create_task(forever, name="recollect-follow")
        if (outage := self._parts.database.outage) is not None:
            outage.on_return(self._catch_up_again)

    def _catch_up_again(self) -> None:
        """Read what could not be read while the database server was away."""
        if self._catching_up is None or self._catching_up.done():
            self._catching_up = asyncio.create_task(self._catch_up(), name="recollect-read")

    async def _catch_up(self) -> None:
        """Read what was told to programs that ended before they had read it."""
        work_in_background()
        try:
            if await self._parts.jobs.rouse(READING, even_given_up=True):
                await asyncio.to_thread(self._prepare_background)
                await self._parts.worker.run_only(READING)
        except RecollectError as problem:
            _log.warning("what was told before is read later: %s", problem)

    async def catch_up(self) -> None:
        """Wait for what was left unread, for as long as closing would have waited.

        These are seconds of this process at work: on a busy machine, where closing was too slow,
        opening would be too. Only a language model is waited for by the clock.
        """
        seconds = self._parts.settings.writing.close_seconds
        most = seconds if self._parts.settings.tiers.extract else seconds * _BUSY_FACTOR
        began, worked = time.monotonic(), time.process_time()
        tasks = [parts.lifetime._catching_up for parts in self._parts.router.opened]
        reading = {task for task in tasks if task is not None}
        while reading and time.process_time() - worked < seconds:
            if (left := began + most - time.monotonic()) <= 0:
                break
            _, reading = await asyncio.wait(reading, timeout=min(left, _POLL_SECONDS))

    async def _start(self) -> None:
        for _ in range(_MOST_DELAYS):
            worked = time.process_time()
            await asyncio.sleep(_START_DELAY_SECONDS)
            if time.process_time() - worked <= _AT_WORK * _START_DELAY_SECONDS:
                break
        # In a thread, because importing takes a while and callers would wait.
        await asyncio.to_thread(self._prepare_background)
        self._parts.worker.start()
        self._parts.working.sweeper.start()
        self._parts.sealer.start()
        self._parts.metrics.start()
        for store in self._parts.vector_stores:
            store.following.start()
        if self._parts.here.outbox is not None:
            self._parts.here.outbox.on_return.append(self._go_on_erasing)
            self._parts.here.outbox.start()
        if self._parts.redis is not None:
            await self._start_mirroring(self._parts.redis)

    async def _start_mirroring(self, redis: Redis) -> None:
        # In a thread, because importing takes a while and callers would wait.
        await asyncio.to_thread(importlib.import_module, "redis.asyncio")
        redis.link.on_return.append(self._go_on_erasing)
        if self._parts.mirroring is not None:
            self._parts.mirroring.start()
        if self._parts.router.common is self._parts:
            redis.listen(self._hear)

    def _go_on_erasing(self) -> None:
        """Erase at once where a store is back what was forgotten while it was away."""
        self._rousing = asyncio.create_task(self._rouse(), name="recollect-rouse")

    async def _rouse(self) -> None:
        from recollect.erasure.rows import SqlErasure

        try:
            await SqlErasure(self._parts.database, self._parts.clock).rouse()
        except RecollectError as problem:
            _log.warning("what was forgotten is erased later: %s", problem)

    def _hear(self, message: Message) -> None:
        """Drop what is kept beside the database and another server has changed."""
        for parts in self._parts.router.opened:
            if message.forgot:
                parts.let_go_of_caches()
            elif "store_recaller" in vars(parts):
                parts.store_recaller.drop(message.scopes)

    def expect_prompt(self, caller: Caller) -> None:
        """Load what the first prompt of a session needs, unless it may take its time."""
        if self._loading is None and self._parts.settings.session.prepare_seconds:
            self._ready_by = time.monotonic() + self._parts.settings.session.patience
            self._loading = asyncio.create_task(self._load(caller), name="recollect-load")

    async def ready(self) -> None:
        """Wait for the models that `expect_prompt` loads, until its `session.patience` is over.

        The first prompt of a process would have nothing that is remembered otherwise.
        """
        left = self._ready_by - time.monotonic()
        if left > 0 and not self._loaded.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._loaded.wait()

    async def _load(self, caller: Caller) -> None:
        try:
            await self._parts.recaller.load(caller.readable)
            self._loaded.set()
            # In a thread, because importing takes a while and callers would wait.
            await asyncio.to_thread(self._prepare_background)
            await self._parts.judge.load()
        except RecollectError as problem:
            # Whoever asks is told.
            _log.info("models are loaded on demand: %s", problem)
        finally:
            self._loaded.set()

    def _prepare_background(self) -> None:
        for module in _BACKGROUND_MODULES:
            importlib.import_module(module)
        self._parts.understanding.open()

    async def close(self) -> Pending:
        """Finish and close everything that was created, and the stores of agents.

        A second time this does nothing and returns the same.
        """
        common = self._parts.router.common
        if common is not self._parts:
            return await common.lifetime.close()
        if self._closed is None:
            self._closed = await self._close()
        return self._closed

    async def _close(self) -> Pending:
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        if self._parts.spool is not None:
            await self._parts.spool.close()
        pending = await self._finish_reading()
        for store in self._parts.router.stores.values():
            await store.lifetime.close_store()
        await self._close_work()
        if self._parts.redis is not None:
            await self._parts.redis.close()
        await self._parts.understanding.close()
        await self._parts.store.close()
        return pending

    async def close_store(self) -> None:
        """Finish and close only what is on this store."""
        await self._close_work()
        await self._parts.store.close()

    async def _finish_reading(self) -> Pending:
        """Read what was told, for as long as closing may wait; return what is left to read."""
        stores = [
            parts.lifetime for parts in self._parts.router.opened if parts.lifetime.has_unread
        ]
        if not stores:
            return Pending()
        try:
            for store in stores:
                await store.leave_sessions()
            reading = [asyncio.create_task(store.read_told()) for store in stores]
            await asyncio.wait(reading, timeout=self._parts.settings.writing.close_seconds)
            for task in reading:
                task.cancel()
            await asyncio.wait(reading)
            pending = sum([await store.unread() for store in stores], Pending())
        except RecollectError as problem:
            _log.warning("what was told is read after the next opening: %s", problem)
            return Pending()
        if pending:
            _log.warning(
                "%d turns of %d sessions are still to be read; the next opening goes on",
                pending.turns,
                pending.sessions,
            )
        return pending

    @property
    def has_unread(self) -> bool:
        """Whether something was told here that may still have to be read, now or before."""
        is_catching_up = self._catching_up is not None and not self._catching_up.done()
        return is_catching_up or "told" in vars(self._parts)

    async def leave_sessions(self) -> None:
        """Close the open sessions, and have what was told read by whoever comes first."""
        if "working" in vars(self._parts):
            await self._parts.working.sessions.close()
        if "told" in vars(self._parts):
            await self._parts.told.leave_all()

    async def unread(self) -> Pending:
        """Return what was told here and is still to be read."""
        return await self._parts.told.pending() if "told" in vars(self._parts) else Pending()

    async def read_told(self) -> None:
        """Read until nothing is left of what was told here and before."""
        if self._catching_up is not None:
            await asyncio.wait([self._catching_up])
        while await self.unread():
            await self._parts.jobs.rouse(READING)
            if not await self._parts.worker.run_only(READING):
                # Another process reads it, or it failed and is tried again in a moment.
                await asyncio.sleep(_POLL_SECONDS)

    async def _close_vectors(self) -> None:
        for store in self._parts.vector_stores:
            await store.following.close()
            await store.sink.close()

    async def _close_work(self) -> None:
        if self._erasing is not None:
            # Opening and closing a memory is enough to finish forgetting.
            await asyncio.wait([self._erasing])
            if not self._erasing.cancelled() and (problem := self._erasing.exception()):
                _log.warning("forgetting continues when the memory is next opened: %s", problem)
        tasks = (self._starting, self._catching_up, self._loading, self._rousing, self._hiding)
        for task in filter(None, tasks):
            task.cancel()
            await asyncio.wait([task])
        endings: dict[str, Callable[[], Awaitable[object]]] = {
            "mirroring": lambda: self._parts.close_mirroring(),
            "late_vectors": lambda: self._parts.late_vectors.settled(),
            "fresh_links": lambda: self._parts.fresh_links.close(),
            "metrics": lambda: self._parts.metrics.close(),
            "keys": lambda: self._parts.keys.close(),
            "usage": lambda: self._parts.usage.close(),
            "worker": lambda: self._parts.worker.stop(),
            "knowledge": lambda: self._parts.knowledge.close(),
            "working": lambda: self._parts.working.close(),
            "models": lambda: self._parts.models.close(),
            "store_recaller": lambda: self._parts.store_recaller.close(),
            "_larger_reader": lambda: self._parts.close_reader(),
            "vector_stores": self._close_vectors,
        }
        # Those of the common store serve the stores of agents too.
        shared = (
            {"keys", "knowledge"} if self._parts.router.common is not self._parts else set[str]()
        )
        if "outbox" in vars(self._parts.here) and self._parts.here.outbox is not None:
            await self._parts.here.outbox.close()
        for name, end in endings.items():
            if name in vars(self._parts) and name not in shared:
                await end()
        if "sealer" in vars(self._parts) or self._parts.database.has_written:
            await self._parts.sealer.close()
