"""Reindexing: analysis of text after a change of the analyzer, and missing vectors.

Scope by scope, new units are stored beside the old ones; one transaction then makes them serve the
scope. The old ones are deleted afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.embedding import EmbeddingModel, Reindexing
from recollect.domain.embedding_jobs import MISSING_VECTORS, REEMBED
from recollect.domain.job import Job, NewJob, Progress
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits
from recollect.embedding.backfill import StoredUnits
from recollect.embedding.model_switch import ModelSwitch, reembed_job
from recollect.embedding.reader import Reader
from recollect.embedding.service import EmbeddingService
from recollect.errors import NotAvailable
from recollect.language.analysis import ANALYZER_VERSION
from recollect.language.units import record_units, turn_units
from recollect.ports.jobs import Jobs

if TYPE_CHECKING:
    from recollect.embedding.index_rebuild import SqlIndexGenerations
    from recollect.embedding.scope_models import SqlScopeModels

REINDEX: Final = "reindex"
_BATCH_OWNERS: Final = 200
_BATCH_DISCARDED: Final = 2_000

# Owners whose text is stored outside the database.
_Stored = Archive | Document
# The interval at which the progress of another process is read.
_POLL_SECONDS: Final = 1.0


class Reindexer:
    """A job that updates the index to the current analyzer; until then old terms serve a scope."""

    def __init__(
        self, editions: SqlIndexGenerations, stored_units: StoredUnits, jobs: Jobs
    ) -> None:
        self._editions = editions
        self._stored_units = stored_units
        self._jobs = jobs
        self._tell: Callable[[int], None] = lambda seen: None

    async def schedule(self) -> None:
        """Queue the work if there is any."""
        if not await self._editions.is_current(ANALYZER_VERSION):
            await self._jobs.add([NewJob(kind=REINDEX, key=ANALYZER_VERSION)])

    async def run(self, job: Job) -> None:
        """Reindex until nothing is left; after a kill it continues where it was."""
        await self._discard()
        while (scope := await self._editions.stale(ANALYZER_VERSION)) is not None:
            await self._reindex_scope(scope)
            await self._discard()
        # A text that is now split differently has units without a vector.
        await self._jobs.add([MISSING_VECTORS])

    async def count_stale(self) -> int:
        """Return how many units were analysed by another version."""
        return await self._editions.count_stale(ANALYZER_VERSION)

    @contextmanager
    def telling(self, progress: Progress | None, total: int) -> Generator[None]:
        """Report the progress while the work runs in this process."""
        seen = 0

        def tell(more: int) -> None:
            nonlocal seen
            seen += more
            if progress is not None:
                progress(min(seen, total), total)

        before, self._tell = self._tell, tell
        try:
            yield
        finally:
            self._tell = before

    async def _reindex_scope(self, scope: Scope) -> None:
        # Units written meanwhile are searchable at once, and are added before the switch too.
        while not await self._editions.switch(scope, ANALYZER_VERSION):
            while left := await self._editions.left(scope, ANALYZER_VERSION, limit=_BATCH_OWNERS):
                made = await asyncio.to_thread(_units, left.owners)
                for owner in left.owners:
                    if isinstance(owner, _Stored) and (units := await self._stored_units(owner)):
                        made.append(units)
                await self._editions.add(scope, ANALYZER_VERSION, left, made)
                self._tell(sum(len(owner.units) for owner in made))

    async def _discard(self) -> None:
        while await self._editions.discard(ANALYZER_VERSION, limit=_BATCH_DISCARDED):
            pass


def _units(owners: Sequence[Record | Turn | _Stored]) -> list[OwnerUnits]:
    """Return the units of records and turns."""
    return [
        record_units(owner) if isinstance(owner, Record) else turn_units(owner)
        for owner in owners
        if not isinstance(owner, _Stored)
    ]


@dataclass(eq=False)
class ReindexService:
    """The `reindex` operation: the work runs as a job, so that another process can continue it."""

    _serving: SqlScopeModels
    _index_archives: Callable[[], Awaitable[int]]
    _reindexer: Reindexer
    _reembedder: ModelSwitch
    _embedding: EmbeddingService
    _jobs: Jobs
    # Runs the job of a kind now; returns False if another worker has it.
    _run_job: Callable[[str], Awaitable[bool]]

    async def reindex(
        self, progress: Progress | None, choice: str | None, *, in_background: bool
    ) -> int:
        """Make a model serve every scope; return how many units had no vector of it.

        Without a choice, take the model of the settings.
        """
        await self._index_archives()
        await self._renew_terms(progress, in_background=in_background)
        reader = await self._reader(choice)
        if reader is None:
            return 0
        model = reader.model
        lacking = await self._serving.count_lacking(model, everywhere=True)
        if model.choice:
            await self._jobs.add([reembed_job(model.choice)])
        if in_background and model.choice:
            return lacking
        with self._reembedder.telling(progress, lacking):
            if model.choice:
                await self._until_done(model, progress, lacking)
            else:
                # Only this process has the model, so no other could continue.
                await self._reembedder.change_to(reader)
        return lacking

    async def progress(self) -> Reindexing:
        """Return the progress of a running switch, or what the model of the settings lacks."""
        choice = await self._serving.coming()
        reader = await self._reader(choice or None)
        served = await self._serving.served()
        units = sum(part.units for part in served)
        return Reindexing(
            model=choice or ("" if reader is None else reader.model.choice or reader.model.name),
            is_going_on=bool(choice),
            units=units,
            lacking=(
                units
                if reader is None
                else await self._serving.count_lacking(reader.model, everywhere=True)
            ),
            stale=await self._reindexer.count_stale(),
            served={"" if part.model is None else part.model.name: part.units for part in served},
        )

    async def stop(self) -> bool:
        """Stop a switch; return False if there is none.

        Scopes that it has reached stay with the new model.
        """
        was_going_on = await self._jobs.withdraw(REEMBED)
        self._reembedder.stop()
        return was_going_on

    async def _renew_terms(self, progress: Progress | None, *, in_background: bool) -> None:
        """Make the terms of the newest analyzer serve every scope."""
        await self._reindexer.schedule()
        if not in_background:
            with self._reindexer.telling(progress, await self._reindexer.count_stale()):
                await self._run_job(REINDEX)

    async def _reader(self, choice: str | None) -> Reader | None:
        """Return the reader that makes the vectors; raise if the chosen one is not available."""
        if choice is not None:
            return await self._embedding.open(choice)
        own = self._embedding.model
        return None if own is None else await self._embedding.reader(own)

    async def _until_done(
        self, model: EmbeddingModel, progress: Progress | None, total: int
    ) -> None:
        while not await self._run_job(REEMBED):
            if await self._jobs.next_due([REEMBED]) is None:
                break
            # Another process is running it.
            await asyncio.sleep(_POLL_SECONDS)
            if progress is not None:
                left = await self._serving.count_lacking(model, everywhere=True)
                progress(max(total - left, 0), total)
        if await self._serving.others(model, limit=1):
            raise NotAvailable(
                f"{model.name} does not serve every scope yet",
                code="reembedding_unfinished",
                hint="`recollect doctor` says why; `recollect reindex` starts again.",
            )
