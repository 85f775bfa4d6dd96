"""What the tests of databases on servers share."""

from __future__ import annotations

import pytest

from tests.database_servers import Server


@pytest.fixture
def server(database_server: Server) -> Server:
    """The server that the run was started with."""
    return database_server
