"""Each record knows which attribute it states and whom it is about; people correct that."""

import gzip
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect import Memory
from recollect.cli.app import run
from recollect.domain.embedding import JudgeCalibration
from recollect.domain.record import Record
from recollect.errors import InvalidInput, StorageBusy
from recollect.models.facet_head import open_facets
from recollect.models.local_model import local_model
from recollect.ports.judge import Statement
from recollect.writing import facets as facet_job
from recollect.writing.facets import FacetDecider
from recollect.writing.judges import ThresholdJudge
from recollect.writing.undecided import SqlUndecidedRecords
from tests.conftest import TurnedClock
from tests.fakes import FakeJudge
from tests.services import services, without_background_work
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


# --- With the local models ------------------------------------------------------------------------

_SAID = {
    "I live in Lisbon": "home",
    "I'm allergic to peanuts": "allergy",
    "My wife is called Solveig": "partner",
    "我住在上海浦东": "home",
    "我对花生过敏": "allergy",
    "用户的老婆叫王芳": "partner",
}


async def test_records_get_their_facet_when_they_are_written(judged: Memory):
    saved = await judged.remember_many(list(_SAID))
    assert [it.facet for it in saved] == list(_SAID.values())
    assert {it.about for it in saved} == {"user"}
    assert [stated(await judged.get(it.id)) for it in saved] == [stated(it) for it in saved]
    assert (await judged.remember("Hello, good morning!")).facet == ""
    written = await judged.write("I work for Northwind Logistics")
    assert written.record is not None
    assert stated(written.record) == ("employer", "user", False)


async def test_new_content_is_read_again_and_a_correction_is_not(judged: Memory):
    saved = await judged.remember(HOME)
    assert (await judged.update(saved.id, facet="origin")).facet == "origin"
    assert (await judged.update(saved.id, tags=["x"])).facet == "origin"
    assert (await judged.update(saved.id, "I'm allergic to peanuts")).facet == "allergy"
    assert (await judged.update(saved.id, facet="health")).facet == "health"
    assert stated(await judged.update(saved.id, facet=None)) == ("allergy", "user", False)


async def test_what_a_session_tells_gets_facets(judged: Memory):
    async with judged.session("monday") as session:
        await session.observe([{"role": "user", "content": "By the way, I live in Lisbon now."}])
    await judged.drain()
    assert "home" in {it.facet for it in await judged.list()}


async def test_a_long_record_states_no_single_attribute(judged: Memory):
    saved = await judged.remember("I live in Lisbon. I am allergic to peanuts. " * 60)
    assert saved.facet == ""


_PREVIOUS = Path(__file__).parent.parent / "data" / "schemas" / "0012.db.gz"


def _undecided(database: Path) -> int:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT count(*) FROM records WHERE facet IS NULL").fetchone()[0]


@pytest.mark.sqlite(reason="a file of an earlier release")
async def test_records_of_the_previous_schema_get_facets_even_after_an_interruption(
    real_model: None, database_path: Path, monkeypatch: pytest.MonkeyPatch
):
    database_path.write_bytes(gzip.decompress(_PREVIOUS.read_bytes()))
    decide, batches = SqlUndecidedRecords.decide, list[int]()

    async def interrupted(self: SqlUndecidedRecords, records: Sequence[Record]) -> None:
        if batches:
            raise StorageBusy("interrupted")
        batches.append(len(records))
        await decide(self, records)

    with monkeypatch.context() as patched:
        patched.setattr(facet_job, "_RECORDS_PER_BATCH", 2)
        patched.setattr(SqlUndecidedRecords, "decide", interrupted)
        without_background_work(patched)
        async with Memory.open(database_path) as memory:
            await memory.list()
            all_of_them = _undecided(database_path)
            parts = services(memory)
            records = SqlUndecidedRecords(parts.database)
            with pytest.raises(StorageBusy):
                await FacetDecider(records, parts.jobs, parts.understanding.facets).run(ANY)
    assert batches == [2]
    assert _undecided(database_path) == all_of_them - 2
    async with Memory.open(database_path) as memory:
        await memory.drain()
        (keys,) = [it for it in await memory.list() if "spare keys" in it.content]
        assert keys.facet == "place_of_thing"
        assert [it.number for it in await memory.history(keys.id)] == [1, 2]
    assert _undecided(database_path) == 0


