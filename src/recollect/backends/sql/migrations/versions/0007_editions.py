"""Units of a newer analyzer are made beside those that answer, and switched to in one step."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column(
        "scopes", sa.Column("first_unit", sa.BigInteger(), nullable=False, server_default="0")
    )
    op.create_table(
        "editions",
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("analyzer", sa.String(length=16), nullable=False),
        sa.Column("first_unit", sa.BigInteger(), nullable=False),
        sa.Column("next_unit", sa.BigInteger(), nullable=False),
        sa.Column("unit_count", sa.BigInteger(), nullable=False),
        sa.Column("unit_length", sa.BigInteger(), nullable=False),
        sa.Column("full_text_to", sa.BigInteger(), nullable=False),
        sa.Column("done_to", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_editions_scope_id")),
        sa.PrimaryKeyConstraint("scope_id", name=op.f("pk_editions")),
    )
