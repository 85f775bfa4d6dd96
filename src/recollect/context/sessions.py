"""The open sessions of a memory, each with a window for its model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from weakref import WeakSet

from recollect.context.archives.manager import ToolResultManager
from recollect.context.session import Session
from recollect.context.session_state import SessionParts
from recollect.context.window import Budget
from recollect.domain.caches import CacheStats
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.forgetting import Target
from recollect.domain.ids import new_id
from recollect.domain.scope import Caller

# The input size of model families in tokens, by the beginning of their names.
_FAMILIES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "claude-": 200_000,
        "gemini-": 1_000_000,
        "gpt-4.1": 1_000_000,
        "gpt-5": 272_000,
        "o3": 200_000,
        "o4-": 200_000,
    }
)


class Sessions:
    """The factory of sessions, which closes those that are still open at the end."""

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self._open: WeakSet[Session] = WeakSet()

    def open(
        self, caller: Caller, session_id: str | None, model: str | None, context_tokens: int | None
    ) -> Session:
        """Return a session, a new one without an id; it is loaded on first use."""
        name = new_id("sess") if session_id is None else session_id
        session = Session(
            checked_text(name, "session", MAX_LABEL),
            caller,
            self._parts,
            Budget(
                context_tokens=(
                    self._context_of(model) if context_tokens is None else context_tokens
                ),
                share=self._parts.settings.share,
                messages=self._parts.settings.messages,
            ),
        )
        self._open.add(session)
        return session

    def archive(self, caller: Caller) -> ToolResultManager:
        """Return the archived tool results of a caller, from any session."""
        return ToolResultManager(caller, self._parts.archive, self._parts.archiving)

    def summary_cache(self) -> CacheStats:
        """Return how often a summary was reused and how often one was made."""
        return self._parts.summariser.cache()

    async def discard(self, target: Target) -> None:
        """Drop open sessions whose conversation was forgotten."""
        for session in [*self._open]:
            if target.takes_session(session.scope, session.id):
                await session.discard()

    async def close(self) -> None:
        """Stop working on the open sessions and store their state."""
        for session in [*self._open]:
            await session.close()
            self._open.discard(session)

    def _context_of(self, model: str | None) -> int:
        """Return the context size of a model, from the settings or its family."""
        name = (model or "").rpartition(":")[2]
        known = {**_FAMILIES, **self._parts.settings.models}
        fitting = [beginning for beginning in known if name.startswith(beginning)]
        return known[max(fitting, key=len)] if fitting else self._parts.settings.context_tokens