async def test_records_that_come_without_a_facet_get_one_when_they_have_vectors(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    saved = await memory.remember(HOME)
    await memory.export_to(tmp_path / "all.jsonl")
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "local")
    async with Memory.open(tmp_path / "other.db") as other:
        await other.import_from(tmp_path / "all.jsonl")
        await other.drain()
        assert stated(await other.get(saved.id)) == ("home", "user", False)


async def test_without_the_local_models_facets_stay_unknown(memory: Memory):
    saved = await memory.remember(HOME)
    await memory.drain()
    assert stated(await memory.get(saved.id)) == (None, "", False)


class _SeesChanges:
    """A model that takes whatever it reads for an update."""

    name = "sees-changes"
    calibration = JudgeCalibration(facets=0.01, margin=0.1)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        return np.log([[0.01, 0.97, 0.01, 0.01] for _ in pairs])


_NOW = datetime(2026, 3, 2, tzinfo=UTC)


def _old(text: str, near: float = 0.5, **said: str) -> Statement:
    return Statement(text=text, said_at=_NOW - timedelta(days=9), near=near, **said)


async def _relations(new: Statement, *stored: Statement) -> list[str]:
    embedder = local_model().open()
    try:
        judge = ThresholdJudge(_SeesChanges(), facets=open_facets(None, embedder))
        return [it.relation for it in (await judge.judge(new, stored)).verdicts]
    finally:
        await embedder.close()


async def test_no_attribute_is_taken_for_a_change_of_another(real_model: None):
    shellfish = Statement(text="I'm allergic to shellfish", said_at=_NOW)
    stored = [_old("不吃猪肉"), _old("I'm allergic to nuts"), _old("My name is Marta")]
    assert await _relations(shellfish, *stored) == ["different", "update", "different"]
    corrected = replace(shellfish, facet="diet")
    assert await _relations(corrected, *stored) == ["update", "different", "different"]


async def test_the_user_is_not_taken_for_somebody_else(real_model: None):
    said = Statement(text="班主任徐老师：微信 xulaoshi_203", said_at=_NOW, about="other")
    assert await _relations(said, _old("我微信号是tangtang_0711", about="user")) == ["different"]
    assert await _relations(said, _old("我微信号是tangtang_0711")) == ["update"]


async def test_the_earlier_value_counts_however_differently_it_is_worded(real_model: None):
    said = Statement(text="Hamburg it is: we moved last week", said_at=_NOW)
    stored = [_old("Hamburg is a rainy city", 0.7), _old("I live in Leith, just off the Shore")]
    assert (await _relations(said, *stored))[1] == "update"


async def test_what_has_one_value_is_compared_with_the_value_before(
    real_model: None, database_path: Path, judge: FakeJudge, clock: TurnedClock
):
    old, new = "I live in Leith, just off the Shore", "Hamburg it is: we moved last week"
    judge.knows(old, new, "update")
    async with Memory.open(database_path, clock=clock, judge=judge) as memory:
        saved = await memory.remember(old)
        clock.turn(days=1)
        for what in ("is rainy", "has a harbour", "beat Bremen", "hosts the fair", "sells fish"):
            for when in ("last week", "this week", "every week", "next week"):
                await memory.remember(f"Hamburg {what} {when}")
        clock.turn(days=1)
        written = await memory.write(new)
        assert written.record is not None
        assert (old, new) in judge.asked
        assert [it.older for it in written.record.links] == [saved.id]
