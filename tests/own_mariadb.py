"""A MariaDB server of a test's own, which it may kill, pause and start again."""

from __future__ import annotations

import signal
from typing import Any

from sqlalchemy import create_engine, make_url
from sqlalchemy.pool import NullPool

from recollect.settings.place import driver_url
from tests.database_servers import MysqlServer


class OwnMariadb:
    """A server that nobody else uses; what is committed outlives its process."""

    def __init__(self) -> None:
        self._server = MysqlServer(outlives_process=True)

    def database(self, name: str) -> str:
        """Make an empty database; return its address."""
        self.run(f"CREATE DATABASE {name}", self._server.url(self._server.root))
        return self._server.url(name)

    def run(self, statement: str, url: str) -> list[tuple[Any, ...]]:
        """Run a statement, past all of our code."""
        engine = create_engine(
            make_url(driver_url(url)), isolation_level="AUTOCOMMIT", poolclass=NullPool
        )
        with engine.connect() as connection:
            done = connection.exec_driver_sql(statement)
            return [tuple(row) for row in done] if done.returns_rows else []

    def kill(self) -> None:
        """End it as a machine that loses its power does."""
        self._server.process.kill()
        self._server.process.wait(60)

    def pause(self) -> None:
        """Let it say nothing, with all its connections open."""
        self._server.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._server.process.send_signal(signal.SIGCONT)

    def start(self) -> None:
        """Start it again after it was killed."""
        self._server.start_again()

    def end(self) -> None:
        self._server.stop()
