"""What `Jobs` promise, in a database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect.jobs.queue import SqlJobs
from recollect.ports.jobs import Jobs
from recollect.testing import JobsContract, ManualClock
from tests.database_servers import open_at


class TestSqlJobs(JobsContract):
    @pytest.fixture
    async def jobs(self, database_path: Path, clock: ManualClock) -> AsyncIterator[Jobs]:
        database = open_at(database_path)
        yield SqlJobs(database, clock)
        await database.close()
