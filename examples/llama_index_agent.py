"""A LlamaIndex agent with memory; here a function plays the model.

python examples/llama_index_agent.py
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory as ChatMemory
from llama_index.core.tools import FunctionTool

from recollect import Memory
from recollect.adapters.llama_index import RecollectBlock

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))
sent: list[ChatMessage] = []


def model(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
    """Answer as a model would."""
    sent[:] = messages
    said = str(messages[-1].content) if messages[-1].role == "user" else ""
    calls = []
    if "Remember" in said:
        saving = {"content": "The user wants metric units", "type": "user"}
        calls = [ToolCallBlock(tool_name="memory_save", tool_kwargs=saving)]
    if "Fetch" in said:
        calls = [ToolCallBlock(tool_name="fetch", tool_kwargs={})]
    return ChatMessage(role="assistant", blocks=calls, content=None if calls else "Done.")


def fetch() -> str:
    """Fetch the report."""
    return REPORT


async def main() -> None:
    async with Memory.open("memory.db") as opened:
        memory = opened.scope(user="ann")

        async def talk(session: str, said: str, *before: ChatMessage) -> None:
            block = RecollectBlock(memory, session=session)
            history = ChatMemory.from_defaults(
                session_id=session,
                memory_blocks=[block],
                chat_history=list(before),
                # What is older than this leaves the window; it is remembered all the same.
                token_limit=500,
                # LlamaIndex's own counter of tokens would be downloaded.
                tokenizer_fn=str.split,
            )
            tools = [*block.tools(), block.archiving(FunctionTool.from_defaults(fetch))]
            llm = MockFunctionCallingLLM(response_generator=model)
            await FunctionAgent(llm=llm, tools=tools, streaming=False).run(said, memory=history)
            await block.leave(await history.aget_all())

        await talk("monday", "Remember that I want metric units")
        await talk("tuesday", "How do I want distances, in which units?")
        print("remembered:", "metric units" in str(sent[0].content))

        await talk("wednesday", "Fetch the report")
        kept = str(sent[-1].content)
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")

        before: list[ChatMessage] = []
        for number in range(60):
            before.append(ChatMessage(role="user", content=f"Tell me about berth {number}"))
            before.append(ChatMessage(role="assistant", content=f"Berth {number} is free."))
        await talk("thursday", "And now?", *before)
        print(f"compressed: of {len(before) + 1} messages {len(sent)} are sent")


if __name__ == "__main__":
    asyncio.run(main())
