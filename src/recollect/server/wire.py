"""HTTP on the wire: what cannot be read and what does not arrive in time is told as a problem.

Many write a name such as 安妮 into an address as it is, and curl sends it like that.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import ClassVar, Final

import h11
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.server.problems import problem

PATIENCE_SECONDS: Final = 30.0
# A large body may take longer than that as long as so much of it arrives.
MIN_BODY_BYTES_PER_SECOND: Final = 8_192
HINT: Final = (
    "In an address, write what is no ASCII as % and two digits for each byte of UTF-8; curl does "
    "it with: curl -G --data-urlencode 'user=安妮' ADDRESS. Addresses and headers have a limit "
    "of 64 KB."
)


class H11ProblemProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with our form for what it refuses and an end to waiting."""

    # How long a request may take to arrive; a body that keeps arriving may take longer.
    patience: ClassVar[float] = PATIENCE_SECONDS

    _waiting: asyncio.TimerHandle | None = None
    # What has arrived since the wait began.
    _arrived_bytes: int = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._wait_for_a_request()

    def data_received(self, data: bytes) -> None:
        self._arrived_bytes += len(data)
        super().data_received(data)
        if not self._is_arriving():
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait_for_a_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Tell that a request cannot be read, and end the connection."""
        self._end_with(problem(HTTPStatus.BAD_REQUEST, "invalid_http", msg, hint=HINT))

    def _is_arriving(self) -> bool:
        """Whether the client has still something to send of the request, or all of it."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _wait_for_a_request(self) -> None:
        self._stop_waiting()
        self._arrived_bytes = 0
        if self._is_arriving() and not self.transport.is_closing():
            self._waiting = self.loop.call_later(self.patience, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        is_unanswered = self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE)
        is_quick = is_quick_enough(self._arrived_bytes, self.patience)
        keeps_coming = self.conn.their_state is h11.SEND_BODY and is_unanswered and is_quick
        if self.flow.read_paused or keeps_coming:  # paused: it is we who have not read it yet
            self._wait_for_a_request()
            return
        began = self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]
        if not began or not is_unanswered:
            self.transport.close()
            return
        if self.conn.their_state is h11.SEND_BODY:
            # Whoever waits for the rest of the body learns that it does not come.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._end_with(too_slow(self.patience))

    def _end_with(self, told: Response) -> None:
        """Send a last response and end the connection."""
        status = HTTPStatus(told.status_code)
        headers = [*told.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=status, headers=headers, reason=status.phrase.encode()),
            h11.Data(data=bytes(told.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def is_quick_enough(arrived_bytes: int, seconds: float) -> bool:
    """Return whether a body that brought so much in this time may go on arriving."""
    return arrived_bytes >= MIN_BODY_BYTES_PER_SECOND * seconds


def too_slow(patience: float) -> Response:
    """Return the answer to a request that did not arrive in time."""
    return problem(
        HTTPStatus.REQUEST_TIMEOUT,
        "request_too_slow",
        f"The request did not arrive within {patience:g} seconds, nor did it keep arriving; "
        "nothing was changed",
        hint=f"Send it again, without a pause; a body of any length may arrive at "
        f"{MIN_BODY_BYTES_PER_SECOND:,} bytes a second.",
    )
