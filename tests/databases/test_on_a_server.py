"""What somebody relies on who keeps memory on a database server."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from sqlalchemy import make_url

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.backends.sql.server_database import ServerDatabase
from recollect.domain.stats import Finding
from recollect.errors import StorageError
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
        assert not (await ann.list()).items
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
    with pytest.raises(StorageError, match=words):
        await Memory.open(settings)


async def test_the_password_is_never_told(server: Server, tmp_path: Path):
    settings = _at(f"postgresql://ann:s3cret@127.0.0.1:{free_port()}/memory", tmp_path)
    found = await _database_finding(settings)
    assert "s3cret" not in f"{found}{settings.store_name}{settings.changed()}{settings!r}"


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
