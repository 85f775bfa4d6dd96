"""Settings → who makes vectors of what is stored already."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.backends.sql.database import Database
from recollect.backends.sql.serving import SqlServing
from recollect.context.archive_index import ArchiveIndexer
from recollect.lifecycle.embedding import VectorFiller
from recollect.lifecycle.reembedding import Reembedder
from recollect.lifecycle.vectors import VectorMaker
from recollect.ports.jobs import Jobs
from recollect.ports.serving import Serving
from recollect.ports.store import Store
from recollect.recall.late_vectors import LateVectors
from recollect.recall.meaning import Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingWork:
    """Who makes vectors of what is stored already."""

    serving: Serving
    filler: VectorFiller
    reembedder: Reembedder


def embedding_work(
    database: Database,
    store: Store,
    meaning: Meaning,
    jobs: Jobs,
    late: LateVectors,
    indexer: ArchiveIndexer,
) -> EmbeddingWork:
    """What makes vectors of what is stored already."""
    serving = SqlServing(database)
    maker = VectorMaker(store, indexer.units)
    filler = VectorFiller(serving, maker, meaning, jobs, late)
    reembedder = Reembedder(serving, maker, filler, meaning)
    return EmbeddingWork(serving=serving, filler=filler, reembedder=reembedder)
