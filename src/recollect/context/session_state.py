"""What a session is in the middle of, kept behind the state port: its window and its notes."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from recollect.context.compression import Compression
from recollect.context.notes import SessionNotes
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput
from recollect.ports.state import State, StateKey

WINDOW: Final = "window"
NOTES: Final = "notes"

_UNREADABLE: Final = (KeyError, TypeError, ValueError, AttributeError, InvalidInput)

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowState:
    """How far a session is compressed, and what its current turn shows of archived results.

    `shown` has texts by turn. `spans` has, for every summary that ever stood in the window, the
    messages it stands for: from the first up to, not including, the second number.
    """

    compression: Compression = field(default_factory=Compression)
    shown: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    spans: Mapping[str, tuple[int, int]] = field(
        default_factory=dict[str, tuple[int, int]], hash=False
    )

    def as_json(self) -> dict[str, Any]:
        return {
            "compression": self.compression.as_json(),
            "shown": dict(self.shown),
            "spans": dict(self.spans),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> WindowState:
        return cls(
            compression=Compression.from_json(stored["compression"]),
            shown=stored["shown"],
            spans={summary: (start, end) for summary, (start, end) in stored["spans"].items()},
        )


class KeptState:
    """One session's state: read once, and written when it has changed."""

    def __init__(
        self, state: State, scope: Scope, session: str, ttl: timedelta, since: datetime
    ) -> None:
        self._state = state
        self._since = since
        self._window = StateKey(scope=scope, session=session, name=WINDOW)
        self._notes = StateKey(scope=scope, session=session, name=NOTES)
        self._ttl = ttl
        self._saved_window = WindowState()
        self._saved_notes: object = _mark(SessionNotes())

    async def load(self, notes: SessionNotes) -> WindowState:
        """Fill the notes with what was noted, and give the window as it was.

        What cannot be read, as another version may have written it, is made anew in time.
        """
        if (noted := await self._get(self._notes)) is not None:
            try:
                notes.load(noted)
            except _UNREADABLE as problem:
                notes.reset()
                _log.warning("the notes of %s cannot be read: %r", self._notes.session, problem)
        self._saved_notes = _mark(notes)
        if (window := await self._get(self._window)) is not None:
            try:
                self._saved_window = WindowState.from_json(window)
            except _UNREADABLE as problem:
                _log.warning("the window of %s cannot be read: %r", self._notes.session, problem)
        return self._saved_window

    async def save(self, notes: SessionNotes, window: WindowState) -> None:
        """Write what is not written yet."""
        if window != self._saved_window:
            await self._put(self._window, window.as_json())
            self._saved_window = window
        if (mark := _mark(notes)) != self._saved_notes:
            await self._put(self._notes, notes.dump())
            self._saved_notes = mark

    async def clear(self) -> None:
        """The session has ended: its window, its notes and its scratchpad are gone."""
        await self._state.clear(self._window.scope, self._window.session)

    async def _get(self, key: StateKey) -> dict[str, Any] | None:
        entry = await self._state.get(key)
        if entry is None:
            return None
        await self._state.touch(key, self._ttl)
        return json.loads(entry.value)

    async def _put(self, key: StateKey, value: Mapping[str, Any]) -> None:
        written = json.dumps(value, ensure_ascii=False)
        await self._state.put(key, written, ttl=self._ttl, known_since=self._since)


def _mark(notes: SessionNotes) -> object:
    """Something that is equal as long as the notes say the same; made without copying them."""
    structures = [(document, id(value)) for document, value in notes.toc_cache.items()]
    return notes.current_query, [*notes.known_chapters], notes.relevant_chunks, structures
