"""How much one key may ask at a time and in a minute; and how often a wrong key may be tried."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import TooManyRequests
from recollect.settings.sections import ServerSettings

_MINUTE: Final = 60.0
# So many keys and addresses are kept in mind.
_MOST_KNOWN: Final = 10_000
# A key that is written wrongly so often in a minute is guessed.
_WRONG_KEYS: Final = 30
# Whoever sends a file slowly, or a large one, leaves room for others.
_MOST_IMPORTS: Final = 16
_MOST_IMPORTS_OF_ONE: Final = 4


@dataclass(slots=True)
class _Allowance:
    """Requests that may be sent now; it fills up over time."""

    left: float
    at: float


class _Allowances:
    """Allowances by name, each full at first and again after a minute of rest."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._known: OrderedDict[str, _Allowance] = OrderedDict()

    def take(self, name: str) -> float:
        """Use one of an allowance; return 0, or after how many seconds there is one."""
        allowance = self._filled(name)
        if allowance.left < 1:
            return (1 - allowance.left) * _MINUTE / self._per_minute
        allowance.left -= 1
        return 0.0

    def _filled(self, name: str) -> _Allowance:
        now = time.monotonic()
        allowance = self._known.pop(name, None) or _Allowance(float(self._per_minute), now)
        since = now - allowance.at
        allowance.left = min(
            float(self._per_minute), allowance.left + since * self._per_minute / _MINUTE
        )
        allowance.at = now
        self._known[name] = allowance
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return allowance


class Limits:
    """The limits of all keys in this process."""

    def __init__(self, settings: ServerSettings) -> None:
        self._requests = _Allowances(settings.requests_per_minute)
        self._most_at_once = settings.concurrent_requests
        self._wrong_keys = _Allowances(_WRONG_KEYS)
        self._working: dict[str, int] = {}
        self._imports: list[str] = []

    def begin(self, name: str) -> None:
        """Let a request of a key begin, or refuse it; whoever began ends, too."""
        if self._working.get(name, 0) >= self._most_at_once:
            raise TooManyRequests(
                f"This key has {self._most_at_once} requests open; this one was not started",
                code="too_many_at_once",
                hint="Wait for one of them to end; server.concurrent_requests sets the limit.",
                retry_after=1,
            )
        if wait := self._requests.take(name):
            raise TooManyRequests(
                "This key has sent too many requests in a minute; this one was not started",
                hint="Wait as Retry-After says; server.requests_per_minute sets the limit.",
                retry_after=wait,
            )
        self._working[name] = self._working.get(name, 0) + 1

    def end(self, name: str) -> None:
        """Note that a request of a key has ended."""
        left = self._working.get(name, 1) - 1
        if left:
            self._working[name] = left
        else:
            self._working.pop(name, None)

    @contextmanager
    def importing(self, name: str) -> Generator[None]:
        """Let an import of a key run, or refuse it: each takes a thread and some memory."""
        if len(self._imports) >= _MOST_IMPORTS or self._imports.count(name) >= _MOST_IMPORTS_OF_ONE:
            raise TooManyRequests(
                "Too many imports are running; this one was not started",
                code="too_many_imports",
                hint="Wait for one of them to end.",
                retry_after=5,
            )
        self._imports.append(name)
        try:
            yield
        finally:
            self._imports.remove(name)

    def note_wrong_key(self, client: str) -> None:
        """Count a wrong key, and refuse to say so once too many came from an address."""
        if wait := self._wrong_keys.take(client):
            raise TooManyRequests(
                "Too many wrong keys came from this address",
                code="too_many_wrong_keys",
                hint="Wait as Retry-After says; a correct key is still accepted.",
                retry_after=wait,
            )


class LimitedRequests:
    """Ends with each request what it has begun, however it ends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            state = cast("dict[str, Any]", scope.get("state", {}))
            if (name := state.pop("limited", None)) is not None:
                scope["app"].state.limits.end(name)
