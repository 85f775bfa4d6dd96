"""Analysing again what an older analyzer indexed, scope after scope, in the background."""

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
# So many owners are renewed in one transaction, which takes about six seconds: another process
# that saves meanwhile waits for ten before it gives up.
_MOST: Final = 20_000


class Reindexer:
    """Keeps the index in step with the analyzer; until a scope is done, its old terms answer.

    A scope is renewed in one step, so no question sees it half in the old and half in the new
    terms. Only one with very many owners takes several steps.
    """

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
        """Renew until nothing is left; what a transaction has renewed is not done again."""
        while batch := await self._maintenance.analysed_otherwise(ANALYZER_VERSION, _MOST):
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
