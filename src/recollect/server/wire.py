"""HTTP on the wire: what cannot be read and what does not arrive in time is told as a problem.

Many write a name such as 安妮 into an address as it is, and curl sends it like that.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import ClassVar, Final, Literal

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from recollect.server.problems import problem

PATIENCE_SECONDS: Final = 30.0
# A large body may take longer than that as long as so much of it arrives.
_MIN_BODY_BYTES_PER_SECOND: Final = 8_192
# Of an address and headers together; httptools has no limit.
_MAX_HEAD_BYTES: Final = 65_536
_HINT: Final = (
    "In an address, write what is no ASCII as % and two digits for each byte of UTF-8; curl does "
    "it with: curl -G --data-urlencode 'user=安妮' ADDRESS. Addresses and headers have a limit "
    "of 64 KB."
)


class ProblemProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, with our form for what it refuses and an end to waiting."""

    # How long a request may take to arrive; a body that keeps arriving may take longer.
    patience: ClassVar[float] = PATIENCE_SECONDS

    _waiting: asyncio.TimerHandle | None = None
    # What is arriving: nothing yet, the head of a request, its body; or it is all there.
    _phase: Literal["idle", "head", "body", "complete"] = "idle"
    _head_bytes: int = 0
    # What has arrived since the wait began.
    _arrived_bytes: int = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._wait_for_a_request()

    def data_received(self, data: bytes) -> None:
        self._arrived_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        self._head_bytes += len(data) if self._phase == "head" else 0
        if self._head_bytes > _MAX_HEAD_BYTES:
            self.send_400_response("The address and headers are too long")
        elif self._phase == "complete":
            self._stop_waiting()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._phase, self._head_bytes = "head", 0

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._phase = "body"

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._phase = "complete"

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._phase == "complete" and not self.pipeline:
            self._phase = "idle"
        self._wait_for_a_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Tell that a request cannot be read, and end the connection."""
        self._end_with(problem(HTTPStatus.BAD_REQUEST, "invalid_http", msg, hint=_HINT))

    def _wait_for_a_request(self) -> None:
        self._stop_waiting()
        self._arrived_bytes = 0
        if self._phase != "complete" and not self.transport.is_closing():
            self._waiting = self.loop.call_later(self.patience, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]
        is_unanswered = is_answering and not self.cycle.response_started
        is_quick = self._arrived_bytes >= _MIN_BODY_BYTES_PER_SECOND * self.patience
        keeps_coming = self._phase == "body" and is_unanswered and is_quick
        if self.flow.read_paused or keeps_coming or (is_answering and self._phase == "head"):
            # It keeps arriving, or it is we who have not read it yet, or who still answer the
            # request before it.
            self._wait_for_a_request()
            return
        if self._phase == "idle" or (is_answering and self.cycle.response_started):
            self.transport.close()
            return
        if is_answering:
            # Whoever waits for the rest of the body learns that it does not come.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._end_with(
            problem(
                HTTPStatus.REQUEST_TIMEOUT,
                "request_too_slow",
                f"The request did not arrive within {self.patience:g} seconds, nor did it keep "
                "arriving; nothing was changed",
                hint=f"Send it again without pauses; a body may arrive at "
                f"{_MIN_BODY_BYTES_PER_SECOND:,} bytes a second.",
            )
        )

    def _end_with(self, told: Response) -> None:
        """Send a last response and end the connection."""
        status = HTTPStatus(told.status_code)
        lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
        lines += [name + b": " + value for name, value in told.raw_headers]
        head = b"\r\n".join((*lines, b"connection: close"))
        self.transport.write(head + b"\r\n\r\n" + bytes(told.body))
        self.transport.close()
