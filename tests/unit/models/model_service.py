"""A service for models over HTTP, as small as a test needs it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


class ModelService(ThreadingHTTPServer):
    """Answers each request with `answer`; `faults` are answered first."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults: list[tuple[int, dict[str, str], bytes]] = []
        # Paths with what was sent as Authorization.
        self.requests: list[tuple[str, str | None]] = []
        self.bodies: list[dict[str, Any]] = []
        self.delay = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, body: dict[str, Any]) -> Any:
        raise NotImplementedError

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up while the server was slow is what some tests are about."""


Service = TypeVar("Service", bound=ModelService)


@contextmanager
def running(service: Service) -> Iterator[Service]:
    """Run a service in a thread."""
    with service:
        thread = threading.Thread(target=service.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield service
        service.shutdown()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: ModelService

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.bodies.append(body)
        self.server.requests.append((self.path, self.headers.get("authorization")))
        time.sleep(self.server.delay)
        if self.server.faults:
            status, headers, content = self.server.faults.pop(0)
        else:
            status, headers, content = 200, {}, json.dumps(self.server.answer(body)).encode()
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests keep the terminal quiet."""
