"""What was said in passing lives for some days, unless it is asked for again or confirmed."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollect import Memory, Status
from recollect.domain.record import Tier
from recollect.errors import Conflict, NotFound
from tests.conftest import TurnedClock
from tests.fakes import FakeJudge
from tests.services import services
from tests.upkeep import quarantine

FOLLOW_UP = "Ann wants to hear back about the invoice 要给安回复发票的事"


async def _noted(memory: Memory, clock: TurnedClock, content: str = FOLLOW_UP, days: float = 3):
    return await memory.remember(
        content,
        category="follow-up",
        tier="short",
        expires_at=clock.now() + timedelta(days=days),
    )


async def _recall_in(memory: Memory, session: str, question: str = "Ann invoice 发票") -> str:
    block = await memory.context(question, session=session)
    await memory.drain()
    return block.text


@pytest.mark.parametrize("question", ["what about the invoice", "发票的事怎么样了"])
async def test_an_expired_follow_up_disappears(memory: Memory, clock: TurnedClock, question: str):
    noted = await _noted(memory, clock)
    assert (await memory.recall(question, min_score=0))[0].id == noted.id
    clock.turn(days=3)

    assert not (await memory.recall(question, min_score=0)).hits, "gone before any sweep"
    assert not (await memory.list()).items
    assert not (await memory.context(question)).text
    assert await memory.upkeep.buffer() == ()

    swept = await memory.upkeep.expire()
    assert (swept.purged, swept.expired) == (1, 0)
    with pytest.raises(NotFound):
        await memory.get(noted.id)


async def test_an_answer_that_is_remembered_does_not_outlive_what_it_holds(
    memory: Memory, clock: TurnedClock
):
    await _noted(memory, clock, days=1 / 1440)
    assert (await memory.recall("invoice")).hits
    clock.turn(seconds=30)
    assert (await memory.recall("invoice")).hits
    clock.turn(seconds=30)
    assert not (await memory.recall("invoice")).hits


async def test_one_that_was_read_expires_and_can_be_brought_back_for_a_while(
    memory: Memory, clock: TurnedClock
):
    noted = await _noted(memory, clock)
    assert "invoice" in await _recall_in(memory, "monday")
    clock.turn(days=4)

    swept = await memory.upkeep.expire()
    assert swept.by_category == {"follow-up": {"expire": 1}}
    assert (await memory.get(noted.id)).status is Status.EXPIRED
    assert not (await memory.recall("invoice", min_score=0)).hits

    clock.turn(days=20)
    back = await memory.undo(noted.id, reason="still open")
    assert (back.status, back.tier, back.expires_at) == (Status.ACTIVE, Tier.LONG, None)
    assert (await memory.recall("invoice"))[0].id == noted.id
    assert (await memory.upkeep.expire()).records == 0


async def test_nobody_brought_it_back_so_it_is_removed(memory: Memory, clock: TurnedClock):
    noted = await _noted(memory, clock)
    await _recall_in(memory, "monday")
    clock.turn(days=4)
    await memory.upkeep.expire()
    clock.turn(days=29)
    assert (await memory.upkeep.expire()).purged == 0
    clock.turn(days=2)
    assert (await memory.upkeep.expire()).purged == 1
    with pytest.raises(NotFound):
        await memory.history(noted.id)


async def test_three_recalls_in_three_sessions_promote(memory: Memory, clock: TurnedClock):
    noted = await _noted(memory, clock)
    for session in ("monday", "tuesday"):
        await _recall_in(memory, session)
    assert (await memory.get(noted.id)).tier is Tier.SHORT
    await _recall_in(memory, "wednesday")

    kept = await memory.get(noted.id)
    assert (kept.tier, kept.expires_at, kept.access_count) == (Tier.LONG, None, 3)
    assert [it.reason for it in await memory.history(noted.id)][1:] == [
        "recalled: often enough to stay"
    ]
    clock.turn(days=30)
    await memory.upkeep.expire()
    assert "invoice" in await _recall_in(memory, "a month later")


async def test_three_recalls_in_one_session_do_not(memory: Memory, clock: TurnedClock):
    noted = await _noted(memory, clock)
    for _ in range(3):
        await _recall_in(memory, "monday")
    assert (await memory.get(noted.id)).access_count == 1
    assert (await memory.get(noted.id)).tier is Tier.SHORT


async def test_a_session_that_goes_on_in_another_process_is_still_one(
    database_path: Path, clock: TurnedClock
):
    for _ in range(3):
        async with Memory.open(database_path, clock=clock) as memory:
            if not (await memory.upkeep.buffer()):
                await _noted(memory, clock)
            await _recall_in(memory, "monday")
    async with Memory.open(database_path, clock=clock) as memory:
        (noted,) = await memory.upkeep.buffer()
        assert noted.access_count == 1


async def test_a_promotion_that_a_kill_prevented_is_made_up_for_by_the_sweep(
    memory: Memory, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    noted = await _noted(memory, clock)

    async def killed(*_: object) -> None:
        return None

    usage = services(memory).usage
    monkeypatch.setattr(usage, "_recalled", killed)
    for session in ("monday", "tuesday", "wednesday"):
        await _recall_in(memory, session)
    assert (await memory.get(noted.id)).tier is Tier.SHORT
    clock.turn(days=4)
    assert (await memory.upkeep.expire()).promoted == 1
    assert (await memory.recall("invoice"))[0].record is not None


async def test_what_somebody_confirms_stays_at_once(memory: Memory, clock: TurnedClock):
    noted = await _noted(memory, clock, "会议室以后都订三楼的", days=7)
    kept = await memory.upkeep.promote(noted.id, reason="记住这个")
    assert (kept.tier, kept.expires_at, kept.version) == (Tier.LONG, None, 2)
    assert (await memory.history(noted.id))[-1].reason == "记住这个"
    assert await memory.upkeep.promote(noted.id) == kept, "once is enough"
    clock.turn(days=60)
    await memory.upkeep.expire()
    assert (await memory.recall("会议室订几楼"))[0].id == noted.id


async def test_one_that_is_held_back_is_accepted_before_it_can_stay(
    memory: Memory, clock: TurnedClock
):
    held = await quarantine(memory, await _noted(memory, clock))
    with pytest.raises(Conflict) as refused:
        await memory.upkeep.promote(held.id)
    assert refused.value.code == "not_active"


# --- What conversations leave in it --------------------------------------------------------------

SAID = {
    "en": {
        "I really like green tea.": 7,
        "We decided to use Postgres for the project.": 7,
        "I need to send the invoice to Ann tomorrow.": 7,
    },
    "zh": {
        "我喜欢喝绿茶。": 7,
        "我们决定用 Postgres。": 7,
        "我要把发票发给小安。": 7,
    },
}
REMEMBER_THIS = {"en": "Remember this.", "zh": "记住这个。"}
in_both_languages = pytest.mark.parametrize("language", SAID)


async def _said(memory: Memory, session: str, *texts: str) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    await memory.observe(messages, session=session)
    await memory.extract(session)


@in_both_languages
async def test_what_is_said_in_passing_has_the_time_of_its_class(
    memory: Memory, clock: TurnedClock, language: str
):
    await _said(memory, "monday", *SAID[language])
    await memory.write("The build is a nuisance", category="sentiment", explicit=False)
    times = [entry.expires_at for entry in await memory.upkeep.buffer()]
    lives = sorted((it - clock.now()).days for it in times if it is not None)
    assert lives == sorted((1, *SAID[language].values()))
    for days, left in ((1, 3), (7, 0)):
        clock.time = min(it for it in times if it is not None) + timedelta(days=days - 1)
        assert len(await memory.upkeep.buffer()) == left
        assert (await memory.upkeep.sweep()).expired == 0, "nobody read it, so it is gone at once"
    assert (await memory.stats()).store.records == 0


@in_both_languages
async def test_remember_this_promotes_at_once(memory: Memory, clock: TurnedClock, language: str):
    preference = next(iter(SAID[language]))
    await _said(memory, "monday", preference)
    (noted,) = await memory.upkeep.buffer()
    await _said(memory, "monday", REMEMBER_THIS[language])
    assert await memory.upkeep.buffer() == ()
    kept = await memory.get(noted.id)
    assert (kept.tier, kept.expires_at) == (Tier.LONG, None)
    clock.turn(days=400)
    await memory.upkeep.sweep()
    assert (await memory.recall(preference))[0].id == noted.id


@pytest.mark.parametrize(
    ("known", "said"),
    [("Ann lives in Berlin", "Ann lives in Porto"), ("小安住在柏林", "小安住在里斯本")],
)
async def test_what_contradicts_a_long_term_record_becomes_its_next_version(
    memory: Memory, clock: TurnedClock, judge: FakeJudge, known: str, said: str
):
    judge.is_sure_of_all = "update"
    kept = (await memory.write(known)).record
    assert kept is not None
    clock.turn(days=5)
    written = await memory.write(said, explicit=False)
    assert (written.status, written.record and written.record.id) == ("versioned", kept.id)
    assert await memory.upkeep.buffer() == ()
    assert [it.record.content for it in await memory.history(kept.id)] == [known, said]


@pytest.mark.parametrize(
    ("known", "said"),
    [("Bob was born in 1980", "Bob was born in 1981"), ("小李出生于1980年", "小李出生于1981年")],
)
async def test_a_true_contradiction_waits_for_a_person_whose_word_is_kept(
    memory: Memory, clock: TurnedClock, judge: FakeJudge, known: str, said: str
):
    judge.knows(known, said, "conflict")
    await memory.write(known)
    doubtful = (await memory.write(said, explicit=False)).record
    (shown,) = await memory.upkeep.conflicts()
    assert doubtful is not None
    assert (shown.first.content, shown.second.id) == (known, doubtful.id)
    assert (await memory.upkeep.health()).conflicts == 1
    decided = await memory.upkeep.resolve(shown.id, "keep_second")
    assert (decided.second.tier, decided.second.expires_at) == (Tier.LONG, None)
    clock.turn(days=30)
    await memory.upkeep.sweep()
    assert [hit.id for hit in await memory.recall(said, min_score=0)] == [doubtful.id]


# --- Looking into it -----------------------------------------------------------------------------


async def test_the_buffer_shows_the_newest_first_and_the_important_among_equals(
    memory: Memory, clock: TurnedClock
):
    expires = clock.now() + timedelta(days=7)
    await memory.remember("older", tier="short", expires_at=expires, importance=1.0)
    clock.turn(hours=1)
    for content, importance in (("dull", 0.1), ("重要", 0.9)):
        await memory.remember(content, tier="short", expires_at=expires, importance=importance)
    await memory.remember("for good")
    entries = await memory.upkeep.buffer()
    assert [entry.content for entry in entries] == ["重要", "dull", "older"]
