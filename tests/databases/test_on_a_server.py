"""What somebody relies on who keeps memory on a database server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, make_url

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.assemble.stores import copy_store, server_at
from recollect.backends.sql.server_database import ServerDatabase
from recollect.domain.stats import Finding
from recollect.errors import StorageBusy, StorageError
from recollect.ports.store import one_snapshot
from recollect.settings import Settings
from recollect.settings.place import driver_url
from tests.conftest import TurnedClock
from tests.database_servers import Server, ask, free_port

pytestmark = pytest.mark.server


def _at(url: str, tmp_path: Path) -> Settings:
    return Settings.load({"storage": {"url": url}, "data_dir": tmp_path / "data"})


async def test_what_is_kept_is_found_changed_hidden_and_forgotten(
    server: Server, tmp_path: Path, clock: TurnedClock
):
    url = server.url_for(tmp_path / "any.db")
    async with Memory.open(_at(url, tmp_path), clock=clock) as memory:
        ann = memory.scope(user="ann")
        tea = await ann.remember("Ann drinks green tea", tags=["drink"])
        await ann.observe({"role": "user", "content": "我喜欢绿茶"}, session="s")
        await ann.update(tea.id, "Ann drinks black tea")
    async with Memory.open(_at(url, tmp_path), clock=clock) as memory:
        ann = memory.scope(user="ann")
        found = await ann.recall("which tea does Ann drink?")
        assert found.hits[0].item.content == "Ann drinks black tea"
        assert len(await ann.history(tea.id)) == 2
        await ann.delete(tea.id)
        # What was said is read when the memory is opened again, and stays.
        assert tea.id not in [record.id for record in (await ann.list()).items]
        await ann.undo(tea.id)
        forgotten = await ann.forget(user="ann", verify=True)
        assert forgotten.verification is not None
        assert forgotten.verification.traces == ()
        assert "backups of the database server" in forgotten.verification.copies[0]
        assert not (await ann.list()).items
        assert not (await ann.turns(session="s")).items
        assert (await memory.audit.verify()).is_intact


async def test_names_that_differ_in_a_letter_or_a_space_are_different_people(
    server: Server, tmp_path: Path
):
    names = ("Ann", "ann", "ann ", "Änn", "安", "ａｎｎ", "straße", "strasse")
    async with Memory.open(_at(server.url_for(tmp_path / "any.db"), tmp_path)) as memory:
        for name in names:
            await memory.scope(user=name).remember(f"this is {name!r}")
        for name in names:
            (only,) = await memory.scope(user=name).list()
            assert only.content == f"this is {name!r}"


async def test_long_texts_and_rare_characters_come_back_as_they_were(
    server: Server, tmp_path: Path
):
    long = "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩‍👩‍👧 \\ % _ ' \" ; \u2028 " * 2_500
    async with Memory.open(_at(server.url_for(tmp_path / "any.db"), tmp_path)) as memory:
        kept = await memory.remember(long, metadata={"键": ["值", None, 1.5, True]})
        again = await memory.get(kept.id)
        assert (again.content, again.metadata) == (kept.content, kept.metadata)


async def test_two_programs_may_open_a_new_database_at_the_same_moment(
    server: Server, tmp_path: Path
):
    name = "brand_new"
    server.run(f"CREATE DATABASE {name}", server.root)
    try:
        settings = _at(server.url(name), tmp_path)

        async def remember(number: int) -> None:
            async with Memory.open(settings) as memory:
                await memory.remember(f"program {number} was here")

        await asyncio.gather(*(remember(number) for number in range(4)))
        async with Memory.open(settings) as memory:
            assert len(await memory.list()) == 4
    finally:
        server.run(f"DROP DATABASE {name}", server.root)


async def test_tables_without_the_number_of_their_schema(server: Server, tmp_path: Path):
    name = "half_made"
    server.run(f"CREATE DATABASE {name}", server.root)
    try:
        settings = _at(server.url(name), tmp_path)
        async with Memory.open(settings) as memory:
            await memory.remember("something")
        server.run("DELETE FROM alembic_version", name)
        if server.root == "mysql":
            # It commits every table by itself: a kill may come before the number is written.
            async with Memory.open(settings) as memory:
                assert len(await memory.list()) == 1
        else:
            # It makes all of it in one transaction: these tables are somebody else's.
            with pytest.raises(StorageError, match="another program") as refused:
                await _open(settings)
            assert refused.value.code == "not_our_database"
    finally:
        server.run(f"DROP DATABASE {name}", server.root)


async def _open(settings: Settings) -> None:
    async with Memory.open(settings):
        pass


async def _database_finding(settings: Settings) -> Finding:
    diagnosis = await diagnose(settings)
    return next(it for it in diagnosis.findings if it.part == "database")


async def test_doctor_tells_how_a_server_is_doing(server: Server, tmp_path: Path):
    url = server.url_for(tmp_path / "any.db")
    async with Memory.open(_at(url, tmp_path)) as memory:
        await memory.remember("something")
    found = await _database_finding(_at(url, tmp_path))
    assert found.verdict == "ok", found
    assert "no damage" in found.message
    assert found.figures["server"]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda server: server.url("nowhere"), "no database of that name"),
        (lambda server: _elsewhere(server.url("any")), "cannot be reached"),
    ],
)
async def test_doctor_and_opening_tell_why_a_server_cannot_be_used(
    server: Server, tmp_path: Path, spoil, words: str
):
    settings = _at(spoil(server), tmp_path)
    found = await _database_finding(settings)
    assert found.verdict == "problem"
    assert words in found.message
    assert found.hint
    # With a spool, writes wait for a server that cannot be reached.
    storage = {"url": spoil(server), "spool": False}
    without = Settings.load({"storage": storage, "data_dir": tmp_path / "data"})
    with pytest.raises(StorageError, match=words):
        await Memory.open(without)


async def test_doctor_looks_at_the_stores_of_agents_too(server: Server, tmp_path: Path):
    settings = Settings.load(
        {
            "data_dir": tmp_path / "data",
            "storage": {"url": server.url_for(tmp_path / "any.db")},
            "stores": {"far": {"url": _elsewhere(server.url("any"))}},
            "agents": {"analyst": {"store": "far"}, "clerk": {"store": "far"}, "guest": {}},
        }
    )
    found = {it.part: it for it in (await diagnose(settings)).findings}
    assert found["database"].verdict == "ok"
    assert found["analyst: database"].verdict == "problem"
    assert "cannot be reached" in found["analyst: database"].message
    assert not {"clerk: database", "guest: database"} & found.keys()


@pytest.mark.parametrize("login", ["ann:s3cret@{}/memory", "{}/memory?user=ann&password=s3cret"])
async def test_the_password_is_never_told(server: Server, tmp_path: Path, login: str):
    kind = server.url("any").partition("://")[0]
    settings = _at(f"{kind}://{login.format(f'127.0.0.1:{free_port()}')}", tmp_path)
    found = await _database_finding(settings)
    assert "cannot be reached" in found.message
    assert "s3cret" not in f"{found}{settings.store_name}{settings.changed()}{settings!r}"


class _Role:
    """A user of the server who may do little, and a database that is not theirs."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._is_mysql = server.root == "mysql"
        self.database = "of_somebody_else"
        server.run(f"CREATE DATABASE {self.database}", server.root)
        made = "USER little@'127.0.0.1'" if self._is_mysql else "ROLE little LOGIN"
        server.run(f"CREATE {made}", server.root)

    @property
    def url(self) -> str:
        whose = "root@" if self._is_mysql else "postgres@"
        return self._server.url(self.database).replace(whose, "little@")

    def grant(self, rights: str) -> None:
        if self._is_mysql:
            given = f"GRANT {rights} ON {self.database}.* TO little@'127.0.0.1'"
        else:
            given = f"GRANT {rights} ON ALL TABLES IN SCHEMA public TO little"
        self._server.run(given, self.database)

    def drop(self) -> None:
        self._server.run(f"DROP DATABASE {self.database}", self._server.root)
        who = "USER little@'127.0.0.1'" if self._is_mysql else "ROLE little"
        self._server.run(f"DROP {who}", self._server.root)


