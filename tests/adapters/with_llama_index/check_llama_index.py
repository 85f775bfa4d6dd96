"""The memory block in LlamaIndex's own memory."""

from pathlib import Path

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory as ChatMemory

from recollect import Memory
from recollect.adapters.llama_index import RecollectBlock


async def test_each_step_is_told_what_is_remembered_and_the_history_is_kept(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        await memory.remember("Ann wants metric units")
        block = RecollectBlock(memory, session="s")
        # Its own counter of tokens would be downloaded.
        history = ChatMemory.from_defaults(
            session_id="s", memory_blocks=[block], tokenizer_fn=str.split
        )
        # At the start of a run nothing was said yet.
        assert await history.aget() == []
        await history.aput(ChatMessage(role="user", content="Which units does Ann want?"))
        told, said = await history.aget()
        assert "Ann wants metric units" in told.content
        assert said.content == "Which units does Ann want?"
        await history.aput(ChatMessage(role="assistant", content="Metric."))
        stored = await history.aget_all()
        assert "<memory>" not in str(stored)
        for _ in range(2):
            await block.leave(stored)
        spoken = [it.content for it in (await memory.turns(session="s")).items]
        assert spoken == ["Which units does Ann want?", "Metric."]

        (save,) = [it for it in block.tools() if it.metadata.name == "memory_save"]
        saved = await save.acall(content="Ann lives in Lisbon")
        assert "created" in saved.content
    await block.aget([ChatMessage(role="user", content="Are you there?")])
    assert block.degraded
