"""Making archives searchable, in the background: reading 50,000 Chinese characters takes 0.3 s."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from recollect.context.archive_vault import Vault
from recollect.domain.archive import Archive, Blob
from recollect.domain.change import ChangeSet
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.job import Job, NewJob
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits
from recollect.errors import NotAvailable, StorageError
from recollect.ports.archives import Archives
from recollect.ports.jobs import Jobs
from recollect.ports.store import Store
from recollect.recall.meaning import Meaning
from recollect.text.searchable import archive_units

INDEX_ARCHIVE: Final = "index_archive"
_BATCH: Final = 50

_log: Final = logging.getLogger(__name__)


def index_job(archive: Archive) -> NewJob:
    """The work that a new archive leaves for later; it is stored together with it."""
    scope = archive.scope
    payload = {
        "org": scope.org,
        "workspace": scope.workspace,
        "agent": scope.agent,
        "user": scope.user,
    }
    return NewJob(kind=INDEX_ARCHIVE, key=archive.id, payload=payload)


class ArchiveIndexer:
    """Cuts archives into passages and stores these as units, with vectors if there is a model."""

    def __init__(
        self, store: Store, archives: Archives, vault: Vault, meaning: Meaning, jobs: Jobs
    ) -> None:
        self._store = store
        self._archives = archives
        self._vault = vault
        self._meaning = meaning
        self._jobs = jobs

    async def run(self, job: Job) -> None:
        """The job's work; an archive that is gone by now needs none."""
        found = await self._archives.with_blob([Scope(**job.payload)], job.key)
        if found is not None:
            await self._index(*found)

    async def schedule(self) -> None:
        """Queue the archives that are not indexed yet."""
        after = ""
        while batch := await self._archives.to_index(after=after, limit=_BATCH):
            after = batch[-1].id
            await self._jobs.add([index_job(archive) for archive in batch])

    async def units(self, archive: Archive) -> OwnerUnits | None:
        """What is searched of an archive; None when it is gone or its content is damaged."""
        found = await self._archives.with_blob([archive.scope], archive.id)
        if found is None:
            return None
        try:
            content = await self._vault.read(*found)
        except StorageError as problem:
            _log.warning("%s gets no vectors: %s", archive.id, problem)
            return None
        return await asyncio.to_thread(archive_units, archive, content.text or "")

    async def reindex(self) -> int:
        """Index all that has no units yet; how many had none."""
        count, after = 0, ""
        while batch := await self._archives.to_index(after=after, limit=_BATCH):
            after = batch[-1].id
            for archive in batch:
                count += await self._indexed(archive)
        return count

    async def _indexed(self, archive: Archive) -> bool:
        """Whether it could be indexed; one whose content is damaged does not stop the others."""
        found = await self._archives.with_blob([archive.scope], archive.id)
        if found is None:
            return False
        try:
            await self._index(*found)
        except StorageError as problem:
            _log.warning("%s is not searchable: %s", archive.id, problem)
            return False
        return True

    async def _index(self, archive: Archive, blob: Blob) -> None:
        content = await self._vault.read(archive, blob)
        units = await asyncio.to_thread(archive_units, archive, content.text or "")
        # Vectors of a long result take seconds: until they are there it is found by its words,
        # also when this process ends before.
        await self._store_units(archive, [units])
        embedded = await self._meaning.of_units([units])
        await self._store_units(archive, embedded.owners, embedded.model)
        if embedded.jobs:
            # Found by its words meanwhile; this job itself is what tries again.
            raise NotAvailable(
                f"{archive.id} has no vectors yet: {self._meaning.absence}",
                code="embedding_failed",
            )

    async def _store_units(
        self, archive: Archive, units: Sequence[OwnerUnits], model: EmbeddingModel | None = None
    ) -> None:
        await self._store.commit(
            ChangeSet(principal=INDEX_ARCHIVE, scope=archive.scope, units=tuple(units), model=model)
        )
