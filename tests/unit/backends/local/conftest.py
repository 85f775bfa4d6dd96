"""A database with units in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.backends.sql.database import Database
from tests.database_servers import open_at
from tests.unit.backends.local.unit_writer import UnitWriter


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_at(tmp_path / "units.db")
    yield opened
    opened.close_here()


@pytest.fixture
def writer(database: Database) -> UnitWriter:
    return UnitWriter(database)


@pytest.fixture(scope="module")
def shared_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One for all examples of a property; each takes a scope of its own."""
    opened = open_at(tmp_path_factory.mktemp("shared") / "units.db")
    yield opened
    opened.close_here()
