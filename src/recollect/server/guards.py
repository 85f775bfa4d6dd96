"""What is refused before anything looks at it: foreign pages and bodies without an end."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.server.problems import problem

# So many digits are over every limit already, and Python reads no number of some thousand.
_MOST_DIGITS: Final = 20
LOCAL_HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class OnlyFromHere:
    """Refuses what a web page of another site makes a browser send.

    A foreign name that leads to this machine shows in `Host`, a foreign page in `Origin`.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answering = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (answering or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> ASGIApp | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if _name(f"//{host}") not in self._hosts:
            return problem(
                HTTPStatus.BAD_REQUEST,
                "foreign_host",
                f"This server does not answer for the host {host!r}",
                hint="Use the address it was started with, for example 127.0.0.1.",
            )
        if origin is not None and _name(origin) not in self._hosts:
            return problem(
                HTTPStatus.FORBIDDEN,
                "foreign_origin",
                f"Pages of {origin!r} may not use this server",
            )
        return None


class BodyLimit:
    """Refuses bodies over a size, announced by a header or met while reading."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        size = int(announced[:_MOST_DIGITS]) if announced.isdecimal() else 0
        read = 0

        async def limited() -> Message:
            nonlocal read
            self._require(size)
            message = await receive()
            read += len(message.get("body", b""))
            self._require(read)
            return message

        await self._app(scope, limited, send)

    def _require(self, size: int) -> None:
        # Raised where the body is read, so that it is told like every other problem.
        if size > self._most:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The body has more than {self._most:,} bytes; nothing was changed",
            )


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
