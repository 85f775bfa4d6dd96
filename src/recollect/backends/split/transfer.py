"""An export of several stores: one file, each store as it was at one moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import TypeVar

from recollect.domain.archive import Archive, Blob
from recollect.domain.document import Document
from recollect.domain.scope import Holding, split
from recollect.domain.transfer import ExportCounts
from recollect.ports.transfer import Added, Arrival, Extent, Snapshot, Transfer

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitTransfer:
    """Reads from every store that holds something of an extent; what arrives is added at home."""

    home: Transfer
    common: Transfer
    holding: Holding[Transfer]
    every: Callable[[], Sequence[Transfer]]

    async def read(self, extent: Extent | None, take: Callable[[Snapshot], T]) -> T:
        places = self._places(extent)
        loop = asyncio.get_running_loop()

        async def read(place: int, before: tuple[Snapshot, ...]) -> T:
            """Open the snapshots one within another, so that all are open at the innermost."""
            transfer, some = places[place]

            def further(snapshot: Snapshot) -> T:
                snapshots = (*before, snapshot)
                if len(snapshots) == len(places):
                    return take(self._together(places, snapshots))
                return asyncio.run_coroutine_threadsafe(read(place + 1, snapshots), loop).result()

            return await transfer.read(some, further)

        return await read(0, ())

    async def add(self, arrivals: Sequence[Arrival]) -> Added:
        return await self.home.add(arrivals)

    def _places(self, extent: Extent | None) -> Sequence[tuple[Transfer, Extent | None]]:
        if extent is None:
            return [(transfer, None) for transfer in self.every()]
        others = [
            (
                transfer,
                Extent(
                    scopes=tuple(it for it in some if it in extent.scopes),
                    profiles=tuple(it for it in some if it in extent.profiles),
                ),
            )
            for transfer, some in split([*extent.scopes, *extent.profiles], self.holding)
            if transfer is not self.common
        ]
        # Documents are in the common store, whoever's they are.
        return [(self.common, extent), *others]

    def _together(
        self,
        places: Sequence[tuple[Transfer, Extent | None]],
        snapshots: Sequence[Snapshot],
    ) -> Snapshot:
        if len(snapshots) == 1:
            return snapshots[0]
        by_store = {
            id(transfer): snapshot
            for (transfer, _), snapshot in zip(places, snapshots, strict=True)
        }

        def blob(owner: Archive | Document) -> Blob:
            return by_store[id(self.holding(owner.scope))].blob(owner)

        return Snapshot(
            schema=snapshots[0].schema,
            counts=_sum([snapshot.counts for snapshot in snapshots]),
            items=chain.from_iterable(snapshot.items for snapshot in snapshots),
            blob=blob,
        )


def _sum(counts: Sequence[ExportCounts]) -> ExportCounts:
    numbers = {
        field.name: sum(getattr(it, field.name) for it in counts)
        for field in fields(ExportCounts)
        if field.name != "lost"
    }
    return replace(counts[0], **numbers)
