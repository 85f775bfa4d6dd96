"""Somebody asks to be forgotten: nothing of them is left in any file, and nobody else loses any."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from recollect import Memory
from recollect.assemble.stores import restore
from recollect.backends.audit_anchor import anchor_of
from recollect.backends.sql import commit
from recollect.domain.compression import pieces_of
from recollect.domain.notes import ScratchpadUpdate
from recollect.domain.record import Evidence
from recollect.errors import NotFound, StorageError
from recollect.language.analysis import term_keys, terms
from tests.database_servers import ask, place_of, tables_of
from tests.fakes import FakeEmbedder
from tests.nursery import WARM
from tests.services import database_of

# Said nowhere else, each in another of the places where something of Ann's is kept.
PLANTED = {
    "record": "zorblaxian",
    "记录": "翡翠茶壶",
    "old version": "quillsnorter",
    "旧版本": "琥珀风铃",
    "title": "brindlewhack",
    "tag": "mumbletop",
    "标签": "紫藤标签",
    "metadata": "fizzlegram",
    "reason": "grumbletonk",
    "turn": "wibbleflux",
    "话": "火龙果奶茶",
    "tool call": "snorklewump",
    "archive": "kerplunkium",
    "归档": "青铜罗盘",
    "archived input": "tanglefrost",
    "notes": "jabberquark",
    "scratchpad": "plinthwaddle",
    "request": "hobnobbler",
    "trace": "crumblewisp",
    "asked": "vexillarium",
    "session": "sess-moonquake",
    "task": "taskbramble",
    "user": "annabelfitzwhistle",
}
ANN = PLANTED["user"]
FORECAST = "the weather report of the week " * 600


@pytest.fixture(autouse=True)
def scopes_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they say is in the full text too, but for the last few words of it."""
    monkeypatch.setattr(commit, "_LARGE_SCOPE_TERMS", 1)
    monkeypatch.setattr(commit, "_BEHIND", 3)


