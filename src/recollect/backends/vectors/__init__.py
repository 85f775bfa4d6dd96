"""Vector stores: Qdrant, Milvus, pgvector and those of others, each behind `VectorSink`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Final
from urllib.parse import urlsplit

from recollect.errors import NotAvailable
from recollect.ports.vector_sink import VectorSink

_GROUP: Final = "recollect.backends"


def store_of_others(scheme: str) -> EntryPoint | None:
    """Return the vector store that a package offers for URLs with this scheme."""
    return next(iter(entry_points(group=_GROUP, name=scheme)), None)


def open_sink(url: str, owner: Callable[[], str]) -> VectorSink:
    """Return the vector store at a URL, without connecting to it.

    `owner` returns the identity of the database, whose vectors are apart from those of others.
    """
    scheme = urlsplit(url).scheme.partition("+")[0]
    if scheme.startswith("qdrant"):
        from recollect.backends.vectors.qdrant import QdrantSink

        return QdrantSink(url, owner)
    if scheme.startswith("milvus"):
        from recollect.backends.vectors.milvus import MilvusSink

        return MilvusSink(url, owner)
    if not scheme.startswith("postgresql") and (other := store_of_others(scheme)) is not None:
        return _load(other)(url, owner)
    from recollect.backends.vectors.pgvector import PgvectorSink

    return PgvectorSink(url, owner)


def _load(other: EntryPoint) -> Callable[[str, Callable[[], str]], VectorSink]:
    try:
        return other.load()
    except (ImportError, AttributeError) as problem:
        package = other.dist.name if other.dist is not None else other.value
        raise NotAvailable(
            f"The vector store {other.name}:// of {package} cannot be loaded: {problem}",
            code="extra_missing",
            hint=f"Install {package} anew, or ask who maintains it.",
        ) from problem
