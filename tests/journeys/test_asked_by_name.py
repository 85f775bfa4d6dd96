"""Agents ask about their user by name; what the user told them says "I" or "User"."""

from pathlib import Path

import pytest

from recollect import Memory
from recollect.settings import Settings


def with_models(data: Path) -> Settings:
    return Settings.load({"data_dir": data, "embedding": {"model": "local"}})


@pytest.mark.parametrize(
    ("user", "told", "asked", "wanted"),
    [
        ("ann", "I moved to Lisbon in May.", "Where does Ann live?", "Lisbon"),
        ("ann.lee@example.org", "I'm allergic to shellfish.", "Ann Lee's allergies", "shellfish"),
        ("王芳", "我对花生过敏。", "王芳对什么过敏？", "花生"),
    ],
)
async def test_the_user_is_known_by_the_name_in_their_id(
    user: str, told: str, asked: str, wanted: str, tmp_path: Path
):
    async with Memory.open(with_models(tmp_path)) as memory:
        hers = memory.scope(user=user)
        await hers.write(told)
        assert wanted in (await hers.recall(asked))[0].content
        assert not (await memory.scope(user="bob").recall(asked)).hits


async def test_a_name_that_was_told_counts_from_then_on(tmp_path: Path):
    async with Memory.open(with_models(tmp_path)) as memory:
        hers = memory.scope(user="u-17")
        await hers.write("I moved to Lisbon in May.")
        assert not (await hers.recall("Where does Clara live?")).hits
        await hers.write("My name is Clara Hagen.")
        assert "Lisbon" in (await hers.recall("Where does Clara live?"))[0].content


async def test_somebody_else_is_not_the_user(tmp_path: Path):
    async with Memory.open(with_models(tmp_path)) as memory:
        hers = memory.scope(user="ann")
        await hers.write("I moved to Lisbon in May.")
        await hers.write("My brother Jonas lives in Hamburg.")
        assert "Hamburg" in (await hers.recall("Where does Jonas live?"))[0].content
        assert "Lisbon" in (await hers.recall("Where does Ann live?"))[0].content
