"""What forgetting erases, who may ask for it, and what it does when somebody is in the way."""

import asyncio
import json
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import LargeBinary, String

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.backends.sql import commit
from recollect.backends.sql.forget_ledger import Entry, LedgerFile
from recollect.backends.sql.schema import metadata
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.audit import ChainHead
from recollect.domain.notes import ScratchpadUpdate
from recollect.domain.record import Evidence
from recollect.erasure import files as erasure_files
from recollect.erasure import rows as erasure
from recollect.erasure.erasers import ERASERS, content_columns
from recollect.erasure.files import overwrite, rewrite
from recollect.errors import Conflict, InvalidInput, NotAllowed, NotFound
from recollect.server.app import create_app
from recollect.settings import Settings
from tests.command_line import CommandLine
from tests.fakes import FakeEmbedder

# Columns of text that hold nothing of anybody, each with the reason.
NO_CONTENT = {
    "an id": {
        *("records.id", "record_tags.record_id", "versions.record_id", "turns.id"),
        *("units.owner_id", "changes.id", "jobs.id", "jobs.lease_owner", "archives.id"),
        *("documents.id", "sections.document_id"),
        *("writes.id", "conflicts.id", "conflicts.first_id", "conflicts.second_id"),
        *("links.newer", "links.older", "items.id"),
        *("proposals.id", "proposals.target_id", "proposals.record_id"),
        *("audit.target", "audit_chain.target", "tombstones.id", "tombstones.forget_id"),
    },
    "a word of ours": {
        *("records.kind", "records.tier", "records.status", "turns.role", "turns.act"),
        *(
            "units.owner_kind",
            "units.analyzer",
            "changes.entity",
            "changes.op",
            "jobs.kind",
            "archives.form",
            "documents.type",
            "documents.status",
        ),
        *(
            "conflicts.resolution",
            "links.relation",
            "proposals.status",
            "proposals.type",
            "proposals.role",
        ),
        *("audit.action", "audit_chain.action", "tombstones.kind", "editions.analyzer"),
    },
    "an organisation or a workspace, which outlives its people": {
        f"{table}.{column}"
        for table in ("scopes", "blobs", "audit_chain", "tombstones")
        for column in ("org", "workspace")
    },
    "the address of a store": {"followers.name"},
    "a keyed hash whose key is erased": {
        *("audit_chain.actor", "audit_chain.mac", "audit_chain.hash"),
    },
    "who may use the server, and what it counted: an administrator's, not a conversation's": {
        *("keys.id", "keys.name", "keys.prefix", "keys.salt", "keys.digest", "keys.role"),
        *("keys.workspaces", "keys.users", "keys.agents"),
        *("sign_ins.digest", "sign_ins.key_id", "agents.name", "agents.settings"),
        *("metric_hours.name", "metric_hours.label"),
    },
    "which attribute it is, not its value": {"records.facet", "records.about"},
    "a model and how to ask it": {
        *("embedding_models.name", "embedding_models.choice", "items.model"),
    },
    "the address of a derived store, without a key": {"followers.name"},
}


def _names(*kinds: type) -> set[str]:
    tables = metadata.tables.values()
    return {
        f"{table.name}.{it.name}"
        for table in tables
        for it in table.c
        if isinstance(it.type, kinds)
    }


def test_every_column_of_content_has_an_eraser():
    marked = {f"{it.table.name}.{it.name}" for it in content_columns()}
    assert marked - ERASERS.keys() == set()


def test_every_column_of_text_or_bytes_is_marked_or_there_is_a_reason():
    marked = {f"{it.table.name}.{it.name}" for it in content_columns()}
    excused = set[str]().union(*NO_CONTENT.values())
    assert _names(String, LargeBinary) - marked - excused == set()
    assert marked & excused == set()


def _make_ours(raw: sqlite3.Connection) -> None:
    """What every database of ours has."""
    raw.execute("CREATE TABLE alembic_version (version_num TEXT NOT NULL PRIMARY KEY)")
    raw.execute("INSERT INTO alembic_version VALUES ('0005')")


