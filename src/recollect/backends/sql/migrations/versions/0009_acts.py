"""What was done by saying a turn: a statement, a question, a request, or what a tool gave."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("turns", sa.Column("act", sa.String(length=16)))
    op.create_index(op.f("ix_turns_act"), "turns", ["act"], sqlite_where=sa.text("act IS NULL"))
