"""A PydanticAI agent with memory; here a function plays the model.

python examples/pydantic_ai_agent.py
"""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.messages import UserPromptPart as Said
from pydantic_ai.models.function import AgentInfo, FunctionModel

from recollect import Memory
from recollect.adapters.pydantic_ai import RecollectMemory

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))
sent: list[ModelMessage] = []


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer as a model would."""
    sent[:] = messages
    last = messages[-1].parts[-1]
    if isinstance(last, Said) and "Remember" in str(last.content):
        arguments = {"content": "The user wants metric units", "type": "user"}
        return ModelResponse([ToolCallPart("memory_save", arguments)])
    if isinstance(last, Said) and "Fetch" in str(last.content):
        return ModelResponse([ToolCallPart("fetch", {})])
    knows = "metric units" in (info.instructions or "")
    return ModelResponse([TextPart("In metric units." if knows else "Done.")])


async def main() -> None:
    async with Memory.open("memory.db") as opened:
        memory = opened.scope(user="ann")
        known = RecollectMemory(memory, context_tokens=4_000)
        agent = Agent(FunctionModel(model), instructions="Be brief.", capabilities=[known])

        @agent.tool_plain
        def fetch() -> str:
            """Fetch the report."""
            return REPORT

        await agent.run("Remember that I want metric units")
        answer = await agent.run("How do I want distances, in which units?")
        print("remembered:", answer.output)

        done = await agent.run("Fetch the report")
        kept = done.all_messages()[2].parts[0].content
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")

        history: list[ModelMessage] = []
        for number in range(60):
            history.append(ModelRequest([Said(f"Tell me about berth {number}")]))
            history.append(ModelResponse([TextPart(f"Berth {number} is free.")]))
        await agent.run("And now?", message_history=history)
        print(f"compressed: of {len(history) + 1} messages {len(sent)} are sent")


if __name__ == "__main__":
    asyncio.run(main())