@pytest.fixture(scope="module")
def balanced(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file whose rows were written, lengthened and deleted with `secure_delete`."""
    database = tmp_path_factory.mktemp("balanced") / "any.db"
    random = Random(1)
    texts = [f"w{number:05d}secret" for number in range(4_000)]
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        for pragma in ("journal_mode=WAL", "secure_delete=ON", "synchronous=OFF"):
            raw.execute(f"PRAGMA {pragma}")
        _make_ours(raw)
        raw.execute("CREATE TABLE notes (id TEXT PRIMARY KEY, text TEXT)")
        raw.execute("CREATE INDEX by_text ON notes (text)")
        for text in random.sample(texts, len(texts)):
            row = (str(random.random()), text + "x" * random.randint(5, 300))
            raw.execute("INSERT INTO notes VALUES (?, ?)", row)
        for digit in range(3, 7):
            longer = "UPDATE notes SET text = text || ? WHERE substr(id, ?, 1) < '5'"
            raw.execute(longer, ("y" * 90, digit))
        raw.execute("DELETE FROM notes WHERE text LIKE '%5secret%'")
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return database.read_bytes()


def _gone_in(content: bytes) -> set[bytes]:
    """What the deleted rows of that file said and is still there."""
    return set(re.findall(rb"w\d{4}5secret", content))


Clean = Callable[[Path], str]


@pytest.mark.parametrize("clean", [rewrite, overwrite])
def test_copies_that_sqlite_leaves_in_unused_room_are_removed(
    balanced: bytes, tmp_path: Path, clean: Clean
):
    database = tmp_path / "any.db"
    database.write_bytes(balanced)
    assert _gone_in(balanced), "SQLite has left nothing to clean"
    with closing(sqlite3.connect(database)) as reading:
        rows = reading.execute("SELECT * FROM notes ORDER BY id").fetchall()
        assert clean(database) == "done"
        assert reading.execute("SELECT * FROM notes ORDER BY id").fetchall() == rows
        assert reading.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert _gone_in(database.read_bytes()) == set()


@pytest.mark.parametrize("clean", [rewrite, overwrite])
def test_free_pages_of_a_database_that_was_not_written_securely_are_removed(
    tmp_path: Path, clean: Clean
):
    database = tmp_path / "any.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("PRAGMA secure_delete=OFF")
        raw.execute("PRAGMA synchronous=OFF")
        _make_ours(raw)
        raw.execute("CREATE TABLE notes (text TEXT)")
        raw.executemany("INSERT INTO notes VALUES (?)", [("frobnicate " * 50,)] * 500)
        raw.execute("CREATE TABLE kept AS SELECT 'kept' AS text")
        raw.execute("DROP TABLE notes")
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert b"frobnicate" in database.read_bytes()
        assert clean(database) == "done"
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert raw.execute("SELECT text FROM kept").fetchall() == [("kept",)]
        assert raw.execute("SELECT * FROM alembic_version").fetchall() == [("0005",)]
    assert b"frobnicate" not in database.read_bytes()


@pytest.mark.sqlite(reason="it cleans the file")
async def test_somebody_who_reads_delays_the_cleaning_and_that_is_told(database_path: Path):
    async with Memory.open(database_path) as memory:
        record = await memory.remember("Ann's secret is zorblaxian 翡翠茶壶")
        with closing(sqlite3.connect(database_path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM records").fetchone()
            forgotten = await memory.forget(record.id)
            assert forgotten.erasure_pending
            assert len(await memory.list()) == 0
            reader.execute("COMMIT")
        await memory.drain()
        assert (await memory.stats()).jobs.waiting == 0
        files = [database_path, database_path.with_name(f"{database_path.name}-wal")]
        found = [it.name for it in files if b"zorblaxian" in it.read_bytes()]
        assert found == []


@pytest.mark.sqlite(reason="it cleans the file")
async def test_a_large_file_is_rewritten_by_a_job_and_proven_clean_only_after_it(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(erasure, "_MAX_BYTES_AT_ONCE", 0)
    async with Memory.open(database_path) as memory:
        record, other = await memory.remember_many(["Ann's secret is zorblaxian", "quuxious"])
        forgotten = await memory.forget(record.id)
        assert forgotten.erasure_pending
        assert len(await memory.list()) == 1
        findings = (await diagnose(memory.settings)).findings
        told = next(it for it in findings if it.part == "forgetting")
        assert told.message.startswith("erasure_pending")
        await memory.drain()
        assert b"zorblaxian" not in database_path.read_bytes()
        # Who wants a proof waits for the files.
        forgotten = await memory.forget(other.id, verify=True)
    assert not forgotten.erasure_pending
    assert forgotten.verification is not None
    assert forgotten.verification.is_gone
    assert b"quuxious" not in database_path.read_bytes()


@pytest.mark.sqlite(reason="it cleans the file")
async def test_nothing_is_proven_gone_while_somebody_reads(database_path: Path):
    async with Memory.open(database_path) as memory:
        record = await memory.remember("Ann's secret is zorblaxian 翡翠茶壶")
        with closing(sqlite3.connect(database_path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM records").fetchone()
            forgotten = await memory.forget(record.id, verify=True)
            assert (forgotten.erasure_pending, forgotten.verification) == (True, None)
            reader.execute("COMMIT")


@pytest.mark.sqlite(reason="it cleans the file")
async def test_a_database_too_large_to_be_overwritten_is_told(
    database_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(erasure_files, "_MOST_PAGES", 1)
    storage = {"path": str(database_path), "erase_in_place": True}
    async with Memory.open(Settings.load({"storage": storage})) as memory:
        record = await memory.remember("Ann's secret is zorblaxian 翡翠茶壶")
        forgotten = await memory.forget(record.id)
    assert forgotten.unused_room_kept
    assert not forgotten.erasure_pending
    assert "too large" in caplog.text


@pytest.mark.parametrize("clean", [rewrite, overwrite])
def test_cleaning_ends_although_others_go_on_writing(balanced: bytes, tmp_path: Path, clean: Clean):
    database = tmp_path / "any.db"
    database.write_bytes(balanced)
    is_over = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(database, timeout=10, isolation_level=None)) as writer:
            while not is_over.is_set():
                writer.execute("UPDATE notes SET text = text || 'z' WHERE rowid % 7 = 0")
                time.sleep(0.005)

    writing = threading.Thread(target=write)
    writing.start()
    try:
        # A single try may end with "waits" on a busy machine; the job that cleans tries again.
        assert "done" in (clean(database) for _ in range(20))
    finally:
        is_over.set()
        writing.join()
    files = [database, tmp_path / "any.db-wal"]
    left = b"".join(it.read_bytes() for it in files if it.exists())
    assert _gone_in(left) == set()


Ask = Callable[[Memory], object]


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda memory: memory.forget(), "what_to_forget"),
        (lambda memory: memory.forget("mem_1", session="s"), "what_to_forget"),
        (lambda memory: memory.forget(user="ann", everything=True), "what_to_forget"),
        (lambda memory: memory.forget(tags=[]), "what_to_forget"),
        (lambda memory: memory.forget(user="a/b"), "bad_scope"),
        (lambda memory: memory.forget(session="  "), "empty_text"),
    ],
)
async def test_what_is_not_said_clearly_is_refused(memory: Memory, ask: Ask, problem: str):
    kept = await memory.scope(user=None).remember("Something")
    with pytest.raises(InvalidInput) as refused:
        await ask(memory.scope(user=None))
    assert refused.value.code == problem
    assert await memory.scope(user=None).get(kept.id) == kept


async def test_who_may_forget_whom(memory: Memory):
    ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
    note = await ann.remember("Ann's note")
    with pytest.raises(NotAllowed):
        await bob.forget(user="ann")
    with pytest.raises(NotAllowed):
        await memory.scope(user="ann", agent="cook").forget(user="ann")
    with pytest.raises(NotFound):
        await bob.forget(note.id)
    with pytest.raises(NotAllowed):
        await memory.scope(user="ann", agent="cook").forget(note.id)
    elsewhere = memory.scope(user="ann", workspace="other")
    there = await elsewhere.remember("Ann's note in another workspace")
    for who in (memory.scope(user=None), bob):
        await ann.remember("Ann's next note")
        await who.forget(user="ann", all_agents=who is bob)
        assert len(await ann.list()) == 0
    assert await elsewhere.get(there.id) == there


async def test_naming_a_turn_of_somebody_else_as_evidence_does_not_erase_it(memory: Memory):
    bob, ann = memory.scope(user="bob"), memory.scope(user="ann")
    (said,) = await bob.observe([{"role": "user", "content": "Bob's own words"}], session="s")
    record = await ann.remember("A pretext", evidence=[Evidence(turn=said.id)])
    forgotten = await ann.forget(record.id, with_evidence=True)
    assert (forgotten.turns, forgotten.evidence_left) == (0, ())
    assert await bob.turn(said.id) == said


async def test_a_session_that_shows_a_forgotten_record_no_longer_does(memory: Memory):
    record = await memory.remember("The alarm code of the cellar is 4417")
    other = memory.session("other")
    await other.scratchpad.update(ScratchpadUpdate(current_goal="unrelated"))
    session = memory.session("s")
    goal = ScratchpadUpdate(current_goal=f"use this: {record.content}")
    await session.scratchpad.update(goal)
    assert (await memory.forget(record.id)).counts["state"] == 1
    assert (await session.scratchpad.read()).current_goal == ""
    assert (await other.scratchpad.read()).current_goal == "unrelated"


async def test_everything_is_the_callers_own_scope_and_no_other(memory: Memory):
    cook, own = memory.scope(user="ann", agent="cook"), memory.scope(user="ann")
    await cook.remember("The oven is broken")
    await cook.observe([{"role": "user", "content": "烤箱坏了"}], session="s")
    profile = await own.remember("Ann is tall", category="user-profile")
    forgotten = await cook.forget(everything=True)
    assert (forgotten.records, forgotten.turns) == (1, 1)
    assert [it.id for it in await cook.list()] == [profile.id]


async def test_a_request_that_is_repeated_does_not_bring_back_what_was_forgotten(memory: Memory):
    record = await memory.remember("A secret", idempotency_key="once")
    await memory.forget(record.id)
    with pytest.raises(Conflict):
        await memory.remember("A secret", idempotency_key="once")
    assert len(await memory.list()) == 0


async def test_an_update_that_comes_too_late_does_not_bring_a_record_back(database_path: Path):
    async with Memory.open(database_path) as memory, Memory.open(database_path) as other:
        records = [await memory.remember(f"note {number}") for number in range(5)]

        async def keep_changing() -> None:
            for number in range(100):
                for record in records:
                    try:
                        await other.update(record.id, f"changed {number}")
                    except NotFound:
                        return

        changing = asyncio.create_task(keep_changing())
        await asyncio.sleep(0.05)
        await memory.forget([record.id for record in records])
        await changing
        assert len(await memory.list(status=["active", "deleted"])) == 0


async def test_the_packed_indexes_of_another_process_follow(database_path: Path):
    fake = FakeEmbedder()
    async with (
        Memory.open(database_path, embedder=fake) as memory,
        Memory.open(database_path, embedder=fake) as other,
    ):
        first = await memory.remember("The spare key is under the mat")
        second = await memory.remember("The spare bulb is in the cellar")
        assert {hit.id for hit in await other.recall("spare")} == {first.id, second.id}
        await memory.forget(first.id)
        assert {hit.id for hit in await other.recall("spare")} == {second.id}
        stored = (await other.stats()).store
        assert (stored.records, stored.units) == (1, 1)


async def test_whoever_begins_anew_is_not_answered_with_what_another_process_kept(
    database_path: Path,
):
    async with Memory.open(database_path) as memory, Memory.open(database_path) as other:
        ann, elsewhere = memory.scope(user="ann"), other.scope(user="ann")
        await ann.remember("The spare key is under the mat")
        assert len(await elsewhere.recall("spare")) == 1
        await ann.forget(user="ann")
        await ann.remember("The spare bulb is in the cellar")
        found = [hit.content for hit in await elsewhere.recall("spare")]
        assert found == ["The spare bulb is in the cellar"]


async def test_the_audit_verifies_before_and_after(memory: Memory):
    ann = memory.scope(user="ann")
    for number in range(5):
        await ann.remember(f"Ann's note {number} 第{number}条")
    await memory.scope(user="bob").remember("Bob's note")
    await ann.audit.seal()
    before = await ann.audit.verify()
    assert (before.is_intact, before.sealed, before.erased) == (True, 6, 0)
    await ann.forget(user="ann")
    await ann.audit.seal()
    after = await ann.audit.verify()
    assert (after.is_intact, after.unsealed, after.erased) == (True, 0, 5)
    assert after.sealed > before.sealed


async def test_an_old_export_does_not_bring_back_what_was_forgotten(memory: Memory, tmp_path: Path):
    said = await memory.observe([{"role": "user", "content": "我有一个秘密"}], session="s")
    secret = await memory.remember("A secret", session="s")
    kept = await memory.remember("No secret")
    await memory.export_to(tmp_path / "old.jsonl")
    await memory.forget(session="s")
    imported = await memory.import_from(tmp_path / "old.jsonl")
    assert (imported.added, imported.unchanged, imported.conflicting) == (0, 1, 2)
    assert {it.code for it in imported.problems} == {"forgotten"}
    assert {secret.id, said[0].id} == {it.message.split()[0] for it in imported.problems}
    assert [it.id for it in await memory.list()] == [kept.id]


def test_a_line_of_the_ledger_that_a_crash_cut_off_spoils_no_other(tmp_path: Path):
    ledger = tmp_path / "memory.db-forgotten.jsonl"
    first, second = (Entry(forget_id=f"forget_{it}", salt="00" * 16) for it in "ab")
    LedgerFile(ledger).append([first])
    with ledger.open("ab") as file:
        file.write(b'{"forget_id": "forget_c", "sa')
    assert LedgerFile(ledger).read({"forget_a", "forget_b"}) == [first]
    LedgerFile(ledger).append([first, second])
    assert LedgerFile(ledger).read({"forget_a", "forget_b"}) == [first, second]


async def test_verification_finds_what_somebody_left(memory: Memory, database_path: Path):
    log = database_path.parent / "logs" / "recollect.log"
    log.parent.mkdir()
    log.write_text("could not save: zorblaxian")
    record = await memory.remember("Ann's secret is zorblaxian 翡翠茶壶")
    proof = (await memory.forget(record.id, verify=True)).verification
    assert proof is not None
    assert not proof.is_gone
    (left,) = proof.traces
    assert (left.term, left.place) == ("zorblaxian", "the file recollect.log")
    assert left.detail == "recollect.log:16"
    assert "earlier versions of memories" in proof.searched


async def test_the_words_of_every_line_of_a_log_are_no_traces(memory: Memory, database_path: Path):
    log = database_path.parent / "logs" / "recollect.log"
    log.parent.mkdir()
    line = {
        "at": "2026-11-19T20:14:35+00:00",
        "level": "info",
        "logger": "recollect.server.requests",
        "message": "request",
        "operation": "consolidate",
        "key": "zorblaxian",
    }
    log.write_text(f"{json.dumps(line)}\n")
    said = "Since the operation at zorblaxian Ann wants to consolidate every request"
    record = await memory.remember(said)
    proof = (await memory.forget(record.id, verify=True)).verification
    assert proof is not None
    assert [it.term for it in proof.traces] == ["zorblaxian"], "that was said, and is left"


@pytest.mark.sqlite("only its full text keeps what was removed until it is merged")
async def test_verification_finds_what_the_full_text_only_marked_as_removed(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(commit, "_LARGE_SCOPE_TERMS", 60)
    monkeypatch.setattr(commit, "_BEHIND", 7)
    monkeypatch.setattr(erasure.SqlErasure, "_merge", lambda *_: False)
    async with Memory.open(database_path) as memory:
        ann = memory.scope(user="ann", agent=None)
        await ann.remember_many([f"zorblaxian{number} parcels" for number in range(40)])
        proof = (await ann.forget(user="ann", verify=True)).verification
    assert proof is not None
    assert {it.place for it in proof.traces} == {"the database file"}
    assert any("zorblaxian7" in it.term for it in proof.traces)


async def test_progress_counts_what_is_gone(memory: Memory):
    await memory.remember_many([f"note {number}" for number in range(450)])
    told: list[tuple[int, int]] = []
    await memory.forget(everything=True, progress=lambda *it: told.append(it))
    assert told[-1] == (450, 450)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_forgetting_over_http(tmp_path: Path):
    app = create_app(tmp_path / "memory.db", hosts={"testserver"})
    with TestClient(app, base_url="http://testserver") as client:
        for user in ("ann", "bob"):
            client.post("/v1/records", params={"user": user}, json={"content": f"{user}: 秘密"})
        refused = client.post("/v1/forget", params={"user": "bob"}, json={"user": "ann"})
        assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
        seen = client.post(
            "/v1/forget", params={"user": "ann"}, json={"user": "ann", "dry_run": True}
        ).json()
        gone = client.post(
            "/v1/forget", params={"user": "ann"}, json={"user": "ann", "verify": True}
        ).json()
        assert seen["counts"] == gone["counts"]
        assert (gone["counts"]["records"], gone["verification"]["traces"]) == (1, [])
        assert client.get("/v1/records", params={"user": "ann"}).json()["items"] == []
        assert len(client.get("/v1/records", params={"user": "bob"}).json()["items"]) == 1


def test_forgetting_at_the_command_line(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]):
    cli = CommandLine(capfdbinary)
    ann = ("--data", str(tmp_path), "--user", "ann", "--json")
    cli("remember", "The boiler is 翡翠 green", "--session", "s1", *ann)
    cli("remember", "The cellar is dry", "--tag", "house", *ann)
    cli("remember", "Ann likes tea", *ann)
    assert cli("forget", "--session", "s1", "--dry-run", *ann).json["counts"]["records"] == 1
    assert len(cli("list", *ann).json["items"]) == 3
    assert cli("forget", "--session", "s1", "--yes", *ann).json["counts"]["records"] == 1
    assert cli("forget", "--tag", "house", "--yes", *ann).json["counts"]["records"] == 1
    gone = cli("forget", "--user", "ann", "--verify", "--yes", "--data", str(tmp_path))
    assert gone.status == 0
    assert "1 records" in gone.out
    assert "nothing is left" in gone.out
    assert cli("list", *ann).json["items"] == []
    nothing = cli("forget", "--yes", "--data", str(tmp_path), "--json")
    assert nothing.error["code"] == "what_to_forget"


def test_a_ledger_and_an_anchor_of_earlier_versions_are_read(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "memory.db")
    try:
        line = '{"forget_id": "forget_a", "salt": "0f", "people": ["one"], "records": ["rec_1"]}'
        (tmp_path / "memory.db-forgotten.jsonl").write_text(f"{line}\n", encoding="utf-8")
        heads = '{"local/default": {"seq": 3, "hash": "three"}, "组织/a": {"seq": 1, "hash": "x"}}'
        (tmp_path / "memory.db-audit-anchor.json").write_text(heads, encoding="utf-8")
        (entry,) = database.ledger.read(database.ledger.ids())
        assert entry == Entry(forget_id="forget_a", salt="0f", people=("one",), records=("rec_1",))
        known = database.anchor.known("local", "default")
        assert known == ChainHead(org="local", workspace="default", seq=3, hash="three")
        assert {it.org for it in database.anchor.heads()} == {"local", "组织"}
    finally:
        database.close_here()
