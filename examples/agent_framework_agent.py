"""An agent of Microsoft's Agent Framework with memory; here a script plays the model.

python examples/agent_framework_agent.py
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    SlidingWindowStrategy,
    tool,
)

from recollect import Memory
from recollect.adapters.agent_framework import RecollectProvider

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Answers as a model would, and notes what it was sent."""

    told = ""
    sent: Sequence[Message] = ()

    async def _inner_get_response(
        self, *, messages: Sequence[Message], options: Any, **_: Any
    ) -> ChatResponse:
        self.told, self.sent = str(options.get("instructions")), messages
        answer: Content | str = "Done."
        if messages[-1].text == "Fetch the report":
            answer = Content.from_function_call("c1", "fetch", arguments="{}")
        if messages[-1].text.startswith("Remember"):
            saving = '{"content": "The user wants metric units", "type": "user"}'
            answer = Content.from_function_call("c2", "memory_save", arguments=saving)
        return ChatResponse(messages=[Message("assistant", [answer])])


@tool
def fetch() -> str:
    """Fetch the report."""
    return REPORT


async def main() -> None:
    async with Memory.open("memory.db") as opened:
        memory = opened.scope(user="ann")
        client = Client()
        agent = Agent(
            client,
            tools=[fetch],
            context_providers=[InMemoryHistoryProvider(), RecollectProvider(memory)],
            # The window is the framework's; what leaves it is remembered all the same.
            compaction_strategy=SlidingWindowStrategy(keep_last_groups=20),
        )

        async def talk(session: str, *says: str) -> None:
            thread = agent.create_session(session_id=session)
            for said in says:
                await agent.run(said, session=thread)

        await talk("monday", "Remember that I want metric units")
        await talk("tuesday", "How do I want distances, in which units?")
        print("remembered:", "metric units" in client.told)

        await talk("wednesday", "Fetch the report")
        kept = str(client.sent[-1].contents[0].result)
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")

        await talk("thursday", *(f"Tell me about berth {number}" for number in range(60)))
        print(f"compressed: of 119 messages {len(client.sent)} are sent")


if __name__ == "__main__":
    asyncio.run(main())
