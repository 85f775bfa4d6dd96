"""The tables of the knowledge base: documents and their sections; their chunks are units."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from recollect.backends.sql.schema_base import CONTENT, Big, Id, metadata

# The raw file is the blob with the content's hash in the workspace.
documents: Final = Table(
    "documents",
    metadata,
    Column("id", Id, primary_key=True),
    # A collection is a scope, see domain/document.py.
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("source", Text, nullable=False, info=CONTENT),
    # One document for each source in a collection.
    Column("source_hash", String(64), nullable=False, info=CONTENT),
    Column("title", String(255), nullable=False, info=CONTENT),
    Column("type", String(16), nullable=False),
    Column("tags", Text, nullable=False, info=CONTENT),
    Column("status", String(16), nullable=False),
    Column("error", Text, nullable=False, info=CONTENT),
    # What answers, and what waits to be read; empty when there is none.
    Column("content_hash", String(64), nullable=False, info=CONTENT),
    Column("pending_hash", String(64), nullable=False, info=CONTENT),
    Column("bytes", BigInteger, nullable=False),
    Column("chars", BigInteger, nullable=False),
    Column("sections", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("summary", Text, nullable=False, info=CONTENT),
    Column("version", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    UniqueConstraint("scope_id", "source_hash"),
    Index(None, "scope_id", "updated_at", "id"),
    Index(None, "pending_hash"),
)

# Together the sections of a document are its whole text.
sections: Final = Table(
    "sections",
    metadata,
    Column("document_id", Id, ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("level", Integer, nullable=False),
    Column("path", Text, nullable=False, info=CONTENT),
    Column("page", Integer),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("text", Text, nullable=False, info=CONTENT),
    Column("summary", Text, nullable=False, info=CONTENT),
    PrimaryKeyConstraint("document_id", "ordinal"),
    Index(None, "document_id", "start"),
)
