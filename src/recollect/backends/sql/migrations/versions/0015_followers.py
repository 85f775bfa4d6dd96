"""How far each derived store is with each scope."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "followers",
        sa.Column("name", sa.String(length=190), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("target", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("position", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("name", "scope_id", name=op.f("pk_followers")),
    )
    op.create_index(op.f("ix_followers_scope_id"), "followers", ["scope_id"])
