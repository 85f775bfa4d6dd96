"""The primary database goes away and comes back: nothing acknowledged is lost, nothing doubled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Coroutine, Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, make_url

from recollect import Memory
from recollect.errors import Conflict, StorageError
from recollect.settings import Settings
from recollect.spool.files import folders_in
from tests.nursery import WARM
from tests.own_mariadb import OwnMariadb
from tests.own_postgresql import OwnPostgresql
from tests.reports import write_report
from tests.vector_stores import Proxy

_names = count(1)
# Writes must not wait for the models.
_PLAIN = {"embedding": {"model": "none"}, "writing": {"judge": "rules", "extract": "off"}}


@pytest.fixture(scope="module")
def postgresql() -> Iterator[OwnPostgresql]:
    server = OwnPostgresql()
    yield server
    server.end()


@pytest.fixture(scope="module")
def mariadb() -> Iterator[OwnMariadb]:
    server = OwnMariadb()
    yield server
    server.end()


@pytest.fixture(params=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest) -> OwnPostgresql | OwnMariadb:
    return request.getfixturevalue(request.param)


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    kind = "server" if "server" in request.fixturenames else "postgresql"
    database = request.getfixturevalue(kind).database(f"spool{next(_names)}")
    return _settings(database, tmp_path)


def _settings(url: str, folder: Path, **storage: Any) -> Settings:
    return Settings.load({**_PLAIN, "storage": {"url": url, **storage}, "data_dir": folder})


def _files(settings: Settings) -> list[Path]:
    return sorted((settings.database.parent / "spool").glob("*/*.jsonl"))


async def _stored(memory: Memory) -> None:
    """Wait until nothing waits any more."""
    ends = time.monotonic() + 30
    while True:
        try:
            if not (await memory.stats()).spool.waiting:
                return
        except StorageError:
            pass
        assert time.monotonic() < ends
        await asyncio.sleep(0.1)


async def test_what_is_said_while_the_server_is_away_is_stored_when_it_returns(
    server: OwnPostgresql | OwnMariadb, settings: Settings
) -> None:
    async with Memory.open(settings) as memory:
        before = await memory.remember("Ann likes green tea")
        said = await memory.observe({"role": "user", "content": "first"}, session="monday")
        assert not before.spooled
        server.kill()
        try:
            kept = await memory.remember("Ann lives in Berlin", tags=["city"], reason="she said")
            turns = [
                *await memory.observe({"role": "user", "content": "second"}, session="monday"),
                *await memory.observe({"role": "user", "content": "third 第三"}, session="monday"),
            ]
            written = await memory.write("Ann's cat is called Mia")
            assert kept.spooled
            assert written.status == "spooled"
            assert all(turn.spooled for turn in turns)
            # What waits is read here, and so is what was recalled before.
            assert (await memory.get(kept.id)).content == "Ann lives in Berlin"
            assert (await memory.turn(turns[0].id)).content == "second"
            found = await memory.recall("Where does Ann live? Berlin?")
            assert found.hits[0].id == kept.id
            assert "away" in found.degraded[0]
        finally:
            server.start()
        await _stored(memory)
        again = await memory.get(kept.id)
        assert (again.content, again.tags) == ("Ann lives in Berlin", ("city",))
        assert not again.spooled
        assert (await memory.history(kept.id))[0].reason == "she said"
        assert written.record is not None
        assert (await memory.get(written.record.id)).content == "Ann's cat is called Mia"
        page = await memory.turns(session="monday")
        assert [turn.id for turn in page.items] == [it.id for it in (*said, *turns)]
        assert [turn.ordinal for turn in page.items] == [1, 2, 3]
        now = await memory.recall("Where does Ann live? Berlin?")
        assert not any("away" in note or "waits" in note for note in now.degraded)
    assert _files(settings) == []


async def test_a_server_that_says_nothing_is_away_too(
    server: OwnPostgresql | OwnMariadb, settings: Settings
) -> None:
    async with Memory.open(settings) as memory:
        await memory.remember("Ann likes green tea")
        await memory.recall("green tea")
        server.pause()
        try:
            began = time.monotonic()
            kept = [await memory.remember(f"Ann has {number} cats") for number in range(20)]
            assert time.monotonic() - began < 15
            assert all(record.spooled for record in kept)
            # The answer of before is still known here.
            assert (await memory.recall("green tea")).hits[0].content == "Ann likes green tea"
        finally:
            server.resume()
        await _stored(memory)
        listed = [record.id for record in (await memory.list(limit=100)).items]
        assert set(listed) >= {record.id for record in kept}
        assert len(listed) == len(kept) + 1


async def test_idempotency_keys_hold_across_an_outage(
    server: OwnPostgresql | OwnMariadb, settings: Settings
) -> None:
    async with Memory.open(settings) as memory:
        first = await memory.remember("Ann is a nurse", idempotency_key="before")
        server.kill()
        try:
            # Repeated while the server is away, and again when it is back.
            again = await memory.remember("Ann is a nurse", idempotency_key="before")
            kept = await memory.remember("Ann has a dog", idempotency_key="during")
            twice = await memory.remember("Ann has a dog", idempotency_key="during")
            assert (again.id, again.spooled, twice.id) == (first.id, False, kept.id)
            with pytest.raises(Conflict, match="idempotency_mismatch"):
                await memory.remember("Ann has a cat", idempotency_key="during")
        finally:
            server.start()
        await _stored(memory)
        assert (await memory.remember("Ann has a dog", idempotency_key="during")).id == kept.id
        assert {it.id for it in (await memory.list()).items} == {first.id, kept.id}


async def test_a_process_that_was_killed_leaves_it_to_the_next(
    server: OwnPostgresql | OwnMariadb, settings: Settings
) -> None:
    server.kill()
    try:
        told = await asyncio.to_thread(_write_and_be_killed, settings)
        # Its folder and files are for their owner alone.
        (file,) = _files(settings)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        # A line that was cut off was not acknowledged.
        with file.open("ab") as spoiled:
            spoiled.write(b'{"id":"spool_')
        # Opened while the server is still away: what waits is known here.
        async with Memory.open(settings) as memory:
            assert (await memory.get(told[0][0])).content == "number 0"
            late = await memory.remember("later")
            assert late.spooled
    finally:
        server.start()
    async with Memory.open(settings) as memory:
        await _stored(memory)
        records = (await memory.list(limit=1000)).items
        turns = (await memory.turns(session="s", limit=1000)).items
        assert {it.id for it in records} >= {record for record, _ in told} | {late.id}
        assert len(records) == len({it.content for it in records})
        assert {it.id for it in turns} >= {turn for _, turn in told}
        said = [int(turn.content) for turn in turns]
        assert said == sorted(set(said))
    assert _files(settings) == []


def _write_and_be_killed(settings: Settings) -> list[list[str]]:
    """Return the ids of records and turns that a process acknowledged before it was killed."""
    run = [WARM, "-c", _WRITER, settings.storage.url, str(settings.data_dir)]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline().split() for _ in range(60)]
        writer.send_signal(signal.SIGKILL)
        told += [line.split() for line in writer.stdout.read().rpartition("\n")[0].splitlines()]
    return told


_WRITER = """
import asyncio, itertools, sys
from pathlib import Path
from recollect import Memory
from recollect.settings import Settings

