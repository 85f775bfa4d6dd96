"""Analysing again what an older analyzer indexed, a few at a time, in the background."""

from __future__ import annotations

from typing import Final

from recollect.domain.change import ChangeSet
from recollect.domain.job import Job, NewJob
from recollect.domain.record import Record
from recollect.ports.jobs import Jobs
from recollect.ports.maintenance import Maintenance
from recollect.ports.store import Store
from recollect.recall.meaning import Meaning
from recollect.text.analysis import ANALYZER_VERSION
from recollect.text.searchable import record_units, turn_units

REINDEX: Final = "reindex"
_BATCH: Final = 200


class Reindexer:
    """Keeps the index in step with the analyzer; until it is done, old terms still answer."""

    def __init__(
        self, store: Store, maintenance: Maintenance, meaning: Meaning, jobs: Jobs
    ) -> None:
        self._store = store
        self._meaning = meaning
        self._maintenance = maintenance
        self._jobs = jobs

    async def schedule(self) -> None:
        """Queue the work if there is any."""
        if await self._maintenance.analysed_otherwise(ANALYZER_VERSION, 1):
            await self._jobs.add([NewJob(kind=REINDEX, key=ANALYZER_VERSION)])

    async def run(self, job: Job) -> None:
        """Renew batches until none is left, each in its own transaction: a kill loses nothing."""
        while batch := await self._maintenance.analysed_otherwise(ANALYZER_VERSION, _BATCH):
            embedded = await self._meaning.of_units(
                [
                    record_units(item) if isinstance(item, Record) else turn_units(item)
                    for item in batch
                ]
            )
            await self._store.commit(
                ChangeSet(
                    principal=REINDEX,
                    scope=batch[0].scope,
                    units=embedded.owners,
                    model=embedded.model,
                    jobs=embedded.jobs,
                )
            )
