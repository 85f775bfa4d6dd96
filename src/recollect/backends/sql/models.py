"""The embedding models that vectors were made by, by number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, bindparam, select, update

from recollect.backends.sql import schema
from recollect.backends.sql.database import left_behind, remembered_for_ever
from recollect.backends.sql.portable import InsertOrIgnore, listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import to_json
from recollect.domain.embedding import EmbeddingModel

_TABLE: Final = schema.embedding_models.c
_FIND: Final = PreparedStatement(
    select(_TABLE.id, _TABLE.choice).where(_TABLE.name == bindparam("of_name"))
)
_BY_NUMBER: Final = PreparedStatement(
    select(_TABLE.id, _TABLE.name, _TABLE.dimension, _TABLE.choice).where(
        _TABLE.id.in_(listed_numbers("numbers"))
    )
)
_ADD: Final = PreparedStatement(
    InsertOrIgnore(schema.embedding_models).values(
        {name: bindparam(name) for name in ("name", "dimension", "choice")}
    )
)


def find_model(connection: Connection, model: EmbeddingModel) -> int | None:
    """Return the number of a model that has made vectors here."""
    known = remembered_for_ever(connection)
    if model.name not in known:
        found = _FIND.rows(connection, {"of_name": model.name})
        if not found:
            return None
        known[model.name] = found[0][0]
    return known[model.name]


def models_by_number(connection: Connection, numbers: Iterable[int]) -> dict[int, EmbeddingModel]:
    """Return the models with these numbers."""
    return {
        number: EmbeddingModel(name=name, dimension=dimension, choice=choice)
        for number, name, dimension, choice in _BY_NUMBER.rows(
            connection, {"numbers": to_json(list(numbers))}
        )
    }


def model_number(connection: Connection, model: EmbeddingModel) -> int:
    """Return the number of a model; store a new one, and how the model is opened."""
    left = left_behind(connection)
    # The number of a model is never given again.
    if (known := left.take(model)) is not None:
        return known
    row = {"name": model.name, "dimension": model.dimension, "choice": model.choice}
    found = _FIND.rows(connection, {"of_name": model.name})
    if not found:
        _ADD.run(connection, [row])
        found = _FIND.rows(connection, {"of_name": model.name})
    number, choice = found[0]
    if model.choice and choice != model.choice:
        renamed = update(schema.embedding_models).where(_TABLE.id == number)
        connection.execute(renamed.values(choice=model.choice))
    left.new[model] = number
    return number
