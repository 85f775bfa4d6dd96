"""Several machines on one database server: what lies outside of it is the same for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import make_url

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.backends.audit_anchor import AnchorFile, anchor_of
from recollect.backends.objects import open_blobs
from recollect.backends.sql.forget_ledger import Entry, LedgerFile, ledger_of
from recollect.backends.sql.server_database import ServerDatabase
from recollect.domain.audit import ChainHead
from recollect.settings import Settings
from tests.database_servers import ask, copy_database, place_of
from tests.services import database_of

pytestmark = pytest.mark.server


class Machines:
    """Machines with a data folder each, one database and one place for contents."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "any.db"
        self.contents = folder / "bucket"

    def settings(self, machine: str, database: Path | None = None) -> Settings:
        return Settings.load(
            {
                "storage": {"url": place_of(database or self.database)},
                "data_dir": self.folder / machine,
                "archive": {"place": str(self.contents)},
            }
        )

    def open(self, machine: str, database: Path | None = None) -> Memory:
        return Memory.open(self.settings(machine, database))


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


async def remember_three(memory: Memory) -> None:
    for number in range(3):
        await memory.remember(f"Ann has {number} cats")


async def test_an_end_of_the_audit_that_was_cut_off_is_found_from_another_machine(
    machines: Machines,
):
    async with machines.open("one") as memory:
        await remember_three(memory)
    async with machines.open("two") as memory:
        assert (await memory.audit.verify()).is_intact
    ask(machines.database, "DELETE FROM audit_chain WHERE seq > 1")
    ask(machines.database, "DELETE FROM audit WHERE seq > 1")
    async with machines.open("two") as memory:
        verdict = await memory.audit.verify()
    assert any("its end was removed" in it.what for it in verdict.faults), verdict
    diagnosis = await diagnose(machines.settings("three"), deep=True)
    assert next(it for it in diagnosis.findings if it.part == "contents").verdict == "problem"


async def test_the_anchor_follows_whichever_machine_sealed_last(machines: Machines):
    for machine in ("one", "two", "one", "two"):
        async with machines.open(machine) as memory:
            await memory.remember(f"{machine} was here")
            await memory.audit.seal()
            anchor = database_of(memory).anchor
            (head,) = anchor.heads()
            assert head == anchor.known(head.org, head.workspace)
            assert head.seq == (await memory.audit.verify()).sealed
    # One note a workspace is left, however often it was sealed.
    assert len(list(machines.contents.rglob("audit/**/*.json"))) == 1


async def test_what_one_machine_forgot_no_copy_brings_back_on_another(
    machines: Machines, tmp_path: Path
):
    async with machines.open("one") as memory:
        await memory.scope(user="ann").remember("Ann keeps zorblaxian teapots 翡翠茶壶")
        await memory.scope(user="bob").remember("Bob keeps a parrot")
    copy_database(machines.database, tmp_path / "older.db")
    async with machines.open("one") as memory:
        forgotten = await memory.scope(user="ann").forget(user="ann", verify=True)
        assert forgotten.verification is not None
        assert forgotten.verification.traces == ()
        assert any("forgotten/" in it for it in forgotten.verification.searched)
        noted = database_of(memory).ledger.ids()
        assert len(noted) == 1
    copy_database(tmp_path / "older.db", machines.database)
    async with machines.open("two") as memory:
        assert database_of(memory).ledger.ids() == noted
        assert not list(await memory.scope(user="ann").list())
        assert len(await memory.scope(user="bob").list()) == 1


async def test_a_sweep_of_unused_contents_leaves_them_alone(machines: Machines):
    async with machines.open("one") as memory:
        await memory.scope(user="ann").remember("Ann keeps a teapot")
        await memory.scope(user="ann").forget(user="ann")
    assert len(list(machines.contents.rglob("*.json"))) == 2
    assert [it async for it in open_blobs(machines.contents).stored()] == []


async def test_files_of_an_earlier_version_are_carried_over(machines: Machines):
    """Once the ledger and the anchor were files in a folder of each machine."""
    async with machines.open("one") as memory:
        await remember_three(memory)
        verdict = await memory.audit.verify()
    beside = machines.settings("two").database
    beside.parent.mkdir(parents=True)
    LedgerFile(ledger_of(beside)).append([Entry(forget_id="forget_a", salt="00" * 16)])
    later = ChainHead(org="local", workspace="default", seq=verdict.sealed + 9, hash="later")
    AnchorFile(anchor_of(beside)).keep(later)
    async with machines.open("two"):
        pass
    assert not ledger_of(beside).exists()
    assert not anchor_of(beside).exists()
    async with machines.open("one") as memory:
        assert "forget_a" in database_of(memory).ledger.ids()
        assert database_of(memory).anchor.known("local", "default") == later


def rename(memory: Memory, name: str) -> None:
    """Let a memory believe that its database is called so, as one on another server may be."""
    database = database_of(memory)
    assert isinstance(database, ServerDatabase)
    database._url = database._url.set(database=name)
    database._owner = None


async def test_databases_of_one_name_share_a_place_and_nothing_in_it(
    machines: Machines, tmp_path: Path
):
    """On two servers, that is; here two databases that are called the same."""
    other = tmp_path / "other.db"
    for database in (machines.database, other):
        async with machines.open("one", database) as memory:
            rename(memory, "recollect")
            await memory.scope(user="ann").remember("Ann keeps zorblaxian teapots")
    async with machines.open("one") as memory:
        rename(memory, "recollect")
        await remember_three(memory)
        await memory.scope(user="ann").forget(user="ann")
        await memory.audit.seal()
    async with machines.open("two", other) as memory:
        rename(memory, "recollect")
        assert database_of(memory).ledger.ids() == set()
        await memory.audit.seal()
        assert (await memory.audit.verify()).is_intact
    async with machines.open("two", other) as memory:
        assert len(await memory.scope(user="ann").list()) == 1


async def test_a_database_is_known_again_under_another_name(machines: Machines, tmp_path: Path):
    """A copy from before the forgetting that is brought back beside the original."""
    async with machines.open("one") as memory:
        await memory.scope(user="ann").remember("Ann keeps zorblaxian teapots")
    copy_database(machines.database, tmp_path / "restored.db")
    async with machines.open("one") as memory:
        await memory.scope(user="ann").forget(user="ann")
    async with machines.open("two", tmp_path / "restored.db") as memory:
        assert not list(await memory.scope(user="ann").list())


async def test_a_database_without_a_number_keeps_its_ledger_under_its_name(machines: Machines):
    """It was made by an earlier version, and so were its backups, which have no number either."""
    async with machines.open("one"):
        pass
    ask(machines.database, "DELETE FROM counters WHERE name = 'identity'")
    async with machines.open("one") as memory:
        await memory.scope(user="ann").remember("Ann keeps a teapot")
        await memory.scope(user="ann").forget(user="ann")
        noted = database_of(memory).ledger.ids()
    url = make_url(place_of(machines.database))
    named = machines.contents / ".recollect" / f"{url.get_backend_name()}-{url.database}"
    assert {it.stem for it in (named / "forgotten").iterdir()} == noted
    async with machines.open("two") as memory:
        assert database_of(memory).ledger.ids() == noted
