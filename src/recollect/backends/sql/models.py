"""The embedding models that vectors were made by, by number."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, insert, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import remembered
from recollect.domain.embedding import EmbeddingModel

_TABLE: Final = schema.embedding_models.c


def find_model(connection: Connection, model: EmbeddingModel) -> int | None:
    """The number of a model that has made vectors here."""
    # A model keeps its number for ever, so a reader that has seen it need not ask again.
    known = remembered(connection)
    if model not in known:
        found = connection.scalar(select(_TABLE.id).where(_TABLE.name == model.name))
        if found is None:
            return None
        known[model] = found
    return known[model]


def model_number(connection: Connection, model: EmbeddingModel) -> int:
    """The number of a model, given now if it is new."""
    known = find_model(connection, model)
    if known is None:
        row = {"name": model.name, "dimension": model.dimension}
        connection.execute(insert(schema.embedding_models), row)
        known = find_model(connection, model)
    assert known is not None
    return known
