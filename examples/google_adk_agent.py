"""An agent of Google's Agent Development Kit with memory; here a script plays the model.

python examples/google_adk_agent.py
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import preload_memory
from google.genai import types

from recollect import Memory
from recollect.adapters.google_adk import RecollectMemoryService

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))
sent: list[LlmRequest] = []


class Model(BaseLlm):
    """Answers as a model would."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        sent.append(llm_request)
        part = types.Part(text="Done.")
        if llm_request.contents[-1].parts[0].text == "Fetch the report":
            part = types.Part.from_function_call(name="fetch", args={})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def fetch() -> str:
    """Fetch the report."""
    return REPORT


async def hand_over(callback_context: Any) -> None:
    """Hand the session to the memory when the agent is done."""
    await callback_context.add_session_to_memory()


async def main() -> None:
    async with Memory.open("memory.db") as memory:
        service = RecollectMemoryService(memory)
        sessions = InMemorySessionService()
        agent = LlmAgent(
            name="helper",
            model=Model(model="scripted"),
            tools=[preload_memory, fetch],
            after_tool_callback=service.archive,
            after_agent_callback=hand_over,
        )
        # The window is the kit's; what leaves it is remembered all the same.
        window = ContextFilterPlugin(num_invocations_to_keep=10)
        app = App(name="helper", root_agent=agent, plugins=[window])
        runner = Runner(app=app, session_service=sessions, memory_service=service)

        async def talk(session: str, *says: str) -> None:
            whose = {"user_id": "ann", "session_id": session}
            await sessions.create_session(app_name="helper", **whose)
            for said in says:
                message = types.Content(role="user", parts=[types.Part(text=said)])
                async for _ in runner.run_async(**whose, new_message=message):
                    pass

        await talk("monday", "Remember that I want metric units")
        await memory.drain()
        await talk("tuesday", "How do I want distances, in which units?")
        print("remembered:", "metric units" in str(sent[-1].contents))

        await talk("wednesday", "Fetch the report")
        kept = sent[-1].contents[-1].parts[0].function_response.response["result"]
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")

        await talk("thursday", *(f"Tell me about berth {number}" for number in range(60)))
        print(f"compressed: of 119 messages {len(sent[-1].contents)} are sent")


if __name__ == "__main__":
    asyncio.run(main())
