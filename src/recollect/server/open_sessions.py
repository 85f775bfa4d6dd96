"""The sessions that the server has open: a window stays in memory between two requests.

A session can be opened again from what is stored at any time, so the ones that nobody used for
longest make room for others.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Final, cast

from fastapi import Depends, Path, Request

from recollect.context.session import Session
from recollect.domain.scope import Caller
from recollect.memory import Memory
from recollect.server.caller import CallersMemory

_MOST: Final = 200


@dataclass(slots=True)
class _Open:
    session: Session
    model: str | None
    context_tokens: int | None
    users: int = 0


class OpenSessions:
    """Opens sessions when they are asked for, and keeps the ones used last."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        # The one used last comes last.
        self._open: dict[tuple[Caller, str], _Open] = {}

    @asynccontextmanager
    async def use(
        self,
        memory: Memory,
        session_id: str | None,
        *,
        model: str | None = None,
        context_tokens: int | None = None,
    ) -> AsyncGenerator[Session]:
        """The session of this caller as it is now, with what others said in it meanwhile.

        Another model or window than it was opened with opens it anew.
        """
        found = self._found(memory, session_id, model, context_tokens)
        key = (memory.caller, found.session.id)
        before = self._open.pop(key, found)
        self._open[key] = found
        found.users += 1
        try:
            if before is not found:
                await before.session.close()
            await found.session.refresh()
            yield found.session
        finally:
            found.users -= 1
            if found.session.is_over and self._open.get(key) is found:
                del self._open[key]
            await self._make_room()

    def has(self, memory: Memory, session_id: str) -> bool:
        """Whether a session of this caller is open."""
        found = self._open.get((memory.caller, session_id))
        return found is not None and not found.session.is_over

    def _found(
        self,
        memory: Memory,
        session_id: str | None,
        model: str | None,
        context_tokens: int | None,
    ) -> _Open:
        known = None if session_id is None else self._open.get((memory.caller, session_id))
        if known is not None and not known.session.is_over:
            wanted = (model, context_tokens)
            if wanted in ((None, None), (known.model, known.context_tokens)):
                return known
        session = memory.session(session_id, model=model, context_tokens=context_tokens)
        return _Open(session, model, context_tokens)

    async def _make_room(self) -> None:
        idle = [key for key, it in self._open.items() if it.users == 0]
        for key in idle[: max(0, len(self._open) - self._most)]:
            await self._open.pop(key).session.close()


async def open_sessions(request: Request) -> OpenSessions:
    """The sessions that this server has open."""
    return cast("OpenSessions", request.app.state.sessions)


SessionsInUse = Annotated[OpenSessions, Depends(open_sessions)]


async def session_of(
    memory: CallersMemory, sessions: SessionsInUse, session_id: Annotated[str, Path()]
) -> AsyncGenerator[Session]:
    """The session that the address names; one that nobody spoke in yet is new."""
    async with sessions.use(memory, session_id) as session:
        yield session


CallersSession = Annotated[Session, Depends(session_of)]
