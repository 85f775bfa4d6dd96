"""Somebody is forgotten while another process still serves them: nothing comes back from there."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.audit import INJECT
from recollect.domain.turn import Turn
from recollect.errors import Closed
from recollect.writing.reader_extraction import ReaderExtractor
from tests.database_servers import ask
from tests.fakes import FakeEmbedder
from tests.services import services

ANN = "annabelfitzwhistle"
SECRETS = ("zorblaxian", "翡翠茶壶")


@pytest.fixture
async def memory(database_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(database_path, embedder=FakeEmbedder()) as opened:
        yield opened


@pytest.fixture
async def elsewhere(memory: Memory, database_path: Path) -> AsyncIterator[Memory]:
    """Another open memory of the same file, as another process has one."""
    async with Memory.open(database_path, embedder=FakeEmbedder()) as opened:
        yield opened


def left_in(database: Path) -> dict[str, list[str]]:
    """Which of Ann's words are where, in the database's files."""
    files = {it.name: it.read_bytes() for it in database.parent.iterdir() if it.is_file()}
    return {
        word: names
        for word in (ANN, *SECRETS)
        if (names := [name for name, content in files.items() if word.encode() in content])
    }


async def test_prompts_that_were_not_audited_yet_are_not_audited_any_more(
    memory: Memory, elsewhere: Memory, database_path: Path
):
    await memory.scope(user=ANN).remember(f"Ann keeps {' and '.join(SECRETS)}")
    await memory.scope(user="bob").remember("Bob keeps a parrot")
    services(elsewhere).usage._auditing._pause = 60
    ann = await elsewhere.scope(user=ANN).context(f"who keeps {SECRETS[0]}?", session="s")
    bob = await elsewhere.scope(user="bob").context("who keeps a parrot?", session="t")
    assert ann.text
    assert bob.text
    await memory.scope(user=ANN).forget(user=ANN)
    await elsewhere.close()
    assert left_in(database_path) == {}
    told = await memory.scope(user="bob").audit.tail(action=INJECT)
    assert [it.target for it in told] == [bob.recall_id]
    assert (await memory.audit.verify()).is_intact


async def test_a_prompt_that_named_a_forgotten_record_is_not_audited_any_more(
    memory: Memory, elsewhere: Memory
):
    ann = memory.scope(user=ANN)
    gone = await ann.remember("The cat sleeps in the attic")
    kept = await ann.remember("The dog sleeps in the barn")
    services(elsewhere).usage._auditing._pause = 60
    asked = elsewhere.scope(user=ANN)
    attic = await asked.context("cat attic", session="s", limit=1)
    barn = await asked.context("dog barn", session="s", limit=1)
    assert [*attic.ids, *barn.ids] == [gone.id, kept.id]
    await ann.forget(gone.id)
    await elsewhere.close()
    told = await ann.audit.tail(action=INJECT)
    assert [it.target for it in told] == [barn.recall_id]


async def test_who_comes_again_is_audited_again(memory: Memory):
    ann = memory.scope(user=ANN)
    await ann.remember("Ann likes tea")
    await ann.forget(user=ANN)
    await ann.remember("Ann likes coffee")
    again = await ann.context("what does Ann like?")
    assert [it.target for it in await ann.audit.tail(action=INJECT)] == [again.recall_id]


async def test_an_open_session_elsewhere_does_not_bring_its_state_back(
    memory: Memory, elsewhere: Memory, database_path: Path
):
    session = elsewhere.scope(user=ANN).session("open one")
    other = elsewhere.scope(user="bob").session("open one")
    await session.observe({"role": "user", "content": f"I am {SECRETS[0]}, 我有{SECRETS[1]}"})
    await other.observe({"role": "user", "content": "I am Bob"})
    session.notes.add_page_content(SECRETS[0], "page 2")
    other.notes.add_page_content("about parrots", "page 3")
    await memory.scope(user=ANN).forget(user=ANN)
    await session.close()
    await other.close()
    assert left_in(database_path) == {}
    with pytest.raises(Closed):
        await session.observe({"role": "user", "content": "Hello?"})
    async with memory.scope(user="bob").session("open one") as again:
        assert again.notes.relevant_chunks


async def test_what_is_being_read_while_it_is_forgotten_is_not_kept(
    memory: Memory, elsewhere: Memory, database_path: Path, monkeypatch: pytest.MonkeyPatch
):
    reading, forgotten = asyncio.Event(), asyncio.Event()
    extract = ReaderExtractor.extract

    async def slowly(self: ReaderExtractor, turns: Sequence[Turn], *, before: Sequence[Turn] = ()):
        found = await extract(self, turns, before=before)
        reading.set()
        await forgotten.wait()
        return found

    monkeypatch.setattr(ReaderExtractor, "extract", slowly)
    ann = elsewhere.scope(user=ANN)
    said = f"I prefer {SECRETS[0]} tea. 我喜欢用{SECRETS[1]}喝茶。"
    await ann.observe([{"role": "user", "content": said}], session="s")
    extracting = asyncio.create_task(ann.extract("s"))
    await reading.wait()
    await memory.scope(user=ANN).forget(user=ANN)
    forgotten.set()
    assert not await extracting
    await elsewhere.close()
    assert left_in(database_path) == {}
    assert ask(database_path, "SELECT count(*) FROM records") == [(0,)]
