"""The Claude Agent SDK with memory; here a small server plays the service that its command calls.

python examples/claude_agent_query.py
"""

import asyncio
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, query, tool

from recollect import Memory
from recollect.adapters.claude_agent import ClaudeAgentMemory

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))
sent: list[dict[str, Any]] = []


class Service(BaseHTTPRequestHandler):
    """Answers as Anthropic's service would."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_call = "count_tokens" not in self.path
        self.send_response(200 if is_call else 404)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in answer(body) if is_call else ():
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_: Any) -> None:
        pass


def answer(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return an answer as the service streams it."""
    sent.append(body)
    has_result = "tool_result" in json.dumps(body["messages"])
    fetches = "Fetch the report" in json.dumps(body["messages"]) and not has_result
    block: dict[str, Any] = {"type": "text", "text": ""}
    rest = {"type": "text_delta", "text": "Done."}
    if fetches:
        block = {"type": "tool_use", "id": "toolu_1", "name": "mcp__port__fetch", "input": {}}
        rest = {"type": "input_json_delta", "partial_json": "{}"}
    used = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{len(sent)}", "type": "message", "role": "assistant", "content": []}
    message |= {"model": body["model"], "stop_reason": None, "usage": used}
    stopped = {"stop_reason": "tool_use" if fetches else "end_turn"}
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": rest}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": stopped, "usage": used}
    yield {"type": "message_stop"}


@tool("fetch", "Fetch the report.", {"type": "object", "properties": {}})
async def fetch(_: Any) -> dict[str, Any]:
    """Fetch the report."""
    return {"content": [{"type": "text", "text": REPORT}]}


async def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    Thread(target=server.serve_forever, daemon=True).start()
    # In earnest none of this is needed.
    environment = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CONFIG_DIR": ".claude",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    async with Memory.open("memory.db") as opened:
        memory = opened.scope(user="ann")
        options = ClaudeAgentOptions(**ClaudeAgentMemory(memory).options(), env=environment)
        options.mcp_servers["port"] = create_sdk_mcp_server("port", tools=[fetch])
        options.allowed_tools.append("mcp__port__fetch")

        async def ask(prompt: str) -> None:
            async for _ in query(prompt=prompt, options=options):
                pass

        await ask("Remember that I want metric units")
        await memory.drain()
        await ask("How do I want distances, in which units?")
        print("remembered:", "metric units" in json.dumps(sent[-1]["messages"]))

        await ask("Fetch the report")
        kept = sent[-1]["messages"][-1]["content"][0]["content"][0]["text"]
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")
    server.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
