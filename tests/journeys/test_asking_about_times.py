"""Questions that name a time: what happened then is pulled, and nothing is ever filtered out."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.hit import Hit
from recollect.settings import Settings
from tests.conftest import TurnedClock

# A Friday; the Wednesday of this week and the one of the week before.
_ASKED = datetime(2026, 2, 27, 18, 0, tzinfo=UTC)
_WEDNESDAY = datetime(2026, 2, 25, 15, 0, tzinfo=UTC)
_WEEK_BEFORE = _WEDNESDAY - timedelta(days=7)
_DAY = timedelta(days=1)
# A question of nothing but a time is weak evidence: it need not pass the usual bar here.
_LOW = 0.2


@pytest.fixture
async def diary(memory: Memory) -> Memory:
    """A few weeks of a life, in both languages."""
    for content, at in (
        ("Ran ten kilometres along the river", _WEDNESDAY),
        ("Baked rye bread with Tom", _WEDNESDAY - 20 * _DAY),
        ("和小李去爬山", _WEEK_BEFORE),
        ("在家炖红烧肉", _WEDNESDAY - 30 * _DAY),
        ("The dentist filled a tooth", _WEDNESDAY - 60 * _DAY),
    ):
        await memory.remember(content, first_observed=at)
    return memory


def _contents(hits: list[Hit]) -> list[str]:
    return [hit.content for hit in hits]


async def test_what_happened_last_wednesday_comes_first(diary: Memory):
    recalled = await diary.recall("what did I do last Wednesday", asked_at=_ASKED, min_score=_LOW)
    assert recalled[0].content == "Ran ten kilometres along the river"
    assert recalled[0].explanation.closeness == 1.0
    assert "time" in {it.path for it in recalled[0].explanation.paths}
    assert "The dentist filled a tooth" not in _contents([*recalled])


async def test_what_happened_on_a_day_named_in_chinese_comes_first(diary: Memory):
    recalled = await diary.recall("上周三我做了什么", asked_at=_ASKED, min_score=_LOW)
    assert recalled[0].content == "和小李去爬山"
    assert recalled[0].explanation.closeness == 1.0


async def test_a_time_is_counted_from_when_it_is_asked(diary: Memory):
    earlier = _ASKED - 20 * _DAY
    recalled = await diary.recall(
        "what did I do last Wednesday", asked_at=earlier - _DAY, min_score=_LOW
    )
    assert "Ran ten kilometres along the river" not in _contents([*recalled])
    (then,) = [
        it
        for it in await diary.recall(
            "what did I do yesterday", asked_at=_WEDNESDAY - 19 * _DAY, min_score=_LOW
        )
        if it.explanation.closeness == 1.0
    ]
    assert then.content == "Baked rye bread with Tom"


async def test_without_a_time_of_asking_the_clock_tells(diary: Memory, clock: TurnedClock):
    clock.time = _WEDNESDAY + _DAY
    recalled = await diary.recall("what did I do yesterday", min_score=_LOW)
    assert recalled[0].content == "Ran ten kilometres along the river"


@pytest.mark.parametrize(
    ("where", "asked_at", "happened_yesterday"),
    [
        ("+00:00", None, "Ran ten kilometres"),
        # There it is Thursday already, and was Wednesday when the bread was baked.
        ("Asia/Shanghai", None, "Baked rye bread"),
        ("Asia/Shanghai", _WEDNESDAY + timedelta(hours=4), "Baked rye bread"),
        # Who asks is elsewhere, and says so.
        ("Asia/Shanghai", "-08:00", "Ran ten kilometres"),
    ],
)
async def test_yesterday_is_that_of_who_asks(
    database_path: Path,
    clock: TurnedClock,
    where: str,
    asked_at: datetime | str | None,
    happened_yesterday: str,
):
    clock.time = _WEDNESDAY + timedelta(hours=4)
    if isinstance(asked_at, str):
        asked_at = clock.time.astimezone(datetime.strptime(asked_at, "%z").tzinfo)
    settings = Settings.load({"storage": {"path": database_path}, "scope": {"time_zone": where}})
    async with Memory.open(settings, clock=clock) as memory:
        await memory.remember("Ran ten kilometres", first_observed=_WEDNESDAY - _DAY)
        await memory.remember("Baked rye bread", first_observed=_WEDNESDAY - timedelta(minutes=30))
        recalled = await memory.recall("what did I do yesterday", asked_at=asked_at, min_score=0)
        told = await memory.context("what did I do yesterday", asked_at=asked_at, min_score=0)

    then = [hit.content for hit in recalled if hit.explanation.closeness == 1.0]
    assert then == [happened_yesterday]
    assert [it for it in told.text.splitlines() if "yesterday" in it] == [
        it for it in told.text.splitlines() if happened_yesterday in it
    ]


async def test_what_was_just_said_is_recent_in_the_hour_that_clocks_show_twice(
    database_path: Path, clock: TurnedClock
):
    clock.time = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # 2:30 in Berlin, for the second time
    given = {
        "storage": {"path": database_path},
        "scope": {"time_zone": "Europe/Berlin"},
        "recall": {"recent_weight": 0.5},
    }
    async with Memory.open(Settings.load(given), clock=clock) as memory:
        await memory.remember("Baked rye bread", first_observed=clock.time - timedelta(minutes=10))
        (hit,) = await memory.recall("how did the bread turn out", min_score=0)

    assert "recent" in {it.path for it in hit.explanation.paths}


async def test_a_time_never_filters(diary: Memory):
    recalled = await diary.recall(
        "what did the dentist fill last Wednesday", asked_at=_ASKED, min_score=_LOW
    )
    assert "The dentist filled a tooth" in _contents([*recalled])
    plain = await diary.recall("what did the dentist fill", asked_at=_ASKED)
    assert plain[0].content == "The dentist filled a tooth"


async def test_of_two_that_fit_alike_the_one_of_that_time_comes_first(memory: Memory):
    then = await memory.remember("Dinner with Lena: rice and fish", first_observed=_WEDNESDAY)
    await memory.remember("Dinner with Lena: soup and bread", first_observed=_ASKED)
    plain = await memory.recall("dinner with Lena", asked_at=_ASKED)
    assert plain[0].id != then.id, "of equals the newest one comes first"
    timed = await memory.recall("dinner with Lena last Wednesday", asked_at=_ASKED, min_score=_LOW)
    assert timed[0].id == then.id
    assert len(timed) == 2, "the other one is still found"


@pytest.mark.parametrize(
    "question",
    [
        "what did the dentist do today",
        "what will the dentist do next Wednesday",
        "今天 dentist 做了什么",
        "下周三 dentist 要做什么",
    ],
)
async def test_today_and_the_future_pull_nothing(diary: Memory, question: str):
    await diary.remember("Bought stamps", first_observed=_ASKED - timedelta(hours=3))
    recalled = await diary.recall(question, asked_at=_ASKED, min_score=0.0)
    assert recalled[0].content == "The dentist filled a tooth"
    for hit in recalled:
        assert hit.explanation.closeness == 0
        assert "time" not in {it.path for it in hit.explanation.paths}


@pytest.mark.parametrize(
    ("event", "question"),
    [
        ("We left for the Iceland trip", "what happened two days after the Iceland trip"),
        ("我们出发去冰岛旅行", "冰岛旅行之后两天发生了什么"),
    ],
)
async def test_a_time_may_be_counted_from_something_remembered(
    memory: Memory, event: str, question: str
):
    left = datetime(2026, 1, 10, 8, tzinfo=UTC)
    await memory.remember(event, first_observed=left)
    await memory.remember("A tyre burst near a waterfall", first_observed=left + 2 * _DAY)
    await memory.remember("The neighbour mowed his lawn", first_observed=left - 90 * _DAY)
    recalled = await memory.recall(question, asked_at=_ASKED, min_score=0.0)
    by_content = {hit.content: hit for hit in recalled}
    assert by_content["A tyre burst near a waterfall"].explanation.closeness == 1.0
    assert "The neighbour mowed his lawn" not in by_content


async def test_an_event_that_nobody_knows_pulls_nothing(diary: Memory):
    recalled = await diary.recall(
        "the dentist two days after the coronation", asked_at=_ASKED, min_score=0.0
    )
    assert recalled[0].content == "The dentist filled a tooth"
    assert all(hit.explanation.closeness == 0 for hit in recalled)


@pytest.mark.parametrize("day", [1, 15])
async def test_a_number_is_found_among_hundreds_of_the_same_day(
    memory: Memory, clock: TurnedClock, day: int
):
    clock.time = datetime(2026, 3, day, 9, tzinfo=UTC)
    wanted = [f"parcel {number} waits at the gate" for number in range(1, 301)]
    await memory.remember_many(wanted)
    recalled = await memory.recall("parcel 15")
    assert recalled[0].content == "parcel 15 waits at the gate"
    assert recalled[0].score > 2 * max((hit.score for hit in recalled[1:]), default=0.0)


async def test_a_time_in_a_question_does_not_hide_an_exact_hit(memory: Memory):
    wanted = await memory.remember(
        "The lighthouse keeper is called Ivar Blom", first_observed=_WEDNESDAY - 400 * _DAY
    )
    await memory.remember_many(
        [
            {"content": f"Sorted box {number} in the attic", "first_observed": _WEDNESDAY}
            for number in range(250)
        ]
    )
    recalled = await memory.recall(
        "what is the lighthouse keeper called, I asked last Wednesday", asked_at=_ASKED
    )
    assert recalled[0].id == wanted.id
