"""The listening half of a session: what is said is checked, large results put away, all stored."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from recollect.context.archive import ToolResultManager
from recollect.context.conversation import check_next, sound
from recollect.context.incoming import Incoming
from recollect.context.placeholder import close_in
from recollect.context.session_parts import SessionParts
from recollect.context.stored_messages import as_turn, given_id, messages_of
from recollect.context.tool_texts import archives_in, tool_input, with_result
from recollect.domain.fields import MAX_CONTENT
from recollect.domain.filters import Filter
from recollect.domain.message import Message, ToolCall
from recollect.domain.scope import Caller
from recollect.domain.turn import Turn, new_turn
from recollect.errors import InvalidInput, StorageError

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message as it was said, and its turn.

    `call` is what a tool's message answers; `shown` is what the current turn shows of it, where
    that is more than the turn keeps.
    """

    said: Message
    turn: Turn
    call: ToolCall | None
    shown: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What is stored of a message, and what is shown of it for now."""

    incoming: Incoming
    call: ToolCall | None = None
    shown: str | None = None


class Listener:
    """Holds a session's conversation, and adds to it; one call at a time."""

    def __init__(
        self, session: str, caller: Caller, parts: SessionParts, archive: ToolResultManager
    ) -> None:
        self._session = session
        self._caller = caller
        self._observer = parts.observer
        self._store = parts.archive.store
        self._clock = parts.archive.clock
        self._archive = archive
        # Every placeholder in it is closed: so it stays as it is while turns come and go.
        self.messages: tuple[Message, ...] = ()
        self.archives: frozenset[str] = frozenset()
        self._ids: set[str] = set()
        self._last = 0

    async def load(self) -> None:
        """Read the conversation as it is stored."""
        turns = await self._store.turns([self._caller.scope], Filter(session=self._session))
        self.messages = sound(message for turn in turns for message in messages_of(turn))
        self.archives = frozenset[str]().union(*map(archives_in, self.messages))
        self._ids = {turn.id for turn in turns} | {it for it in map(given_id, turns) if it}
        self._last = turns[-1].ordinal if turns else 0

    async def hear(self, incoming: Sequence[Incoming], task: str | None) -> list[Heard]:
        """Store what was said: all of it, or an error and nothing."""
        self._check(incoming)
        kept = [await self._kept(it, incoming) for it in incoming]
        turns = await self._observer.observe(
            self._caller,
            [as_turn(it.incoming) for it in kept],
            session=self._session,
            new_session=self._session,
            task=task,
        )
        await self._take(turns, kept)
        return [
            Heard(said=it.message, turn=turn, call=one.call, shown=one.shown)
            for it, turn, one in zip(incoming, turns, kept, strict=True)
        ]

    def _check(self, incoming: Sequence[Incoming]) -> None:
        """Refuse what cannot be taken, before anything is put away for it."""
        check_next(self.messages, [it.message for it in incoming])
        given = [it.id for it in incoming if it.id is not None]
        for index, it in enumerate(given):
            if it in self._ids or it in given[:index]:
                raise InvalidInput(
                    f"There is a message with the id {it!r} in this session already",
                    code="duplicate_id",
                    hint="Observe every message once; leave the id out where there is none.",
                )
        now = self._clock.now()
        for it in incoming:
            if it.message.role != "tool" or len(it.message.text) <= self._archive.threshold:
                new_turn(as_turn(it), self._caller.scope, self._session, now, None)

    async def _kept(self, it: Incoming, incoming: Sequence[Incoming]) -> _Kept:
        message = it.message
        if message.role != "tool":
            return _Kept(incoming=it)
        call = self._call(it, incoming)
        shown = _readable(await self._shown(message.text, call, self._question(it, incoming)))
        closed = close_in(shown)
        if closed == message.text:
            return _Kept(incoming=it, call=call)
        return _Kept(
            incoming=replace(it, message=with_result(message, closed)),
            call=call,
            shown=None if shown == closed else shown,
        )

    async def _shown(self, text: str, call: ToolCall, question: str) -> str:
        """What this turn shows of a result: itself, or what stands for it once it is put away."""
        try:
            return await self._archive.process_tool_result(
                call.name, tool_input(call), text, self._session, question=question
            )
        except StorageError as problem:
            if len(text) > MAX_CONTENT:
                raise
            # The turn can hold it as well: the conversation goes on without the archive.
            _log.warning("a result of %s stays in its turn: %s", call.name, problem)
            return text

    def _question(self, result: Incoming, incoming: Sequence[Incoming]) -> str:
        """What the user said last before a result: most likely the tool was called for it."""
        before = self._newest_before(result, incoming)
        return next((it.text for it in before if it.role == "user"), "")

    def _call(self, result: Incoming, incoming: Sequence[Incoming]) -> ToolCall:
        """The call that a result answers; there is one, or the message would not be taken."""
        wanted = result.message.answers
        calls = (it for said in self._newest_before(result, incoming) for it in said.tool_calls)
        return next(call for call in calls if call.id == wanted)

    def _newest_before(self, it: Incoming, incoming: Sequence[Incoming]) -> Iterator[Message]:
        """What was said before, the last of it first."""
        before = takewhile(lambda other: other is not it, incoming)
        yield from reversed([other.message for other in before])
        yield from reversed(self.messages)

    async def _take(self, turns: Sequence[Turn], kept: Sequence[_Kept]) -> None:
        if turns[0].ordinal != self._last + 1:
            # Somebody else has spoken in this session meanwhile.
            await self.load()
            return
        said = [
            replace(it.incoming.message, id=turn.id) for turn, it in zip(turns, kept, strict=True)
        ]
        self.messages = (*self.messages, *said)
        self.archives = self.archives.union(*map(archives_in, said))
        self._ids.update(turn.id for turn in turns)
        self._ids.update(it.incoming.id for it in kept if it.incoming.id is not None)
        self._last = turns[-1].ordinal


def _readable(text: str) -> str:
    """Without lone halves of characters, which no provider and no database takes."""
    return text.encode("utf-8", "replace").decode()
