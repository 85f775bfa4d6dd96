"""An archive on a real database and a real folder, put together as the assembly does."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from recollect.backends.objects import open_blobs
from recollect.backends.sql import schema
from recollect.backends.sql.archives import SqlArchives
from recollect.backends.sql.migrate import bring_up_to_date
from recollect.backends.sql.scopes import find_scopes
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.backends.sql.store import SqlStore
from recollect.context.archives.indexing import INDEX_ARCHIVE, ArchiveIndexer
from recollect.context.archives.manager import ArchiveParts, ToolResultManager
from recollect.context.archives.vault import Retention, Vault
from recollect.domain.scope import Caller, Scope
from recollect.domain.sections import ArchiveSettings
from recollect.embedding.index_rebuild import SqlIndexGenerations
from recollect.embedding.reindex import REINDEX, Reindexer
from recollect.embedding.service import EmbeddingService
from recollect.jobs.queue import SqlJobs
from recollect.jobs.worker import Worker
from recollect.language.analysis import query_terms, term_keys
from recollect.ports.archives import Blobs
from recollect.ports.embedder import Embedder
from recollect.ports.runtime import Clock

ANN = Scope(user="ann")


class ExactTokens:
    """OpenAI's own tokens."""

    @cached_property
    def _encoding(self) -> Any:
        with warnings.catch_warnings():
            # The library opens its own data in a way that Python will drop.
            warnings.simplefilter("ignore", DeprecationWarning)
            import bpe_openai

            return bpe_openai.get_encoding("o200k_base")

    def count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))


TOKENS = ExactTokens()


class FoundUnit(NamedTuple):
    """A unit that a search found."""

    kind: str
    owner: str
    span: tuple[int, int]


@dataclass
class ArchiveBench:
    """The parts of an archive, for tests to use and to break."""

    database: SqliteDatabase
    folder: Path
    blobs: Blobs
    clock: Clock
    embedder: Embedder | None = None

    @cached_property
    def store(self) -> SqlStore:
        return SqlStore(self.database, self.clock)

    @cached_property
    def archives(self) -> SqlArchives:
        return SqlArchives(self.database)

    @cached_property
    def vault(self) -> Vault:
        return Vault(self.blobs)

    @cached_property
    def indexer(self) -> ArchiveIndexer:
        embedding = EmbeddingService(
            self.embedder, self.clock, absence="" if self.embedder else "none wanted"
        )
        jobs = SqlJobs(self.database, self.clock)
        return ArchiveIndexer(self.store, self.archives, self.vault, embedding, jobs)

    @cached_property
    def worker(self) -> Worker:
        jobs = SqlJobs(self.database, self.clock)
        reindexer = Reindexer(SqlIndexGenerations(self.database), self.indexer.units, jobs)
        handlers = {INDEX_ARCHIVE: self.indexer.run, REINDEX: reindexer.run}
        return Worker(jobs, self.clock, handlers, reindexer.schedule)

    def manager(
        self, scope: Scope = ANN, options: ArchiveSettings | None = None
    ) -> ToolResultManager:
        parts = ArchiveParts(
            store=self.store,
            archives=self.archives,
            vault=self.vault,
            tokens=TOKENS,
            clock=self.clock,
        )
        return ToolResultManager(Caller(scope=scope), parts, options)

    def retention(self, **limits: int) -> Retention:
        settings = ArchiveSettings(**limits)
        return Retention(self.store, self.archives, self.blobs, self.clock, settings)

    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    async def search(self, question: str, scope: Scope = ANN) -> list[FoundUnit]:
        """The units that have any word of the question, those with most of its words first."""
        asked = set(term_keys(query_terms(question)))

        def read(connection: Connection) -> list[FoundUnit]:
            units = schema.units
            of_scope = units.c.scope_id.in_(find_scopes(connection, [scope]))
            found = [
                (len(asked.intersection(np.frombuffer(row.terms, "<u8").tolist())), row)
                for row in connection.execute(select(units).where(of_scope))
            ]
            found.sort(key=lambda it: -it[0])
            return [
                FoundUnit(row.owner_kind, row.owner_id, (row.start, row.end))
                for shared, row in found
                if shared
            ]

        return await self.database.read(read)


@asynccontextmanager
async def open_bench(
    folder: Path, clock: Clock, embedder: Embedder | None = None
) -> AsyncIterator[ArchiveBench]:
    database = SqliteDatabase(folder / "memory.db")
    bring_up_to_date(database)
    try:
        blobs = open_blobs(folder / "blobs")
        yield ArchiveBench(database, folder / "blobs", blobs, clock, embedder)
    finally:
        await database.close()
