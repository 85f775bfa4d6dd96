"""What a session is in the middle of: small named values that may expire."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.scope import Scope
from recollect.errors import StaleVersion

MAX_STATE: Final = 10_000_000
# The version of what is not there: `put(…, expected=ABSENT)` only ever creates.
ABSENT: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StateKey:
    """Whose value it is, of which session, and its name there."""

    scope: Scope
    session: str
    name: str

    def __post_init__(self) -> None:
        checked_text(self.session, "session", MAX_LABEL)
        checked_text(self.name, "name", MAX_LABEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateEntry:
    """A value as it was read; the version is another one after every `put`."""

    value: str
    version: int
    expires_at: datetime | None


class State(Protocol):
    """Named JSON texts per session. What has expired is not there, swept or not."""

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
        """Write the value, to live for `ttl` from now or for ever; its new version.

        With `expected` only if that is still the version, otherwise `StaleVersion`: whoever read,
        changed and writes back learns that somebody else did so in between. With `known_since`
        not if its session, or what it names, was forgotten since then by whichever process: that
        is `NotFound`, and nothing of it is kept.
        """
        ...

    async def touch(self, key: StateKey, ttl: timedelta) -> bool:
        """Let it live for `ttl` from now, its version unchanged; False when it is not there."""
        ...

    async def delete(self, key: StateKey) -> None: ...

    async def names(self, scope: Scope, session: str) -> list[str]:
        """The names of what the session holds, in order."""
        ...

    async def clear(self, scope: Scope, session: str) -> None:
        """The session has ended: remove all it holds."""
        ...

    async def sweep(self) -> int:
        """Remove what has expired, in every scope; how many values that were."""
        ...


def require_version(key: StateKey, expected: int | None, version: int) -> None:
    """Refuse a write that expects another version; what every back-end asks in `put`."""
    if expected is not None and version != expected:
        raise StaleVersion(
            f"{key.name!r} of session {key.session!r} was changed by somebody else",
            hint="Read it again and repeat the change.",
        )
