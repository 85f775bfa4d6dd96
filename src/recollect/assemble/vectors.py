"""Settings → the vector stores, and what keeps them equal to the database."""

from __future__ import annotations

from recollect.backends.sql.database import Database
from recollect.backends.vectors import open_sink
from recollect.followers.following import Following
from recollect.followers.rows import SqlFollowers
from recollect.followers.vectors import VectorFollower, VectorStore
from recollect.ports.jobs import Jobs
from recollect.ports.runtime import Clock
from recollect.settings import Settings


def vector_stores_of(
    settings: Settings, database: Database, jobs: Jobs, clock: Clock
) -> tuple[VectorStore, ...]:
    """Return the vector stores that the settings name, without connecting to them."""
    fewest = settings.storage.vectors_from

    def follow(url: str) -> VectorStore:
        sink = open_sink(url, lambda: database.identity)
        follower = VectorFollower(database, sink, fewest)
        rows = SqlFollowers(database, follower.name, fewest)
        return VectorStore(sink=sink, following=Following(follower, rows, jobs, clock))

    return tuple(map(follow, settings.vector_stores))
