"""Sessions for blocking code: the calls of a session without await."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from recollect.context.archives.manager import ToolResultManager as AsyncToolResultManager
from recollect.context.notes import SessionNotes
from recollect.context.offers import Offer
from recollect.context.scratchpad import SessionScratchpad as AsyncSessionScratchpad
from recollect.context.session import Session as AsyncSession
from recollect.domain.context import MemoryContext, SessionUsage
from recollect.domain.scope import Scope
from recollect.domain.summary import Summary
from recollect.domain.write import Pending
from recollect.sync.twin import Twin, blocking, wrapped


class Session(Twin[AsyncSession]):
    """One conversation of one caller.

    It can be used at once; `with memory.session("monday") as session` loads what is stored
    first. Leaving the block starts the extraction of what is worth remembering; only `end` ends the
    session.
    """

    @property
    def unread(self) -> Pending:
        """Return what was still to be read when the session was last left or ended."""
        return self._inner.unread

    @property
    def id(self) -> str:
        return self._inner.id

    @property
    def is_over(self) -> bool:
        """Return whether it has ended or was forgotten; opening it again starts a new one."""
        return self._inner.is_over

    @property
    def scope(self) -> Scope:
        """Return the scope of the conversation."""
        return self._inner.scope

    @property
    def notes(self) -> SessionNotes:
        """Return what the tools of this session have found."""
        return self._inner.notes

    @property
    def scratchpad(self) -> SessionScratchpad:
        """Return the state of the agent's task."""
        return SessionScratchpad(self._inner.scratchpad, self._loop)

    @property
    def archive(self) -> ToolResultManager:
        """Return the archived tool results."""
        return ToolResultManager(self._inner.archive, self._loop)

    @property
    def offers(self) -> Mapping[str, Offer]:
        """Return the known results of this turn's tool calls, by id, before they are made.

        That is the hint or cached answer of the notes, or what the same call returned in any
        session of this scope.
        """
        return self._inner.offers

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """Return what replaces the beginning of the conversation, in order."""
        return self._inner.summaries

    @property
    def remembered(self) -> MemoryContext:
        """Return what the last prompt said of what is remembered."""
        return self._inner.remembered

    @property
    def usage(self) -> SessionUsage:
        """Return how full the window was when it was last prepared."""
        return self._inner.usage

    observe = blocking(AsyncSession.observe)
    prepare = blocking(AsyncSession.prepare)
    process_tool_result = blocking(AsyncSession.process_tool_result)
    known_result = blocking(AsyncSession.known_result)
    sync = blocking(AsyncSession.sync)
    plan = blocking(AsyncSession.plan)
    expand = blocking(AsyncSession.expand)
    refresh = blocking(AsyncSession.refresh)
    save = blocking(AsyncSession.save)
    settle = blocking(AsyncSession.settle)
    close = blocking(AsyncSession.close)
    discard = blocking(AsyncSession.discard)
    end = blocking(AsyncSession.end)

    def __enter__(self) -> Session:
        self._loop.run(self._inner.__aenter__)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class ToolResultManager(Twin[AsyncToolResultManager]):
    """`session.archive` for blocking code."""

    @property
    def threshold(self) -> int:
        """Return the length above which results are archived."""
        return self._inner.threshold

    process_tool_result = blocking(AsyncToolResultManager.process_tool_result)
    archived = blocking(AsyncToolResultManager.archived)
    renewed = blocking(AsyncToolResultManager.renewed)
    close = blocking(AsyncToolResultManager.close)
    load_tool_result = blocking(AsyncToolResultManager.load_tool_result)
    load_tool_history = blocking(AsyncToolResultManager.load_tool_history)
    prepare_context = blocking(AsyncToolResultManager.prepare_context)
    restore_placeholders = blocking(AsyncToolResultManager.restore_placeholders)
    find_earlier = blocking(AsyncToolResultManager.find_earlier)
    placeholder = wrapped(AsyncToolResultManager.placeholder, lambda made, _: made)


class SessionScratchpad(Twin[AsyncSessionScratchpad]):
    """`session.scratchpad` for blocking code."""

    read = blocking(AsyncSessionScratchpad.read)
    update = blocking(AsyncSessionScratchpad.update)
    touch = blocking(AsyncSessionScratchpad.touch)
    clear = blocking(AsyncSessionScratchpad.clear)
