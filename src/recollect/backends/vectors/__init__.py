"""Vector stores: Qdrant, Milvus and pgvector, each behind `VectorSink`."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from recollect.ports.vector_sink import VectorSink


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
    from recollect.backends.vectors.pgvector import PgvectorSink

    return PgvectorSink(url, owner)
