"""Making the vectors of units that are stored already."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from recollect.domain.archive import Archive
from recollect.domain.change import ChangeSet
from recollect.domain.embedding import EMBED, UnitVector
from recollect.domain.record import Record
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits
from recollect.ports.serving import PlainUnit
from recollect.ports.store import Store
from recollect.recall.reader import Reader
from recollect.text.searchable import record_units, turn_units

# The units of an archive, whose text lies in the blob store; None when it cannot be read.
ArchiveUnits = Callable[[Archive], Awaitable[OwnerUnits | None]]


class VectorMaker:
    """Reads a few owners at a time and stores their vectors at once: a kill loses little."""

    def __init__(self, store: Store, archive_units: ArchiveUnits) -> None:
        self._store = store
        self._archive_units = archive_units
        # A background job and a person's `reindex` must not embed the same things twice.
        self.alone = asyncio.Lock()

    async def make(self, batch: Sequence[PlainUnit], reader: Reader) -> None:
        """Store a vector for each of these units that the reader can read."""
        owners = list({it.owner.id: it.owner for it in batch if it.owner is not None}.values())
        units = [made for owner in owners if (made := await self._units(owner)) is not None]
        made = {
            (owner.owner_id, unit.ordinal): unit.vector
            for owner in await reader.filled(units)
            for unit in owner.units
        }
        vectors = [
            UnitVector(scope=it.owner.scope, unit=it.unit, owner=it.owner.id, vector=vector)
            for it in batch
            if it.owner is not None
            # A text that the model cannot read stays without.
            and (vector := made.get((it.owner.id, it.ordinal))) is not None
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

    async def _units(self, owner: Record | Turn | Archive) -> OwnerUnits | None:
        match owner:
            case Record():
                return record_units(owner)
            case Turn():
                return turn_units(owner)
            case Archive():
                return await self._archive_units(owner)
