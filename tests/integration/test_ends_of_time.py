"""Times that lie at the ends of the calendar, in settings and in what is said."""

from datetime import UTC, datetime
from pathlib import Path

from recollect import Memory
from recollect.settings import Settings

FOR_EVER = 1_000_000
LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)


async def test_what_is_kept_for_ever_is_swept_like_anything_else(tmp_path: Path):
    settings = Settings.load(
        {
            "data_dir": tmp_path,
            "archive": {"keep_days": FOR_EVER},
            "session": {"keep_days": FOR_EVER},
            "sharing": {"proposal_days": FOR_EVER},
            "lifecycle": {"purge_after_days": FOR_EVER},
            "recall": {"recent_days": FOR_EVER},
            "retention": [{"older_than_days": FOR_EVER, "action": "delete"}],
        }
    )
    async with Memory.open(settings) as memory:
        kept = await memory.remember("I prefer green tea")
        await memory.upkeep.sweep()
        await memory.shared.propose("Use tabs", "convention")
        session = memory.session("s")
        shown = await session.archive.process_tool_result("cat", {}, "a line\n" * 5_000, "s")
        assert "archived" in str(shown)
        recalled = await memory.recall("what do I prefer?")
        assert [hit.item.id for hit in recalled.hits] == [kept.id]


async def test_records_of_all_times_are_listed_found_and_told_in_their_order(memory: Memory):
    for moment in (LONG_AGO, LAST):
        await memory.remember(f"green tea in {moment.year}", created_at=moment, valid_from=moment)
    assert [it.content for it in (await memory.list()).items] == [
        "green tea in 9999",
        "green tea in 1",
    ]
    for moment in (LONG_AGO, LAST):
        recalled = await memory.recall("what tea do I prefer?", asked_at=moment, min_score=0)
        assert len(recalled.hits) == 2
        assert (await memory.context("green tea, yesterday", asked_at=moment)).text
    assert not (await memory.list(as_of=LONG_AGO)).items
    assert len((await memory.list(as_of=LAST)).items) == 2
