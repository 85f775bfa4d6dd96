"""Two records cannot both be true: a person looks at them side by side and decides."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Memory, Status
from recollect.domain.record import Evidence, Record
from recollect.errors import Conflict, InvalidInput, NotAllowed, NotFound, RecollectError
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.services import services
from tests.upkeep import dispute

PAIRS = {
    "en": ("Ann lives in Berlin", "Ann lives in Porto", "where does Ann live"),
    "zh": ("小安住在柏林", "小安住在里斯本", "小安住在哪里"),
}
in_both_languages = pytest.mark.parametrize("language", PAIRS)


async def _two(memory: Memory, clock: TurnedClock, language: str = "en") -> tuple[Record, Record]:
    """One is said, a month later the other."""
    first = await memory.remember(PAIRS[language][0])
    clock.turn(days=30)
    return first, await memory.remember(PAIRS[language][1])


async def _answers(memory: Memory, language: str, **filters: datetime) -> list[str]:
    found = await memory.recall(PAIRS[language][2], min_score=0, **filters)
    return [hit.id for hit in found]


@in_both_languages
async def test_both_true_at_different_times(memory: Memory, clock: TurnedClock, language: str):
    berlin, porto = await _two(memory, clock, language)
    moved = clock.now()
    conflict = await dispute(memory, berlin, porto)
    (shown,) = await memory.upkeep.conflicts()
    assert (shown.id, shown.first.content, shown.second.content) == (
        conflict,
        *PAIRS[language][:2],
    )

    decided = await memory.upkeep.resolve(
        conflict, "both_at_different_times", reason="she has moved 搬家了"
    )

    assert (decided.first.valid_to, decided.second.valid_from) == (moved, moved)
    before, after = moved - timedelta(days=1), moved + timedelta(days=1)
    assert await _answers(memory, language, valid_at=before) == [berlin.id]
    assert await _answers(memory, language, valid_at=after) == [porto.id]
    assert set(await _answers(memory, language)) == {berlin.id, porto.id}
    assert await memory.upkeep.conflicts() == ()
    assert (await memory.upkeep.health()).conflicts == 0
    assert [it.reason for it in await memory.history(berlin.id)][-1] == "she has moved 搬家了"


@pytest.mark.parametrize("resolution", ["keep_first", "merge", "both_at_different_times"])
async def test_a_decision_is_taken_back_and_the_conflict_is_open_again(
    memory: Memory, clock: TurnedClock, resolution: str
):
    first, second = await _two(memory, clock, "en")
    conflict = await dispute(memory, first, second)
    clock.turn(days=1)
    await memory.upkeep.resolve(conflict, resolution)  # pyright: ignore[reportArgumentType]
    clock.turn(days=1)
    back = await memory.upkeep.reopen(conflict)
    assert back.conflict.is_open
    for before, now in ((first, back.first), (second, back.second)):
        assert (now.content, now.status, now.valid_to, now.version) == (
            *(before.content, before.status, before.valid_to, before.version + 2),
        )
    assert [it.id for it in await memory.upkeep.conflicts()] == [conflict]
    assert set(await _answers(memory, "en")) == {first.id, second.id}
    with pytest.raises(RecollectError) as open_already:
        await memory.upkeep.reopen(conflict)
    assert open_already.value.code == "not_decided"
    await memory.upkeep.resolve(conflict, "keep_second")
    clock.turn(days=1)
    await memory.update(second.id, importance=0.9)
    with pytest.raises(RecollectError) as moved:
        await memory.upkeep.reopen(conflict)
    assert moved.value.code == "changed_since"


async def test_only_the_decision_that_was_seen_is_taken_back(memory: Memory, clock: TurnedClock):
    conflict = await dispute(memory, *await _two(memory, clock))
    seen = (await memory.upkeep.resolve(conflict, "keep_first")).conflict.resolved_at
    clock.turn(hours=1)
    # Somebody else decides otherwise, before the first one takes it back.
    await memory.upkeep.reopen(conflict, resolved_at=seen)
    newer = await memory.upkeep.resolve(conflict, "keep_second")

    with pytest.raises(Conflict) as refused:
        await memory.upkeep.reopen(conflict, resolved_at=seen)

    assert refused.value.code == "changed_since"
    assert await memory.upkeep.conflicts() == ()
    assert await _answers(memory, "en") == [newer.second.id]
    await memory.upkeep.reopen(conflict, resolved_at=newer.conflict.resolved_at)
    assert [it.id for it in await memory.upkeep.conflicts()] == [conflict]


async def test_somebody_knows_when_it_changed(memory: Memory, clock: TurnedClock):
    # Both were learned at the same moment, so nothing but a person can tell.
    first = await memory.remember(PAIRS["en"][0])
    second = await memory.remember(PAIRS["en"][1])
    conflict = await dispute(memory, first, second)
    with pytest.raises(InvalidInput) as refused:
        await memory.upkeep.resolve(conflict, "both_at_different_times")
    assert refused.value.code == "split_time_needed"

    new_year = datetime(2026, 1, 1, tzinfo=UTC)
    await memory.upkeep.resolve(conflict, "both_at_different_times", at=new_year)
    assert await _answers(memory, "en", valid_at=new_year - timedelta(days=1)) == [first.id]
    assert await _answers(memory, "en", valid_at=new_year) == [second.id]


async def test_a_time_that_does_not_fit_is_refused(memory: Memory, clock: TurnedClock):
    first = await memory.remember("The office is open", valid_from=clock.now())
    second = await memory.remember("The office is closed", valid_from=clock.turn(days=10))
    conflict = await dispute(memory, first, second)
    with pytest.raises(InvalidInput) as refused:
        await memory.upkeep.resolve(
            conflict, "both_at_different_times", at=clock.now() - timedelta(days=90)
        )
    assert refused.value.code == "bad_interval"
    assert len(await memory.upkeep.conflicts()) == 1


@in_both_languages
@pytest.mark.parametrize("resolution", ["keep_first", "keep_second"])
async def test_one_of_them_is_right(
    memory: Memory, clock: TurnedClock, language: str, resolution: str
):
    first, second = await _two(memory, clock, language)
    conflict = await dispute(memory, first, second)
    await memory.upkeep.resolve(conflict, resolution)  # pyright: ignore[reportArgumentType]

    kept, lost = (first, second) if resolution == "keep_first" else (second, first)
    assert await _answers(memory, language) == [kept.id], "the loser never answers again"
    superseded = await memory.get(lost.id)
    assert (superseded.status, superseded.related) == (Status.SUPERSEDED, (kept.id,))
    assert (await memory.get(kept.id)).related == (lost.id,)
    assert (await memory.get(kept.id)).last_confirmed == clock.now()
    assert (await memory.history(lost.id))[0].record.content == lost.content

    await memory.undo(lost.id)
    assert set(await _answers(memory, language)) == {kept.id, lost.id}, "a decision can be undone"


async def test_what_both_say_becomes_one(memory: Memory, clock: TurnedClock):
    first = await memory.remember(
        "The deploy runs on Monday. It takes an hour.",
        tags=["ops"],
        evidence=[Evidence(turn="turn_1")],
    )
    second = await memory.remember(
        "The deploy runs on Friday. 之后要通知大家。",
        tags=["team"],
        confidence=0.5,
        importance=0.9,
        evidence=[Evidence(turn="turn_2")],
    )
    conflict = await dispute(memory, first, second)
    merged = (await memory.upkeep.resolve(conflict, "merge")).first
    for statement in ("Monday", "takes an hour", "之后要通知大家"):
        assert statement in merged.content
    assert set(merged.tags) == {"ops", "team"}
    assert (merged.confidence, merged.importance, merged.evidence_count) == (1.0, 0.9, 2)
    assert [it.turn for it in merged.evidence] == ["turn_1", "turn_2"]
    assert (await memory.recall("通知大家"))[0].id == first.id
    assert (await memory.get(second.id)).status is Status.SUPERSEDED


async def test_a_person_writes_what_both_say(memory: Memory, clock: TurnedClock):
    first, second = await _two(memory, clock)
    conflict = await dispute(memory, first, second)
    said = "Ann lives in Porto and keeps a flat in Berlin"
    merged = (await memory.upkeep.resolve(conflict, "merge", content=said)).first
    assert (merged.content, merged.version) == (said, 2)
    assert (await memory.recall("who keeps a flat"))[0].id == first.id


async def test_a_merge_is_redacted_like_anything_that_is_written(
    database_path: Path, clock: TurnedClock
):
    settings = Settings.load({"storage": {"path": database_path}, "writing": {"redact": "mask"}})
    async with Memory.open(settings, clock=clock) as memory:
        conflict = await dispute(memory, *await _two(memory, clock))
        said = "小安的邮箱是 ann.smith@example.com"
        merged = (await memory.upkeep.resolve(conflict, "merge", content=said)).first
        assert "ann.smith@example.com" not in merged.content
        assert "邮箱" in (await memory.get(merged.id)).content


async def test_a_conflict_is_decided_once(memory: Memory, clock: TurnedClock):
    conflict = await dispute(memory, *await _two(memory, clock))
    await memory.upkeep.resolve(conflict, "keep_second")
    with pytest.raises(Conflict) as refused:
        await memory.upkeep.resolve(conflict, "keep_first")
    assert refused.value.code == "already_resolved"


async def test_there_is_nothing_to_decide_once_one_of_them_is_gone(
    memory: Memory, clock: TurnedClock
):
    first, second = await _two(memory, clock)
    conflict = await dispute(memory, first, second)
    await memory.delete(first.id)
    assert await memory.upkeep.conflicts() == ()
    with pytest.raises(Conflict):
        await memory.upkeep.resolve(conflict, "keep_first")
    await memory.undo(first.id)
    assert len(await memory.upkeep.conflicts()) == 1, "it is still undecided"
    await memory.forget(second.id)
    with pytest.raises(NotFound):
        await memory.upkeep.resolve(conflict, "keep_first")


async def test_only_who_may_write_decides_and_nobody_else_sees_it(
    memory: Memory, clock: TurnedClock
):
    conflict = await dispute(memory, *await _two(memory, clock))
    stranger = memory.scope(user="bob")
    assert await stranger.upkeep.conflicts() == ()
    with pytest.raises(NotFound):
        await stranger.upkeep.resolve(conflict, "keep_first")
    agent = memory.scope(agent="sql")
    assert len(await agent.upkeep.conflicts()) == 1, "an agent reads its user's own records"
    with pytest.raises(NotAllowed):
        await agent.upkeep.resolve(conflict, "keep_first")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"resolution": "toss_a_coin"}, "unknown_value"),
        ({"resolution": "keep_first", "content": "words"}, "not_for_resolution"),
        ({"resolution": "merge", "at": datetime(2026, 1, 1, tzinfo=UTC)}, "not_for_resolution"),
        ({"resolution": "merge", "content": "  "}, "empty_text"),
        (
            {"resolution": "both_at_different_times", "at": datetime(2026, 1, 1)},  # noqa: DTZ001
            "naive_datetime",
        ),
    ],
)
async def test_what_makes_no_sense_is_refused_and_changes_nothing(
    memory: Memory, clock: TurnedClock, given: dict[str, object], code: str
):
    first, second = await _two(memory, clock)
    conflict = await dispute(memory, first, second)
    with pytest.raises(InvalidInput) as refused:
        await memory.upkeep.resolve(conflict, **given)  # pyright: ignore[reportArgumentType]
    assert refused.value.code == code
    assert (await memory.get(first.id)).version == (await memory.get(second.id)).version == 1


async def test_an_edit_in_between_does_not_lose_the_decision(
    memory: Memory, database_path: Path, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    first, second = await _two(memory, clock)
    conflict = await dispute(memory, first, second)
    conflicts = services(memory).upkeep.conflicts
    write, edited = conflicts._write, []  # pyright: ignore[reportPrivateUsage]

    async def with_an_edit_before(*arguments: object):
        if not edited:
            edited.append(await memory.update(second.id, tags=["moved"]))
        return await write(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(conflicts, "_write", with_an_edit_before)
    decided = await memory.upkeep.resolve(conflict, "keep_second")
    assert (decided.second.tags, decided.second.version) == (("moved",), 3)