@pytest.fixture
def role(server: Server) -> Iterator[_Role]:
    made = _Role(server)
    yield made
    made.drop()


async def test_a_user_who_may_not_make_tables_is_told_so_before_the_first_write(
    role: _Role, tmp_path: Path
):
    role.grant("SELECT, INSERT")
    settings = _at(role.url, tmp_path)
    found = await _database_finding(settings)
    assert (found.verdict, "may not make tables" in found.message) == ("problem", True)
    assert "this user" in found.hint
    with pytest.raises(StorageError, match="may not make tables"):
        await Memory.open(settings)


async def test_a_user_who_may_only_read_can_read_and_is_told_by_the_doctor(
    server: Server, role: _Role, tmp_path: Path
):
    async with Memory.open(_at(server.url(role.database), tmp_path)) as memory:
        await memory.remember("Ann drinks green tea")
    role.grant("SELECT")
    settings = _at(role.url, tmp_path)
    found = await _database_finding(settings)
    assert (found.verdict, "may not do that" in found.message) == ("problem", True)
    async with Memory.open(settings) as memory:
        assert len((await memory.recall("green tea")).hits) == 1
        with pytest.raises(StorageError) as refused:
            await memory.remember("Ann drinks black tea")
    assert refused.value.code == "database_permission"


