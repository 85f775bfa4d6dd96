"""Each record knows which attribute it states and whom it is about; people correct that."""

import json
from pathlib import Path

import pytest

from recollect import Memory
from recollect.cli.app import run
from recollect.domain.record import Record
from recollect.errors import InvalidInput
from tests.serving import served

HOME = "I live in Lisbon"


def stated(record: Record) -> tuple[str | None, str, bool]:
    return record.facet, record.about, record.facet_fixed


async def test_what_a_person_says_a_record_states_is_kept_until_its_content_changes(
    memory: Memory,
):
    saved = await memory.remember(HOME)
    assert stated(saved) == (None, "", False)
    corrected = await memory.update(saved.id, facet="home", about="user")
    assert stated(corrected) == ("home", "user", True)
    assert stated(await memory.update(saved.id, tags=["places"])) == ("home", "user", True)
    assert stated(await memory.update(saved.id, "I work in Lisbon")) == (None, "", False)
    assert stated(await memory.undo(saved.id)) == ("home", "user", True)
    assert [it.record.facet for it in await memory.history(saved.id)] == [
        *(None, "home", "home", None, "home")
    ]
    assert stated(await memory.update(saved.id, facet=None)) == (None, "user", False)


async def test_records_are_listed_and_recalled_by_what_they_state(memory: Memory):
    home = await memory.remember(HOME, facet="home")
    await memory.remember("Lisbon is where I work", facet="employer")
    await memory.observe([{"role": "user", "content": "Lisbon is sunny"}], session="s")
    assert [it.id for it in await memory.list(facet="home")] == [home.id]
    assert [it.id for it in await memory.recall("Lisbon", facet=["home"])] == [home.id]
    assert len(await memory.recall("Lisbon")) == 3


async def test_an_unknown_facet_is_refused_with_the_known_ones(memory: Memory):
    saved = await memory.remember(HOME)
    for wrong in (
        memory.update(saved.id, facet="house"),
        memory.list(facet="house"),
        memory.remember("x", facet="house"),
    ):
        with pytest.raises(InvalidInput, match="home, job, employer") as refused:
            await wrong
        assert refused.value.code == "unknown_value"
    with pytest.raises(InvalidInput, match="user, other, thing"):
        await memory.update(saved.id, about="me")


async def test_facets_travel_with_an_export(memory: Memory, tmp_path: Path):
    saved = await memory.remember(HOME)
    await memory.update(saved.id, facet="home", about="user")
    await memory.export_to(tmp_path / "all.jsonl")
    async with Memory.open(tmp_path / "other.db") as other:
        await other.import_from(tmp_path / "all.jsonl")
        assert stated(await other.get(saved.id)) == ("home", "user", True)


async def test_a_server_tells_filters_and_corrects_facets(tmp_path: Path):
    async with served(tmp_path / "memory.db") as address, Memory.open(address) as memory:
        saved = await memory.remember(HOME, facet="home", about="user")
        assert stated(saved) == ("home", "user", True)
        assert [it.id for it in await memory.list(facet="home")] == [saved.id]
        assert len(await memory.list(facet="employer")) == 0
        assert (await memory.update(saved.id, facet="origin")).facet == "origin"
        with pytest.raises(InvalidInput, match="home, job, employer"):
            await memory.update(saved.id, facet="house")
        found = await memory.workspace.records(facets=True)
        assert found.facets is not None
        assert found.facets.facets == {"origin": 1}


def test_the_command_line_shows_filters_and_corrects_facets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))

    def told(*arguments: str) -> str:
        run(arguments)
        out, err = capsys.readouterr()
        return out + err

    saved = told("remember", HOME, "--facet", "home", "--json")
    record_id = json.loads(saved)["id"]
    assert record_id in told("list", "--facet", "home")
    assert record_id not in told("list", "--facet", "employer")
    assert " · origin · " in told("edit", record_id, "--facet", "origin", "--about", "user")
    shown = told("show", record_id)
    assert "facet" in shown
    assert "origin" in shown
    assert "home, job, employer" in told("edit", record_id, "--facet", "house")
