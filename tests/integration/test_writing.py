"""Writing through the pipeline, on a real database."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.record import Status, Tier
from recollect.errors import InvalidInput, NotAllowed, NotFound
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.database_servers import ask, tables_of
from tests.fakes import FakeJudge
from tests.services import services

_STEPS = ["route", "redact", "extract", "ground", "reconcile", "store", "audit"]
_MAIL = "ann.lee@example.com"


def _settings(database: Path, **branches: object) -> Settings:
    return Settings.load({"storage": {"path": database}, "data_dir": database.parent, **branches})


async def test_a_new_claim_is_created_and_can_be_recalled_at_once(memory: Memory):
    written = await memory.write("The staging server is called heron.")

    assert written.status == "created"
    assert written.record is not None
    assert written.record.tier is Tier.LONG
    assert [hit.id for hit in await memory.recall("staging server")] == [written.record.id]


async def test_every_step_can_be_seen(memory: Memory):
    written = await memory.write("I prefer short answers.")

    trace = await memory.trace(written.write_id)

    assert [step.name for step in trace.steps] == _STEPS
    assert trace.step("route")["category"] == "user-profile"
    assert trace.step("store") == {
        "status": "created",
        "record": written.record and written.record.id,
    }
    assert trace.scope == memory.caller_scope


async def test_a_trace_is_seen_by_its_own_scope_only(memory: Memory):
    written = await memory.scope(user="ann").write("I prefer short answers.")

    with pytest.raises(NotFound):
        await memory.scope(user="bob").trace(written.write_id)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("The user has a peanut allergy.", "the user has a peanut allergy"),
        ("用户住在杭州。", "用户住在杭州"),
    ],
)
async def test_what_is_said_again_makes_no_new_row(
    memory: Memory, clock: TurnedClock, first: str, again: str
):
    created = await memory.write(first, confidence=0.7)
    clock.turn(days=2)

    merged = await memory.write(again)

    assert merged.status == "merged"
    assert merged.record is not None
    assert created.record is not None
    assert merged.record.id == created.record.id
    assert merged.record.evidence_count == 2
    assert merged.record.confidence > 0.7
    assert merged.record.last_confirmed == clock.now()
    assert len(await memory.list()) == 1


async def test_what_is_contradicted_is_kept_beside_it_as_a_conflict(
    memory: Memory, database_path: Path, judge: FakeJudge
):
    judge.knows("The meeting is on Tuesday.", "The meeting is on Wednesday.", "conflict")
    first = await memory.write("The meeting is on Tuesday.")
    second = await memory.write("The meeting is on Wednesday.")

    assert (first.status, second.status) == ("created", "created")
    assert first.record is not None
    assert second.record is not None
    assert second.record.related == (first.record.id,)
    pairs = ask(database_path, "SELECT first_id, second_id FROM conflicts")
    assert pairs == [(first.record.id, second.record.id)]


async def test_a_conflict_is_named_again_when_the_request_is_repeated(
    memory: Memory, judge: FakeJudge
):
    judge.knows("The meeting is on Tuesday.", "The meeting is on Wednesday.", "conflict")
    await memory.write("The meeting is on Tuesday.")
    once = await memory.write("The meeting is on Wednesday.", idempotency_key="one")

    again = await memory.write("The meeting is on Wednesday.", idempotency_key="one")

    assert once.conflict is not None
    assert again == once


async def test_what_was_true_before_does_not_push_aside_what_is_true_now(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows("The user lives in Oslo.", "The user lives in Rome.", "update", is_sure=True)
    now = await memory.write("The user lives in Oslo.")

    told_late = await memory.write(
        "The user lives in Rome.", created_at=clock.now() - timedelta(days=400)
    )

    assert told_late.status == "versioned"
    assert told_late.record == now.record
    (past,) = await memory.list(status=Status.SUPERSEDED)
    assert now.record is not None
    assert past.related == (now.record.id,)
    assert [hit.id for hit in await memory.recall("where does the user live")] == [now.record.id]


async def test_metadata_says_how_a_change_is_taken_in(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.knows("The user lives in Oslo.", "The user lives in Rome.", "update", is_sure=True)
    await memory.write("The user lives in Oslo.", category="preference")
    clock.turn(days=20)

    written = await memory.write(
        "The user lives in Rome.", category="preference", metadata={"strategy": "append"}
    )

    assert written.record is not None
    assert "Oslo" in written.record.content
    assert "Rome" in written.record.content
    with pytest.raises(InvalidInput):
        await memory.write("Something else.", metadata={"strategy": "guess"})


async def test_what_is_not_explicit_waits_in_the_buffer(memory: Memory, clock: TurnedClock):
    buffered = await memory.write("I feel great today.", category="sentiment", explicit=False)

    assert buffered.status == "buffered"
    assert buffered.record is not None
    assert buffered.record.tier is Tier.SHORT
    assert buffered.record.expires_at == clock.now() + timedelta(days=1)
    clock.turn(days=2)
    assert len(await memory.list()) == 0


async def test_a_profile_belongs_to_the_user_whichever_agent_writes_it(memory: Memory):
    coder = memory.scope(agent="coder", user="ann")

    written = await coder.write("我喜欢简短的回答，以后都这样。")

    assert written.record is not None
    assert written.record.scope == coder.caller_scope.of_user
    again = await memory.scope(agent="writer", user="ann").write("我喜欢简短的回答，以后都这样。")
    assert again.status == "merged"


async def test_a_namespace_is_one_of_the_callers_own(memory: Memory):
    coder = memory.scope(agent="coder", user="ann")

    written = await coder.write("The build takes nine minutes.", namespace="coder_memories/ann")

    assert written.record is not None
    assert written.record.scope == coder.caller_scope
    profile = await coder.write("Ann's team is called Falcon.", namespace="user_profile/ann")
    assert profile.record is not None
    assert profile.record.category == "user-profile"
    with pytest.raises(NotAllowed):
        await coder.write("Something.", namespace="user_profile/bob")


async def test_others_are_never_compared_with(memory: Memory):
    await memory.scope(user="ann").write("The user lives in Oslo.")

    assert (await memory.scope(user="bob").write("The user lives in Oslo.")).status == "created"


async def test_the_same_request_happens_once(memory: Memory):
    first = await memory.write("The staging server is called heron.", idempotency_key="k1")
    again = await memory.write("The staging server is called heron.", idempotency_key="k1")

    assert (again.write_id, again.status) == (first.write_id, "created")
    assert again.record is not None
    assert first.record is not None
    assert again.record.evidence_count == first.record.evidence_count == 1


async def test_many_who_say_the_same_at_once_make_one_record(memory: Memory):
    statuses = await asyncio.gather(
        *(memory.write("The staging server is called heron.") for _ in range(8))
    )

    assert sorted(it.status for it in statuses) == ["created", *["merged"] * 7]
    (record,) = await memory.list()
    assert record.evidence_count == 8


async def test_two_processes_that_say_the_same_make_one_record(
    database_path: Path, memory: Memory, clock: TurnedClock
):
    async with Memory.open(database_path, clock=clock) as other:
        written = await asyncio.gather(
            *(each.write(f"Room {n} is blue.") for n in range(5) for each in (memory, other))
        )

    assert sorted(it.status for it in written) == [*["created"] * 5, *["merged"] * 5]
    assert len(await memory.list()) == 5


@pytest.mark.parametrize("meanwhile", ["a turn", "a record"])
async def test_what_is_written_is_judged_anew_only_where_a_record_came_meanwhile(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, meanwhile: str
):
    candidates = services(memory).writing.pipeline._candidates  # pyright: ignore[reportPrivateUsage]
    find, judged = candidates.of, 0

    async def found_too_early(*arguments: object):
        nonlocal judged
        found = await find(*arguments)  # pyright: ignore[reportArgumentType]
        judged += 1
        if judged == 1 and meanwhile == "a turn":
            await memory.observe([{"role": "user", "content": "早上好"}], session="talk")
        elif judged == 1:
            await memory.remember("The staging server is called heron.")
        return found

    monkeypatch.setattr(candidates, "of", found_too_early)
    written = await memory.write("The staging server is called heron.")

    assert (written.status, judged) == (("created", 1) if meanwhile == "a turn" else ("merged", 2))
    assert len(await memory.list()) == 1


async def test_without_reconciling_everything_stands_beside_the_rest(database_path: Path):
    settings = _settings(database_path, writing={"reconcile": False})
    async with Memory.open(settings) as memory:
        for _ in range(2):
            assert (await memory.write("The user lives in Oslo.")).status == "created"


# --- Policies ------------------------------------------------------------------------------------


async def test_a_policy_holds_for_one_agent_or_for_all(database_path: Path):
    settings = _settings(
        database_path,
        agents={"quiet": {"write_policy": "off"}, "careful": {"write_policy": "explicit"}},
    )
    async with Memory.open(settings) as memory:
        quiet, careful = memory.scope(agent="quiet"), memory.scope(agent="careful")
        refused = await quiet.write("I prefer tea.")
        assert (refused.status, refused.record) == ("skipped", None)
        assert len(await memory.list()) == 0
        assert (await quiet.trace(refused.write_id)).step("route")["policy"] == "off"
        assert (await careful.write("I prefer tea.")).status == "created"
        assert (await careful.write("I had tea.", explicit=False)).status == "skipped"
        assert (await memory.write("I prefer milk.", explicit=False)).status == "buffered"


async def test_a_route_says_what_a_message_has_to_do_with_memory(memory: Memory):
    wish = await memory.route("以后都用中文回复我")
    question = await memory.route("What did we decide last time?")

    assert (wish.should_write, wish.namespaces) == (True, ("user-profile",))
    assert question.should_read
    assert not question.should_write
    assert not (await memory.route("以后都用中文回复我", policy="off")).should_write


# --- Personal data -------------------------------------------------------------------------------


def _everything(database: Path) -> bytes:
    files = (it for it in database.parent.rglob("*") if it.is_file())
    return b"".join([*(file.read_bytes() for file in files), *tables_of(database).values()])


async def test_masked_data_is_nowhere_in_the_database(database_path: Path):
    settings = _settings(database_path, writing={"redact": "mask"})
    async with Memory.open(settings) as memory:
        written = await memory.write(f"Remember that my mail is {_MAIL}.", metadata={"m": _MAIL})
        saved = await memory.remember(f"Mail: {_MAIL}", title=_MAIL, idempotency_key="a")
        await memory.update(saved.id, f"New mail: {_MAIL}")
        await memory.observe(
            [{"role": "user", "content": f"I always use {_MAIL}.", "extra": {"mail": _MAIL}}],
            session="s",
            idempotency_key="b",
        )
        async with memory.session("t") as session:
            await session.observe({"role": "user", "content": f"Always write to {_MAIL}."})
            await session.end()
        await memory.extract()
        await memory.drain()
        trace = await memory.trace(written.write_id)

    assert written.record is not None
    assert "[email]" in written.record.content
    assert trace.step("redact") == {"mode": "mask", "counts": {"email": 2}}
    assert _MAIL.encode() not in _everything(database_path)
    assert b'"email":' in _everything(database_path)


async def test_large_results_are_put_away_without_personal_data(database_path: Path):
    settings = _settings(database_path, writing={"redact": "mask"}, archive={"threshold": 200})
    call = {"id": "c1", "type": "function", "function": {"name": "crm", "arguments": "{}"}}
    async with Memory.open(settings) as memory, memory.session("s") as session:
        await session.observe({"role": "user", "content": "Who are our customers?"})
        await session.observe({"role": "assistant", "content": None, "tool_calls": [call]})
        result = "\n".join(f"customer {n}: {_MAIL}" for n in range(50))
        await session.observe({"role": "tool", "tool_call_id": "c1", "content": result})
        (archive,) = session._intake.archives
        loaded = await memory.load_tool_history(archive)

    assert "[email]" in loaded
    assert _MAIL not in loaded
    assert _MAIL.encode() not in _everything(database_path)


async def test_dropped_data_is_nowhere_and_is_told(database_path: Path):
    settings = _settings(database_path, writing={"redact": "drop"})
    async with Memory.open(settings) as memory:
        written = await memory.write(f"Remember that my mail is {_MAIL}.")
        with pytest.raises(InvalidInput, match="personal data"):
            await memory.remember(f"Mail: {_MAIL}")
        saved = await memory.remember("Mail: at work")
        with pytest.raises(InvalidInput, match="personal data"):
            await memory.update(saved.id, f"Mail: {_MAIL}")
        (turn,) = await memory.observe([{"role": "user", "content": f"I use {_MAIL}."}])

    assert (written.status, written.record) == ("skipped", None)
    assert turn.content == "[removed: held personal data]"
    assert _MAIL.encode() not in _everything(database_path)


async def test_nothing_is_taken_out_unless_asked(memory: Memory):
    written = await memory.write(f"Remember that my mail is {_MAIL}.")

    assert written.record is not None
    assert _MAIL in written.record.content