@pytest.mark.parametrize(
    "theirs",
    [
        ("CREATE TABLE jobs (id INTEGER, what TEXT)",),
        (
            "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)",
            "INSERT INTO alembic_version VALUES ('1975ea83b712')",
        ),
    ],
    ids=["tables of our names", "migrations"],
)
async def test_a_database_of_another_program_is_left_as_it_is(
    server: Server, tmp_path: Path, theirs: tuple[str, ...]
):
    name = "of_another_program"
    server.run(f"CREATE DATABASE {name}", server.root)
    try:
        for statement in theirs:
            server.run(statement, name)
        settings = _at(server.url(name), tmp_path)
        found = await _database_finding(settings)
        assert (found.verdict, "another program" in found.message) == ("problem", True)
        async with Memory.open(_at(server.url_for(tmp_path / "any.db"), tmp_path)) as memory:
            await memory.remember("something")
        with pytest.raises(StorageError) as opened:
            await Memory.open(settings)
        with pytest.raises(StorageError) as copied:
            await copy_store(_at(server.url_for(tmp_path / "any.db"), tmp_path), settings)
        assert (opened.value.code, copied.value.code) == ("not_our_database",) * 2
        assert _table_names(server.url(name)) == {theirs[0].split()[2]}
    finally:
        server.run(f"DROP DATABASE {name}", server.root)


def _table_names(url: str) -> set[str]:
    engine = create_engine(make_url(driver_url(url)))
    try:
        return set(inspect(engine).get_table_names())
    finally:
        engine.dispose()


async def test_a_database_that_cannot_hold_every_text(server: Server, tmp_path: Path):
    if server.root == "mysql":
        # Our tables say themselves how they hold text.
        server.run("CREATE DATABASE narrow CHARACTER SET latin1", server.root)
    else:
        server.run(
            "CREATE DATABASE narrow ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0", "postgres"
        )
    try:
        settings = _at(server.url("narrow"), tmp_path)
        found = await _database_finding(settings)
        if server.root == "mysql":
            assert found.verdict == "ok"
            async with Memory.open(settings) as memory:
                kept = await memory.scope(user="安").remember("用户偏好 😀 Ärger")
                assert (await memory.scope(user="安").get(kept.id)).content == "用户偏好 😀 Ärger"
            return
        assert (found.verdict, "SQL_ASCII" in found.message) == ("problem", True)
        with pytest.raises(StorageError, match="cannot hold every text") as refused:
            await Memory.open(settings)
        assert refused.value.code == "database_unfit"
    finally:
        server.run("DROP DATABASE narrow", server.root)


