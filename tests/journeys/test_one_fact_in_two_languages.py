"""One person writes in Chinese today and in English tomorrow.

A fact is kept once where it is surely the same, changed with its past where it is surely another
value, and otherwise kept in both languages.
"""

from __future__ import annotations

import pytest

from recollect import Memory
from tests.conftest import TurnedClock


async def _say(memory: Memory, clock: TurnedClock, first: str, later: str) -> tuple[str, list[str]]:
    """What became of the later one, and what is stored then."""
    await memory.remember(first, category="user")
    clock.turn(days=20)
    written = await memory.write(later, category="user")
    return written.status, [record.content for record in await memory.list()]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("I live in Berlin.", "我住在柏林。"),
        ("我妻子是医生。", "My wife is a doctor."),
        ("The rent is 1200 euros.", "房租是1200欧元。"),
        ("用户对花生过敏。", "The user is allergic to peanuts."),
        ("The user prefers dark mode.", "用户偏好深色模式。"),
    ],
)
async def test_said_again_in_the_other_language_it_is_one_fact_with_more_evidence(
    memory: Memory, clock: TurnedClock, first: str, later: str
):
    status, stored = await _say(memory, clock, first, later)
    assert (status, stored) == ("merged", [first])


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("I live in Berlin.", "我住在慕尼黑。"),
        ("房租是1200欧元。", "The rent is 1300 euros."),
        ("The database is PostgreSQL.", "数据库是 MySQL。"),
        ("用户喜欢咖啡。", "The user does not like coffee."),
        ("I have two cats.", "我有三只猫。"),
    ],
)
async def test_another_value_in_the_other_language_is_a_change_and_the_past_is_kept(
    memory: Memory, clock: TurnedClock, first: str, later: str
):
    status, stored = await _say(memory, clock, first, later)
    assert (status, stored) == ("versioned", [later])
    [record] = await memory.list()
    assert first in [version.record.content for version in await memory.history(record.id)]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("My daughter is called Xiaoyu.", "我女儿叫小雨。"),
        ("项目代号是猎鹰。", "The project's code name is Falcon."),
        ("I live in Quedlinburg.", "我住在奎德林堡。"),
    ],
)
async def test_what_may_be_a_translation_or_not_is_kept_in_both_languages(
    memory: Memory, clock: TurnedClock, first: str, later: str
):
    status, stored = await _say(memory, clock, first, later)
    assert status == "created"
    assert sorted(stored) == sorted([first, later])
