"""What says the same takes one place in an answer."""

from pathlib import Path

import pytest

from recollect import Memory
from recollect.settings import Settings

_TOLD = {
    "en": (
        "Marta keeps the spare key under the blue pot",
        "Marta lost the spare key of the car in May",
        "Marta keeps the spare key in the kitchen drawer",
        "where does Marta keep the spare key",
    ),
    "zh": (
        "玛塔把备用钥匙放在蓝色花盆下面",
        "玛塔五月把车的备用钥匙弄丢了",
        "玛塔把备用钥匙放在厨房抽屉里",
        "玛塔把备用钥匙放在哪里",
    ),
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_repetition_gives_its_place_to_something_new(memory: Memory, language: str):
    said, other, another, question = _TOLD[language]
    again = [await memory.remember(said), await memory.remember(f"{said}.")]
    rest = {(await memory.remember(it)).id for it in (other, another)}
    recalled = await memory.recall(question, limit=3, min_score=0.0)
    shown = {hit.id for hit in recalled}
    assert rest < shown
    (left_out,) = {it.id for it in again} - shown
    (kept,) = {it.id for it in again} & shown
    (miss,) = [it for it in recalled.near_misses if it.id == left_out]
    assert miss.reason == f"says the same as {kept}"


async def test_a_repetition_comes_last_when_there_is_room(memory: Memory):
    said, other, _, question = _TOLD["en"]
    await memory.remember_many([said, said, other])
    recalled = await memory.recall(question, min_score=0.0)
    assert [hit.content for hit in recalled] == [said, other, said]
    assert recalled[2].explanation.boosts[-1].reason == f"says the same as {recalled[0].id}"
    assert recalled[2].score == recalled[1].score


async def test_what_is_said_over_and_over_does_not_hide_the_rest(memory: Memory):
    said, other, another, question = _TOLD["en"]
    await memory.remember_many([said] * 9)
    await memory.remember_many([other, another])
    found = [hit.content for hit in await memory.recall(question, limit=3, min_score=0.0)]
    assert sorted(found) == sorted([said, other, another])


@pytest.mark.parametrize("share", [0.0, 1.0])
async def test_repetitions_are_shown_when_nothing_is_compared(database_path: Path, share: float):
    said, other, _, question = _TOLD["en"]
    recall = {"duplicates": share}
    chosen = Settings.load({"storage": {"path": database_path}, "recall": recall})
    async with Memory.open(chosen) as memory:
        await memory.remember_many([said, said, other])
        found = await memory.recall(question, min_score=0.0)
        assert [hit.content for hit in found] == [said, said, other]
