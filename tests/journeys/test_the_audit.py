"""An auditor asks: who wrote what, which records entered which prompt, and was this changed?"""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.assemble.stores import restore
from recollect.backends.audit_anchor import anchor_of
from recollect.backends.sql import schema
from recollect.domain.audit import AuditEntry, AuditVerdict
from recollect.erasure.audit_entries import erase_audit_of
from recollect.errors import NotAllowed, NotFound
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.database_servers import ask, open_at, place_of
from tests.database_servers import tamper as change_rows
from tests.nursery import WARM


def tamper(database: Path, sql: str) -> None:
    assert change_rows(database, sql) > 0


def told(verdict: AuditVerdict) -> list[tuple[int | None, str]]:
    return [(fault.seq, fault.what) for fault in verdict.faults]


def said(entry: AuditEntry) -> dict[str, Any]:
    """What an entry tells, without the digests that prove it."""
    return {name: value for name, value in entry.payload.items() if name != "digests"}


def forget_scope_of(user: str, database: Path) -> int:
    """Erase the account of a user as forgetting does."""
    opened = open_at(database)
    its = select(schema.scopes.c.id).where(schema.scopes.c.user == user)
    try:
        return opened.write_here(
            lambda connection: erase_audit_of(
                connection, connection.scalars(its).all(), forget_id="forget_1", now=0
            )
        )
    finally:
        opened.close_here()


async def write_a_little(memory: Memory) -> str:
    record = await memory.remember("Ann prefers green tea", reason="she said so")
    await memory.update(record.id, "Ann prefers black tea", reason="她改主意了")
    await memory.observe([{"role": "user", "content": "我喜欢红茶"}], session="s1")
    await memory.delete(record.id, reason="no longer true")
    return record.id


async def test_every_write_says_who_did_what_and_why(memory: Memory, clock: TurnedClock):
    ann = memory.scope(user="ann", agent="writer")
    record = await ann.remember("The harbour opens at 6", reason="from the leaflet")
    clock.turn(minutes=5)
    await ann.update(record.id, "The harbour opens at 7", reason="港口改了时间")
    turns = await ann.observe([{"role": "user", "content": "几点开门？"}], session="s1")
    await ann.used(record.id)
    await ann.delete(record.id)
    await ann.purge(record.id)

    trail = list(await ann.audit.tail())
    assert [it.action for it in trail] == [
        *("purge", "delete", "feedback", "observe", "update", "remember"),
    ]
    assert {it.actor for it in trail} == {"writer"}
    first, second = trail[-1], trail[-2]
    assert said(first) == {"records": {record.id: 1}, "reasons": ["from the leaflet"]}
    assert said(second) == {"records": {record.id: 2}, "reasons": ["港口改了时间"]}
    assert (second.at - first.at).total_seconds() == 300
    assert said(trail[3 - 6]) == {"turns": {turns[0].id: "s1"}}
    # What was said stays where it can be forgotten; the account only names it.
    assert all("harbour" not in str(it.payload) for it in trail)
    assert [it.action for it in await ann.audit.show(record.id)] == [
        *("remember", "update", "feedback", "delete", "purge"),
    ]


async def test_a_caller_sees_only_what_happened_in_its_own_scopes(memory: Memory):
    ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
    record = await ann.remember("Ann's secret")
    assert not len(await bob.audit.tail())
    with pytest.raises(NotFound):
        await bob.audit.show(record.id)


async def test_an_operator_sees_what_happened_in_every_scope(memory: Memory):
    ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
    record = await ann.remember("Ann's secret")
    await bob.remember("Bob's secret")
    whole = memory.scope(agent=None, user=None).workspace
    saved = await whole.audit(action="remember")
    assert [it.scope.user for it in saved] == ["bob", "ann"]
    assert [it.scope.user for it in await whole.audit(user="bob")] == ["bob"]
    (entry,) = await whole.audit(about=record.id)
    assert (entry.action, entry.target) == ("remember", record.id)
    with pytest.raises(NotAllowed):
        await ann.workspace.audit()


