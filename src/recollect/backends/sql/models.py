"""The embedding models that vectors were made by, by number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, bindparam, insert, select, update

from recollect.backends.sql import schema
from recollect.backends.sql.database import remembered_for_ever
from recollect.backends.sql.quick import Quick
from recollect.domain.embedding import EmbeddingModel

_TABLE: Final = schema.embedding_models.c
_FIND: Final = Quick(select(_TABLE.id, _TABLE.choice).where(_TABLE.name == bindparam("of_name")))


def find_model(connection: Connection, model: EmbeddingModel) -> int | None:
    """The number of a model that has made vectors here."""
    known = remembered_for_ever(connection)
    if model.name not in known:
        found = _FIND.rows(connection, {"of_name": model.name})
        if not found:
            return None
        known[model.name] = found[0][0]
    return known[model.name]


def models_by_number(connection: Connection, numbers: Iterable[int]) -> dict[int, EmbeddingModel]:
    """The models with these numbers."""
    wanted = list(numbers)
    if not wanted:
        return {}
    rows = connection.execute(select(schema.embedding_models).where(_TABLE.id.in_(wanted)))
    return {
        row.id: EmbeddingModel(name=row.name, dimension=row.dimension, choice=row.choice)
        for row in rows
    }


def model_number(connection: Connection, model: EmbeddingModel) -> int:
    """The number of a model, given now if it is new; how it is opened now is kept with it."""
    row = {"name": model.name, "dimension": model.dimension, "choice": model.choice}
    found = _FIND.rows(connection, {"of_name": model.name})
    if not found:
        connection.execute(insert(schema.embedding_models), row)
        found = _FIND.rows(connection, {"of_name": model.name})
    number, choice = found[0]
    if model.choice and choice != model.choice:
        renamed = update(schema.embedding_models).where(_TABLE.id == number)
        connection.execute(renamed.values(choice=model.choice))
    return number
