"""What conversations say becomes memory: in time, once, off the path of whoever talks."""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from recollect import Memory
from recollect.backends.sql import schema
from recollect.domain.record import Evidence, Kind, Status, Tier
from recollect.domain.times import to_micros
from recollect.errors import ModelError, SettingsError
from recollect.language.memory_block import memory_block
from recollect.models.language.scripted import Reply, ScriptedModel, Slowly
from recollect.settings import Settings
from recollect.writing.extraction import Extraction
from recollect.writing.model_extraction import ModelExtractor, locate
from tests.conftest import TurnedClock
from tests.database_servers import open_at
from tests.fakes import FakeJudge
from tests.services import services, store_of


def _user(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def _contents(found: Sequence[Any]) -> list[str]:
    return [it.record.content for it in found if it.record is not None]


# --- When ----------------------------------------------------------------------------------------


async def test_what_is_said_is_buffered_and_what_is_asked_for_is_kept(
    memory: Memory, clock: TurnedClock
):
    await memory.observe(
        _user(
            "I collect old maps.",
            "记住：我女儿叫米娅。",
            "Please send me the report on Friday, I need to follow up.",
        ),
        session="s",
    )

    found = await memory.extract("s")

    by_tier = {it.record.content: it for it in found if it.record}
    assert by_tier["User collects old maps"].status == "buffered"
    kept = next(it for it in found if it.record and "米娅" in it.record.content)
    assert kept.status == "created"
    assert kept.record is not None
    assert kept.record.tier is Tier.LONG
    assert kept.record.source == "user-stated"
    buffered = by_tier["User collects old maps"].record
    assert buffered is not None
    assert buffered.expires_at == clock.now() + timedelta(days=7)
    assert buffered.session == "s"
    (turn,) = [it.turn for it in buffered.evidence]
    assert (await memory.turn(turn)).content == "I collect old maps."


async def test_next_week_is_still_that_week_when_it_is_read_later(
    memory: Memory, clock: TurnedClock
):
    await memory.observe(
        _user("下周三我要去深圳出差。", "We moved to Leeds last month."), session="s"
    )
    await memory.extract("s")
    clock.turn(days=3, hours=23)

    told = [record.content for record in await memory.list()]

    # The clock began on Sunday, 1 March 2026; a follow-up is forgotten after three days, unless
    # its day is still to come.
    assert any("下周三（2026-03-04）" in it for it in told)
    assert any("last month (2026-02)" in it for it in told)
    assert await memory.extract("s") == ()


async def test_what_is_put_right_a_day_later_keeps_its_day(memory: Memory, clock: TurnedClock):
    await memory.observe(_user("My flight is tomorrow at 8:30."), session="s")
    clock.turn(hours=24)
    await memory.observe(_user("No, it's at 9:30."), session="s")

    told = _contents(await memory.extract("s"))

    assert any("tomorrow (2026-03-02) at 8:30 – No, it's at 9:30" in it for it in told), told


async def test_the_day_is_that_of_the_machine_s_time_zone(
    memory: Memory, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    clock.turn(hours=6)
    try:
        await memory.observe(_user("My flight is tomorrow at 8:30."), session="s")
        told = _contents(await memory.extract("s"))
    finally:
        monkeypatch.undo()
        time.tzset()

    day = (clock.now() + timedelta(hours=14, days=1)).date()
    assert any(f"({day})" in it for it in told), told


@pytest.mark.parametrize(
    ("where", "told", "day"),
    [
        ("Pacific/Kiritimati", "2026-03-01T09:00:00+00:00", "2026-03-02"),
        ("+14:00", "2026-03-01T11:00:00+00:00", "2026-03-03"),
        # Who speaks is elsewhere: still in February, by their own clock.
        ("Pacific/Kiritimati", "2026-02-28T23:30:00-10:00", "2026-03-01"),
    ],
)
@pytest.mark.parametrize("is_session", [True, False])
async def test_days_are_those_of_who_speaks(
    database_path: Path, clock: TurnedClock, where: str, told: str, day: str, is_session: bool
):
    settings = Settings.load({"storage": {"path": database_path}, "scope": {"time_zone": where}})
    said = {"role": "user", "content": "My flight is tomorrow at 8:30.", "at": told}
    async with Memory.open(settings, clock=clock) as memory:
        if is_session:
            async with memory.session("s") as session:
                await session.observe([said])
        else:
            await memory.observe([said], session="s")
        await memory.extract("s")
        found = [it.content for it in await memory.list()]

    assert any(f"tomorrow ({day}) at 8:30" in it for it in found), found


async def test_a_time_zone_that_is_none_is_refused():
    with pytest.raises(SettingsError, match="Mars"):
        Settings.load({"scope": {"time_zone": "Mars/Base"}})


async def test_a_day_at_the_end_of_all_times_is_kept(memory: Memory):
    written = await memory.write("The lease ends on 9999-12-30", explicit=False)

    assert written.record is not None
    assert written.record.expires_at is not None
    assert written.record.expires_at.year == 9999


async def test_reading_twice_finds_nothing_new(memory: Memory):
    await memory.observe(_user("I work at Acme.", "I live in Oslo."), session="s")
    first = await memory.extract("s")
    before = await memory.list()

    assert await memory.extract("s") == ()
    assert await memory.extract() == ()
    assert await memory.list() == before
    assert len(first) == len(before)


async def test_what_was_saved_from_a_turn_is_not_found_in_it_again(memory: Memory):
    (turn,) = await memory.observe(_user("I work at Acme. I collect old maps."), session="s")
    whole = Evidence(turn=turn.id, start=0, end=len(turn.content))
    saved = await memory.remember("Ann has worked at Acme since May", evidence=[whole], session="s")

    found = await memory.extract("s")

    assert [(it.status, it.record and it.record.content) for it in found] == [
        ("skipped", saved.content),
        ("buffered", "User collects old maps"),
    ]


async def test_what_was_saved_from_a_turn_and_corrected_stays_corrected(memory: Memory):
    (turn,) = await memory.observe(_user("我喜欢靠窗的座位。"), session="s")
    said = Evidence(turn=turn.id, start=0, end=len(turn.content) - 1)
    saved = await memory.remember("安妮喜欢靠窗的座位", evidence=[said], session="s")
    await memory.update(saved.id, "安妮现在只要过道座位")

    await memory.extract("s")

    assert [it.content for it in await memory.list()] == ["安妮现在只要过道座位"]


async def test_all_sessions_are_read_when_none_is_named(memory: Memory):
    await memory.observe(_user("I work at Acme."), session="a")
    await memory.observe(_user("My cat is called Momo."), session="b")

    assert len(await memory.extract()) == 2


async def test_a_job_waits_until_enough_was_said(memory: Memory):
    await memory.observe(_user("I work at Acme.", *["Hm."] * 8), session="s")
    await memory.drain()
    assert [it.content for it in await memory.list()] == []

    await memory.observe(_user("And so on."), session="s")
    await memory.drain()

    assert [it.content for it in await memory.list()] == ["User works at Acme"]


async def test_what_is_asked_to_be_kept_is_read_at_once(memory: Memory):
    await memory.observe(_user("I work at Acme.", "Remember that my cat is called Momo."))
    await memory.drain()

    assert "User's cat is called Momo" in {it.content for it in await memory.list()}


async def test_a_short_chat_is_read_when_nothing_is_said_any_more(
    memory: Memory, clock: TurnedClock
):
    await memory.observe(_user("I work at Acme."), session="s")
    clock.turn(minutes=4)
    await memory.observe(_user("And so on."), session="s")
    clock.turn(minutes=4)
    await memory.drain()
    assert [it.content for it in await memory.list()] == []

    clock.turn(minutes=1)
    await memory.drain()
    assert [it.content for it in await memory.list()] == ["User works at Acme"]


async def test_leaving_a_session_is_enough_and_ends_nothing(memory: Memory):
    async with memory.session("s") as session:
        await session.observe(_user("I work at Acme."))
    await memory.drain()
    assert [it.content for it in await memory.list()] == ["User works at Acme"]

    async with memory.session("s") as session:
        assert len(await session.prepare()) == 1
        assert not session.summaries
    assert (await memory.stats()).store.turns == 1


async def test_the_end_of_a_session_is_enough(memory: Memory):
    async with memory.session("s") as session:
        await session.observe(_user("I work at Acme."))
        await session.end()

    await memory.drain()

    assert [it.content for it in await memory.list()] == ["User works at Acme"]


@pytest.mark.parametrize(("policy", "kept"), [("off", 0), ("explicit", 1), ("auto", 2)])
async def test_the_policy_says_what_becomes_memory(
    database_path: Path, clock: TurnedClock, policy: str, kept: int
):
    tree = {"storage": {"path": database_path}, "writing": {"policy": policy}}
    async with Memory.open(Settings.load(tree), clock=clock) as memory:
        async with memory.session("s") as session:
            await session.observe(_user("I work at Acme.", "Remember that my cat is called Momo."))
            await session.end()
        await memory.drain()
        assert len(await memory.list()) == kept


async def test_a_long_backlog_is_read_piece_by_piece(memory: Memory):
    for number in range(8):
        await memory.observe(
            _user(*[f"Room {number}-{n} is blue." for n in range(10)]), session="s"
        )
    await memory.observe(_user("I work at Acme."), session="s")

    await memory.drain()
    await memory.extract("s")

    assert "User works at Acme" in [it.content for it in await memory.list(limit=200)]
    assert await memory.extract("s") == ()


async def test_a_later_statement_changes_an_earlier_one_of_the_same_reading(
    memory: Memory, clock: TurnedClock, judge: FakeJudge
):
    judge.is_sure_of_all = "update"
    long_ago = clock.now() - timedelta(days=40)
    await memory.observe([{**_user("I live in Oslo.")[0], "at": long_ago}], session="s")
    await memory.observe(_user("I live in Rome."), session="s")

    await memory.extract("s")

    (record,) = await memory.list()
    assert "Rome" in record.content
    assert ["Oslo" in it.record.content for it in await memory.history(record.id)] == [True, False]


# --- What came out of memory ----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["structured", "flat"])
async def test_what_memory_said_is_not_remembered_again(memory: Memory, form: Any):
    block = memory_block(form, "en", "- I live in Oslo and I work at Acme. (user-stated)")
    calls = [{"id": "c1", "type": "function", "function": {"name": "memory_recall"}}]
    await memory.observe(
        [
            {"role": "system", "content": block},
            {"role": "user", "content": f"{block}\nMy cat is called Momo."},
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "I live in Oslo."},
            {"role": "assistant", "content": "As you said, you live in Oslo and work at Acme."},
        ],
        session="s",
    )

    assert _contents(await memory.extract("s")) == ["User's cat is called Momo"]


async def test_a_model_is_not_shown_what_came_out_of_memory(memory: Memory):
    block = memory_block("structured", "zh", "- 用户住在杭州。")
    model = ScriptedModel([{"statements": [_says("用户住在杭州。", 1, "用户住在杭州")]}])
    await memory.observe(
        [
            {"role": "user", "content": f"{block}\n今天天气不错。"},
            {"role": "tool", "content": "用户住在杭州。", "tool_call_id": "c"},
        ],
        session="s",
    )

    (found,) = await _extraction(memory, model).extract(memory._caller, "s")

    assert "杭州" not in model.prompts[0].text
    assert found.status == "quarantined"


# --- With a model --------------------------------------------------------------------------------


def _extraction(memory: Memory, model: ScriptedModel) -> Extraction:
    writing, store = services(memory).writing, store_of(memory)
    extractor = ModelExtractor(model)
    return Extraction(store, writing.writes, writing.pipeline, writing.policy, extractor)


def _says(content: str, turn: int, quote: str, category: str = "user") -> dict[str, Any]:
    return {"category": category, "content": content, "turn": turn, "quote": quote}


@pytest.fixture
async def talked(memory: Memory) -> Memory:
    await memory.observe(
        [
            {
                "role": "user",
                "content": "Hi! My flat has 3 rooms. From now on use metric units.",
            },
            {"role": "assistant", "content": "Done. I converted the plan to metric."},
            {"role": "user", "content": "我们决定用 PostgreSQL。"},
        ],
        session="s",
    )
    return memory


async def _extract(memory: Memory, *replies: Reply, patience: float = 5.0):
    model = ScriptedModel(replies, seconds=patience)
    found = await _extraction(memory, model).extract(memory._caller, "s")
    return found, model


async def test_a_model_may_tell_what_a_statement_states(talked: Memory):
    says = _says("The user's flat has 3 rooms.", 1, "My flat has 3 rooms")
    found, _ = await _extract(
        talked, {"statements": [{**says, "facet": "housing", "whom": "user"}]}
    )
    told = next(it.record for it in found if it.record and "3 rooms" in it.record.content)
    assert (told.facet, told.about, told.facet_fixed) == ("housing", "user", False)


async def test_what_a_model_finds_is_kept_with_its_words(talked: Memory):
    form: Mapping[str, Any] = {
        "statements": [
            _says("The user's flat has 3 rooms.", 1, "my flat has  3 rooms"),
            _says("决定使用 PostgreSQL。", 3, "我们决定用 PostgreSQL", "decision"),
        ],
        "events": [
            {
                "content": "The plan was converted to metric.",
                "turn": 2,
                "quote": "I converted the plan to metric",
            }
        ],
    }

    found, model = await _extract(talked, form)

    assert "[3] user" in model.prompts[0].text
    flat = next(it.record for it in found if it.record and "flat" in it.record.content)
    (evidence,) = flat.evidence
    turn = await talked.turn(evidence.turn)
    assert turn.content[evidence.start : evidence.end] == "My flat has 3 rooms"
    assert [it.status for it in found] == ["buffered", "buffered", "buffered", "created"]
    # What the user asked for explicitly is kept even where the model does not see it.
    assert found[-1].record is not None
    assert "metric units" in found[-1].record.content
    event = next(it.record for it in found if it.record and it.record.kind is Kind.EPISODIC)
    assert "converted" in event.content


@pytest.mark.parametrize(
    ("claim", "quote", "turn"),
    [
        ("The user's flat has 5 rooms.", "My flat has 3 rooms", 1),
        ("The user's flat has no rooms.", "My flat has 3 rooms", 1),
        ("The user owns a boat called Pinta.", "I own a boat called Pinta", 1),
        ("The user is a pilot.", "I am a pilot", 99),
        ("决定使用 MySQL。", "我们决定用 PostgreSQL", 3),
    ],
)
async def test_what_a_model_makes_up_is_quarantined_and_never_recalled(
    talked: Memory, claim: str, quote: str, turn: int
):
    found, _ = await _extract(talked, {"statements": [_says(claim, turn, quote)]})

    made_up = found[0]
    assert made_up.status == "quarantined"
    assert claim not in [hit.record.content for hit in await talked.recall(claim) if hit.record]
    assert claim not in (await talked.context(claim)).text
    (listed,) = await talked.list(status=Status.QUARANTINED)
    assert listed.content == claim
    trace = await talked.trace(made_up.write_id)
    assert trace.step("ground")["ok"] is False
    assert trace.step("extract") == {"by": "model"}


@pytest.mark.parametrize(
    ("replies", "code"),
    [
        (["no JSON at all", "still none"], "model_bad_output"),
        (['{"statements": [{"content": 1}]}', '{"statements": 7}'], "model_bad_output"),
        ([ModelError("I will not read this", code="model_refused")], "model_refused"),
        ([Slowly(seconds=30, reply={})], "model_timeout"),
    ],
)
async def test_a_model_that_fails_is_told_and_rules_read_instead(
    talked: Memory, caplog: pytest.LogCaptureFixture, replies: list[Reply], code: str
):
    with caplog.at_level(logging.WARNING):
        found, _ = await _extract(talked, *replies, patience=0.2)

    assert any("metric units" in it for it in _contents(found))
    assert (await talked.trace(found[0].write_id)).step("extract") == {
        "by": "rules",
        "degraded": code,
    }
    assert "by rules, not by the model" in caplog.text


async def test_a_failure_is_told_even_where_rules_find_nothing(memory: Memory):
    await memory.observe(_user("Hm."), session="s")

    (told,), _ = await _extract(memory, ModelError("away", code="model_unavailable"))

    assert told.status == "skipped"
    assert "model_unavailable" in told.reason
    assert (await memory.trace(told.write_id)).step("extract")["degraded"] == "model_unavailable"


async def test_a_bad_answer_is_mended_once(talked: Memory):
    good = json.dumps({"statements": [_says("The user's flat has 3 rooms.", 1, "3 rooms")]})

    found, model = await _extract(talked, "oops", good)

    assert len(model.prompts) == 2
    assert "The user's flat has 3 rooms." in _contents(found)


async def test_a_model_cannot_make_something_explicit_or_speak_for_the_user(talked: Memory):
    form = {
        "statements": [
            _says("The user's flat has 3 rooms.", 1, "My flat has 3 rooms"),
            _says(
                "The user likes metric plans.", 2, "I converted the plan to metric", "preference"
            ),
        ]
    }

    found, _ = await _extract(talked, form)

    assert "The user likes metric plans." not in _contents(found)
    flat = next(it for it in found if it.record and "flat" in it.record.content)
    assert flat.status == "buffered"


async def test_what_may_not_be_remembered_is_not_found_by_a_model_either(memory: Memory):
    await memory.observe(_user("Don't remember this: my PIN pattern is a star."), session="s")

    found, _ = await _extract(
        memory, {"statements": [_says("The PIN pattern is a star.", 1, "my PIN pattern is a star")]}
    )

    assert found == ()


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("my  Cat", "I love my cat.", "my cat"),
        ("“it’s fine”", "She said it's fine.", "it's fine"),
        ("住在 杭州", "我住在杭州。", "住在杭州"),
        ("决定用PostgreSQL。", "我们决定用 PostgreSQL.", "决定用 PostgreSQL"),
        ("a dog", "I love my cat.", None),
        ("", "I love my cat.", None),
    ],
)
def test_quoted_words_are_found_whatever_their_gaps(quote: str, text: str, found: str | None):
    span = locate(quote, text)

    assert (span and text[slice(*span)]) == found


