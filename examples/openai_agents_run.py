"""Agents of the OpenAI Agents SDK with memory; here its scripted model answers.

python examples/openai_agents_run.py
"""

import asyncio
import json
from typing import Any

from agents import Agent, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from recollect import Memory
from recollect.adapters.openai_agents import AgentMemory

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))


def saying(*answers: Any) -> ScriptedModel:
    """Return a model that gives these answers, one a call."""
    return ScriptedModel([[assistant_message(it) if isinstance(it, str) else it] for it in answers])


def calling(name: str, **arguments: Any) -> Any:
    """Return an answer that calls a tool."""
    return function_call(name, json.dumps(arguments), call_id=f"call-{name}")


@function_tool
def fetch() -> str:
    """Fetch the report."""
    return REPORT


async def main() -> None:
    set_tracing_disabled(True)
    async with Memory.open("memory.db") as opened:
        memory = opened.scope(user="ann")

        async def run(model: ScriptedModel, session: str, said: str) -> AgentMemory:
            known = AgentMemory(memory, session=session, context_tokens=4_000)
            agent = known.agent(Agent(name="helper", model=model, tools=[fetch]))
            await known.run(agent, said, session=known.session)
            return known

        saving = calling("memory_save", content="The user wants metric units", type="user")
        await run(saying(saving, "Noted."), "monday", "Remember: metric units, please")
        model = saying("…")
        await run(model, "tuesday", "How do I want distances, in which units?")
        print("remembered:", "metric units" in model.calls[0].system_instructions)

        known = await run(saying(calling("fetch"), "Done."), "tuesday", "Fetch the report")
        (kept,) = [it["output"] for it in await known.session.get_items() if "output" in it]
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")

        known = AgentMemory(memory, session="wednesday")
        for number in range(60):
            asked = {"role": "user", "content": f"Tell me about berth {number}"}
            told = {"role": "assistant", "content": f"Berth {number} is free."}
            await known.session.add_items([asked, told])
        model = saying("Yes.")
        await run(model, "wednesday", "And now?")
        print(f"compressed: of 121 messages {len(model.calls[0].input)} are sent")


if __name__ == "__main__":
    asyncio.run(main())
