"""Backfill of missing vectors, with whichever model serves their scope."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from recollect.domain.archive import Archive
from recollect.domain.change import ChangeSet
from recollect.domain.document import Document
from recollect.domain.embedding import UnitVector
from recollect.domain.embedding_jobs import EMBED, MISSING_VECTORS
from recollect.domain.job import Job
from recollect.domain.record import Record
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits
from recollect.embedding.late_vectors import LateVectors
from recollect.embedding.reader import Reader
from recollect.embedding.service import EmbeddingService
from recollect.language.units import record_units, turn_units
from recollect.ports.jobs import Jobs
from recollect.ports.scope_models import PlainUnit
from recollect.ports.store import Store

if TYPE_CHECKING:
    from recollect.embedding.scope_models import SqlScopeModels

# Returns the units of an archive or document from its stored text; None if it cannot be read.
StoredUnits = Callable[[Archive | Document], Awaitable[OwnerUnits | None]]
_BATCH_UNITS: Final = 64


class VectorMaker:
    """The embedding of a few owners at a time, so that little is lost if it is killed."""

    def __init__(self, store: Store, stored_units: StoredUnits) -> None:
        self._store = store
        self._stored_units = stored_units
        # Keeps a background job and a manual `reindex` from embedding the same units twice.
        self.alone = asyncio.Lock()

    async def make(self, batch: Sequence[PlainUnit], reader: Reader) -> None:
        """Store a vector for each of these units that the reader can read."""
        owners = list(
            {unit.owner.id: unit.owner for unit in batch if unit.owner is not None}.values()
        )
        units = [made for owner in owners if (made := await self._units(owner)) is not None]
        made = {
            (owner.owner_id, unit.ordinal): unit.vector
            for owner in await reader.filled(units)
            for unit in owner.units
        }
        vectors = [
            UnitVector(scope=unit.owner.scope, unit=unit.unit, owner=unit.owner.id, vector=vector)
            for unit in batch
            if unit.owner is not None
            # A text that the model cannot read gets no vector.
            and (vector := made.get((unit.owner.id, unit.ordinal))) is not None
        ]
        if vectors:
            await self._store.commit(
                ChangeSet(
                    principal=EMBED,
                    scope=vectors[0].scope,
                    vectors=tuple(vectors),
                    model=reader.model,
                )
            )

    async def _units(self, owner: Record | Turn | Archive | Document) -> OwnerUnits | None:
        match owner:
            case Record():
                return record_units(owner)
            case Turn():
                return turn_units(owner)
            case Archive() | Document():
                return await self._stored_units(owner)


@dataclass(eq=False)
class VectorBackfill:
    """A job that goes once through the units without a vector, in batches."""

    _serving: SqlScopeModels
    _maker: VectorMaker
    _embedding: EmbeddingService
    _jobs: Jobs
    _late: LateVectors

    async def schedule(self) -> None:
        """Queue the work if units lack vectors of this memory's own model.

        Units of another model are left alone: reembedding them is decided by a person.
        """
        model = self._embedding.model
        if model is None:
            return
        # Units that are being embedded right now are not missing.
        await self._late.settled()
        has_none = any(served.model is None for served in await self._serving.served())
        if has_none or await self._serving.lacking(model, after=0, limit=1):
            await self._jobs.add([MISSING_VECTORS])

    async def run(self, job: Job) -> None:
        """Run the job for every model that is known or can be opened here."""
        own = self._embedding.model
        if own is None:
            return
        await self._late.settled()
        async with self._maker.alone:
            await self._serving.claim(own)
            for model in [served.model for served in await self._serving.served()]:
                reader = None if model is None else await self._embedding.reader(model)
                if reader is not None:
                    await self.fill(reader, lambda _: None)

    async def fill(self, reader: Reader, tell: Callable[[int], None]) -> None:
        """Embed every unit without a vector where this model serves; report how many were seen."""
        after = 0
        while batch := await self._serving.lacking(reader.model, after=after, limit=_BATCH_UNITS):
            after = batch[-1].unit
            await self._maker.make(batch, reader)
            tell(len(batch))
