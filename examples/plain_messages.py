"""A plain list of messages with memory beside it; here a function plays the model.

python examples/plain_messages.py
"""

import asyncio
import json
from typing import Any

from recollect import Memory
from recollect.adapters.plain import wrap

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))


def model(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Answer as OpenAI's client would: `client.chat.completions.create(messages=…)`."""
    last = messages[-1]
    if last["role"] == "user" and "metric" in last["content"]:
        arguments = json.dumps({"content": "The user wants metric units", "type": "user"})
        call = {"id": "c1", "type": "function", "function": {"name": "memory_save"}}
        call["function"]["arguments"] = arguments
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    knows = "metric units" in messages[0]["content"]
    return {"role": "assistant", "content": "In metric units." if knows else "Noted."}


async def talk(memory: Memory, session: str, *says: str) -> list[dict[str, Any]]:
    """Have a conversation, and return all of it."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    async with wrap(memory, messages, session=session, context_tokens=4_000) as chat:
        for said in says:
            messages.append({"role": "user", "content": said})
            messages.append(model(await chat.to_send()))
            if results := await chat.answers(messages[-1]):
                messages += results
                messages.append(model(await chat.to_send()))
    return messages


async def main() -> None:
    async with Memory.open("memory.db") as opened:
        memory = opened.scope(user="ann")
        await talk(memory, "monday", "Remember that I want metric units")
        spoken = await talk(memory, "tuesday", "How do I want distances, in which units?")
        print("remembered:", spoken[-1]["content"])

        async with wrap(memory, [], session="monday") as chat:
            kept = await chat.result("fetch", {"name": "report"}, REPORT)
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")

        long = await talk(memory, "wednesday", *(f"Tell me about berth {n}" for n in range(60)))
        async with wrap(memory, long, session="wednesday", context_tokens=4_000) as chat:
            sent = await chat.to_send()
        print(f"compressed: of {len(long)} messages {len(sent)} are sent")


if __name__ == "__main__":
    asyncio.run(main())
