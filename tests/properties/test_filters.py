"""The filter compiled to SQL means exactly what the filter says in plain Python."""

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Kind, Memory, Record, Status, Turn
from recollect.domain.filters import Filter
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.examples import examples
from tests.services import store_of

_START = datetime(2026, 1, 1, tzinfo=UTC)
_times = st.integers(0, 8).map(lambda day: _START + timedelta(days=day))
_maybe = lambda strategy: st.none() | strategy  # noqa: E731
_labels = st.sampled_from(("a", "b"))

_records = st.fixed_dictionaries(
    {
        "category": st.sampled_from(("user", "preference", "project", "adr")),
        "facet": st.sampled_from((None, "", "home", "employer")),
        "tags": st.lists(st.sampled_from(("x", "y", "z")), max_size=2),
        "created_at": _times,
        "expires_at": _maybe(_times),
        "valid_from": _maybe(_times),
        "session": _maybe(_labels),
        "task": _maybe(_labels),
        "kind": st.sampled_from(list(Kind)),
    }
)
_filters = st.builds(
    Filter,
    kinds=st.frozensets(st.sampled_from(list(Kind)), max_size=2),
    categories=st.frozensets(st.sampled_from(("user-profile", "project", "adr")), max_size=2),
    facets=st.frozensets(st.sampled_from(("", "home", "employer")), max_size=2),
    tags=st.frozensets(st.sampled_from(("x", "y")), max_size=2),
    statuses=st.frozensets(st.sampled_from(list(Status)), min_size=1, max_size=3),
    since=_maybe(_times),
    until=_maybe(_times),
    session=_maybe(_labels),
    task=_maybe(_labels),
    valid_at=_maybe(_times),
    owners=st.frozensets(st.sampled_from(("record", "turn")), min_size=1),
)


async def _fill(memory: Memory, drafts: list[dict[str, Any]]) -> tuple[list[Record], list[Turn]]:
    records = list(await memory.remember_many([{"content": "x", **draft} for draft in drafts]))
    for number, record in enumerate(records):
        if number % 3 == 2:
            records[number] = await memory.delete(record.id)
    turns: list[Turn] = []
    for draft in drafts:
        said = {"role": "user", "content": "x", "at": draft["created_at"]}
        turns += await memory.observe([said], session=draft["session"] or "c", task=draft["task"])
    return records, turns


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    drafts=st.lists(_records, min_size=1, max_size=6),
    filters=st.lists(_filters, min_size=1, max_size=8),
    now=_times,
)
def test_the_database_accepts_what_the_filter_accepts(
    drafts: list[dict[str, Any]], filters: list[Filter], now: datetime
):
    async def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            given_settings = Settings.load(
                {
                    "data_dir": folder,
                    "storage": {"synchronous": "off"},
                    "embedding": {"model": "none"},
                }
            )
            clock = TurnedClock()
            async with Memory.open(given_settings, clock=clock) as memory:
                records, turns = await _fill(memory, drafts)
                store, scopes = store_of(memory), [memory.caller_scope]
                for where in filters:
                    kept = await store.records(scopes, where, now=now)
                    wanted = {it.id for it in records if where.accepts_record(it, now)}
                    assert {it.id for it in kept} == wanted
                    heard = await store.turns(scopes, where)
                    assert {it.id for it in heard} == {
                        it.id for it in turns if where.accepts_turn(it)
                    }

    asyncio.run(check())


async def test_turns_of_the_past_are_those_recorded_by_then(memory: Memory, clock: TurnedClock):
    await memory.observe([{"role": "user", "content": "early harbour"}], session="s")
    between = clock.turn(hours=1)
    clock.turn(hours=1)
    await memory.observe([{"role": "user", "content": "late harbour"}], session="s")
    past = await memory.turns(session="s", as_of=between)
    assert [turn.content for turn in past] == ["early harbour"]
    assert len(await memory.recall("harbour", as_of=between)) == 1


async def test_a_filter_that_few_pass_still_finds_them_among_many(memory: Memory):
    await memory.remember_many([f"meeting number {number}" for number in range(300)])
    rare = await memory.remember("meeting about the old mill", task="mill")
    found = await memory.recall("meeting number", task="mill", min_score=0)
    assert [hit.id for hit in found] == [rare.id]


async def test_a_clock_that_is_set_back_does_not_confuse_the_past(
    memory: Memory, clock: TurnedClock
):
    record = await memory.remember("first")
    clock.turn(days=-10)
    changed = await memory.update(record.id, "second")
    assert changed.recorded_at > record.recorded_at
    assert (await memory.get(record.id, as_of=record.recorded_at)).content == "first"
