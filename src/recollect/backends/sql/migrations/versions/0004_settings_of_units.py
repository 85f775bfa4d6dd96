"""What the owner of a unit stands among, and whether a record was of use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for name in ("cluster", "place", "speaker"):
        op.add_column("units", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    for name in ("traits", "size", "variety"):
        op.add_column("units", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    for name in ("helped", "rejected"):
        op.add_column("records", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
