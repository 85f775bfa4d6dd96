"""What `reindex` does: everything found by the newest terms, and by one model's vectors."""

from __future__ import annotations

import asyncio
from typing import Final

from recollect.context.archive_index import ArchiveIndexer
from recollect.domain.embedding import REEMBED, EmbeddingModel
from recollect.domain.progress import Progress
from recollect.domain.reindexing import Reindexing
from recollect.errors import NotAvailable
from recollect.lifecycle.reembedding import Reembedder, reembed_job
from recollect.lifecycle.reindex import REINDEX, Reindexer
from recollect.lifecycle.worker import Worker
from recollect.ports.jobs import Jobs
from recollect.ports.serving import Serving
from recollect.recall.meaning import Meaning
from recollect.recall.reader import Reader

# How often it is asked how far another process is.
_PAUSE: Final = 1.0


class Renewal:
    """Does the work here as a job, so that any other memory goes on with it if this one ends."""

    def __init__(
        self,
        serving: Serving,
        indexer: ArchiveIndexer,
        reindexer: Reindexer,
        reembedder: Reembedder,
        meaning: Meaning,
        jobs: Jobs,
        worker: Worker,
    ) -> None:
        self._serving = serving
        self._indexer = indexer
        self._reindexer = reindexer
        self._reembedder = reembedder
        self._meaning = meaning
        self._jobs = jobs
        self._worker = worker

    async def reindex(
        self, progress: Progress | None, choice: str | None, *, in_background: bool
    ) -> int:
        """Let a model answer everywhere, the settings' own if none is chosen; how many pieces
        had no vector of it."""
        await self._indexer.reindex()
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
                # Only this process has the model, so nobody else could go on.
                await self._reembedder.change_to(reader)
        return lacking

    async def progress(self) -> Reindexing:
        """How far the change is that goes on, or what the settings' model lacks."""
        choice = await self._serving.coming()
        reader = await self._reader(choice or None)
        served = await self._serving.served()
        units = sum(it.units for it in served)
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
            served={"" if it.model is None else it.model.name: it.units for it in served},
        )

    async def stop(self) -> bool:
        """End a change that waits or goes on; scopes that it has reached stay with the new model.

        False when there was none.
        """
        was_going_on = await self._jobs.withdraw(REEMBED)
        self._reembedder.stop()
        return was_going_on

    async def _renew_terms(self, progress: Progress | None, *, in_background: bool) -> None:
        """Let the newest analyzer's terms answer everywhere, here or by whoever has the job."""
        await self._reindexer.schedule()
        if not in_background:
            with self._reindexer.telling(progress, await self._reindexer.count_stale()):
                await self._worker.run_now(REINDEX)

    async def _reader(self, choice: str | None) -> Reader | None:
        """Who makes the vectors; an error if the chosen one cannot be had."""
        if choice is not None:
            return await self._meaning.open(choice)
        own = self._meaning.model
        return None if own is None else await self._meaning.reader(own)

    async def _until_done(
        self, model: EmbeddingModel, progress: Progress | None, total: int
    ) -> None:
        while not await self._worker.run_now(REEMBED):
            if await self._jobs.next_due([REEMBED]) is None:
                break
            # Another process has begun it.
            await asyncio.sleep(_PAUSE)
            if progress is not None:
                left = await self._serving.count_lacking(model, everywhere=True)
                progress(max(total - left, 0), total)
        if await self._serving.others(model, limit=1):
            raise NotAvailable(
                f"{model.name} does not answer everywhere yet",
                code="reembedding_unfinished",
                hint="`recollect doctor` tells why; `recollect reindex` begins it again.",
            )
