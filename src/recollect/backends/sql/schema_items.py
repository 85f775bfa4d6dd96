"""The table of items: what frameworks keep for themselves."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from recollect.backends.sql.schema_base import CONTENT, Big, Id, metadata

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
