"""What every table is made of: names of keys and indexes, types of columns, and a mark."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BigInteger, Integer, MetaData, String
from sqlalchemy.types import TypeEngine

Id: Final = String(64)
Label: Final = String(100)
# SQLite only makes a rowid alias, the fast primary key, of a column declared INTEGER.
Big: Final[TypeEngine[int]] = BigInteger().with_variant(Integer(), "sqlite")

# Marks a column that holds what somebody said or what was made of it: forgetting must erase it.
CONTENT: Final[dict[Any, Any]] = {"content": True}

metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
