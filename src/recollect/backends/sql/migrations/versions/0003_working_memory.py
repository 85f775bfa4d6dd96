"""The working memory: state of sessions, archived tool results and their blobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "blobs",
        sa.Column("org", sa.String(length=100), nullable=False),
        sa.Column("workspace", sa.String(length=100), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("stored_size", sa.BigInteger(), nullable=False),
        sa.Column("stored_hash", sa.String(length=64), nullable=False),
        sa.Column("reference_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("org", "workspace", "hash", name=op.f("pk_blobs")),
        sa.UniqueConstraint("key", name=op.f("uq_blobs_key")),
    )
    op.create_table(
        "archives",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session", sa.String(length=100), nullable=False),
        sa.Column("thread", sa.String(length=100), nullable=True),
        sa.Column("tool", sa.String(length=100), nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("input_hash", sa.String(length=64), nullable=False),
        sa.Column("query", sa.String(length=500), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("form", sa.String(length=8), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("chars", sa.BigInteger(), nullable=False),
        sa.Column("lines", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("indexed_chars", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("last_loaded", sa.BigInteger(), nullable=True),
        sa.Column("loads", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_archives_scope_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_archives")),
    )
    op.create_index(op.f("ix_archives_expires_at"), "archives", ["expires_at"], unique=False)
    op.create_index(
        op.f("ix_archives_scope_id_created_at_id"),
        "archives",
        ["scope_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_archives_scope_id_tool_input_hash"),
        "archives",
        ["scope_id", "tool", "input_hash"],
        unique=False,
    )
    op.create_table(
        "state",
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session", sa.String(length=100), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_state_scope_id")),
        sa.PrimaryKeyConstraint("scope_id", "session", "name", name=op.f("pk_state")),
    )
    op.create_index(op.f("ix_state_expires_at"), "state", ["expires_at"], unique=False)
