"""Anthropic's client with memory; here a function plays the service.

python examples/anthropic_client.py
"""

import json
from typing import Any

import httpx2
from anthropic import Anthropic, beta_tool

from recollect.adapters.anthropic import RecollectMiddleware
from recollect.sync import Memory

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))
sent: list[dict[str, Any]] = []


def service(request: httpx2.Request) -> httpx2.Response:
    """Answer as Anthropic's service would."""
    sent.append(json.loads(request.content))
    block: dict[str, Any] = {"type": "text", "text": "Done."}
    if sent[-1]["messages"][-1]["content"] == "Fetch the report":
        block = {"type": "tool_use", "id": "t1", "name": "fetch", "input": {}}
    answer = {"id": f"msg_{len(sent)}", "type": "message", "role": "assistant", "model": "claude"}
    ended = "tool_use" if block["type"] == "tool_use" else "end_turn"
    used = {"input_tokens": 1, "output_tokens": 1}
    answer |= {"content": [block], "stop_reason": ended, "usage": used}
    return httpx2.Response(200, json=answer)


@beta_tool
def fetch() -> str:
    """Fetch the report."""
    return REPORT


def main() -> None:
    # In earnest: client = Anthropic()
    http = httpx2.Client(transport=httpx2.MockTransport(service))
    client = Anthropic(api_key="none", http_client=http)
    with Memory.open("memory.db") as opened:
        memory = opened.scope(user="ann")

        def talk(session: str, *messages: Any) -> None:
            known = RecollectMiddleware(memory, session=session, context_tokens=4_000)
            client.with_options(middleware=[known]).beta.messages.tool_runner(
                model="claude", max_tokens=1_000, messages=messages, tools=[fetch]
            ).until_done()
            known.leave()

        talk("monday", {"role": "user", "content": "Remember that I want metric units"})
        memory.drain()
        talk("tuesday", {"role": "user", "content": "How do I want distances, in which units?"})
        print("remembered:", "metric units" in sent[-1]["system"])

        talk("wednesday", {"role": "user", "content": "Fetch the report"})
        (result,) = sent[-1]["messages"][-1]["content"]
        kept = result["content"]
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")

        history: list[Any] = []
        for number in range(60):
            history.append({"role": "user", "content": f"Tell me about berth {number}"})
            history.append({"role": "assistant", "content": f"Berth {number} is free."})
        talk("thursday", *history, {"role": "user", "content": "And now?"})
        print(f"compressed: of {len(history) + 1} messages {len(sent[-1]['messages'])} are sent")


if __name__ == "__main__":
    main()
