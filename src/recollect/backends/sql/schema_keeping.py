"""The tables around records: how they were written, shared, disputed, audited and forgotten."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from recollect.backends.sql.schema_base import CONTENT, Big, Id, Label, metadata

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