# --- The session as an episode -------------------------------------------------------------------


async def test_an_ended_session_is_kept_as_one_episode(memory: Memory, clock: TurnedClock):
    said = [
        "Let's plan the move of the billing service.",
        "We decided to move it on 12 May.",
        "Tom will write the runbook.",
        "That is all, thanks.",
    ]
    async with memory.session("s") as session:
        for text in said:
            await session.observe([{"role": "user", "content": text}])
            await session.observe([{"role": "assistant", "content": "Understood."}])
        await session.end()
    await memory.drain()

    (episode,) = [it for it in await memory.list(kind="episodic") if it.source == "session"]
    assert episode.category == "task-traces"
    assert episode.session == "s"
    assert "12 May" in episode.content
    assert len(episode.evidence) == 8

    async with memory.session("s") as session:
        await session.observe([{"role": "user", "content": "We decided to use Kubernetes."}])
        await session.end()
    await memory.drain()

    (episode,) = [it for it in await memory.list(kind="episodic") if it.source == "session"]
    assert episode.version == 2
    assert "Kubernetes" in episode.content


async def test_summing_up_a_session_first_takes_nothing_from_what_was_told(
    nobody_works: None, memory: Memory, database_path: Path, clock: TurnedClock
):
    said = [
        "My name is Marta.",
        "I live in Lisbon.",
        "我对花生过敏。",
        "We decided to use Postgres.",
    ]
    async with memory.session("s") as session:
        await session.observe(_user(*said))
        await session.end()
    database = open_at(database_path)
    later = update(schema.jobs).where(schema.jobs.c.kind.in_(["extract", "extract_idle"]))
    delayed = later.values(run_after=to_micros(clock.now() + timedelta(hours=1)))
    database.write_here(lambda connection: connection.execute(delayed))
    database.close_here()

    await memory.work()
    (episode,) = await memory.list()
    assert episode.source == "session"
    clock.turn(hours=2)
    await memory.work()

    kept = [it.content for it in await memory.list() if it.id != episode.id]
    assert sorted(kept) == [
        "User lives in Lisbon",
        "User's name is Marta",
        "We decided to use Postgres",
        "用户对花生过敏",
    ]
    assert await memory.get(episode.id) == episode