async def test_the_modes_of_a_server_change_nothing(server: Server, tmp_path: Path):
    url = server.url_for(tmp_path / "any.db")
    name = make_url(url).database
    if server.root == "mysql":
        set_modes = ["SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'"]
    else:
        modes = ("standard_conforming_strings = off", "bytea_output = escape", "DateStyle = German")
        set_modes = [f"ALTER DATABASE {name} SET {mode}" for mode in modes]
    for statement in set_modes:
        server.run(statement, server.root)
    try:
        async with Memory.open(_at(url, tmp_path)) as memory:
            kept = await memory.remember('a "quoted" \\ text with ||', tags=["a"])
            assert (await memory.get(kept.id)).content == kept.content
            assert (await memory.recall("quoted text")).hits
        database = ServerDatabase(driver_url(url), beside=tmp_path / "any.db")
        too_long = "INSERT INTO counters (name, value) VALUES (REPEAT('x', 99), 1)"
        with pytest.raises(StorageError, match="too long"):
            await database.write(lambda connection: connection.exec_driver_sql(too_long))
        await database.close()
    finally:
        if server.root == "mysql":
            server.run("SET GLOBAL sql_mode = DEFAULT", server.root)


async def test_a_server_without_a_free_connection_is_waited_for_and_then_told(
    role: _Role, server: Server, tmp_path: Path
):
    who = (
        "USER little@'127.0.0.1' WITH MAX_USER_CONNECTIONS"
        if server.root == "mysql"
        else ("ROLE little CONNECTION LIMIT")
    )
    role.grant("SELECT")
    server.run(f"ALTER {who} 1", server.root)
    first, second = (ServerDatabase(driver_url(role.url), beside=tmp_path / "a") for _ in range(2))
    with one_snapshot():
        await first.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
        with pytest.raises(StorageBusy, match="no connection left"):
            await second.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
        waiting = asyncio.create_task(
            second.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
        )
        await asyncio.sleep(0.1)
        await first.close()
    assert await waiting == 1
    await second.close()


async def test_options_of_a_url(server: Server, tmp_path: Path):
    url = server.url_for(tmp_path / "any.db")
    joined = "&" if "?" in url else "?"
    async with Memory.open(_at(f"{url}{joined}connect_timeout=3", tmp_path)) as memory:
        await memory.remember("something")
    with pytest.raises(StorageError, match="option"):
        await Memory.open(_at(f"{url}{joined}no_such_option=1", tmp_path))
    if server.root == "mysql":
        return
    count = "SELECT count(*) FROM pg_prepared_statements"
    for threshold in ("none", "0"):
        settings = _at(f"{url}{joined}prepare_threshold={threshold}", tmp_path)
        async with Memory.open(settings) as memory:
            assert len(await memory.list()) == 1
        database = server_at(settings)
        prepared = await database.read(lambda it: it.exec_driver_sql(count).scalar())
        await database.close()
        assert (prepared == 0) == (threshold == "none")


def _elsewhere(url: str) -> str:
    return f"{url.partition('://')[0]}://root@127.0.0.1:{free_port()}/memory"


_CONNECTED = {
    "postgresql": "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()",
    "mysql": "SELECT count(*) FROM information_schema.processlist WHERE db = database()",
}


async def _require_none_connected(path: Path, url: str) -> None:
    """Wait until nobody but who asks is connected; the server notices an end a moment later."""
    ends = time.monotonic() + 60
    while ask(path, _CONNECTED[make_url(url).get_backend_name()]) != [(1,)]:
        assert time.monotonic() < ends, "a connection was left open"
        await asyncio.sleep(0.05)


async def test_a_snapshot_that_outlives_its_database_leaves_no_connection(
    server: Server, tmp_path: Path
):
    path = tmp_path / "any.db"
    database = ServerDatabase(driver_url(server.url_for(path)), beside=path)
    with one_snapshot():
        await database.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
        await database.close()
    await _require_none_connected(path, server.url_for(path))


async def test_a_memory_that_cannot_be_opened_leaves_no_connection(server: Server, tmp_path: Path):
    path = tmp_path / "any.db"
    url = server.url_for(path)
    ask(path, "ALTER TABLE agents RENAME TO agents_elsewhere")
    try:
        with pytest.raises(StorageError):
            await Memory.open(_at(url, tmp_path))
        await _require_none_connected(path, url)
    finally:
        ask(path, "ALTER TABLE agents_elsewhere RENAME TO agents")
