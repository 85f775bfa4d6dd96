"""The core: scopes, records and their versions, turns, units, changes, jobs, idempotency."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("run_after", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("lease_owner", sa.String(length=64), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("gave_up", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("kind", "key", name=op.f("uq_jobs_kind_key")),
    )
    op.create_index(
        op.f("ix_jobs_gave_up_run_after"), "jobs", ["gave_up", "run_after"], unique=False
    )
    op.create_table(
        "scopes",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("org", sa.String(length=100), nullable=False),
        sa.Column("workspace", sa.String(length=100), nullable=False),
        sa.Column("agent", sa.String(length=100), nullable=False),
        sa.Column("user", sa.String(length=100), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("next_unit", sa.BigInteger(), nullable=False),
        sa.Column("unit_count", sa.BigInteger(), nullable=False),
        sa.Column("unit_length", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scopes")),
        sa.UniqueConstraint(
            "org", "workspace", "agent", "user", name=op.f("uq_scopes_org_workspace_agent_user")
        ),
    )
    op.create_table(
        "changes",
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("entity", sa.String(length=8), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("op", sa.String(length=8), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_changes_scope_id")),
        sa.PrimaryKeyConstraint("scope_id", "version", "seq", name=op.f("pk_changes")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "idempotency",
        sa.Column("principal", sa.String(length=100), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("body_hash", sa.String(length=64), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_idempotency_scope_id")),
        sa.PrimaryKeyConstraint("principal", "scope_id", "key", name=op.f("pk_idempotency")),
    )
    op.create_index(op.f("ix_idempotency_created_at"), "idempotency", ["created_at"], unique=False)
    op.create_table(
        "records",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("category", sa.String(length=100), nullable=False),
        sa.Column("title", sa.String(length=255), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("description", sa.String(length=500), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("evidence_count", sa.Integer(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=255), nullable=False),
        sa.Column("related", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=True),
        sa.Column("session", sa.String(length=100), nullable=True),
        sa.Column("task", sa.String(length=100), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("first_observed", sa.BigInteger(), nullable=False),
        sa.Column("last_confirmed", sa.BigInteger(), nullable=False),
        sa.Column("observed_at", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=True),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("tier", sa.String(length=8), nullable=False),
        sa.Column("access_count", sa.Integer(), nullable=False),
        sa.Column("last_accessed", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("changed_by", sa.String(length=100), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_records_scope_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_records")),
    )
    op.create_index(
        op.f("ix_records_scope_id_observed_at_id"),
        "records",
        ["scope_id", "observed_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_records_scope_id_session"), "records", ["scope_id", "session"], unique=False
    )
    op.create_table(
        "turns",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session", sa.String(length=100), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("speaker", sa.String(length=100), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("task", sa.String(length=100), nullable=True),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_turns_scope_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
        sa.UniqueConstraint(
            "scope_id", "session", "ordinal", name=op.f("uq_turns_scope_id_session_ordinal")
        ),
    )
    op.create_index(
        op.f("ix_turns_scope_id_at_id"), "turns", ["scope_id", "at", "id"], unique=False
    )
    op.create_table(
        "units",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("owner_kind", sa.String(length=8), nullable=False),
        sa.Column("owner_id", sa.String(length=64), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("terms", sa.LargeBinary(), nullable=False),
        sa.Column("analyzer", sa.String(length=16), nullable=False),
        sa.Column("observed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_units_scope_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_units")),
    )
    op.create_index(op.f("ix_units_analyzer"), "units", ["analyzer"], unique=False)
    op.create_index(
        op.f("ix_units_owner_id_ordinal"), "units", ["owner_id", "ordinal"], unique=False
    )
    op.create_table(
        "record_tags",
        sa.Column("record_id", sa.String(length=64), nullable=False),
        sa.Column("tag", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["record_id"], ["records.id"], name=op.f("fk_record_tags_record_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("record_id", "tag", name=op.f("pk_record_tags")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "versions",
        sa.Column("record_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("scope_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("replaced_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["record_id"], ["records.id"], name=op.f("fk_versions_record_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_versions_scope_id")),
        sa.PrimaryKeyConstraint("record_id", "version", name=op.f("pk_versions")),
    )
    op.create_index(
        op.f("ix_versions_scope_id_recorded_at"),
        "versions",
        ["scope_id", "recorded_at"],
        unique=False,
    )
    if op.get_bind().dialect.name == "sqlite":
        create_sqlite_full_text()


def create_sqlite_full_text() -> None:
    op.execute(
        "CREATE VIRTUAL TABLE unit_tokens USING fts5"
        "(tokens, content='', detail=none, columnsize=0, tokenize='ascii')"
    )
    op.execute("CREATE VIRTUAL TABLE unit_vocabulary USING fts5vocab(unit_tokens, 'row')")
