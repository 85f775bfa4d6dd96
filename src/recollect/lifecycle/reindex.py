"""Analysing again what an older analyzer indexed, scope after scope, in the background.

Scope after scope gets the new units beside the old ones; then, in one step that no question sees
half of, the new ones answer there. The old ones are removed after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final

from recollect.domain.archive import Archive
from recollect.domain.embedding import MISSING_VECTORS
from recollect.domain.job import Job, NewJob
from recollect.domain.progress import Progress
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits
from recollect.ports.editions import Editions
from recollect.ports.jobs import Jobs
from recollect.text.analysis import ANALYZER_VERSION
from recollect.text.searchable import record_units, turn_units

REINDEX: Final = "reindex"
_BATCH: Final = 200
_DISCARDED: Final = 2_000

# The units of an archive, whose text lies in the blob store; None when it cannot be read.
ArchiveUnits = Callable[[Archive], Awaitable[OwnerUnits | None]]


class Reindexer:
    """Keeps the index in step with the analyzer; until a scope is done, its old terms answer."""

    def __init__(self, editions: Editions, archive_units: ArchiveUnits, jobs: Jobs) -> None:
        self._editions = editions
        self._archive_units = archive_units
        self._jobs = jobs
        self._tell: Callable[[int], None] = lambda seen: None

    async def schedule(self) -> None:
        """Queue the work if there is any."""
        if not await self._editions.is_current(ANALYZER_VERSION):
            await self._jobs.add([NewJob(kind=REINDEX, key=ANALYZER_VERSION)])

    async def run(self, job: Job) -> None:
        """Renew until nothing is left; begun anew after a kill, it goes on where it was."""
        await self._discard()
        while (scope := await self._editions.stale(ANALYZER_VERSION)) is not None:
            await self._renew(scope)
            await self._discard()
        # A text that is cut otherwise now has pieces that no vector was made of.
        await self._jobs.add([MISSING_VECTORS])

    async def count_stale(self) -> int:
        """How many pieces are still found by the terms of another version."""
        return await self._editions.count_stale(ANALYZER_VERSION)

    @contextmanager
    def telling(self, progress: Progress | None, total: int) -> Generator[None]:
        """Tell how far the work is, of so many pieces, while it goes on in this process."""
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

    async def _renew(self, scope: Scope) -> None:
        # What is written meanwhile answers at once, and is beside too before the step.
        while not await self._editions.switch(scope, ANALYZER_VERSION):
            while left := await self._editions.left(scope, ANALYZER_VERSION, limit=_BATCH):
                made = await asyncio.to_thread(_units, left.owners)
                for owner in left.owners:
                    if isinstance(owner, Archive) and (units := await self._archive_units(owner)):
                        made.append(units)
                await self._editions.add(scope, ANALYZER_VERSION, left, made)
                self._tell(sum(len(owner.units) for owner in made))

    async def _discard(self) -> None:
        while await self._editions.discard(ANALYZER_VERSION, limit=_DISCARDED):
            pass


def _units(owners: Sequence[Record | Turn | Archive]) -> list[OwnerUnits]:
    """What records and turns are found by."""
    return [
        record_units(it) if isinstance(it, Record) else turn_units(it)
        for it in owners
        if not isinstance(it, Archive)
    ]
