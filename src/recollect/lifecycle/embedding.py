"""Making the vectors that units still lack: after a failure, or for a model that is new."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from recollect.domain.change import ChangeSet
from recollect.domain.embedding import EmbeddingModel, UnitVector
from recollect.domain.job import Job, NewJob
from recollect.domain.progress import Progress
from recollect.domain.record import Record
from recollect.ports.jobs import Jobs
from recollect.ports.maintenance import Maintenance, PlainUnit
from recollect.ports.store import Store
from recollect.recall.meaning import EMBED, Meaning
from recollect.text.searchable import record_units, turn_units

_BATCH: Final = 64


class VectorFiller:
    """Goes through the units without a vector once, a few at a time."""

    def __init__(
        self, store: Store, maintenance: Maintenance, meaning: Meaning, jobs: Jobs
    ) -> None:
        self._store = store
        self._maintenance = maintenance
        self._meaning = meaning
        self._jobs = jobs
        # The background job and a person's `reindex` must not embed the same things twice.
        self._filling = asyncio.Lock()

    async def schedule(self) -> None:
        """Queue the work if units lack vectors and no other model's stand in for them.

        Another model's vectors mean that the model was changed, and embedding everything anew is
        for a person to start.
        """
        model = self._meaning.model
        if model is None or await self._maintenance.vectors_of_others(model):
            return
        if await self._maintenance.without_vector(model, after=0, limit=1):
            await self._jobs.add([NewJob(kind=EMBED, key="missing")])

    async def run(self, job: Job) -> None:
        """The job's work."""
        await self.fill()

    async def fill(self, progress: Progress | None = None) -> int:
        """Embed all that lacks a vector; each batch is stored at once, so a kill loses little."""
        async with self._filling:
            return await self._fill(progress)

    async def _fill(self, progress: Progress | None) -> int:
        model = self._meaning.model
        if model is None:
            return 0
        total = await self._maintenance.count_without_vector(model) if progress else 0
        after = filled = 0
        while batch := await self._maintenance.without_vector(model, after=after, limit=_BATCH):
            after = batch[-1].unit
            await self._fill_batch(batch, model)
            filled += len(batch)
            if progress is not None:
                progress(filled, max(total, filled))
        return filled

    async def _fill_batch(self, batch: Sequence[PlainUnit], model: EmbeddingModel) -> None:
        owners = list({it.owner.id: it.owner for it in batch}.values())
        units = [record_units(it) if isinstance(it, Record) else turn_units(it) for it in owners]
        made = {
            (owner.owner_id, unit.ordinal): unit.vector
            for owner in await self._meaning.filled(units)
            for unit in owner.units
        }
        vectors = [
            UnitVector(scope=it.owner.scope, unit=it.unit, vector=vector)
            for it in batch
            # A text that the model cannot read stays without.
            if (vector := made.get((it.owner.id, it.ordinal))) is not None
        ]
        if vectors:
            await self._store.commit(
                ChangeSet(
                    principal=EMBED,
                    scope=vectors[0].scope,
                    vectors=tuple(vectors),
                    model=model,
                )
            )
