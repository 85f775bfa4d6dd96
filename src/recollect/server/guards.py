"""What is refused before anything looks at it: foreign pages, forms and bodies without an end."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.server.problems import problem

# So many digits are over every limit already, and Python reads no number of some thousand.
_MOST_DIGITS: Final = 20
# In a container the names that clients use are the proxy's business; everybody needs a key there.
ANY_HOST: Final = "*"
LOCAL_HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})
# A name, an IPv4 or a bracketed IPv6 address, and a port: no user, path or anything else.
_HOST: Final = re.compile(
    r"(?P<name>[\w.-]+|\[[0-9a-fA-F:.]+\])(?::(?P<port>[0-9]{1,5}))?", re.ASCII
)
_USUAL_PORTS: Final = {"http": 80, "https": 443}
_JSON: Final = re.compile(r"\s*application/(?:[\w.+-]+\+)?json\s*(?:;|$)", re.IGNORECASE | re.ASCII)

_FORM: Final = re.compile(r"\s*multipart/form-data\s*;", re.IGNORECASE | re.ASCII)


class _Address(NamedTuple):
    scheme: str
    name: str
    port: int


class OnlyFromHere:
    """Refuses what a web page of another site makes a browser send.

    A foreign name that leads to this machine shows in `Host`, a foreign page in `Origin`, and a
    form cannot say that it sends JSON. Where forms with files are taken, `Sec-Fetch-Site` must
    not tell of another site either.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], forms: Collection[str] = ()) -> None:
        self._app = app
        self._forms = frozenset(forms)
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answering = self._refusal(scope) if scope["type"] == "http" else None
        await (answering or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        own = _address(scope["scheme"], host)
        if own is None or (own.name not in self._hosts and ANY_HOST not in self._hosts):
            return problem(
                HTTPStatus.BAD_REQUEST,
                "foreign_host",
                f"This server does not answer for the host {host!r}",
                hint="Use the address it was started with, for example 127.0.0.1.",
            )
        if origin is not None and not self._is_own(origin, own):
            return problem(
                HTTPStatus.FORBIDDEN,
                "foreign_origin",
                f"Pages of {origin!r} may not use this server",
                hint="Only pages that this server itself gives out may; programs send no Origin.",
            )
        if scope["method"] == "POST" and not self._is_taken(scope["path"], headers):
            return problem(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "content_type_needed",
                "A POST must say that it is JSON, also when it has no body; nothing was changed",
                hint="Send it with Content-Type: application/json.",
            )
        return None

    def _is_taken(self, path: str, headers: Headers) -> bool:
        """Whether a body is of a kind that no foreign page can send."""
        kind = headers.get("content-type", "")
        if path in self._forms and _FORM.match(kind):
            return headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
        return _JSON.match(kind) is not None

    def _is_own(self, origin: str, own: _Address) -> bool:
        """Whether a page came from this server: same scheme, same port, a name of ours."""
        scheme, found, host = origin.partition("://")
        page = _address(scheme.lower(), host) if found else None
        return (
            page is not None
            and page.name in self._hosts
            and (page.scheme, page.port) == (own.scheme, own.port)
        )


class BodyLimit:
    """Refuses bodies over a size, announced by a header or met while reading.

    Some paths have a limit of their own, or none.
    """

    def __init__(self, app: ASGIApp, usual: int, by_path: Mapping[str, int | None]) -> None:
        self._app = app
        self._usual = usual
        self._by_path = by_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self._by_path.get(scope.get("path", ""), self._usual)
        if scope["type"] != "http" or most is None:
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        size = int(announced[:_MOST_DIGITS]) if announced.isdecimal() else 0
        read = 0

        async def limited() -> Message:
            nonlocal read
            _require(size, most)
            message = await receive()
            read += len(message.get("body", b""))
            _require(read, most)
            return message

        await self._app(scope, limited, send)


def _require(size: int, most: int) -> None:
    # Raised where the body is read, so that it is told like every other problem.
    if size > most:
        raise HTTPException(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"The body has more than {most:,} bytes; nothing was changed",
        )


def _address(scheme: str, host: str) -> _Address | None:
    """What a host with its port names; None if it is anything more or anything else."""
    parts = _HOST.fullmatch(host)
    if parts is None:
        return None
    port = int(parts["port"]) if parts["port"] else _USUAL_PORTS.get(scheme, 0)
    return _Address(scheme, parts["name"].strip("[]").lower(), port)
