"""The tables of the server: keys, sign-ins, agents and what was counted each hour.

They are settings and figures, not memory: nothing here is what somebody told an agent.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

from recollect.backends.sql.schema_base import Id, Label, metadata

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
