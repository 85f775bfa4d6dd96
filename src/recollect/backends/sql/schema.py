"""The tables. Times are UTC microseconds; an empty agent or user means there is none."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeEngine

# --- What every table is made of: names of keys and indexes, types of columns, and a mark ---------


Id: Final = String(64)
Label: Final = String(100)
# SQLite only makes a rowid alias, the fast primary key, of a column declared INTEGER.
Big: Final[TypeEngine[int]] = BigInteger().with_variant(Integer(), "sqlite")

# Marks a column that holds what somebody said or what was made of it: forgetting must erase it.
CONTENT: Final[dict[Any, Any]] = {"content": True}

metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


# --- The tables. Times are UTC microseconds; an empty agent or user means there is none ---

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
    "followers",
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

HEAD_REVISION: Final = "0015"

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
    # Which attribute it states, none until that is decided; whom it is about; whether a caller
    # said so.
    Column("facet", String(32)),
    Column("about", String(8), nullable=False, server_default=""),
    Column("facet_fixed", Integer, nullable=False, server_default="0"),
    Index(None, "scope_id", "observed_at", "id"),
    Index(None, "scope_id", "session"),
    Index(None, "facet", "scope_id"),
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

# How far each derived store is with a scope. The row of a scope that was forgotten stays until the
# store has erased it too, so there is no foreign key.
followers: Final = Table(
    "followers",
    metadata,
    # Which store; another place is another follower.
    Column("name", String(190), nullable=False),
    Column("scope_id", Big, nullable=False),
    # It has everything up to this version of the scope; 0 while it has nothing that can be used.
    Column("version", BigInteger, nullable=False),
    # A build that goes on: the version that it leads to, 0 for none, and how far it is.
    Column("target", BigInteger, nullable=False, server_default="0"),
    Column("position", BigInteger, nullable=False, server_default="0"),
    PrimaryKeyConstraint("name", "scope_id"),
    Index(None, "scope_id"),
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


# --- The tables of the knowledge base: documents and their sections; their chunks are units -------


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


# --- The table of items: what frameworks keep for themselves --------------------------------------


items: Final = Table(
    "items",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    # Every label with a slash behind it, so that a prefix of one is a prefix of the other.
    Column("namespace", String(400), nullable=False, info=CONTENT),
    Column("key", String(255), nullable=False, info=CONTENT),
    Column("value", Text, nullable=False, info=CONTENT),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    # Seconds that it lives after it was put or read.
    Column("ttl", Float),
    Column("position", BigInteger, nullable=False),
    # What a search looks at, as a JSON list, and what a model made of it: 32-bit floats.
    Column("texts", Text, nullable=False, info=CONTENT),
    Column("vectors", LargeBinary, nullable=False, info=CONTENT),
    Column("model", String(255), nullable=False),
    UniqueConstraint("scope_id", "namespace", "key"),
    Index(None, "scope_id", "position"),
    Index(None, "expires_at"),
)


# --- The tables around records: how they were written, shared, disputed, audited and forgotten ----


# One run of the write pipeline: what each step made of it, as JSON.
writes: Final = Table(
    "writes",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("session", Label, info=CONTENT),
    Column("created_at", BigInteger, nullable=False),
    Column("steps", Text, nullable=False, info=CONTENT),
    Index(None, "scope_id", "created_at"),
)

# How far the turns of a session were read for what is worth remembering.
watermarks: Final = Table(
    "watermarks",
    metadata,
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("session", Label, nullable=False, info=CONTENT),
    Column("ordinal", Integer, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("scope_id", "session"),
)

# Two records that cannot both be true, until somebody says which is.
conflicts: Final = Table(
    "conflicts",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("first_id", Id, ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
    Column("second_id", Id, ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
    Column("reason", Text, nullable=False, info=CONTENT),
    Column("created_at", BigInteger, nullable=False),
    Column("resolved_at", BigInteger),
    Column("resolved_by", Label, info=CONTENT),
    Column("resolution", String(32)),
    UniqueConstraint("first_id", "second_id"),
    Index(None, "scope_id", "resolved_at"),
    Index(None, "second_id"),
)

# How records and turns relate that both stay; either end may be a record or a turn.
links: Final = Table(
    "links",
    metadata,
    # Of the newer one.
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("newer", Id, nullable=False),
    Column("older", Id, nullable=False),
    Column("relation", String(16), nullable=False),
    Column("probability", Float, nullable=False),
    Column("reason", Text, nullable=False, info=CONTENT),
    Column("decided_by", Label, nullable=False, info=CONTENT),
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("newer", "older"),
    Index(None, "older"),
    Index(None, "scope_id"),
)

# What an agent wants all agents of its workspace to know, and what became of it.
proposals: Final = Table(
    "proposals",
    metadata,
    Column("id", Id, primary_key=True),
    # Of the shared record it would become: the workspace's, or for a preference the user's.
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("type", Label, nullable=False),
    Column("proposer", Label, nullable=False, info=CONTENT),
    Column("role", Label, nullable=False),
    # Whom the proposer worked for.
    Column("user", Label, info=CONTENT),
    Column("status", String(16), nullable=False),
    # The shared record that it would change; none is a new one.
    Column("target_id", Id),
    # The shared record that it became.
    Column("record_id", Id),
    Column("title", String(255), nullable=False, info=CONTENT),
    Column("content", Text, nullable=False, info=CONTENT),
    Column("reason", Text, nullable=False, info=CONTENT),
    Column("body", Text, nullable=False, info=CONTENT),
    Column("confidence", Float, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("decided_at", BigInteger),
    Column("decided_by", Label, info=CONTENT),
    Column("decision", Text, nullable=False, info=CONTENT),
    Index(None, "scope_id", "status", "created_at"),
    Index(None, "status", "expires_at"),
    Index(None, "record_id"),
)

# What happened, with all that may be erased of it: one row a commit, in the same transaction.
audit: Final = Table(
    "audit",
    metadata,
    Column("id", Big, primary_key=True, autoincrement=True),
    Column("scope_id", Big, ForeignKey("scopes.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("actor", Label, nullable=False, info=CONTENT),
    Column("action", String(32), nullable=False),
    Column("target", Id, nullable=False),
    Column("payload", Text, nullable=False, info=CONTENT),
    # Of the keyed hash that the chain holds; without it the hash tells nothing.
    Column("salt", String(64), nullable=False, info=CONTENT),
    # Its place in the chain of its workspace; none as long as it is not sealed.
    Column("seq", BigInteger),
    Index(None, "scope_id"),
    Index(None, "seq"),
)

# The chain of a workspace: what can be checked for ever and tells nothing that must be forgotten.
audit_chain: Final = Table(
    "audit_chain",
    metadata,
    Column("org", Label, nullable=False),
    Column("workspace", Label, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("entry", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    # A pseudonym: a keyed hash of who it was.
    Column("actor", String(64), nullable=False),
    Column("action", String(32), nullable=False),
    Column("target", Id, nullable=False),
    Column("mac", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    PrimaryKeyConstraint("org", "workspace", "seq"),
)

# That something was forgotten, without what it was.
tombstones: Final = Table(
    "tombstones",
    metadata,
    Column("id", Id, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("org", Label, nullable=False),
    Column("workspace", Label, nullable=False),
    Column("forgotten_at", BigInteger, nullable=False),
    Column("forget_id", Id, nullable=False),
    Index(None, "forget_id"),
)


# --- The tables of the server: keys, sign-ins, agents and what was counted each hour --------------
#
# They are settings and figures, not memory: nothing here is what somebody told an agent.


keys: Final = Table(
    "keys",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Label, nullable=False),
    Column("prefix", String(32), nullable=False),
    # The secret itself is nowhere.
    Column("salt", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    # Lists as JSON; an empty one means all.
    Column("workspaces", Text, nullable=False),
    Column("users", Text, nullable=False),
    Column("agents", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("last_used_at", BigInteger),
    Column("revoked_at", BigInteger),
    Index(None, "created_at"),
)

# Browsers that are signed in, by the hash of what their cookie holds.
sign_ins: Final = Table(
    "sign_ins",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("key_id", Id, ForeignKey("keys.id", ondelete="CASCADE"), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "key_id"),
)

# What is special about an agent, over what the settings file says.
agents: Final = Table(
    "agents",
    metadata,
    Column("name", Label, primary_key=True),
    Column("settings", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

# What was counted in an hour, by all processes together.
metric_hours: Final = Table(
    "metric_hours",
    metadata,
    # Seconds since 1970 at which the hour began.
    Column("hour", BigInteger, nullable=False),
    Column("name", String(64), nullable=False),
    Column("label", String(64), nullable=False),
    Column("value", Float, nullable=False),
    PrimaryKeyConstraint("hour", "name", "label"),
)
