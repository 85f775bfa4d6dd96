"""A service that answers the SDK's command as told, and keeps what it was sent."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class FakeService:
    """See the module."""

    def __init__(self, port: int) -> None:
        self.environment = {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        self.answers: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []

    def answer(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Return the next answer as the service streams it."""
        self.sent.append(body)
        block = self.answers.pop(0)
        if block["type"] == "text":
            begun, rest = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            given = json.dumps(block["input"])
            begun, rest = (
                {**block, "input": {}},
                {"type": "input_json_delta", "partial_json": given},
            )
        used = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": f"msg_{len(self.sent)}", "type": "message", "role": "assistant"}
        message |= {"model": body["model"], "content": [], "stop_reason": None, "usage": used}
        stopped = "end_turn" if block["type"] == "text" else "tool_use"
        yield {"type": "message_start", "message": message}
        yield {"type": "content_block_start", "index": 0, "content_block": begun}
        yield {"type": "content_block_delta", "index": 0, "delta": rest}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": stopped}, "usage": used}
        yield {"type": "message_stop"}


@contextmanager
def served() -> Iterator[FakeService]:
    """Run the service in a thread."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_call = self.path.startswith("/v1/messages?") or self.path == "/v1/messages"
            self.send_response(200 if is_call else 404)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in service.answer(body) if is_call else ():
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service = FakeService(server.server_port)
        Thread(target=server.serve_forever, daemon=True).start()
        yield service
        server.shutdown()