@pytest.fixture
async def memory(database_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(database_path, embedder=FakeEmbedder()) as opened:
        yield opened


async def live_a_life(memory: Memory) -> None:
    """Leave something of Ann in every place there is, and of Bob beside it."""
    ann, planted = memory.scope(user=ANN, agent="cook"), PLANTED
    record = await ann.remember(
        f"Ann keeps {planted['old version']} and {planted['旧版本']}在柜子里",
        title=f"About {planted['title']}",
        tags=[planted["tag"], planted["标签"]],
        metadata={"note": planted["metadata"]},
        session=planted["session"],
        task=planted["task"],
        idempotency_key=planted["request"],
    )
    newer = f"Ann keeps {planted['record']} and {planted['记录']}在柜子里"
    await ann.update(record.id, newer, reason=planted["reason"])
    await memory.scope(user=ANN).remember("Ann is left-handed", category="user-profile")
    async with ann.session(planted["session"]) as session:
        arguments = {"url": planted["tool call"], "query": planted["archived input"]}
        call = {"name": "get_page", "arguments": json.dumps(arguments)}
        found = f"{planted['archive']} {planted['归档']} " + "Nothing else is here. " * 2_000
        await session.observe(
            [
                {"role": "user", "content": f"I love {planted['turn']}，也喜欢{planted['话']}"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": found},
            ]
        )
        session.notes.add_page_content(f"A page on {planted['notes']}", "page 1")
        goal = ScratchpadUpdate(current_goal=f"find {planted['scratchpad']}")
        await session.scratchpad.update(goal)
        await session.archive.process_tool_result("weather", {"city": "Ulm"}, FORECAST, session.id)
    await ann.write(f"My sister collects {planted['trace']} stamps")
    question = f"Does Ann keep {planted['record']} or {planted['asked']}?"
    await ann.context(question, session="asking")
    bob = memory.scope(user="bob", agent="cook")
    await bob.remember("Bob keeps tea in the pantry")
    await bob.session("of bob").archive.process_tool_result(
        "weather", {"city": "Ulm"}, FORECAST, "of bob"
    )
    await memory.drain()


def everything_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, compressed ones as they are and as they were."""
    files = {
        str(it.relative_to(folder)): it.read_bytes() for it in folder.rglob("*") if it.is_file()
    }
    for name, content in list(files.items()):
        if name.endswith(".zst"):
            files[f"{name} (content)"] = b"".join(pieces_of(content))
    return files | tables_of(folder / "memory.db")


def places_of(term: str, files: dict[str, bytes]) -> list[str]:
    """The files that a term is in, spelled in any way that something is stored in."""
    keys = [key for key in term_keys(terms(term)) if key not in COMMON_KEYS]
    forms = [term.encode(), term.encode("utf-16-le"), json.dumps(term)[1:-1].encode()]
    forms += [key.to_bytes(8, "little") for key in keys]
    forms += [f"{key:016x}"[-10:].encode() for key in keys]
    return [name for name, content in files.items() if any(form in content for form in forms)]


# Parts of planted terms that Bob's texts or the other words of Ann's have, too.
COMMON_KEYS = frozenset(term_keys(terms("sess moonquake")[:1]))


async def test_a_forgotten_user_leaves_no_trace_in_any_file(memory: Memory, database_path: Path):
    await live_a_life(memory)
    await memory.work()
    await memory.close()
    before = everything_in(database_path.parent)
    assert [name for name, term in PLANTED.items() if not places_of(term, before)] == []

    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        forgotten = await memory.scope(user=ANN).forget(user=ANN, verify=True)
        assert not forgotten.erasure_pending
        assert forgotten.verification is not None
        assert forgotten.verification.traces == ()
        assert forgotten.verification.terms > 10
        for kind in ("records", "versions", "tags", "turns", "units", "vectors", "archives"):
            assert forgotten.counts[kind] > 0, kind
        for kind in ("blobs", "state", "requests", "traces", "audit"):
            assert forgotten.counts[kind] > 0, kind
        # While it is still open: nothing waits in a log for the memory to be closed.
        open_files = everything_in(database_path.parent)
        assert {
            it: places for it in PLANTED.values() if (places := places_of(it, open_files))
        } == {}
    after = everything_in(database_path.parent)
    assert {it: places for it in PLANTED.values() if (places := places_of(it, after))} == {}


async def test_the_neighbour_with_the_same_archived_result_keeps_it(memory: Memory):
    await live_a_life(memory)
    bob = memory.scope(user="bob", agent="cook")
    earlier = await bob.session("of bob").archive.find_earlier("weather", {"city": "Ulm"})
    assert earlier is not None
    await memory.scope(user=ANN).forget(user=ANN)
    loaded = await bob.session("of bob").archive.load_tool_result(earlier.archive.id)
    assert loaded == FORECAST
    assert [hit.content for hit in await bob.recall("tea in the pantry")] == [
        "Bob keeps tea in the pantry"
    ]


async def test_a_dry_run_changes_nothing_and_tells_the_real_numbers(
    memory: Memory, database_path: Path
):
    await live_a_life(memory)
    ann = memory.scope(user=ANN, agent="cook")
    stored = await ann.stats()
    told = await memory.scope(user=ANN).forget(user=ANN, dry_run=True)
    assert (told.is_dry_run, told.forget_id) == (True, "")
    assert (await ann.stats()).store == stored.store
    assert ask(database_path, "SELECT count(*) FROM tombstones") == [(0,)]
    went = await memory.scope(user=ANN).forget(user=ANN)
    assert dict(went.counts) == dict(told.counts)
    assert (await ann.stats()).store.records == 0


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_a_restore_does_not_bring_a_forgotten_user_back(memory: Memory, database_path: Path):
    await live_a_life(memory)
    monday = database_path.parent / "copies" / "monday.db"
    await memory.backup(monday)
    await memory.scope(user=ANN).forget(user=ANN)
    await memory.scope(user="bob", agent="cook").remember("Bob learnt this on Tuesday")
    await memory.close()

    await restore(monday, database_path)
    files = {
        name: content
        for name, content in everything_in(database_path.parent).items()
        if not name.startswith("copies/")
    }
    assert {it: places for it in PLANTED.values() if (places := places_of(it, files))} == {}
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        assert len(await memory.scope(user=ANN, agent="cook").list()) == 0
        bob = memory.scope(user="bob", agent="cook")
        assert [it.content for it in await bob.list()] == ["Bob keeps tea in the pantry"]


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_whoever_comes_again_after_being_forgotten_is_not_forgotten_by_a_later_restore(
    memory: Memory, database_path: Path, tmp_path: Path
):
    ann = memory.scope(user="ann")
    await ann.remember("Ann likes tea")
    old = await ann.remember("Ann has a red bicycle")
    await ann.forget(old.id)
    await memory.scope(user="ann").forget(user="ann")
    await ann.remember("Ann is back and likes coffee")
    await memory.backup(tmp_path / "copy" / "friday.db")
    await memory.close()
    await restore(tmp_path / "copy" / "friday.db", database_path)
    async with Memory.open(database_path) as memory:
        ann = memory.scope(user="ann")
        assert [it.content for it in await ann.list()] == ["Ann is back and likes coffee"]


@pytest.mark.sqlite(reason="a file is replaced; tests/databases has the like for a server")
async def test_a_copy_put_in_place_by_hand_does_not_bring_a_record_back(
    memory: Memory, database_path: Path, tmp_path: Path
):
    kept = await memory.remember("The meeting is on Monday")
    secret = await memory.remember("钥匙在蓝色抽屉里")
    copy = tmp_path / "copy" / "old.db"
    await memory.backup(copy)
    await memory.forget(secret.id)
    await memory.close()
    database_path.write_bytes(copy.read_bytes())
    # What lies beside shows that it is older; whoever wants it all the same takes that away.
    with pytest.raises(StorageError, match="database_older"):
        await Memory.open(database_path)
    anchor_of(database_path).unlink()
    async with Memory.open(database_path) as memory:
        assert [it.id for it in await memory.list()] == [kept.id]
        await memory.drain()
    assert "蓝色抽屉".encode() not in database_path.read_bytes()


async def test_the_ledger_names_nobody(memory: Memory):
    await live_a_life(memory)
    await memory.scope(user=ANN, agent="cook").forget(session=PLANTED["session"])
    await memory.scope(user=ANN).forget(user=ANN)
    kept = database_of(memory).ledger
    assert len(kept.ids()) == 2
    ledger = b"".join(content for _, content in kept.contents())
    assert not [term for term in PLANTED.values() if term.encode() in ledger]


_ASKER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        ann = memory.scope(user="ann")
        while line := await asyncio.to_thread(sys.stdin.readline):
            hits = await ann.recall(line.strip())
            print("|".join(hit.content for hit in hits), flush=True)

asyncio.run(main())
"""


class Asker:
    """Another process that asks the same question whenever it is told to."""

    def __init__(self, database: Path) -> None:
        self._process = subprocess.Popen(
            [WARM, "-c", _ASKER, place_of(database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, question: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        with self._process as process:
            assert process.stdin is not None
            process.stdin.close()


async def test_the_answers_that_another_process_keeps_are_dropped(
    memory: Memory, database_path: Path
):
    ann = memory.scope(user="ann")
    await ann.remember("Ann's locker code is 4417")
    with closing(await asyncio.to_thread(Asker, database_path)) as asker:

        async def ask() -> str:
            return await asyncio.to_thread(asker.ask, "what is Ann's locker code")

        assert await ask() == await ask() == "Ann's locker code is 4417"
        await ann.forget(user="ann")
        assert await ask() == ""
        # Were versions counted from the start again, this would be the one of the kept answer.
        await ann.remember("Ann's locker code is 9083")
        assert await ask() == "Ann's locker code is 9083"


async def test_a_session_goes_with_all_that_was_made_of_it(memory: Memory):
    ann = memory.scope(user="ann")
    said = await ann.observe([{"role": "user", "content": "我把护照放在书房"}], session="s1")
    await ann.observe([{"role": "user", "content": "The boiler is new"}], session="s2")
    made = await ann.remember("Passport is in the study", evidence=[Evidence(turn=said[0].id)])
    other = await ann.remember("The boiler is new", session="s2")
    forgotten = await ann.forget(session="s1")
    assert (forgotten.records, forgotten.turns) == (1, 1)
    assert [it.id for it in await ann.list()] == [other.id]
    assert [it.session for it in await ann.turns()] == ["s2"]
    found = await ann.recall("护照 passport", min_score=0)
    assert not {said[0].id, made.id} & {hit.id for hit in found}


async def test_a_record_tells_which_turns_still_say_it_unless_they_go_too(memory: Memory):
    said = await memory.observe(
        [{"role": "user", "content": "My dentist is Dr Okonkwo"}], session="s"
    )
    record = await memory.remember(
        "The dentist is Dr Okonkwo", evidence=[Evidence(turn=said[0].id)]
    )
    again = await memory.remember("Dentist: Okonkwo", evidence=[Evidence(turn=said[0].id)])
    first = await memory.forget(record.id, verify=True)
    assert first.evidence_left == (said[0].id,)
    assert first.verification is not None
    assert first.verification.is_gone
    assert "Okonkwo" in first.verification.also_said
    second = await memory.forget(again.id, with_evidence=True, verify=True)
    assert second.evidence_left == ()
    assert second.turns == 1
    assert second.verification is not None
    assert second.verification.is_gone
    assert "Okonkwo" not in second.verification.also_said
    assert len(await memory.turns()) == 0


async def test_what_was_proposed_for_a_user_is_forgotten_and_no_import_brings_it_back(
    memory: Memory, tmp_path: Path
):
    for_ann = memory.scope(agent="rob", user="ann")
    proposal = await for_ann.shared.propose("Ann 喜欢简短的回答, short answers", "preference")
    await memory.export_to(tmp_path / "all.jsonl", all_scopes=True)

    forgotten = await memory.scope(user="ann").forget(user="ann", all_agents=True)

    assert forgotten.counts["proposals"] == 1
    await memory.import_from(tmp_path / "all.jsonl", all_scopes=True, skip_bad=True)
    with pytest.raises(NotFound):
        await for_ann.shared.proposal(proposal.id)


async def test_filters_choose_what_is_forgotten(memory: Memory):
    await memory.remember("old address", tags=["address"])
    await memory.remember("旧电话", tags=["address"])
    kept = await memory.remember("a recipe", tags=["food"])
    assert (await memory.forget(tags="address")).records == 2
    assert [it.id for it in await memory.list()] == [kept.id]


async def test_an_open_session_of_a_forgotten_user_leaves_nothing_behind_when_it_closes(
    memory: Memory, database_path: Path
):
    ann = memory.scope(user=ANN)
    session = ann.session("open one")
    await session.observe({"role": "user", "content": f"I am {PLANTED['record']}"})
    session.notes.add_page_content(PLANTED["notes"], "page 2")
    await memory.scope(user=ANN).forget(user=ANN)
    await memory.close()
    files = everything_in(database_path.parent)
    assert {it: at for it in PLANTED.values() if (at := places_of(it, files))} == {}
