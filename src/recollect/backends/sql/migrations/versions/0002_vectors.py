"""Vectors beside units, the models that made them, and the latest units of a scope."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_index(
        op.f("ix_units_scope_id_observed_at"), "units", ["scope_id", "observed_at"], unique=False
    )
    op.create_table(
        "embedding_models",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_embedding_models")),
        sa.UniqueConstraint("name", name=op.f("uq_embedding_models_name")),
    )
    op.create_table(
        "vectors",
        sa.Column("unit_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_id"], ["embedding_models.id"], name=op.f("fk_vectors_model_id")
        ),
        sa.ForeignKeyConstraint(
            ["unit_id"], ["units.id"], name=op.f("fk_vectors_unit_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("unit_id", "model_id", name=op.f("pk_vectors")),
    )