async def test_pages_of_the_account_follow_each_other(memory: Memory):
    for number in range(7):
        await memory.remember(f"note {number}")
    seen: list[int] = []
    cursor = None
    while True:
        page = await memory.audit.tail(limit=3, cursor=cursor, action="remember")
        seen += [it.id for it in page]
        if (cursor := page.next_cursor) is None:
            break
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 7


async def test_reading_and_searching_leave_no_trace(memory: Memory):
    record = await memory.remember("Ann prefers green tea")
    await memory.recall("tea")
    await memory.get(record.id)
    await memory.drain()
    assert [it.action for it in await memory.audit.tail()] == ["remember"]


async def test_the_chain_holds_before_and_after_forgetting(memory: Memory, database_path: Path):
    await write_a_little(memory.scope(user="ann"))
    await memory.scope(user="bob").remember("Bob has a boat")
    verdict = await memory.audit.verify()
    assert (verdict.sealed, verdict.unsealed, verdict.is_intact) == (0, 5, True)

    assert await memory.audit.seal() == 5
    verdict = await memory.audit.verify()
    assert (verdict.sealed, verdict.unsealed, verdict.is_intact) == (5, 0, True)

    assert forget_scope_of("ann", database_path) == 4
    verdict = await memory.audit.verify()
    # That entries were erased is an entry of its own.
    assert (verdict.sealed, verdict.unsealed, verdict.erased) == (5, 1, 4)
    assert verdict.is_intact
    await memory.audit.seal()
    verdict = await memory.audit.verify()
    assert (verdict.sealed, verdict.unsealed, verdict.erased) == (6, 0, 4)
    assert verdict.is_intact

    rows = ask(database_path, "SELECT * FROM audit")
    assert "她改主意了" not in str(rows)
    assert "ann" not in str(rows)
    (entry, *_) = await memory.scope(user="ann").audit.tail(action="update")
    assert (entry.is_erased, entry.actor, entry.payload) == (True, "", {})
    (bobs,) = await memory.scope(user="bob").audit.tail(action="remember")
    assert not bobs.is_erased


async def test_forgetting_one_record_erases_only_what_names_it(memory: Memory, database_path: Path):
    gone = await memory.remember("Ann's old address", reason="地址")
    kept = await memory.remember("Ann's boat")
    opened = open_at(database_path)
    opened.write_here(
        lambda connection: erase_audit_of(
            connection, [1], naming=[gone.id], forget_id="forget_1", now=0
        )
    )
    opened.close_here()
    erased = {it.target: it.is_erased for it in await memory.audit.tail(action="remember")}
    assert erased == {gone.id: True, kept.id: False}


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("UPDATE audit SET payload = replace(payload, '她', '他') WHERE seq = 2", "payload"),
        ("UPDATE audit SET actor = 'somebody else' WHERE seq = 2", "actor"),
        ("UPDATE audit SET action = 'remember' WHERE seq = 2", "action"),
        ("UPDATE audit SET at = at - 1 WHERE seq = 2", "at"),
        ("UPDATE audit SET target = 'mem_other' WHERE seq = 2", "target"),
        ("UPDATE audit SET scope_id = 2 WHERE seq = 2", "payload"),
    ],
)
async def test_a_changed_entry_is_found(memory: Memory, database_path: Path, sql: str, what: str):
    await write_a_little(memory)
    await memory.scope(user="bob").remember("another scope")
    await memory.audit.seal()
    tamper(database_path, sql)
    assert told(await memory.audit.verify()) == [(2, f"the entry was changed: {what}")]


@pytest.mark.sqlite(reason="a server keeps no text in a column of numbers")
async def test_what_cannot_be_read_any_more_is_told_as_changed(memory: Memory, database_path: Path):
    await write_a_little(memory.scope(user="ann"))
    forget_scope_of("ann", database_path)
    await memory.audit.seal()
    tamper(database_path, "UPDATE audit SET payload = 'no json' WHERE action = 'erase'")
    tamper(database_path, "UPDATE audit SET at = 'long ago' WHERE seq = 1")
    tamper(database_path, "UPDATE audit_chain SET target = x'00ff' WHERE seq = 2")
    found = dict(told(await memory.audit.verify()))
    assert found.keys() == {1, 2, 3, 4, 5}
    assert found[5] == "the entry was changed: payload"
    (mark,) = await memory.scope(user="ann").audit.tail(action="erase")
    assert mark.payload == {"unreadable": "no json"}


