"""What is about records and turns moves with them: conflicts, how far was read, what is shared."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from recollect import Memory
from recollect.backends.sql import schema
from recollect.domain.record import Record
from recollect.errors import NotAllowed
from tests.conftest import TurnedClock
from tests.database_servers import ask
from tests.services import database_of
from tests.upkeep import dispute


@pytest.fixture
async def other(tmp_path: Path, clock: TurnedClock):
    async with Memory.open(tmp_path / "other.db", clock=clock) as opened:
        yield opened


async def lines_of(memory: Memory, *, all_scopes: bool = True) -> list[bytes]:
    written = io.BytesIO()
    await memory.export_to(written, all_scopes=all_scopes)
    return written.getvalue().splitlines(keepends=True)


async def take_in(memory: Memory, lines: list[bytes], **options: Any):
    return await memory.import_from(io.BytesIO(b"".join(lines)), **{"all_scopes": True, **options})


def of_type(lines: list[bytes], kind: str) -> list[bytes]:
    return [line for line in lines[1:] if json.loads(line)["type"] == kind]


async def disputed(memory: Memory) -> tuple[Record, Record, str]:
    first = await memory.remember("小安住在柏林")
    second = await memory.remember("小安住在里斯本 (Lisbon)")
    return first, second, await dispute(memory, first, second)


# --- Conflicts -----------------------------------------------------------------------------------


async def test_conflicts_move_open_and_decided(memory: Memory, other: Memory, clock: TurnedClock):
    _, _, waiting = await disputed(memory)
    clock.turn(hours=1)
    _, _, decided = await disputed(memory.scope(user="ann"))
    await memory.scope(user="ann").upkeep.resolve(decided, "keep_second", reason="搬家")
    lines = await lines_of(memory)

    done = await take_in(other, lines)
    assert (done.added, done.problems) == (6, ())
    assert (await lines_of(other))[1:] == lines[1:]
    assert [it.id for it in await other.upkeep.conflicts()] == [waiting]
    assert await other.scope(user="ann").upkeep.conflicts() == ()
    again = await take_in(other, lines)
    assert (again.added, again.unchanged) == (0, 6)


async def test_a_conflict_decided_here_since_stays_decided(memory: Memory, other: Memory):
    first, _, conflict = await disputed(memory)
    lines = await lines_of(memory)
    await take_in(other, lines)
    await other.upkeep.resolve(conflict, "keep_first")

    again = await take_in(other, lines)
    assert (again.added, again.unchanged, again.conflicting) == (0, 3, 0)
    assert await other.upkeep.conflicts() == ()
    assert [it.id for it in await other.list()] == [first.id]

    (line,) = of_type(lines, "conflict")
    told = await take_in(other, [lines[0], line.replace(b"neither", b"whether")], skip_bad=True)
    assert (told.conflicting, told.problems[0].code) == (1, "id_taken")


async def test_a_conflict_whose_records_are_not_here_or_dispute_already_is_left_out(
    memory: Memory, other: Memory
):
    first, second, conflict = await disputed(memory)
    lines = await lines_of(memory)
    (line,) = of_type(lines, "conflict")
    alone = await take_in(other, [lines[0], line], skip_bad=True)
    assert alone.problems[0].code == "record_missing"
    await take_in(other, lines)
    twin = line.replace(conflict.encode(), b"conflict_other")
    taken = await take_in(other, [lines[0], twin], skip_bad=True)
    assert taken.problems[0].code == "place_taken"

    theirs = await memory.scope(user="bob").remember("Bob's own")
    foreign = twin.replace(second.id.encode(), theirs.id.encode())
    header = b'{"recollect": "export", "format": 3}\n'
    refused = await memory.import_from(io.BytesIO(header + foreign))
    assert (refused.conflicting, refused.problems[0].code) == (1, "record_missing")
    assert len(await memory.upkeep.conflicts()) == 1
    assert first.id != second.id


async def test_a_conflict_about_something_forgotten_does_not_come_back(
    memory: Memory, other: Memory
):
    first, _, _ = await disputed(memory)
    lines = await lines_of(memory)
    await take_in(other, lines)
    await other.forget(first.id)
    await other.drain()
    assert of_type(await lines_of(other), "conflict") == []

    done = await take_in(other, lines)
    assert (done.added, done.unchanged, done.conflicting) == (0, 1, 2)
    assert {it.code for it in done.problems} == {"forgotten"}
    assert await other.upkeep.conflicts() == ()


async def test_what_is_being_forgotten_is_not_exported(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from recollect.erasure import rows as erasure

    first, second, _ = await disputed(memory.scope(user="ann"))
    await memory.scope(user="ann").observe([{"role": "user", "content": "秘密"}], session="s")
    await memory.remember("stays")
    # As the first transaction of a forgetting leaves it, before anything is erased.
    scopes = schema.scopes
    renamed = update(scopes).where(scopes.c.user == "ann")
    renamed = renamed.values(agent=erasure.FORGOTTEN_AGENT, user="x")
    await database_of(memory).write(lambda connection: connection.execute(renamed))

    lines = await lines_of(memory)
    assert json.loads(lines[0])["counts"]["records"] == len(lines) - 1 == 1
    assert first.id.encode() not in lines[1]
    assert second.id.encode() not in lines[1]


# --- How far was read ----------------------------------------------------------------------------


async def said(memory: Memory, *texts: str, session: str = "晨会") -> None:
    await memory.observe([{"role": "user", "content": text} for text in texts], session=session)


async def test_what_was_read_is_not_read_again_in_the_new_home(memory: Memory, other: Memory):
    await said(memory, "I work at Acme as a data engineer.", "记住：我女儿叫米娅。")
    found = await memory.extract("晨会")
    assert found
    lines = await lines_of(memory)
    assert json.loads(lines[0])["counts"]["watermarks"] == 1

    done = await take_in(other, lines)
    assert (done.added, done.problems) == (len(lines) - 1, ())
    before = {it.id for it in await other.list()}
    assert await other.extract("晨会") == ()
    assert {it.id for it in await other.list()} == before
    assert (await lines_of(other))[1:] == lines[1:]
    again = await take_in(other, lines)
    assert (again.added, again.unchanged) == (0, len(lines) - 1)


async def test_a_later_file_moves_the_mark_on_and_an_earlier_one_not_back(
    memory: Memory, other: Memory
):
    await said(memory, "I work at Acme.")
    await memory.extract("晨会")
    monday = await lines_of(memory)
    await take_in(other, monday)
    await said(memory, "我住在上海。")
    await memory.extract("晨会")
    friday = await lines_of(memory)

    await take_in(other, friday)
    assert of_type(await lines_of(other), "watermark") == of_type(friday, "watermark")
    assert await other.extract("晨会") == ()
    (mark,) = of_type(monday, "watermark")
    back = await take_in(other, [monday[0], mark], skip_bad=True)
    assert (back.unchanged, back.conflicting) == (1, 0)
    assert of_type(await lines_of(other), "watermark") == of_type(friday, "watermark")


async def test_turns_that_only_the_new_home_has_are_still_read_there(memory: Memory, other: Memory):
    await said(memory, "I work at Acme.", "hello")
    await memory.extract("晨会")
    await said(other, "我住在上海。", "我女儿叫米娅。")

    done = await take_in(other, await lines_of(memory))
    assert {it.code for it in done.problems} == {"place_taken"}
    assert any("watermark of 晨会" in it.message for it in done.problems)
    assert await other.extract("晨会") != ()


async def test_the_mark_of_a_forgotten_session_does_not_come_back(memory: Memory, tmp_path: Path):
    await said(memory, "I work at Acme.", session="a secret meeting")
    await memory.extract("a secret meeting")
    lines = await lines_of(memory)
    await memory.forget(session="a secret meeting")
    await memory.drain()

    done = await take_in(memory, lines)
    assert {it.code for it in done.problems} == {"forgotten"}
    assert done.added == 0
    assert ask(tmp_path / "memory.db", "SELECT count(*) FROM watermarks") == [(0,)]


# --- What is shared ------------------------------------------------------------------------------


async def shared_things(memory: Memory) -> tuple[str, str]:
    """A shared record, and a proposal that waits."""
    ann = memory.scope(user="ann")
    approved = await ann.shared.propose("缩进用四个空格 four spaces", "convention")
    await memory.shared.approve(approved.id, reason="好")
    waiting = await ann.shared.propose(
        "Lines are at most 100 characters long", "convention", reason="读起来舒服", tags=["style"]
    )
    (record,) = await memory.shared.list()
    return record.id, waiting.id


async def test_a_callers_export_has_nothing_shared_and_comes_back_whole(
    memory: Memory, other: Memory
):
    shared, proposal = await shared_things(memory)
    await memory.remember("我的 mine")
    agent = memory.scope(agent="rita")
    await agent.remember("the agent's")

    for view, home in ((memory, other), (agent, other.scope(agent="rita"))):
        lines = await lines_of(view, all_scopes=False)
        assert shared.encode() not in b"".join(lines)
        assert proposal.encode() not in b"".join(lines)
        done = await take_in(home, lines, all_scopes=False)
        assert (done.added, done.bad) == (1, 0)
        assert json.loads(lines[0])["counts"]["records"] == 1


async def test_an_operator_moves_what_is_shared_and_what_is_proposed(memory: Memory, other: Memory):
    shared, proposal = await shared_things(memory)
    lines = await lines_of(memory)
    counts = json.loads(lines[0])["counts"]
    assert (counts["records"], counts["proposals"]) == (1, 2)

    with pytest.raises(NotAllowed):
        await take_in(other, lines, all_scopes=False)
    assert (await take_in(other, lines)).added == 3
    assert (await lines_of(other))[1:] == lines[1:]
    assert [it.id for it in await other.shared.list()] == [shared]
    (waiting,) = await other.shared.proposals(status="pending")
    assert (waiting.id, waiting.body["tags"]) == (proposal, ["style"])

    await other.shared.reject(proposal, "不要")
    again = await take_in(other, lines)
    assert (again.added, again.unchanged, again.conflicting) == (0, 3, 0)
    assert (await other.shared.proposal(proposal)).status == "rejected"
    changed = [line.replace("读起来舒服".encode(), "乱".encode()) for line in lines]
    told = await take_in(memory, changed)
    assert (told.conflicting, told.problems[0].code) == (1, "id_taken")


async def test_a_proposal_past_its_time_moves_as_it_is_stored(
    memory: Memory, other: Memory, clock: TurnedClock
):
    await shared_things(memory)
    clock.turn(days=365)
    lines = await lines_of(memory)
    assert [json.loads(it)["status"] for it in of_type(lines, "proposal")] == [
        "approved",
        "pending",
    ]
    await take_in(other, lines)
    assert len(await other.shared.proposals(status="expired")) == 1


async def test_traces_and_the_audit_stay_with_their_database(
    memory: Memory, other: Memory, tmp_path: Path
):
    await said(memory, "记住：我女儿叫米娅。")
    await memory.extract("晨会")
    await take_in(other, await lines_of(memory))
    assert ask(tmp_path / "other.db", "SELECT count(*) FROM writes") == [(0,)]
    actions = {it for (it,) in ask(tmp_path / "other.db", "SELECT action FROM audit")}
    assert actions == {"import"}
