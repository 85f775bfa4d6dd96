"""The state of sessions: small named values that may expire."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.scope import Scope
from recollect.errors import StaleVersion

MAX_STATE: Final = 10_000_000
# The version of a missing value: `put(…, expected=ABSENT)` only creates.
ABSENT: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StateKey:
    """The scope, the session and the name of a value."""

    scope: Scope
    session: str
    name: str

    def __post_init__(self) -> None:
        checked_text(self.session, "session", MAX_LABEL)
        checked_text(self.name, "name", MAX_LABEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateEntry:
    """A value as it was read; every `put` gives it a new version."""

    value: str
    version: int
    expires_at: datetime | None


class State(Protocol):
    """Named JSON texts per session. Expired values are never returned, even before a sweep."""

    async def get(self, key: StateKey) -> StateEntry | None: ...

    async def put(
        self,
        key: StateKey,
        value: str,
        *,
        ttl: timedelta | None = None,
        expected: int | None = None,
        known_since: datetime | None = None,
    ) -> int:
        """Write a value that lives for `ttl`, or without limit; return its new version.

        With `expected`, raise `StaleVersion` unless that is still the version, so that concurrent
        changes are detected. With `known_since`, raise `NotFound` if its session, or what it names,
        was forgotten since then by any process.
        """
        ...

    async def touch(self, key: StateKey, ttl: timedelta) -> bool:
        """Restart the time to live without a new version; return False if the value is missing."""
        ...

    async def delete(self, key: StateKey) -> None: ...

    async def names(self, scope: Scope, session: str) -> list[str]:
        """Return the names of the session's values, in order."""
        ...

    async def clear(self, scope: Scope, session: str) -> None:
        """Remove all values of a session that has ended."""
        ...

    async def sweep(self) -> int:
        """Remove the expired values of all scopes; return how many there were."""
        ...


def require_version(key: StateKey, expected: int | None, version: int) -> None:
    """Raise `StaleVersion` for a write that expects another version; for `put` of back-ends."""
    if expected is not None and version != expected:
        raise StaleVersion(
            f"{key.name!r} of session {key.session!r} was changed by somebody else",
            hint="Read it again and repeat the change.",
        )