async def test_what_is_missing_is_found(memory: Memory, database_path: Path):
    await write_a_little(memory)
    await memory.audit.seal()

    tamper(database_path, "DELETE FROM audit WHERE seq = 1")
    tamper(database_path, "UPDATE audit SET actor = '', payload = '', salt = '' WHERE seq = 2")
    tamper(database_path, "DELETE FROM audit_chain WHERE seq = 3")
    assert told(await memory.audit.verify()) == [
        (1, "the entry is gone"),
        (4, "links 3 to 3 before this one are gone"),
        (4, "the link is not the one that was sealed here"),
        (3, "the entry was sealed, and its link is gone"),
        (2, "the entry was emptied without a forgetting"),
    ]


async def test_an_end_that_was_cut_off_is_found_by_the_anchor(
    memory: Memory, database_path: Path, caplog: pytest.LogCaptureFixture
):
    await write_a_little(memory)
    await memory.audit.seal()
    tamper(database_path, "DELETE FROM audit_chain WHERE seq > 2")
    tamper(database_path, "DELETE FROM audit WHERE seq > 2")
    cut = [(4, "the chain went to 4 and ends at 2: its end was removed")]
    assert told(await memory.audit.verify()) == cut

    # Going on does not cover it up.
    for number in range(3):
        await memory.remember(f"note {number}")
    await memory.audit.seal()
    assert told(await memory.audit.verify()) == [(4, "the chain was rewritten up to here")]
    assert "was cut off" in caplog.text


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_a_restored_backup_is_no_fault(database_path: Path, tmp_path: Path):
    async with Memory.open(database_path) as memory:
        await memory.remember("first")
        await memory.audit.seal()
        await memory.backup(tmp_path / "copy.db")
        await memory.remember("second")
    assert anchor_of(database_path).exists()
    await restore(tmp_path / "copy.db", database_path)
    async with Memory.open(database_path) as memory:
        verdict = await memory.audit.verify()
        assert (verdict.sealed, verdict.is_intact) == (1, True)


async def test_closing_a_memory_seals_what_it_wrote(database_path: Path):
    async with Memory.open(database_path) as memory:
        await memory.remember("Ann prefers green tea")
        await memory.context("tea")
    async with Memory.open(database_path) as memory:
        verdict = await memory.audit.verify()
        assert (verdict.sealed, verdict.unsealed, verdict.is_intact) == (2, 0, True)


async def test_workspaces_have_chains_of_their_own(memory: Memory, database_path: Path):
    other = memory.scope(workspace="港口")
    await memory.remember("here")
    await other.remember("there")
    await memory.audit.seal()
    tamper(database_path, "UPDATE audit_chain SET at = at + 1 WHERE workspace = '港口'")
    assert (await memory.audit.verify()).is_intact
    assert not (await other.audit.verify()).is_intact


_SEALER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        for number in range(30):
            await memory.remember(f"note {number}")
            await memory.audit.seal()

