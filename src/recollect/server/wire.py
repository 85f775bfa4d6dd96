"""What cannot be read as HTTP at all is told as a problem too.

Many write a name such as 安妮 into an address as it is, and curl sends it like that.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.server.problems import problem

_HINT: Final = (
    "In an address, write what is no ASCII as % and two digits for each byte of UTF-8; curl does "
    "it with: curl -G --data-urlencode 'user=安妮' ADDRESS. Addresses and headers have a limit "
    "of 64 KB."
)


class TellingProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with our form for what it refuses."""

    def send_400_response(self, msg: str) -> None:
        """Tell that a request cannot be read, and end the connection."""
        told = problem(HTTPStatus.BAD_REQUEST, "invalid_http", msg, hint=_HINT)
        headers = [*told.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=told.status_code, headers=headers, reason=b"Bad Request"),
            h11.Data(data=bytes(told.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
