"""Facets: which attribute a record states, and whom it is about."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("records", sa.Column("facet", sa.String(length=32)))
    about = sa.Column("about", sa.String(length=8), nullable=False, server_default="")
    op.add_column("records", about)
    fixed = sa.Column("facet_fixed", sa.Integer(), nullable=False, server_default="0")
    op.add_column("records", fixed)
    op.create_index(op.f("ix_records_facet_scope_id"), "records", ["facet", "scope_id"])
