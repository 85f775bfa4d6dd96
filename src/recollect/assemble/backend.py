"""What one store offers to the services, each part created on first use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from recollect.backends.sql.store import SqlStore
from recollect.jobs.queue import SqlJobs

if TYPE_CHECKING:
    from recollect.assemble.redis import Redis
    from recollect.assemble.stores import Contents
    from recollect.audit.rows import SqlAudit
    from recollect.backends.local.keyword_index import LocalKeywordIndex
    from recollect.backends.local.unit_metadata import Catalogue
    from recollect.backends.local.vector_index import LocalVectorIndex
    from recollect.backends.outbox import OutboxBlobs
    from recollect.backends.sql.archives import SqlArchives
    from recollect.backends.sql.database import Database
    from recollect.backends.sql.maintenance import SqlMaintenance
    from recollect.directory.rows import SqlDirectory
    from recollect.health.figures import SqlHealth
    from recollect.ports.runtime import Clock
    from recollect.ports.state import State
    from recollect.recall.conflicts import SqlConflicts
    from recollect.records.change_feed import SqlChangeLog
    from recollect.retention.rows import SqlRetention
    from recollect.settings import Settings
    from recollect.transfer.rows import SqlTransfer
    from recollect.writing.rows import SqlWrites

_MEGABYTE: Final = 1 << 20


class Backend:
    """The tables, indexes and contents of one store."""

    def __init__(
        self, settings: Settings, clock: Clock, database: Database, redis: Redis | None = None
    ) -> None:
        self._redis = redis
        self._settings = settings
        self._clock = clock
        self._database = database
        self.store = SqlStore(database, clock)
        self.jobs = SqlJobs(database, clock)

    @cached_property
    def state(self) -> State:
        from recollect.backends.sql.state import SqlState

        stored = SqlState(self._database, self._clock)
        return stored if self._redis is None else self._redis.state_over(stored)

    @cached_property
    def retention(self) -> SqlRetention:
        from recollect.retention.rows import SqlRetention

        return SqlRetention(self._database)

    @cached_property
    def conflicts(self) -> SqlConflicts:
        from recollect.recall.conflicts import SqlConflicts

        return SqlConflicts(self._database)

    @cached_property
    def health(self) -> SqlHealth:
        from recollect.health.figures import SqlHealth

        return SqlHealth(self._database)

    @cached_property
    def writes(self) -> SqlWrites:
        from recollect.writing.rows import SqlWrites

        return SqlWrites(self._database)

    @cached_property
    def changes(self) -> SqlChangeLog:
        from recollect.records.change_feed import SqlChangeLog

        return SqlChangeLog(self._database)

    @cached_property
    def archives(self) -> SqlArchives:
        from recollect.backends.sql.archives import SqlArchives

        return SqlArchives(self._database)

    @cached_property
    def blobs(self) -> Contents:
        from recollect.assemble.stores import contents_of

        return contents_of(self._settings, self._database)

    @cached_property
    def outbox(self) -> OutboxBlobs | None:
        """Return what sends contents to a bucket, if they belong into one."""
        from recollect.backends.outbox import OutboxBlobs

        return self.blobs if isinstance(self.blobs, OutboxBlobs) else None

    @cached_property
    def audit(self) -> SqlAudit:
        from recollect.audit.rows import SqlAudit

        return SqlAudit(self._database)

    @cached_property
    def directory(self) -> SqlDirectory:
        from recollect.directory.rows import SqlDirectory

        return SqlDirectory(self._database)

    @cached_property
    def transfer(self) -> SqlTransfer:
        from recollect.transfer.rows import SqlTransfer

        return SqlTransfer(self._database, self._clock)

    @cached_property
    def maintenance(self) -> SqlMaintenance:
        from recollect.backends.sql.maintenance import SqlMaintenance

        return SqlMaintenance(self._database)

    @cached_property
    def _catalogue(self) -> Catalogue:
        from recollect.backends.local.unit_metadata import Catalogue

        return Catalogue(self._settings.recall.index_memory_mb * _MEGABYTE)

    @cached_property
    def units(self) -> LocalKeywordIndex:
        from recollect.backends.local.keyword_index import LocalKeywordIndex

        budget = self._settings.recall.index_memory_mb * _MEGABYTE
        return LocalKeywordIndex(self._database, self._catalogue, budget)

    @cached_property
    def vectors(self) -> LocalVectorIndex:
        from recollect.backends.local.byte_vectors import plain_product
        from recollect.backends.local.vector_index import LocalVectorIndex
        from recollect.models.byte_products import quick_product

        budget = self._settings.recall.vector_memory_mb * _MEGABYTE
        return LocalVectorIndex(
            self._database, self._catalogue, budget, quick_product(plain_product)
        )
