"""A remote service with JSON over HTTP, with retries."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from recollect.errors import Closed, NotAvailable
from recollect.models.faults import missing_library

if TYPE_CHECKING:
    import httpx

Fault = Callable[[str], NotAvailable]

_TOO_MANY_REQUESTS: Final = 429


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The address of a service, its time limits and retries."""

    base_url: str
    api_key: str = field(default="", repr=False)
    timeout: float
    retries: int
    # Seconds before the first retry; each further pause is twice as long, up to the longest.
    first_pause: float
    longest_pause: float


class HttpService:
    """A client that retries while the service is busy or unreachable, never after a refusal."""

    def __init__(self, access: Access, *, failed: Fault, refused: Fault) -> None:
        self._access = access
        self._failed = failed
        self._refused = refused
        self._client = self._open_client()

    async def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Return the answer of the service."""
        import httpx

        retries = self._access.retries
        for attempt in range(retries + 1):
            is_last = attempt == retries
            if self._client.is_closed:
                raise Closed("The connection was closed")
            try:
                response = await self._client.post(path, json=body)
            except httpx.HTTPError as problem:
                if is_last:
                    raise self._failed(f"{type(problem).__name__} {problem}".strip()) from None
                await asyncio.sleep(self._pause(attempt, None))
                continue
            if response.is_success:
                return response.content
            if response.status_code != _TOO_MANY_REQUESTS and response.status_code < 500:
                raise self._refused(f"{response.status_code} {_said(response)}".strip())
            if is_last:
                raise self._failed(f"it answered {response.status_code}")
            await asyncio.sleep(self._pause(attempt, response.headers.get("retry-after")))
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        await self._client.aclose()

    def _pause(self, attempt: int, asked: str | None) -> float:
        """Return the next pause: longer each time, with jitter, or as the service asks for."""
        if asked is not None and asked.isdigit():
            return min(float(asked), self._access.longest_pause)
        longest: float = min(self._access.first_pause * 2**attempt, self._access.longest_pause)
        return longest * random.uniform(0.5, 1)

    def _open_client(self) -> httpx.AsyncClient:
        try:
            import httpx
        except ImportError:
            raise missing_library("httpx", "remote") from None
        access = self._access
        headers = {"Authorization": f"Bearer {access.api_key}"} if access.api_key else {}
        try:
            return httpx.AsyncClient(
                base_url=access.base_url.rstrip("/") + "/", headers=headers, timeout=access.timeout
            )
        except (httpx.InvalidURL, UnicodeEncodeError):
            raise self._refused("its address or its key cannot be sent") from None


def _said(response: httpx.Response) -> str:
    """Return the error message of the service, if it has one in a common format."""
    try:
        said: object = response.json()
    except ValueError:
        return ""
    while isinstance(said, dict):
        told = cast("dict[str, object]", said)
        said = next((told[key] for key in ("error", "message", "detail") if key in told), "")
    return said[:200] if isinstance(said, str) else ""
