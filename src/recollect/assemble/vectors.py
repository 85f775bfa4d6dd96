"""Settings → the vector store, and what keeps it equal to the database."""

from __future__ import annotations

from recollect.backends.local.vector_index import LocalVectorIndex
from recollect.backends.sql.database import Database
from recollect.backends.vectors import open_sink
from recollect.domain.values import dataclass
from recollect.followers.copies import FollowedCopies
from recollect.followers.following import Following
from recollect.followers.rows import SqlFollowers
from recollect.followers.vector_index import FollowedVectorIndex
from recollect.followers.vectors import VectorFollower
from recollect.ports.jobs import Jobs
from recollect.ports.runtime import Clock
from recollect.ports.vector_sink import VectorSink
from recollect.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStore:
    """A vector store that follows a database, and the index that searches both."""

    sink: VectorSink
    following: Following
    index: FollowedVectorIndex
    copies: FollowedCopies


def vector_store_of(
    settings: Settings, database: Database, jobs: Jobs, clock: Clock, local: LocalVectorIndex
) -> VectorStore:
    """Return the vector store that the settings name, without connecting to it."""
    sink, following = follow_vectors(settings, database, jobs, clock)
    index = FollowedVectorIndex(
        local,
        sink,
        following.breaker,
        following.follower.name,
        fewest_units=settings.storage.vectors_from,
        most_exact=settings.storage.vectors_exact,
    )
    copies = FollowedCopies(following)
    return VectorStore(sink=sink, following=following, index=index, copies=copies)


def follow_vectors(
    settings: Settings, database: Database, jobs: Jobs, clock: Clock
) -> tuple[VectorSink, Following]:
    """Return the vector store that the settings name, and what keeps it up to date."""
    fewest = settings.storage.vectors_from
    sink = open_sink(settings.vector_store, lambda: database.identity)
    follower = VectorFollower(database, sink, fewest)
    rows = SqlFollowers(database, follower.name, fewest)
    return sink, Following(follower, rows, jobs, clock)