asyncio.run(main())
"""


def _sealer(database: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([WARM, "-c", _SEALER, place_of(database)])


async def test_two_processes_that_seal_at_once_make_one_chain(database_path: Path):
    async with Memory.open(database_path):
        pass
    sealers = [_sealer(database_path), _sealer(database_path)]
    assert [sealer.wait(timeout=120) for sealer in sealers] == [0, 0]
    async with Memory.open(database_path) as memory:
        verdict = await memory.audit.verify()
        assert (verdict.sealed, verdict.unsealed, verdict.is_intact) == (60, 0, True)


async def test_which_records_entered_which_prompt(memory: Memory, clock: TurnedClock):
    agent = memory.scope(user="ann", agent="cook")
    tea = await agent.remember("安妮喜欢绿茶")
    await agent.remember("The boat is in the harbour")
    clock.turn(hours=1)
    block = await agent.context("安妮喝什么茶？绿茶吗", session="s1", run="run-1", min_score=0.2)
    assert block.ids == (tea.id,)

    (entry,) = await agent.audit.tail(action="inject")
    assert entry.target == block.recall_id
    assert (entry.actor, entry.at) == ("cook", clock.now())
    assert entry.payload["question"] == "安妮喝什么茶？绿茶吗"
    ((ident, kind, version, score),) = entry.payload["items"]
    assert (ident, kind, version) == (tea.id, "semantic", 1)
    assert score >= 0.2
    wanted = {"session": "s1", "run": "run-1", "min_score": 0.2, "agent": "cook", "limit": 5}
    assert wanted.items() <= entry.payload.items()
    assert ["local", "default", "cook", "ann"] in entry.payload["scopes"]
    # It is told of the record as well, and changes nothing of what a recall answers.
    assert [it.action for it in await agent.audit.show(tea.id)] == ["remember", "inject"]


async def test_a_prompt_that_was_given_nothing_is_not_audited(memory: Memory):
    block = await memory.context("what about tea?")
    assert not block.text
    assert not len(await memory.audit.tail())
    with pytest.raises(NotFound) as problem:
        await memory.audit.replay(block.recall_id)
    assert problem.value.code == "unknown_recall"


async def test_what_a_session_was_given_is_audited_with_its_name(memory: Memory):
    tea = await memory.remember("Ann prefers green tea")
    async with memory.session("s7") as session:
        await session.observe({"role": "user", "content": "which tea does Ann like?"})
        await session.prepare(query="green tea for Ann")
    (entry,) = await memory.audit.tail(action="inject")
    assert entry.payload["session"] == "s7"
    assert [it[0] for it in entry.payload["items"]] == [tea.id]


async def test_a_replay_shows_what_became_of_what_was_given(memory: Memory, clock: TurnedClock):
    names = ("changed", "deleted", "purged", "kept")
    records = {it: await memory.remember(f"green tea, the {it} one 绿茶") for it in names}
    clock.turn(hours=1)
    block = await memory.context("green tea 绿茶")
    assert set(block.ids) == {it.id for it in records.values()}
    same = await memory.audit.replay(block.recall_id)
    assert same.is_same
    assert [it.id for it in same.items] == list(block.ids)

    clock.turn(hours=1)
    await memory.update(records["changed"].id, "black tea and green tea 红茶")
    await memory.delete(records["deleted"].id)
    await memory.delete(records["purged"].id)
    await memory.purge(records["purged"].id)
    new = await memory.remember("green tea, the new one 绿茶")

    replay = await memory.audit.replay(block.recall_id)
    assert not replay.is_same
    assert (replay.question, replay.at) == ("green tea 绿茶", same.at)
    fates = {it.id: it for it in replay.items}
    assert {name: fates[it.id].fate for name, it in records.items()} == {
        "changed": "changed",
        "deleted": "deleted",
        "purged": "forgotten",
        "kept": "same",
    }
    changed = fates[records["changed"].id]
    assert (changed.version, changed.version_now) == (1, 2)
    assert changed.content == "green tea, the changed one 绿茶"
    assert changed.score is not None
    assert changed.score_then is not None
    assert changed.score_now is not None
    assert fates[records["deleted"].id].score_now is None
    assert fates[records["purged"].id].content == ""
    assert (fates[new.id].fate, fates[new.id].score) == ("new", None)


async def test_a_recall_whose_subject_was_forgotten_cannot_be_replayed(
    memory: Memory, database_path: Path
):
    ann = memory.scope(user="ann")
    await ann.remember("Ann prefers green tea")
    block = await ann.context("green tea")
    await ann.audit.seal()
    forget_scope_of("ann", database_path)
    with pytest.raises(NotFound) as problem:
        await ann.audit.replay(block.recall_id)
    assert problem.value.code == "erased"


async def live_a_little(memory: Memory) -> dict[str, str]:
    """Things of every kind that the audit holds digests of; their ids."""
    ann, helper = memory.scope(user="ann"), memory.scope(user="ann", agent="helper")
    (turn,) = await helper.observe({"role": "user", "content": "我最喜欢的颜色是绿色"})
    tea = await ann.remember("Ann prefers green tea", tags=["茶"], confidence=1, importance=1)
    await ann.update(tea.id, "Ann prefers black tea", reason="she said so")
    steps = await ann.remember(
        "How to make tea", kind="procedural", trigger="tea", steps=["boil", "wait"]
    )
    await ann.used(steps.id)
    await ann.recall("tea")
    gone = await ann.remember("Ann had a cat")
    await ann.delete(gone.id)
    await ann.purge(gone.id)
    many = await ann.remember_many([f"note {number}" for number in range(5)])
    await ann.forget(many[2].id)
    return {"turn": turn.id, "tea": tea.id, "steps": steps.id, "note": many[3].id}


async def test_what_nobody_changed_is_what_was_stored(
    memory: Memory, database_path: Path, tmp_path: Path
):
    await live_a_little(memory)
    verdict = await memory.audit.verify()
    assert told(verdict) == []
    # A turn, the tea in two versions, the steps, and four notes that stay.
    assert (verdict.proved, verdict.unproved) == (8, 0)
    boxes = tmp_path / "boxes.jsonl"
    await memory.export_to(boxes, all_scopes=True)
    async with Memory.open(tmp_path / "other.db") as other:
        await other.import_from(boxes, all_scopes=True)
        verdict = await other.audit.verify()
        assert (told(verdict), verdict.proved, verdict.unproved) == ([], 8, 0)
    await memory.scope(user="ann").forget(user="ann")
    verdict = await memory.audit.verify()
    assert (told(verdict), verdict.proved, verdict.unproved) == ([], 0, 0)


@pytest.mark.parametrize(
    ("of", "version", "sql"),
    [
        ("tea", "2", "UPDATE records SET content = 'Ann prefers black tee' WHERE id = ?"),
        ("tea", "2", "UPDATE records SET confidence = 0.2 WHERE id = ?"),
        ("tea", "1", "UPDATE versions SET body = replace(body, 'green', 'white') "
         "WHERE record_id = ?"),
        ("steps", "1", "UPDATE records SET details = replace(details, 'boil', 'burn') "
         "WHERE id = ?"),
        ("note", "1", "UPDATE records SET scope_id = 1 WHERE id = ?"),
        ("turn", "", "UPDATE turns SET content = '我最喜欢的颜色是红色' WHERE id = ?"),
    ],
)  # fmt: skip
async def test_a_silent_change_of_content_is_found_and_named(
    memory: Memory, database_path: Path, of: str, version: str, sql: str
):
    ident = (await live_a_little(memory))[of]
    await memory.audit.seal()
    assert change_rows(database_path, sql.replace("?", f"'{ident}'")) == 1
    what = f"{ident} (version {version})" if version else ident
    ((seq, fault),) = told(await memory.audit.verify())
    assert seq is not None
    assert fault == f"{what} is not what was stored: it was changed outside of Recollect"

    found = await diagnose(memory.settings, deep=True)
    (contents,) = (it for it in found.findings if it.part == "contents")
    assert (found.verdict, contents.verdict) == ("problem", "problem")
    assert what in contents.message


@pytest.mark.sqlite(reason="it changes a byte of the file")
async def test_a_changed_byte_in_the_file_is_found(database_path: Path):
    async with Memory.open(database_path) as memory:
        kept = await memory.remember("The account number is 41790255")
    content = database_path.read_bytes()
    assert content.count(b"41790255") == 1
    database_path.write_bytes(content.replace(b"41790255", b"41790155"))
    settings = Settings.load({"storage": {"path": database_path}})
    found = await diagnose(settings, deep=True)
    assert found.verdict == "problem"
    assert kept.id in next(it.message for it in found.findings if it.part == "contents")


async def test_a_record_that_went_silently_is_missed(memory: Memory, database_path: Path):
    ident = (await live_a_little(memory))["note"]
    tamper(database_path, f"DELETE FROM records WHERE id = '{ident}'")
    ((_, fault),) = told(await memory.audit.verify())
    assert fault == f"{ident} (version 1) is gone, and nobody removed it"