async def test_a_short_session_is_no_episode(memory: Memory):
    async with memory.session("s") as session:
        await session.observe(_user("I work at Acme.", "Thanks."))
        await session.end()
    await memory.drain()

    assert not await memory.list(kind="episodic")


# --- Whatever is said ----------------------------------------------------------------------------

_SAID = st.sampled_from(
    [
        "I live in Oslo.",
        "I live in Rome now.",
        "我喜欢喝茶。",
        "我不喜欢喝茶。",
        "Remember that the code is 42.",
        "以后都用中文。",
        "We decided to use Postgres.",
        "记住这个",
        "Hm.",
        "What time is it?",
    ]
)


@settings(
    deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.lists(_SAID, min_size=1, max_size=4), min_size=1, max_size=3))
async def test_reading_again_never_changes_anything(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[list[str]]
):
    database = tmp_path_factory.mktemp("read") / "memory.db"
    async with Memory.open(database) as memory:
        for piece in pieces:
            await memory.observe(_user(*piece), session="s")
            await memory.extract("s")
        before = await memory.list(status=list(Status))
        assert await memory.extract("s") == ()
        assert await memory.list(status=list(Status)) == before
        # No words are the evidence of two active records about the same thing.
        spans = [(it.turn, it.start, it.end) for record in before for it in record.evidence[:1]]
        assert len(spans) == len(set(spans))
