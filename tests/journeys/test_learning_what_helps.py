"""An agent says what helped, and the next one is told that first."""

from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.record import Procedure

STORIES = {
    "english": (
        "How do I restart the search service?",
        "Restart the search service with a systemctl command",
        "Restart the search service from the admin page",
    ),
    "chinese": (
        "搜索服务怎么重启？",
        "搜索服务重启：执行 systemctl restart search",
        "搜索服务重启：在管理页面里点一下",
    ),
}


@pytest.mark.parametrize("language", STORIES)
async def test_what_helped_comes_first_the_next_time(database_path: Path, language: str):
    question, by_command, by_page = STORIES[language]
    # One agent is given both ways and tries them: the one that is told first does not work.
    async with Memory.open(database_path) as memory:
        await memory.remember_many(
            [{"content": text, "kind": "procedural"} for text in (by_command, by_page)]
        )
        first, second = (await memory.recall(question))[:2]
        made = await memory.context(question, session="monday")
        assert set(made.ids) == {first.id, second.id}
        for _ in range(3):
            await memory.used(first, success=False)
            await memory.used(second)
        await memory.rejected(first)
        # The answer is not an old one from the cache.
        assert [hit.id for hit in await memory.recall(question)][:2] == [second.id, first.id]

    # The next agent, days later and in another process, is told the other way first, and why.
    async with Memory.open(database_path) as memory:
        best, other = (await memory.recall(question))[:2]
        assert (best.id, other.id) == (second.id, first.id)
        (raised,) = [it for it in best.explanation.boosts if it.reason == "feedback"]
        (lowered,) = [it for it in other.explanation.boosts if it.reason == "feedback"]
        assert raised.factor > 1 > lowered.factor
        assert best.record is not None
        assert isinstance(best.record.details, Procedure)
        assert (best.record.details.usage_count, best.record.details.success_rate) == (3, 1.0)
        # Both were in one prompt, of one session, and are what they always were.
        assert (best.record.access_count, best.record.version) == (1, 1)
        # What is wrong is not hidden by being popular: a question for it still finds it.
        assert first.id in [hit.id for hit in await memory.recall(first.content)]
