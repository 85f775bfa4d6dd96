"""Alembic's entry: runs the migrations on the connection that `migrate` hands over."""

from __future__ import annotations

from alembic import context

from recollect.backends.sql.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
context.run_migrations()
