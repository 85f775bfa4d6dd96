"""However its program names people, nothing is shared between two of them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from agents import Agent, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from recollect import Memory
from recollect.adapters.openai_agents import AgentMemory
from tests.adapters.people import check_nothing_is_shared

set_tracing_disabled(True)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


async def talk(memory: Memory, said: str) -> str:
    known = AgentMemory(memory, session=str(uuid4()))
    saving = function_call("memory_save", json.dumps({"content": said}), call_id="c")
    answers = [[saving]] if said.startswith("Remember") else []
    model = ScriptedModel([*answers, [assistant_message("Noted.")]])
    agent = known.agent(Agent(name="helper", model=model))
    await known.run(agent, said, session=known.session)
    assert len(await known.session.get_items()) >= 2
    return str([(it.system_instructions, it.input) for it in model.calls])


_WAYS = {
    "scope(user=)": True,
    "nothing": False,
}


@pytest.mark.parametrize("way", _WAYS)
async def test_two_people_share_nothing(memory: Memory, way: str):
    async def converse(person: str, said: str) -> str:
        return await talk(memory.scope(user=person) if _WAYS[way] else memory, said)

    await check_nothing_is_shared(memory, converse, named=_WAYS[way])
