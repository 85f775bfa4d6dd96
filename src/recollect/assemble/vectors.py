"""Settings → the services that embed what is already stored."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.backends.sql.database import Database
from recollect.backends.sql.scope_models import SqlServing
from recollect.embedding.backfill import StoredUnits, VectorBackfill, VectorMaker
from recollect.embedding.model_switch import ModelSwitch
from recollect.ports.jobs import Jobs
from recollect.ports.scope_models import Serving
from recollect.ports.store import Store
from recollect.recall.late_vectors import LateVectors
from recollect.recall.meaning import Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingWork:
    """The services that embed what is already stored."""

    serving: Serving
    filler: VectorBackfill
    reembedder: ModelSwitch


def embedding_work(
    database: Database,
    store: Store,
    meaning: Meaning,
    jobs: Jobs,
    late: LateVectors,
    stored_units: StoredUnits,
) -> EmbeddingWork:
    """Return the services that embed what is already stored."""
    serving = SqlServing(database)
    maker = VectorMaker(store, stored_units)
    filler = VectorBackfill(serving, maker, meaning, jobs, late)
    reembedder = ModelSwitch(serving, maker, filler, meaning, jobs)
    return EmbeddingWork(serving=serving, filler=filler, reembedder=reembedder)
