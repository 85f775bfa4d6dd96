"""What happens around records: traces of writes, conflicts, proposals, the audit, tombstones."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "audit_chain",
        sa.Column("org", sa.String(length=100), nullable=False),
        sa.Column("workspace", sa.String(length=100), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("entry", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("target", sa.String(length=64), nullable=False),
        sa.Column("mac", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("org", "workspace", "seq", name=op.f("pk_audit_chain")),
    )
    op.create_table(
        "tombstones",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("org", sa.String(length=100), nullable=False),
        sa.Column("workspace", sa.String(length=100), nullable=False),
        sa.Column("forgotten_at", sa.BigInteger(), nullable=False),
        sa.Column("forget_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tombstones")),
    )
    op.create_index(op.f("ix_tombstones_forget_id"), "tombstones", ["forget_id"], unique=False)
    op.create_table(
        "audit",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("target", sa.String(length=64), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_audit_scope_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_scope_id"), "audit", ["scope_id"], unique=False)
    op.create_index(op.f("ix_audit_seq"), "audit", ["seq"], unique=False)
    op.create_table(
        "proposals",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("type", sa.String(length=100), nullable=False),
        sa.Column("proposer", sa.String(length=100), nullable=False),
        sa.Column("role", sa.String(length=100), nullable=False),
        sa.Column("user", sa.String(length=100), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("target_id", sa.String(length=64), nullable=True),
        sa.Column("record_id", sa.String(length=64), nullable=True),
        sa.Column("title", sa.String(length=255), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.Column("decided_by", sa.String(length=100), nullable=True),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_proposals_scope_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_proposals")),
    )
    op.create_index(op.f("ix_proposals_record_id"), "proposals", ["record_id"], unique=False)
    op.create_index(
        op.f("ix_proposals_scope_id_status_created_at"),
        "proposals",
        ["scope_id", "status", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_proposals_status_expires_at"), "proposals", ["status", "expires_at"], unique=False
    )
    op.create_table(
        "watermarks",
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session", sa.String(length=100), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_watermarks_scope_id")),
        sa.PrimaryKeyConstraint("scope_id", "session", name=op.f("pk_watermarks")),
    )
    op.create_table(
        "writes",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session", sa.String(length=100), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_writes_scope_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_writes")),
    )
    op.create_index(
        op.f("ix_writes_scope_id_created_at"), "writes", ["scope_id", "created_at"], unique=False
    )
    op.create_table(
        "conflicts",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("first_id", sa.String(length=64), nullable=False),
        sa.Column("second_id", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("resolved_at", sa.BigInteger(), nullable=True),
        sa.Column("resolved_by", sa.String(length=100), nullable=True),
        sa.Column("resolution", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["first_id"], ["records.id"], name=op.f("fk_conflicts_first_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_conflicts_scope_id")),
        sa.ForeignKeyConstraint(
            ["second_id"], ["records.id"], name=op.f("fk_conflicts_second_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conflicts")),
        sa.UniqueConstraint("first_id", "second_id", name=op.f("uq_conflicts_first_id_second_id")),
    )
    op.create_index(
        op.f("ix_conflicts_scope_id_resolved_at"),
        "conflicts",
        ["scope_id", "resolved_at"],
        unique=False,
    )
    op.create_index(op.f("ix_conflicts_second_id"), "conflicts", ["second_id"], unique=False)
    op.add_column("scopes", sa.Column("model_id", sa.Integer(), nullable=True))
    # The model that embedded last in a scope goes on answering there.
    op.execute(
        "UPDATE scopes SET model_id = (SELECT vectors.model_id FROM vectors"
        " WHERE vectors.unit_id BETWEEN scopes.id * 4294967296"
        " AND scopes.id * 4294967296 + 4294967295"
        " ORDER BY vectors.unit_id DESC, vectors.model_id DESC LIMIT 1)"
    )
    op.add_column(
        "embedding_models", sa.Column("choice", sa.Text(), server_default="", nullable=False)
    )
    op.create_index(
        op.f("ix_records_expires_at"),
        "records",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("expires_at IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_records_status_updated_at"),
        "records",
        ["status", "updated_at"],
        unique=False,
        sqlite_where=sa.text("status != 'active'"),
    )
