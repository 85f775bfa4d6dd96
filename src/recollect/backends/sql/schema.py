"""The tables. Times are UTC microseconds; an empty agent or user means there is none."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from recollect.backends.sql.schema_access import agents, keys, metric_hours, sign_ins
from recollect.backends.sql.schema_base import CONTENT, Big, Id, Label, metadata
from recollect.backends.sql.schema_documents import documents, sections
from recollect.backends.sql.schema_items import items
from recollect.backends.sql.schema_keeping import (
    audit,
    audit_chain,
    conflicts,
    links,
    proposals,
    tombstones,
    watermarks,
    writes,
)

__all__ = [
    "FULL_TEXT_SQLITE",
    "HEAD_REVISION",
    "agents",
    "archives",
    "audit",
    "audit_chain",
    "blobs",
    "changes",
    "conflicts",
    "documents",
    "editions",
    "embedding_models",
    "idempotency",
    "items",
    "jobs",
    "keys",
    "links",
    "metadata",
    "metric_hours",
    "proposals",
    "record_tags",
    "records",
    "scopes",
    "sections",
    "sign_ins",
    "state",
    "tombstones",
    "turns",
    "units",
    "vectors",
    "versions",
    "watermarks",
    "writes",
]

HEAD_REVISION: Final = "0012"

scopes: Final = Table(
    "scopes",
    metadata,
    Column("id", Big, primary_key=True, autoincrement=True),
    Column("org", Label, nullable=False),
    Column("workspace", Label, nullable=False),
    Column("agent", Label, nullable=False, info=CONTENT),
    Column("user", Label, nullable=False, info=CONTENT),
    # Raised under this row's lock in every transaction that writes to the scope.
    Column("version", BigInteger, nullable=False),
    # Units are numbered `scope id << 32 | counter`, so a scope's units lie side by side.
    Column("next_unit", BigInteger, nullable=False),
    Column("unit_count", BigInteger, nullable=False),
    Column("unit_length", BigInteger, nullable=False),
    # The model whose vectors answer here; none while there are no vectors.
    Column("model_id", Integer),
    # Up to this counter the units are in the full text, see `full_text`.
    Column("full_text_to", BigInteger, nullable=False, server_default="0"),
    # From this counter on the units answer; those below it were replaced, see `editions`.
    Column("first_unit", BigInteger, nullable=False, server_default="0"),
    UniqueConstraint("org", "workspace", "agent", "user"),
)

# The units of a scope that do not answer: those that a newer analyzer makes beside the others,
# and after the switch those that it replaced (without an analyzer), until they are removed.
editions: Final = Table(
    "editions",
    metadata,
    Column("scope_id", Big, ForeignKey("scopes.id"), primary_key=True, autoincrement=False),
    Column("analyzer", String(16), nullable=False),
    # Their counters, and how much they hold, as in `scopes`.
    Column("first_unit", BigInteger, nullable=False),
    Column("next_unit", BigInteger, nullable=False),
    Column("unit_count", BigInteger, nullable=False),
    Column("unit_length", BigInteger, nullable=False),
    Column("full_text_to", BigInteger, nullable=False),
    # What answers is in it up to this counter.
    Column("done_to", BigInteger, nullable=False),
)

records: Final = Table(
    "records",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("category", Label, nullable=False, info=CONTENT),
    Column("title", String(255), nullable=False, info=CONTENT),
    Column("content", Text, nullable=False, info=CONTENT),
    Column("description", String(500), nullable=False, info=CONTENT),
    Column("tags", Text, nullable=False, info=CONTENT),
    Column("confidence", Float, nullable=False),
    Column("importance", Float, nullable=False),
    Column("evidence_count", Integer, nullable=False),
    Column("evidence", Text, nullable=False, info=CONTENT),
    Column("source", String(255), nullable=False, info=CONTENT),
    Column("related", Text, nullable=False, info=CONTENT),
    Column("details", Text, info=CONTENT),
    Column("session", Label, info=CONTENT),
    Column("task", Label, info=CONTENT),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("first_observed", BigInteger, nullable=False),
    Column("last_confirmed", BigInteger, nullable=False),
    Column("observed_at", BigInteger, nullable=False),
    Column("valid_from", BigInteger),
    Column("valid_to", BigInteger),
    Column("recorded_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("tier", String(8), nullable=False),
    Column("access_count", Integer, nullable=False),
    Column("last_accessed", BigInteger),
    Column("version", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("metadata", Text, nullable=False, info=CONTENT),
    Column("changed_by", Label, nullable=False, info=CONTENT),
    Column("reason", Text, nullable=False, info=CONTENT),
    Column("helped", Integer, nullable=False, server_default="0"),
    Column("rejected", Integer, nullable=False, server_default="0"),
    Index(None, "scope_id", "observed_at", "id"),
    Index(None, "scope_id", "session"),
    # What sweeps and reviews look for. Only few records are in them, so that saving any other
    # one costs nothing.
    Index(None, "expires_at", sqlite_where=text("expires_at IS NOT NULL")),
    Index(None, "status", "updated_at", sqlite_where=text("status != 'active'")),
)

record_tags: Final = Table(
    "record_tags",
    metadata,
    Column("record_id", Id, ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
    Column("tag", Label, nullable=False, info=CONTENT),
    PrimaryKeyConstraint("record_id", "tag"),
    sqlite_with_rowid=False,
)

# What a record was before its current row: `body` is the whole row as JSON.
versions: Final = Table(
    "versions",
    metadata,
    Column("record_id", Id, ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("replaced_at", BigInteger, nullable=False),
    Column("body", Text, nullable=False, info=CONTENT),
    PrimaryKeyConstraint("record_id", "version"),
    Index(None, "scope_id", "recorded_at"),
)

turns: Final = Table(
    "turns",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("session", Label, nullable=False, info=CONTENT),
    Column("ordinal", Integer, nullable=False),
    Column("role", String(16), nullable=False),
    Column("speaker", Label, nullable=False, info=CONTENT),
    Column("content", Text, nullable=False, info=CONTENT),
    Column("at", BigInteger, nullable=False),
    Column("task", Label, info=CONTENT),
    Column("payload", Text, nullable=False, info=CONTENT),
    Column("recorded_at", BigInteger, nullable=False),
    # What was done by saying it; none until that is decided for a turn of an older schema.
    Column("act", String(16)),
    UniqueConstraint("scope_id", "session", "ordinal"),
    Index(None, "scope_id", "at", "id"),
    Index(None, "act", sqlite_where=text("act IS NULL")),
)

units: Final = Table(
    "units",
    metadata,
    Column("id", Big, primary_key=True, autoincrement=False),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("owner_kind", String(8), nullable=False),
    Column("owner_id", Id, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    # The keys of its terms in order, 8 bytes each, little-endian.
    Column("terms", LargeBinary, nullable=False, info=CONTENT),
    Column("analyzer", String(16), nullable=False),
    Column("observed_at", BigInteger, nullable=False),
    # What its owner stands among, see domain/unit.py.
    Column("cluster", BigInteger, nullable=False, server_default="0"),
    Column("place", BigInteger, nullable=False, server_default="0"),
    Column("speaker", BigInteger, nullable=False, server_default="0"),
    Column("traits", Integer, nullable=False, server_default="0"),
    Column("size", Integer, nullable=False, server_default="0"),
    Column("variety", Integer, nullable=False, server_default="0"),
    Index(None, "owner_id", "ordinal"),
    Index(None, "analyzer"),
    Index(None, "scope_id", "observed_at"),
)

# Which models' vectors there are; a name changes whenever the vectors would.
embedding_models: Final = Table(
    "embedding_models",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", String(255), nullable=False),
    Column("dimension", Integer, nullable=False),
    # How settings name it, for whoever must open it again; never a key.
    Column("choice", Text, nullable=False, server_default=""),
    UniqueConstraint("name"),
)

vectors: Final = Table(
    "vectors",
    metadata,
    Column("unit_id", Big, ForeignKey("units.id", ondelete="CASCADE"), nullable=False),
    Column("model_id", Integer, ForeignKey("embedding_models.id"), nullable=False),
    # 16-bit floats, little-endian, of length 1.
    Column("vector", LargeBinary, nullable=False, info=CONTENT),
    PrimaryKeyConstraint("unit_id", "model_id"),
)

changes: Final = Table(
    "changes",
    metadata,
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("entity", String(8), nullable=False),
    Column("id", Id, nullable=False),
    Column("op", String(8), nullable=False),
    PrimaryKeyConstraint("scope_id", "version", "seq"),
    sqlite_with_rowid=False,
)

jobs: Final = Table(
    "jobs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("key", String(255), nullable=False, info=CONTENT),
    Column("payload", Text, nullable=False, info=CONTENT),
    Column("run_after", BigInteger, nullable=False),
    Column("lease_until", BigInteger, nullable=False),
    Column("lease_owner", Id, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("gave_up", Integer, nullable=False),
    Column("last_error", Text, nullable=False, info=CONTENT),
    UniqueConstraint("kind", "key"),
    Index(None, "gave_up", "run_after"),
)

idempotency: Final = Table(
    "idempotency",
    metadata,
    Column("principal", Label, nullable=False, info=CONTENT),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("key", String(255), nullable=False, info=CONTENT),
    Column("body_hash", String(64), nullable=False, info=CONTENT),
    Column("result", Text, nullable=False, info=CONTENT),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("principal", "scope_id", "key"),
    Index(None, "created_at"),
)

# What a session is in the middle of: windows, scratchpads, notes; each under its name.
state: Final = Table(
    "state",
    metadata,
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("session", Label, nullable=False, info=CONTENT),
    Column("name", Label, nullable=False, info=CONTENT),
    Column("value", Text, nullable=False, info=CONTENT),
    Column("updated_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    PrimaryKeyConstraint("scope_id", "session", "name"),
    Index(None, "expires_at"),
)

# Large tool results: all but the content, which is the blob of the same hash in the workspace.
archives: Final = Table(
    "archives",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("session", Label, nullable=False, info=CONTENT),
    Column("thread", Label, info=CONTENT),
    Column("tool", Label, nullable=False, info=CONTENT),
    # The input as canonical JSON, its hash, and what a placeholder shows of it.
    Column("input", Text, nullable=False, info=CONTENT),
    Column("input_hash", String(64), nullable=False, info=CONTENT),
    Column("query", String(500), nullable=False, info=CONTENT),
    Column("summary", Text, nullable=False, info=CONTENT),
    Column("sources", Text, nullable=False, info=CONTENT),
    Column("form", String(8), nullable=False),
    Column("content_hash", String(64), nullable=False, info=CONTENT),
    Column("chars", BigInteger, nullable=False),
    Column("lines", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    # Passages up to here are found by a search over archives.
    Column("indexed_chars", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("last_loaded", BigInteger),
    Column("loads", Integer, nullable=False),
    Index(None, "scope_id", "created_at", "id"),
    Index(None, "scope_id", "tool", "input_hash"),
    Index(None, "expires_at"),
)

# Stored once a workspace however often it appears. `key` names the file and is never used again,
# so removing one blob can not hit the same content written anew at that moment.
blobs: Final = Table(
    "blobs",
    metadata,
    Column("org", Label, nullable=False),
    Column("workspace", Label, nullable=False),
    Column("hash", String(64), nullable=False, info=CONTENT),
    Column("key", String(255), nullable=False, info=CONTENT),
    Column("size", BigInteger, nullable=False),
    Column("stored_size", BigInteger, nullable=False),
    # Of the bytes as they lie in the store, compressed.
    Column("stored_hash", String(64), nullable=False, info=CONTENT),
    Column("reference_count", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("org", "workspace", "hash"),
    UniqueConstraint("key"),
)

# SQLite's full text over the terms of each unit, made ours: every token is a scope and the key
# of a term, so a search can neither see nor be slowed down by another scope.
FULL_TEXT_SQLITE: Final = (
    "CREATE VIRTUAL TABLE unit_tokens USING fts5"
    "(tokens, content='', detail=none, columnsize=0, tokenize='ascii')",
    "CREATE VIRTUAL TABLE unit_vocabulary USING fts5vocab(unit_tokens, 'row')",
)
