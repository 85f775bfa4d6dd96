"""Making the vectors that units still lack, of whichever model answers where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from recollect.domain.embedding import MISSING_VECTORS
from recollect.domain.job import Job
from recollect.lifecycle.vectors import VectorMaker
from recollect.ports.jobs import Jobs
from recollect.ports.serving import Serving
from recollect.recall.late_vectors import LateVectors
from recollect.recall.meaning import Meaning
from recollect.recall.reader import Reader

_BATCH: Final = 64


class VectorFiller:
    """Goes through the units without a vector once, a few at a time."""

    def __init__(
        self,
        serving: Serving,
        maker: VectorMaker,
        meaning: Meaning,
        jobs: Jobs,
        late: LateVectors,
    ) -> None:
        self._serving = serving
        self._maker = maker
        self._meaning = meaning
        self._jobs = jobs
        self._late = late

    async def schedule(self) -> None:
        """Queue the work if units lack vectors that this memory's own model makes.

        What another model answers for stays as it is: embedding that anew is for a person to
        start.
        """
        model = self._meaning.model
        if model is None:
            return
        # What is being embedded at this moment lacks nothing.
        await self._late.settled()
        has_none = any(served.model is None for served in await self._serving.served())
        if has_none or await self._serving.lacking(model, after=0, limit=1):
            await self._jobs.add([MISSING_VECTORS])

    async def run(self, job: Job) -> None:
        """The job's work, for every model that is known or can be opened here."""
        own = self._meaning.model
        if own is None:
            return
        await self._late.settled()
        async with self._maker.alone:
            await self._serving.claim(own)
            for model in [served.model for served in await self._serving.served()]:
                reader = None if model is None else await self._meaning.reader(model)
                if reader is not None:
                    await self.fill(reader, lambda _: None)

    async def fill(self, reader: Reader, tell: Callable[[int], None]) -> None:
        """Embed all that lacks a vector where this model answers, telling how many were seen."""
        after = 0
        while batch := await self._serving.lacking(reader.model, after=after, limit=_BATCH):
            after = batch[-1].unit
            await self._maker.make(batch, reader)
            tell(len(batch))
