"""A sentence that tells two things is two facts: when one of them changes, the other one stays."""

from pathlib import Path

import pytest

from recollect import Memory

pytestmark = pytest.mark.usefixtures("real_model")


async def _told(database: Path, session: str, said: str) -> None:
    async with Memory.open(database) as memory:
        await memory.observe({"role": "user", "content": said}, session=session)
        await memory.extract()
        await memory.drain()


@pytest.mark.parametrize(
    ("told", "later", "before", "now", "beside"),
    [
        (
            "I live in Lyon and I'm allergic to shellfish.",
            "Actually I moved to Porto last month",
            "Lyon",
            "Porto",
            "shellfish",
        ),
        ("我住在里昂，而且我对贝类过敏。", "其实我现在住在波尔图", "里昂", "波尔图", "贝类"),
    ],
)
async def test_what_was_told_beside_a_fact_outlives_its_change(
    monkeypatch: pytest.MonkeyPatch,
    database_path: Path,
    told: str,
    later: str,
    before: str,
    now: str,
    beside: str,
):
    monkeypatch.setenv("RECOLLECT_WRITING__JUDGE", "auto")
    await _told(database_path, "monday", told)
    await _told(database_path, "friday", later)

    async with Memory.open(database_path) as memory:
        records = (await memory.list()).items
        (home,) = [record for record in records if now in record.content]
        (other,) = [record for record in records if record != home]
        versions = [version.record.content for version in await memory.history(home.id)]

    assert beside in other.content
    assert before not in home.content + other.content
    assert any(before in content and beside not in content for content in versions)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "My name is Ann, I live in Basel, and my favourite food is rösti.",
            ("Ann", "Basel", "rösti"),
        ),
        ("My wife is a nurse and my son plays chess.", ("nurse", "chess")),
        ("我叫王芳，我在腾讯上班，我女儿叫小满", ("王芳", "腾讯", "小满")),
    ],
)
async def test_each_statement_of_a_sentence_is_a_record(
    judged: Memory, said: str, kept: tuple[str, ...]
):
    await judged.observe({"role": "user", "content": said}, session="talk")
    await judged.extract()

    told = [record.content for record in await judged.list()]
    assert sorted(sum(word in it for word in kept) for it in told) == [1] * len(kept)
    assert all(any(word in it for it in told) for word in kept)


@pytest.mark.parametrize(
    "said",
    [
        "I got us a table at Nonna's, it's for six on Friday",
        "I have two cats, they hate the vacuum cleaner",
    ],
)
async def test_what_needs_the_words_before_it_stays_with_them(judged: Memory, said: str):
    await judged.observe({"role": "user", "content": said}, session="talk")
    await judged.extract()
    assert len(await judged.list()) == 1
