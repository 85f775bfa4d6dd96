"""Links: how records and turns relate that both stay."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "links",
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("newer", sa.String(length=64), nullable=False),
        sa.Column("older", sa.String(length=64), nullable=False),
        sa.Column("relation", sa.String(length=16), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.String(length=100), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_links_scope_id")),
        sa.PrimaryKeyConstraint("newer", "older", name=op.f("pk_links")),
    )
    op.create_index(op.f("ix_links_older"), "links", ["older"], unique=False)
    op.create_index(op.f("ix_links_scope_id"), "links", ["scope_id"], unique=False)
