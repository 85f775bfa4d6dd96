"""The audit through its faces, its background work, and what its entries hold."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from recollect import Memory
from recollect.audit.rows import SqlAudit
from recollect.audit.service import SEAL, Sealer
from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import ChangeSet, Committed
from recollect.domain.ids import new_id
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, StorageBusy
from recollect.jobs.queue import SqlJobs
from recollect.jobs.worker import Worker
from recollect.records.usage import Usage
from recollect.server.app import create_app
from tests.command_line import CommandLine
from tests.conftest import TurnedClock
from tests.database_servers import environment_of, open_at, place_of, tamper
from tests.nursery import WARM
from tests.services import services, store_of
from tests.serving import calling


@pytest.fixture
def recollect(capfdbinary: pytest.CaptureFixture[bytes]) -> CommandLine:
    return CommandLine(capfdbinary)


@asynccontextmanager
async def serving(where: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(create_app(where)) as client:
        yield client


def test_the_command_line_shows_checks_and_replays(recollect: CommandLine, database_path: Path):
    data = ("--data", str(database_path))
    record = recollect("remember", "安妮喜欢红茶", *data, "--json").json
    change = ("edit", record["id"], "安妮喜欢绿茶", "--reason", "她说的")
    assert recollect(*change, *data).status == 0
    recalled = recollect("context", "绿茶", *data, "--json").json["recall_id"]

    entries = recollect("audit", "tail", *data, "--json").json["items"]
    assert [it["action"] for it in entries] == ["inject", "update", "remember"]
    assert entries[1]["payload"].pop("digests").keys() == {record["id"]}
    assert entries[1]["payload"] == {"reasons": ["她说的"], "records": {record["id"]: 2}}
    shown = recollect("audit", "tail", "--action", "remember", *data).out
    assert record["id"] in shown
    assert recalled not in shown

    full = recollect("audit", "show", record["id"], *data).out
    assert "她说的" in full
    assert "绿茶" in full

    replay = recollect("audit", "replay", recalled, *data, "--json").json
    assert replay["is_same"]
    assert [it["id"] for it in replay["items"]] == [record["id"]]
    assert "安妮喜欢绿茶" in recollect("audit", "replay", recalled, *data).out

    verdict = recollect("audit", "verify", *data, "--json")
    assert verdict.status == 0
    assert verdict.json["is_intact"]
    # Each command sealed what it had written when it ended.
    assert (verdict.json["sealed"], verdict.json["unsealed"]) == (3, 0)

    assert tamper(database_path, "UPDATE audit SET actor = 'nobody' WHERE seq = 1") == 1
    verdict = recollect("audit", "verify", *data)
    assert verdict.status == 5
    assert "seq 1: the entry was changed: actor" in verdict.out
    assert recollect("audit", "verify", *data, "--json").json["faults"] == [
        {"seq": 1, "entry": 1, "what": "the entry was changed: actor"}
    ]


def test_the_command_line_tells_what_it_does_not_know(recollect: CommandLine, database_path: Path):
    data = ("--data", str(database_path))
    recollect("work", "--once", *data)
    assert "No entries." in recollect("audit", "tail", *data).out
    assert recollect("audit", "show", "mem_unknown", *data).status == 3
    assert recollect("audit", "replay", "recall_unknown", *data).status == 3
    assert recollect("audit", "tail", "--cursor", "nonsense", *data).status == 2


@pytest.mark.usefixtures("nobody_works")
async def test_the_server_shows_checks_and_replays(database_path: Path):
    async with serving(database_path) as client:
        record = (await client.post("/v1/records", json={"content": "安妮喜欢绿茶"})).json()
        block = (await client.post("/v1/context", json={"message": "绿茶"})).json()
        page = (await client.get("/v1/audit", params={"limit": 1})).json()
        assert [it["action"] for it in page["items"]] == ["inject"]
        page = await client.get("/v1/audit", params={"cursor": page["next_cursor"]})
        assert [it["target"] for it in page.json()["items"]] == [record["id"]]
        shown = (await client.get(f"/v1/audit/{record['id']}")).json()
        assert [it["action"] for it in shown["items"]] == ["remember", "inject"]
        replay = (await client.get(f"/v1/recalls/{block['recall_id']}/replay")).json()
        assert [it["fate"] for it in replay["items"]] == ["same"]
        verdict = (await client.get("/v1/audit/verify")).json()
        assert (verdict["is_intact"], verdict["unsealed"]) == (True, 2)
        assert (await client.get("/v1/audit/mem_unknown")).status_code == 404
        other = await client.get("/v1/audit", params={"user": "bob"})
        assert other.json()["items"] == []


async def test_entries_and_replays_name_what_they_are_about(memory: Memory):
    text = "# Seats\n\nThe quiet coach has window seats in rows 1 to 4.\n"
    document = await memory.knowledge.add(text, "seats.md")
    record = await memory.remember("Ann prefers window seats", title="Seats")
    (turn,) = await memory.observe({"role": "user", "content": "I am\n vegetarian"})
    block = await memory.context("Which window seats are in the quiet coach?")
    named = {entry.target: entry.title for entry in await memory.audit.tail()}
    assert named[record.id] == "Seats"
    assert named[turn.id] == "I am vegetarian"
    assert named[document.id] == document.title
    assert named[block.recall_id] == "Which window seats are in the quiet coach?"
    bob = memory.scope(user="bob")
    assert record.id not in {entry.target for entry in await bob.audit.tail()}

    given = {item.kind: item for item in (await memory.audit.replay(block.recall_id)).items}
    told = given["document"]
    assert (told.id, told.fate, told.content) == (document.id, "same", document.title)
    await memory.knowledge.delete(document.id)
    given = {item.kind: item for item in (await memory.audit.replay(block.recall_id)).items}
    assert given["document"].fate == "forgotten"


async def test_a_cursor_of_another_listing_is_refused(memory: Memory):
    with pytest.raises(InvalidInput, match="cursor"):
        await memory.audit.tail(cursor="5~mem_1")


async def test_sealing_is_done_by_whoever_works(memory: Memory, database_path: Path):
    """The job, as another process would run it."""
    await memory.remember("Ann prefers green tea")
    database, clock = open_at(database_path), TurnedClock()
    try:
        jobs = SqlJobs(database, clock)
        log = SqlAudit(database)
        sealer = Sealer(log, database.anchor, jobs)
        await sealer.ask()
        await Worker(jobs, clock, {SEAL: sealer.run}).run_due()
        assert await jobs.next_due([SEAL]) is None
        # Nothing is left to do, so nothing is asked for.
        await sealer.ask()
        assert await jobs.next_due([SEAL]) is None
    finally:
        await database.close()
    assert (await memory.audit.verify()).sealed == 1


@pytest.mark.usefixtures("nobody_works")
async def test_a_long_tail_is_sealed_in_batches(memory: Memory):
    scope = memory.caller_scope
    entries = tuple(
        NewAuditEntry(scope=scope, action="note", target=new_id("mem"), payload={"n": number})
        for number in range(1_100)
    )
    await store_of(memory).commit(ChangeSet(principal="me", scope=scope, audit=entries))
    assert await memory.audit.seal() == 1_100
    verdict = await memory.audit.verify()
    assert (verdict.sealed, verdict.is_intact) == (1_100, True)


async def test_entries_alone_leave_answers_of_recalls_in_the_cache(memory: Memory):
    """A scope's version is what caches follow; being given to a prompt changes no answer."""
    store = store_of(memory)
    await memory.remember("Ann prefers green tea")
    before = await store.versions([memory.caller_scope])
    await memory.context("green tea")
    await memory.drain()
    assert len(await memory.audit.tail(action="inject")) == 1
    assert await store.versions([memory.caller_scope]) == before