async def main(url, folder):
    settings = Settings.load({
        "embedding": {"model": "none"}, "writing": {"judge": "rules", "extract": "off"},
        "storage": {"url": url}, "data_dir": Path(folder),
    })
    async with Memory.open(settings) as memory:
        for number in itertools.count():
            record = await memory.remember(f"number {number}")
            (turn,) = await memory.observe({"role": "user", "content": str(number)}, session="s")
            print(record.id, turn.id, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_storing_what_waits_twice_stores_it_once(
    server: OwnPostgresql | OwnMariadb, settings: Settings
) -> None:
    """A process is killed after it has stored what waited, before it could note that."""
    async with Memory.open(settings) as memory:
        server.kill()
        try:
            kept = await memory.remember("Ann has a dog")
            (turn,) = await memory.observe({"role": "user", "content": "hello"}, session="s")
            (file,) = _files(settings)
            lines = file.read_bytes()
        finally:
            server.start()
        await _stored(memory)
        changed = await memory.update(kept.id, "Ann has two dogs")
    left = file.parent.with_name("spool_of_a_killed_process")
    left.mkdir(parents=True)
    (left / "entries.jsonl").write_bytes(lines)
    async with Memory.open(settings) as memory:
        await _stored(memory)
        assert [it.content for it in (await memory.list()).items] == [changed.content]
        assert [it.id for it in (await memory.turns(session="s")).items] == [turn.id]
        stats = (await memory.stats()).spool
        assert (stats.waiting, stats.set_aside) == (0, 0)


async def test_personal_data_is_removed_before_anything_is_kept(
    postgresql: OwnPostgresql, settings: Settings
) -> None:
    writing = settings.writing.model_copy(update={"redact": "mask"})
    async with Memory.open(settings.model_copy(update={"writing": writing})) as memory:
        postgresql.kill()
        try:
            await memory.remember("Write to ann@example.com", title="her 13812345678")
            await memory.observe({"role": "user", "content": "我的邮箱是 ann@example.com"})
            await memory.write("Her address is ann@example.com")
            kept = b"".join(path.read_bytes() for path in _files(settings))
        finally:
            postgresql.start()
        assert kept.count(b'"content"') == 3
        assert b"ann@example.com" not in kept
        assert b"13812345678" not in kept
        await _stored(memory)
        # Each removal is in the audit, as if the server had been there.
        assert len((await memory.audit.tail(action="redact")).items) >= 2


async def test_what_waits_is_forgotten_too(postgresql: OwnPostgresql, settings: Settings) -> None:
    async with Memory.open(settings) as memory:
        ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
        await ann.remember("Ann was here before")
        postgresql.kill()
        try:
            await ann.remember("Ann has a secret")
            await ann.observe({"role": "user", "content": "the secret is out"}, session="s")
            kept = await bob.remember("Bob has none")
            with pytest.raises(StorageError, match="only what waited on this machine was erased"):
                await ann.forget(user="ann")
            assert b"secret" not in b"".join(path.read_bytes() for path in _files(settings))
            with pytest.raises(StorageError):
                await ann.list()
            assert not (await ann.recall("a secret of Ann")).hits
        finally:
            postgresql.start()
        await _stored(memory)
        assert [it.content for it in (await ann.list()).items] == ["Ann was here before"]
        assert [it.id for it in (await bob.list()).items] == [kept.id]


async def test_what_just_waits_for_its_turn_is_forgotten_too(
    postgresql: OwnPostgresql, settings: Settings
) -> None:
    """The server is back, but records are locked for a moment, and one user's are refused."""
    url = settings.storage.url
    async with Memory.open(settings) as memory:
        ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
        stays = await ann.remember("Ann was here before", tags=["open"])
        postgresql.kill()
        await ann.remember("Ann has a secret", tags=["private"])
        await bob.remember("poison")
        postgresql.start()
        for statement in _REFUSING_POISON.strip().split("\n\n"):
            postgresql.run(statement, url)
        with postgresql.connected(url) as other:
            other.exec_driver_sql("BEGIN")
            other.exec_driver_sql("LOCK TABLE records IN EXCLUSIVE MODE")
            asked = asyncio.create_task(ann.forget(tags=["private"]))
            await asyncio.sleep(1)
            other.exec_driver_sql("ROLLBACK")
        assert (await asked).counts["records"] == 1
        assert _waiting(memory) == 1
        assert [it.id for it in (await ann.list()).items] == [stays.id]
        left = b"".join(path.read_bytes() for path in _files(settings))
        assert b"poison" in left
        assert b"secret" not in left


async def test_who_was_forgotten_elsewhere_does_not_come_back(
    postgresql: OwnPostgresql, settings: Settings, tmp_path: Path
) -> None:
    """Another machine forgets a user of whom something waits on this one."""
    place = {"archive": {"place": str(tmp_path / "shared")}}
    url = settings.storage.url
    here, there = (
        Settings.load({**_PLAIN, **place, "storage": {"url": url}, "data_dir": tmp_path / name})
        for name in ("here", "there")
    )
    async with Memory.open(here) as memory:
        postgresql.kill()
        try:
            await memory.scope(user="ann").remember("Ann has a secret")
            await memory.scope(user="bob").remember("Bob has none")
            (file,) = _files(here)
            waiting = file.read_bytes()
        finally:
            postgresql.start()
        await _stored(memory)
    async with Memory.open(there) as memory:
        await memory.scope(user="ann").forget(user="ann")
    # As if the first machine had been away until now.
    (file.parent.parent / "spool_1").mkdir(parents=True)
    (file.parent.parent / "spool_1" / "entries.jsonl").write_bytes(waiting)
    async with Memory.open(here) as memory:
        await _stored(memory)
        assert not (await memory.scope(user="ann").list()).items
        assert [it.content for it in (await memory.scope(user="bob").list()).items] == [
            "Bob has none"
        ]
        # Who comes back says new things, which are kept.
        postgresql.kill()
        try:
            new = await memory.scope(user="ann").remember("Ann is back")
        finally:
            postgresql.start()
        await _stored(memory)
        assert (await memory.scope(user="ann").get(new.id)).content == "Ann is back"


async def test_what_cannot_be_stored_holds_up_nobody_else(
    postgresql: OwnPostgresql, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server takes no changes for a while; it refuses one record; files are removed."""
    url = settings.storage.url
    looks: list[Path] = []

    def look(place: Path) -> list[Path]:
        looks.append(place)
        return folders_in(place)

    monkeypatch.setattr("recollect.spool.service.folders_in", look)
    async with Memory.open(settings) as memory:
        ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
        await memory.remember("here")
        postgresql.run(_REFUSING_POISON, url)
        postgresql.run("ALTER SYSTEM SET default_transaction_read_only = on")
        postgresql.kill()
        try:
            kept = [await ann.remember(said) for said in ("first", "poison", "last")]
            other = await bob.remember("Bob's")
            for file in _files(settings):
                file.unlink()
            later = await bob.remember("later")
        finally:
            postgresql.start()
        try:
            await asyncio.sleep(1)
            waits = memory.spool
            assert waits is not None
            assert (waits.waiting, waits.set_aside) == (5, 0)
            # Away once more: there is nothing to do until it returns.
            postgresql.kill()
            assert (await ann.remember("at last")).spooled
            looks.clear()
            await asyncio.sleep(1.5)
            assert len(looks) < 5
            postgresql.start()
        finally:
            postgresql.run("ALTER SYSTEM SET default_transaction_read_only = off")
            postgresql.run("SELECT pg_reload_conf()")
        await _until(lambda: _waiting(memory) == 3)
        assert {it.id for it in (await bob.list()).items} == {other.id, later.id}
        assert [it.id for it in (await ann.list()).items] == [kept[0].id]
        postgresql.run("DROP TRIGGER refuse ON records", url)
        await _stored(memory)
        at_last, *others = (await ann.list()).items
        assert at_last.content == "at last"
        assert [it.id for it in others] == [it.id for it in reversed(kept)]
        # And what comes afterwards is kept and stored as before.
        postgresql.kill()
        again = await bob.remember("again")
        assert again.spooled
        postgresql.start()
        await _stored(memory)
        assert (await bob.get(again.id)).content == "again"


_REFUSING_POISON = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.content = 'poison' THEN RAISE EXCEPTION 'it is poison'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION refuse();
"""


def _waiting(memory: Memory) -> int:
    assert memory.spool is not None
    return memory.spool.waiting


async def _until(holds: Callable[[], object], seconds: float = 120) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        await asyncio.sleep(0.02)


async def test_a_forgetting_that_fails_during_the_replay_is_no_deadlock(
    postgresql: OwnPostgresql, settings: Settings
) -> None:
    """The connections of both are lost one after the other, while each waits for its turn."""
    url = settings.storage.url
    async with Memory.open(settings) as memory:
        ann = memory.scope(user="ann")
        await ann.remember("here")
        postgresql.kill()
        kept = [await ann.remember(f"Ann has {number} cats") for number in range(3)]
        postgresql.start()
        with postgresql.connected(url) as other:
            other.exec_driver_sql("BEGIN")
            other.exec_driver_sql("LOCK TABLE records IN EXCLUSIVE MODE")
            await _until(lambda: _lost(postgresql, url))
            forgetting = asyncio.create_task(memory.scope(user="bob").forget(user="bob"))
            asked = asyncio.create_task(ann.forget(kept[0].id))
            # A lost connection is opened once more, so each attempt is lost twice.
            for _ in range(3):
                await _until(lambda: _lost(postgresql, url) or asked.done())
            other.exec_driver_sql("ROLLBACK")
        for task in (forgetting, asked):
            with contextlib.suppress(StorageError):
                async with asyncio.timeout(20):
                    await task
        await _stored(memory)
        assert (await ann.remember("later")).spooled is False


def _lost(postgresql: OwnPostgresql, url: str) -> bool:
    """End the connections that wait for a lock; return whether there was one."""
    return bool(
        postgresql.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE wait_event_type = 'Lock' AND datname = current_database()",
            url,
        )
    )


async def test_what_waits_is_stored_together_in_order_and_once(
    postgresql: OwnPostgresql, settings: Settings
) -> None:
    """300 entries of three users: 3,255 statements if they are stored one by one."""
    statements = 0

    def executed(connection: Connection, *_: object) -> None:
        nonlocal statements
        statements += connection.engine.url.database == database

    database = make_url(settings.storage.url).database
    async with Memory.open(settings) as memory:
        users = [memory.scope(user=name) for name in ("ann", "bob", "cem")]
        for user in users:
            await user.remember("here")
        postgresql.kill()
        for number in range(50):
            for user in users:
                await user.remember(f"number {number}", idempotency_key=f"key {number}")
                await user.observe({"role": "user", "content": str(number)}, session="s")
        event.listen(Engine, "before_cursor_execute", executed)
        try:
            postgresql.start()
            await _stored(memory)
        finally:
            event.remove(Engine, "before_cursor_execute", executed)
        assert statements < 150
        for user in users:
            said = [turn.content for turn in (await user.turns(session="s", limit=100)).items]
            assert said == [str(number) for number in range(50)]
            records = (await user.list(limit=100)).items
            assert [it.content for it in records] == [
                *(f"number {number}" for number in reversed(range(50))),
                "here",
            ]
            # Repeated, it is the same one.
            again = await user.remember("number 7", idempotency_key="key 7")
            assert again.id in {it.id for it in records}


async def test_writers_do_not_outrun_the_replay(
    postgresql: OwnPostgresql, settings: Settings
) -> None:
    async with Memory.open(settings) as memory:
        await memory.remember("here")
        postgresql.kill()
        kept = [(await memory.remember(f"before {number}")).id for number in range(100)]
        is_over = False

        async def go_on_writing(writer: int) -> None:
            for number in count():
                if is_over:
                    return
                kept.append((await memory.remember(f"{writer} {number}")).id)

        postgresql.start()
        writers = [asyncio.create_task(go_on_writing(writer)) for writer in range(200)]
        try:
            # Without an end it would only grow, however long this waited.
            await _until(lambda: not _waiting(memory), 60)
        finally:
            is_over = True
            await asyncio.gather(*writers)
    rows = postgresql.run("SELECT id FROM records WHERE content <> 'here'", settings.storage.url)
    assert sorted(kept) == sorted(record for (record,) in rows)


async def test_a_full_spool_says_so_and_keeps_what_it_has(
    postgresql: OwnPostgresql, settings: Settings
) -> None:
    storage = settings.storage.model_copy(update={"spool_mb": 1})
    async with Memory.open(settings.model_copy(update={"storage": storage})) as memory:
        postgresql.kill()
        try:
            kept = [await memory.remember(f"{number} " + "x" * 30_000) for number in range(25)]
            with pytest.raises(StorageError, match="spool_full"):
                await memory.remember_many([f"{number} " + "y" * 30_000 for number in range(25)])
        finally:
            postgresql.start()
        await _stored(memory)
        assert {it.id for it in (await memory.list()).items} == {it.id for it in kept}


async def test_without_a_spool_it_fails_at_once(postgresql: OwnPostgresql, tmp_path: Path) -> None:
    settings = _settings(postgresql.database(f"spool{next(_names)}"), tmp_path, spool=False)
    async with Memory.open(settings) as memory:
        postgresql.kill()
        try:
            began = time.monotonic()
            with pytest.raises(StorageError, match="database_unreachable"):
                await memory.remember("Ann has a dog")
            assert time.monotonic() - began < 5
            with pytest.raises(StorageError, match="database_unreachable"):
                await Memory.open(settings)
        finally:
            postgresql.start()
        assert (await memory.remember("Ann has a dog")).content == "Ann has a dog"
    assert _files(settings) == []


async def test_connections_that_are_cut_lose_nothing_and_double_nothing(
    server: OwnPostgresql | OwnMariadb, tmp_path: Path
) -> None:
    figures = await _under_load(server, tmp_path, _cut, seconds=0.5)
    assert figures["acknowledged"]
    assert figures["lost"] == figures["doubled"] == figures["out of order"] == 0
    assert figures["errors"] == 0


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_faults_under_load(server: OwnPostgresql | OwnMariadb, tmp_path: Path) -> None:
    """Write `reports/spool-….json`: what each fault of the server costs its callers."""
    table: dict[str, dict[str, float]] = {}
    for fault in (_killed, _paused, _restarted, _cut, _cut_off):
        name = fault.__name__.strip("_")
        folder = tmp_path / name
        folder.mkdir()
        table[name] = await _under_load(server, folder, fault, seconds=3)
    kind = type(server).__name__.removeprefix("Own").lower()
    write_report(f"spool-{kind}", {"load_average": os.getloadavg()[0], "faults": table})
    for figures in table.values():
        assert figures["lost"] == figures["doubled"] == figures["out of order"] == 0
        assert figures["errors"] == 0


async def _killed(server: OwnPostgresql | OwnMariadb, proxy: Proxy) -> None:
    await asyncio.to_thread(server.kill)
    await asyncio.sleep(6)
    await asyncio.to_thread(server.start)


async def _paused(server: OwnPostgresql | OwnMariadb, proxy: Proxy) -> None:
    await asyncio.to_thread(server.pause)
    await asyncio.sleep(6)
    await asyncio.to_thread(server.resume)


async def _restarted(server: OwnPostgresql | OwnMariadb, proxy: Proxy) -> None:
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)


