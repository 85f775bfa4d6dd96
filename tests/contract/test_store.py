"""What a `Store` promises, in a database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect.backends.sql.store import SqlStore
from recollect.ports.runtime import SystemClock
from recollect.ports.store import Store
from recollect.testing import StoreContract
from tests.database_servers import open_at


class TestSqlStore(StoreContract):
    @pytest.fixture
    async def store(self, database_path: Path) -> AsyncIterator[Store]:
        database = open_at(database_path)
        yield SqlStore(database, SystemClock())
        await database.close()