async def test_one_entry_for_each_scope_that_a_write_changes(memory: Memory, tmp_path: Path):
    for user in ("ann", "bob"):
        await memory.scope(user=user).remember(f"{user} likes tea")
    await memory.export_to(tmp_path / "all.jsonl", all_scopes=True)
    async with Memory.open(tmp_path / "other.db") as other:
        await other.import_from(tmp_path / "all.jsonl", all_scopes=True)
        for user in ("ann", "bob"):
            (entry,) = await other.scope(user=user).audit.tail()
            assert (entry.action, entry.actor) == ("import", "import")
            assert list(entry.payload["records"].values()) == [1]


async def test_a_repeated_request_is_told_once(memory: Memory):
    for _ in range(2):
        await memory.remember("Ann prefers green tea", idempotency_key="k1")
    (entry,) = await memory.audit.tail()
    assert entry.payload["idempotent"] is True


async def test_an_entry_can_name_who_and_when(memory: Memory, clock: TurnedClock):
    then = clock.now()
    clock.turn(hours=3)
    entry = NewAuditEntry(
        scope=memory.caller_scope, action="approve", target="prop_1", at=then, actor="审批员"
    )
    changes = ChangeSet(principal="me", scope=memory.caller_scope, audit=(entry,))
    await store_of(memory).commit(changes)
    (told,) = await memory.audit.tail(target="prop_1")
    assert (told.actor, told.at, told.payload) == ("审批员", then, {})


class BusyStore:
    """A store that cannot be written to until it is told so."""

    def __init__(self) -> None:
        self.is_busy = True
        self.written: list[ChangeSet] = []

    async def commit(self, changes: ChangeSet) -> Committed:
        if self.is_busy:
            raise StorageBusy("the fake store is busy")
        self.written.append(changes)
        return Committed(recorded_at=TurnedClock().now(), versions={Scope(): 1})


async def test_what_could_not_be_written_waits(memory: Memory, clock: TurnedClock):
    await memory.remember("Ann prefers green tea")
    store = BusyStore()
    usage = Usage(store, clock, pause=60)  # pyright: ignore[reportArgumentType]
    services(memory).prefetch._injected = usage.injected
    first = await memory.context("green tea")
    with pytest.raises(StorageBusy):
        await usage.flush()
    second = await memory.context("green tea")
    store.is_busy = False
    await usage.close()
    (changes,) = store.written
    assert [it.target for it in changes.audit] == [first.recall_id, second.recall_id]


# Makes a prompt and is killed when a model could have begun to answer it.
_KILLED = """
import asyncio, os, signal, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        await memory.remember("Ann prefers green tea 安喜欢绿茶")
        made = await memory.context("green tea 绿茶")
        print(made.recall_id, flush=True)
        await asyncio.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_a_prompt_of_a_process_that_is_killed_is_audited(database_path: Path):
    ran = await asyncio.to_thread(
        subprocess.run,
        [WARM, "-c", _KILLED, place_of(database_path)],
        env=environment_of(database_path),
        capture_output=True,
        text=True,
        check=False,
    )
    async with Memory.open(database_path) as memory:
        (entry,) = await memory.audit.tail(action="inject")
    assert entry.target == ran.stdout.strip()
