"""The demo workspace, after its conversations were read in the background."""

from typing import Literal

import pytest

from recollect import Memory
from recollect.demo import WORKSPACE, load_demo


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_reading_the_conversations_of_the_demo_adds_nothing(
    memory: Memory, language: Literal["en", "zh"]
):
    await load_demo(memory, language)
    whole = memory.scope(workspace=WORKSPACE, agent=None, user=None)
    before = await whole.workspace.records(limit=100)
    sessions = await whole.workspace.sessions(limit=100)

    for it in sessions.items:
        told = memory.scope(workspace=WORKSPACE, agent=it.scope.agent, user=it.scope.user)
        assert {found.status for found in await told.extract(it.id)} <= {"skipped"}

    after = await whole.workspace.records(limit=100)
    assert {it.id for it in after.items} == {it.id for it in before.items}
