"""The full text follows large scopes in steps: each scope says how far it has come."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column(
        "scopes", sa.Column("full_text_to", sa.BigInteger(), nullable=False, server_default="0")
    )
    # Until now every unit was added as it came.
    op.execute("UPDATE scopes SET full_text_to = next_unit - 1")
