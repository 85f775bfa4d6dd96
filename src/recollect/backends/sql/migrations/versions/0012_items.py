"""Items: what frameworks keep under a namespace and a key."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "items",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("namespace", sa.String(length=400), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("ttl", sa.Float(), nullable=True),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("texts", sa.Text(), nullable=False),
        sa.Column("vectors", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_items_scope_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
        sa.UniqueConstraint(
            "scope_id", "namespace", "key", name=op.f("uq_items_scope_id_namespace_key")
        ),
    )
    op.create_index(op.f("ix_items_scope_id_position"), "items", ["scope_id", "position"])
    op.create_index(op.f("ix_items_expires_at"), "items", ["expires_at"])
