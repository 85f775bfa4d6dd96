"""The switch to another embedding model, while the vectors of the old one are still used.

Scope by scope, new vectors are stored beside the old ones; one transaction then makes the new model
serve the scope. The old vectors are deleted at the end.

Where the old model no longer exists its vectors are useless, so the new model serves at once with
the vectors it has so far.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from recollect.domain.embedding import EmbeddingModel
from recollect.domain.embedding_jobs import REEMBED
from recollect.domain.job import Job, NewJob, Progress
from recollect.domain.scope import Scope
from recollect.embedding.backfill import VectorBackfill, VectorMaker
from recollect.embedding.reader import Reader
from recollect.embedding.service import EmbeddingService
from recollect.errors import RecollectError
from recollect.ports.jobs import Jobs
from recollect.ports.scope_models import ServedUnits

if TYPE_CHECKING:
    from recollect.embedding.scope_models import SqlScopeModels

_BATCH_UNITS: Final = 64
_BATCH_SCOPES: Final = 100
_BATCH_DISCARDED: Final = 2_000
_NO_LATER_UNIT: Final = (1 << 63) - 1

_log: Final = logging.getLogger(__name__)


def reembed_job(choice: str) -> NewJob:
    """Return the job of switching to a model; there is only one, and the last request wins."""
    return NewJob(kind=REEMBED, key="model", payload={"choice": choice})


class ModelSwitch:
    """A job that makes one model serve every scope, with vectors of everything it can read."""

    def __init__(
        self,
        serving: SqlScopeModels,
        maker: VectorMaker,
        filler: VectorBackfill,
        embedding: EmbeddingService,
        jobs: Jobs,
    ) -> None:
        self._jobs = jobs
        self._serving = serving
        self._maker = maker
        self._filler = filler
        self._embedding = embedding
        self._tell: Callable[[int], None] = lambda seen: None
        self._working: asyncio.Task[None] | None = None

    async def schedule(self) -> None:
        """Queue a switch to this memory's own model if a serving model no longer exists.

        A switch that waits or runs is left alone, whatever its model.
        """
        own = self._embedding.model
        if own is None or not own.choice or await self._serving.coming():
            return
        gone = await self._served_by_missing()
        if not gone:
            return
        for served in gone:
            name = "" if served.model is None else served.model.name
            _log.warning(
                "%s, which serves %d units here, is no longer available: %s embeds them again "
                "in the background, and until then they are found by words only",
                *(name, served.units, own.name),
            )
        await self._jobs.add([reembed_job(own.choice)])

    async def run(self, job: Job) -> None:
        """Run the job; after a kill it continues with the vectors that exist."""
        self._working = asyncio.current_task()
        try:
            await self.change_to(await self._embedding.open(job.payload["choice"]))
        finally:
            self._working = None

    async def change_to(self, reader: Reader) -> None:
        """Make this reader's model serve every scope."""
        async with self._maker.alone:
            await self._replace_missing(reader)
            while scopes := await self._serving.others(reader.model, limit=_BATCH_SCOPES):
                for scope in scopes:
                    await self._switch_scope(scope, reader)
            await self._filler.fill(reader, self._tell)
            while await self._serving.discard(reader.model, limit=_BATCH_DISCARDED):
                pass

    def stop(self) -> None:
        """Cancel the job that runs in this process."""
        if self._working is not None:
            self._working.cancel()

    @contextmanager
    def telling(self, progress: Progress | None, total: int) -> Generator[None]:
        """Report the progress while the work runs in this process."""
        seen = 0

        def tell(more: int) -> None:
            nonlocal seen
            seen += more
            if progress is not None:
                progress(seen, max(total, seen))

        before, self._tell = self._tell, tell
        try:
            yield
        finally:
            self._tell = before

    async def _served_by_missing(self) -> list[ServedUnits]:
        """Return what is served by models that no longer exist.

        A model that cannot be reached now, such as a server or a folder of another machine, may
        come back, and so may one that only another program provides.
        """
        return [
            served
            for served in await self._serving.served()
            if served.model is not None and await self._is_missing(served.model)
        ]

    async def _is_missing(self, model: EmbeddingModel) -> bool:
        if await self._embedding.reader(model) is not None:
            return False
        try:
            opened = await self._embedding.open(model.choice)
        except RecollectError as problem:
            return problem.code == "unknown_embedder"
        return opened.model != model

    async def _replace_missing(self, reader: Reader) -> None:
        """Make the reader's model serve at once wherever the serving model is gone."""
        model = reader.model
        for served in await self._served_by_missing():
            assert served.model is not None
            while scopes := await self._serving.answered_by(served.model, limit=_BATCH_SCOPES):
                for scope in scopes:
                    await self._serving.switch(scope, model, after=_NO_LATER_UNIT)
                self._embedding.notice(scopes, {model})

    async def _switch_scope(self, scope: Scope, reader: Reader) -> None:
        model, after = reader.model, 0
        # Units written meanwhile have only vectors of the old model; embed them before the switch.
        while not await self._serving.switch(scope, model, after=after):
            while batch := await self._serving.lacking(
                model, scope=scope, after=after, limit=_BATCH_UNITS
            ):
                after = batch[-1].unit
                await self._maker.make(batch, reader)
                self._tell(len(batch))
        self._embedding.notice([scope], {model})