async def _cut(server: OwnPostgresql | OwnMariadb, proxy: Proxy) -> None:
    """Break every connection again and again; new ones are let through at once."""
    for _ in range(10):
        proxy.cut()
        proxy.mend()
        await asyncio.sleep(0.2)


async def _cut_off(server: OwnPostgresql | OwnMariadb, proxy: Proxy) -> None:
    proxy.cut()
    await asyncio.sleep(6)
    proxy.mend()


async def _under_load(
    server: OwnPostgresql | OwnMariadb,
    folder: Path,
    fault: Callable[[OwnPostgresql | OwnMariadb, Proxy], Coroutine[Any, Any, None]],
    seconds: float,
) -> dict[str, float]:
    """Return what a fault costs callers that go on, so many seconds before it and after it."""
    url = server.database(f"spool{next(_names)}")
    with Proxy.to(url) as proxy:
        async with Memory.open(_settings(proxy.url, folder)) as memory:
            load = _Load(memory)
            clients = [asyncio.create_task(load.run(number)) for number in range(4)]
            await asyncio.sleep(seconds)
            await fault(server, proxy)
            back = time.monotonic()
            await asyncio.sleep(seconds)
            load.is_over = True
            await asyncio.gather(*clients)
            await _stored(memory)
            recovered = time.monotonic() - back
    records = dict(server.run("SELECT id, content FROM records", url))
    turns = server.run("SELECT id, content, ordinal FROM turns ORDER BY ordinal", url)
    said = [
        (session, int(number))
        for session, _, number in (content.partition(" ") for _, content, _ in turns)
    ]
    return {
        "acknowledged": len(load.records) + len(load.turns),
        "spooled": load.spooled,
        "lost": len(load.records - records.keys())
        + len(load.turns - {turn for turn, _, _ in turns}),
        "doubled": len(records) - len(set(records.values())) + len(said) - len(set(said)),
        "out of order": sum(
            one[1] > next_one[1]
            for session in {it[0] for it in said}
            for one, next_one in pairwise([it for it in said if it[0] == session])
        ),
        "errors": load.errors,
        "degraded recalls": load.degraded,
        "slowest acknowledgement (s)": round(load.slowest, 2),
        "until all was stored (s)": round(recovered, 2),
    }


class _Load:
    """Callers who remember, observe and recall without a pause."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.is_over = False
        self.records: set[str] = set()
        self.turns: set[str] = set()
        self.spooled = self.degraded = self.errors = 0
        self.slowest = 0.0

    async def run(self, client: int) -> None:
        session = f"client{client}"
        for number in count():
            if self.is_over:
                return
            began = time.monotonic()
            try:
                record = await self._memory.remember(f"{session} wrote {number}")
                (turn,) = await self._memory.observe(
                    {"role": "user", "content": f"{session} {number}"}, session=session
                )
            except StorageError:
                self.errors += 1
                continue
            self.slowest = max(self.slowest, (time.monotonic() - began) / 2)
            self.records.add(record.id)
            self.turns.add(turn.id)
            self.spooled += record.spooled + turn.spooled
            found = await self._memory.recall(f"what did {session} write?")
            self.degraded += any("away" in note for note in found.degraded)
