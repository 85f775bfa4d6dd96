"""What an agent would be told: part by part, as it was, and after changes that nobody saved."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from recollect import Memory
from recollect.errors import InvalidInput, NotFound
from recollect.server.app import create_app
from tests.command_line import CommandLine
from tests.conftest import TurnedClock
from tests.serving import calling

_ASKED = "Book a train seat for Ann, and a snack"


@pytest.fixture
async def ann(memory: Memory) -> Memory:
    ann = memory.scope(user="ann", agent="travel")
    for number in range(12):
        await ann.remember(f"Train number {number} to Lyon was late by {number} minutes")
    await ann.remember("Ann prefers window seats on trains", category="preference")
    await ann.remember("Ann is allergic to peanuts", category="user", facet="health")
    await ann.observe({"role": "user", "content": "My train snack is always an apple"})
    return ann


async def test_a_preview_is_the_block_that_a_prompt_gets(ann: Memory):
    seen = await ann.preview(_ASKED)
    given = await ann.context(_ASKED)

    assert seen.context.text == given.text
    assert seen.context.ids == given.ids
    assert seen.context.left_out == given.left_out
    parts = {part.name: part for part in seen.parts}
    assert "peanuts" in parts["profile"].text
    assert "window seats" in parts["recalled"].text
    assert parts["guide"].text == ann.guide("en")
    assert parts["profile"].tokens + parts["recalled"].tokens == given.tokens
    assert seen.tokens == given.tokens + parts["guide"].tokens


async def test_what_is_left_out_says_why(ann: Memory):
    seen = await ann.preview(_ASKED, max_tokens=90, limit=3)

    fates = {it.fate for it in seen.items}
    assert fates == {"given", "left_out", "near_miss"}
    assert {it.reason for it in seen.items if it.fate == "left_out"} == {"budget"}
    missed = [it for it in seen.items if it.fate == "near_miss"]
    assert all(it.reason and it.text for it in missed)


async def test_nothing_counts_as_used(ann: Memory):
    before = (await ann.list()).items
    await ann.preview(_ASKED, session="s")

    assert (await ann.list()).items == before
    entries = await ann.audit.tail()
    assert "inject" not in {entry.action for entry in entries.items}


async def test_tried_changes_give_what_saving_them_gives(ann: Memory):
    seat = next(it for it in (await ann.list()).items if "window" in it.content)
    late = next(it for it in (await ann.list()).items if "number 3" in it.content)
    tried = await ann.preview(
        _ASKED,
        changes=[
            {"id": seat.id, "content": "Ann prefers aisle seats on trains"},
            {"id": late.id, "delete": True},
            {"content": "Ann eats no snack before noon", "category": "preference"},
            {"content": "Ann's name on tickets is Anna Lee", "facet": "identity"},
        ],
    )
    assert "aisle" in tried.context.text
    assert "window" not in tried.context.text
    assert "Anna Lee" in tried.context.profile

    assert "window" in (await ann.get(seat.id)).content
    assert "Anna Lee" not in (await ann.context(_ASKED)).text

    await ann.update(seat.id, "Ann prefers aisle seats on trains")
    await ann.delete(late.id)
    await ann.remember("Ann eats no snack before noon", category="preference")
    await ann.remember("Ann's name on tickets is Anna Lee", facet="identity")
    saved = await ann.scope().context(_ASKED, session="another")
    assert tried.context.text == saved.text


async def test_a_change_can_be_tried_in_an_empty_memory(memory: Memory):
    nobody = memory.scope(user="new")
    seen = await nobody.preview("安妮喜欢坐哪里？", changes=[{"content": "安妮喜欢坐靠窗的座位"}])

    assert "靠窗" in seen.context.text
    assert len(seen.tried) == 1
    assert not (await nobody.list()).items


async def test_an_earlier_time_has_its_own_profile(memory: Memory, clock: TurnedClock):
    ann = memory.scope(user="ann")
    home = await ann.remember("I live in Lyon", facet="home")
    before = clock.now()
    clock.turn(days=3)
    await ann.update(home.id, "I live in Nantes", facet="home")

    then = await ann.preview("Which weather do I have?", as_of=before)
    now = await ann.preview("Which weather do I have?")
    assert "Lyon" in then.context.profile
    assert "Nantes" not in then.context.text
    assert "Nantes" in now.context.profile
    assert (await ann.context("Which weather?", as_of=before)).profile == then.context.profile


async def test_a_change_must_fit(ann: Memory, clock: TurnedClock):
    with pytest.raises(NotFound):
        await ann.preview(_ASKED, changes=[{"id": "mem_nothing", "content": "x"}])
    with pytest.raises(InvalidInput):
        await ann.preview(_ASKED, changes=[{"content": "x"}], as_of=clock.now())


# --- At the command line and over HTTP ------------------------------------------------------------


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(create_app(tmp_path / "memory.db"), "http://localhost") as opened:
        yield opened


async def test_a_preview_over_http(client: httpx.AsyncClient):
    where = {"user": "ann", "agent": "travel"}
    seat = {"content": "Ann prefers window seats", "category": "preference"}
    saved = (await client.post("/v1/records", json=seat, params=where)).json()
    changes = [{"id": saved["id"], "content": "Ann prefers aisle seats"}]
    answer = await client.post(
        "/v1/context/preview", json={"message": "which seat?", "changes": changes}, params=where
    )

    assert answer.status_code == 200, answer.text
    seen = answer.json()
    assert "aisle" in seen["context"]["text"]
    assert seen["tried"] == [saved["id"]]
    assert [part["name"] for part in seen["parts"]] == [
        *("profile", "recalled", "documents", "guide")
    ]
    # Another person's memory is neither seen nor changed.
    other = await client.post(
        "/v1/context/preview",
        json={"message": "which seat?", "changes": changes},
        params={"user": "bo", "agent": "travel"},
    )
    assert other.status_code == 404


def test_a_preview_at_the_command_line(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    cli = CommandLine(capfdbinary)
    kept = cli("remember", "Ann prefers window seats", "--json").json["id"]
    told = cli("context", "which seat?", "--explain", "--try", "Ann likes aisle seats too").out
    assert "window" in told
    assert "aisle" in told
    assert "recalled" in told
    assert "window" not in cli("context", "which seat?", "--without", kept).out
    assert "aisle" not in cli("context", "which seat?").out
