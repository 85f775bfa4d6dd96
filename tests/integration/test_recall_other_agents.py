"""A question to other agents leans to what they know."""

from pathlib import Path

import pytest

from recollect import Memory
from recollect.settings import Settings

_TOLD = {
    "en": (
        "The deploy window is on Friday night",
        "The deploy window was moved to Sunday",
        "what did the other agents learn about the deploy window",
        "when is the deploy window",
    ),
    "zh": (
        "部署窗口是周五晚上",
        "部署窗口改到周日了",
        "其他智能体关于部署窗口知道什么",
        "部署窗口是什么时候",
    ),
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_a_child_knows_is_preferred_when_others_are_asked_for(
    database_path: Path, language: str
):
    own, theirs, cross, plain = _TOLD[language]
    agents = {"lead": {"children": ["scout"]}}
    chosen = Settings.load({"storage": {"path": database_path}, "agents": agents})
    async with Memory.open(chosen) as memory:
        lead, scout = memory.scope(agent="lead"), memory.scope(agent="scout")
        mine = await lead.remember(own)
        found = await scout.remember(theirs)
        asked = {hit.id: hit for hit in await lead.recall(cross, min_score=0.0)}
        reasons = {it.reason: it.factor for it in asked[found.id].explanation.boosts}
        assert reasons["known to others"] > 1
        told = asked[mine.id].explanation.boosts
        assert "known to others" not in {it.reason for it in told}
        for hit in await lead.recall(plain, min_score=0.0):
            assert "known to others" not in {it.reason for it in hit.explanation.boosts}
        (alone,) = await scout.recall(cross, min_score=0.0)
        assert "known to others" not in {it.reason for it in alone.explanation.boosts}


async def test_what_is_shared_is_preferred_when_others_are_asked_for(database_path: Path):
    agents = {"rita": {"role": "reviewer"}}
    chosen = Settings.load({"storage": {"path": database_path}, "agents": agents})
    async with Memory.open(chosen) as memory:
        rita = memory.scope(agent="rita")
        proposal = await rita.shared.propose("Deploys wait for Sunday", "convention")
        await memory.shared.approve(proposal.id)
        question = "what did the other agents decide about deploys"
        (hit,) = await rita.recall(question, min_score=0.0)
        assert "known to others" in {it.reason for it in hit.explanation.boosts}
