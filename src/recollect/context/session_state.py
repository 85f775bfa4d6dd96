"""The services that sessions share, and the state of one between calls."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from recollect.context.archives.manager import ArchiveParts
from recollect.context.compression import Compression
from recollect.context.notes import NotesRule, SessionNotes
from recollect.context.summariser import Summariser
from recollect.domain.scope import Caller, Scope
from recollect.domain.sections import (
    ArchiveSettings,
    CompressionSettings,
    NotesSettings,
    SessionSettings,
)
from recollect.domain.write import Pending
from recollect.errors import InvalidInput
from recollect.ports.state import State, StateKey
from recollect.recall.prefetch import Prefetch
from recollect.writing.observer import Observer

WINDOW: Final = "window"
NOTES: Final = "notes"

_UNREADABLE: Final = (KeyError, TypeError, ValueError, AttributeError, InvalidInput)

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """The data needed to continue after summarised messages without reading them all.

    `staying` are the turns of those that are still sent, `archives` the results archived in the
    session.
    """

    staying: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"staying": [*self.staying], "archives": [*self.archives]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Resumption:
        return cls(staying=tuple(stored["staying"]), archives=tuple(stored["archives"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowState:
    """The compression of a session, and what its current turn shows of archives.

    `shown` holds texts by turn. `spans` holds, for every summary that ever was in the window, the
    messages it covers: from the first up to, not including, the second number. Without a
    `resumption` the whole conversation is read.
    """

    compression: Compression = field(default_factory=Compression)
    shown: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    spans: Mapping[str, tuple[int, int]] = field(
        default_factory=dict[str, tuple[int, int]], hash=False
    )
    resumption: Resumption | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "compression": self.compression.as_json(),
            "shown": dict(self.shown),
            "spans": dict(self.spans),
            "resumption": None if self.resumption is None else self.resumption.as_json(),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> WindowState:
        resumption = stored.get("resumption")
        return cls(
            resumption=None if resumption is None else Resumption.from_json(resumption),
            compression=Compression.from_json(stored["compression"]),
            shown=stored["shown"],
            spans={summary: (start, end) for summary, (start, end) in stored["spans"].items()},
        )


class SessionStateStore:
    """The state of one session: read once, and written when it has changed."""

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
        """Load the notes and return the window.

        State that cannot be read, perhaps because another version wrote it, is built anew.
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
        """Write what has changed."""
        if window != self._saved_window:
            await self._put(self._window, window.as_json())
            self._saved_window = window
        if (mark := _mark(notes)) != self._saved_notes:
            await self._put(self._notes, notes.dump())
            self._saved_notes = mark

    async def clear(self) -> None:
        """Delete window, notes and scratchpad of an ended session."""
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
    """Return a value that is equal while the notes are; made without copying them."""
    structures = [(document, id(value)) for document, value in notes.toc_cache.items()]
    return notes.current_query, [*notes.known_chapters], notes.relevant_chunks, structures


# --- The services and settings that all sessions share --------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """The services and settings of a session.

    `opened` is called with the caller whose session was loaded, `ready` waits for the models that
    this began to load, but not for long. `ended` is called with a caller whose session has ended,
    `left` with one whose session was closed after something was said; these two return what of it
    is still to be read.
    """

    archive: ArchiveParts
    observer: Observer
    prefetch: Prefetch
    state: State
    summariser: Summariser
    opened: Callable[[Caller], None]
    ready: Callable[[], Awaitable[None]]
    ended: Callable[[Caller, str], Awaitable[Pending]]
    left: Callable[[Caller, str], Awaitable[Pending]]
    settings: SessionSettings
    compression: CompressionSettings
    archiving: ArchiveSettings
    notes: NotesSettings
    notes_rules: Mapping[str, NotesRule]
