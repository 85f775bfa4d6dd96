"""The intake of a session: messages are checked, large results archived, and everything stored."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import itemgetter
from typing import Final

from recollect.context.archives.manager import ToolResultManager
from recollect.context.compression import Compression, staying
from recollect.context.conversation import check_next, unread_message, without_invalid
from recollect.context.edits import archives_in, tool_input, with_result
from recollect.context.history import fingerprint
from recollect.context.message_formats import (
    Incoming,
    as_turn,
    given_fingerprint,
    given_id,
    messages_of,
)
from recollect.context.placeholder import close_placeholders
from recollect.context.session_state import Resumption, SessionParts, WindowState
from recollect.domain.fields import MAX_CONTENT
from recollect.domain.filters import Filter
from recollect.domain.message import Message, ToolCall
from recollect.domain.page import Cursor
from recollect.domain.scope import Caller
from recollect.domain.turn import Turn, new_turn
from recollect.errors import InvalidInput, StorageError

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMessage:
    """A message as it was said, with its turn.

    `call` is the call that a tool message answers; `shown` is what the current turn shows of it, if
    that is more than the turn stores.
    """

    said: Message
    turn: Turn
    call: ToolCall | None
    shown: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredMessage:
    """The stored form of a message, and its form in the current turn."""

    incoming: Incoming
    call: ToolCall | None = None
    shown: str | None = None


class MessageIntake:
    """The conversation of a session and its growth; called by one task at a time."""

    def __init__(
        self, session: str, caller: Caller, parts: SessionParts, archive: ToolResultManager
    ) -> None:
        self._session = session
        self._caller = caller
        self._observer = parts.observer
        self._store = parts.archive.store
        self._clock = parts.archive.clock
        self._archive = archive
        # With every placeholder closed, so that it stays the same from turn to turn.
        self.messages: tuple[Message, ...] = ()
        self.archives: frozenset[str] = frozenset()
        self._ids: set[str] = set()
        self._last: Turn | None = None
        # Fingerprints by turn: a framework's message may be stored in another form.
        self._prints: dict[str, str] = {}
        # Whether every message was read, or only those that no summary covers.
        self.is_whole = True

    async def load(self, kept: WindowState) -> None:
        """Load the stored conversation, as far as the window needs it."""
        if kept.resumption is None or not await self._load_rest(kept.compression, kept.resumption):
            await self.load_whole()

    async def load_whole(self) -> None:
        """Load every message of the conversation."""
        turns = await self._turns()
        self.messages = without_invalid(message for turn in turns for message in messages_of(turn))
        self.archives = frozenset[str]().union(*map(archives_in, self.messages))
        self._ids = {turn.id for turn in turns} | {
            message_id for message_id in map(given_id, turns) if message_id
        }
        self._last = turns[-1] if turns else None
        self._prints = _prints_of(turns)
        self.is_whole = True

    async def _load_rest(self, compression: Compression, resumption: Resumption) -> bool:
        """Load what the summaries do not cover; return False if they do not match."""
        covered = [turn for part in compression.parts for turn in part.turn_ids]
        if not covered or len(covered) != compression.covered_to:
            return False
        wanted = {covered[-1], *resumption.staying}
        known = {turn.id: turn for turn in await self._turns(ids=sorted(wanted))}
        if known.keys() != wanted:
            return False
        border = known[covered[-1]]
        turns = await self._turns(after=border)
        messages = [*map(unread_message, covered)]
        placed = sorted(
            _with_places(covered, (known[turn_id] for turn_id in resumption.staying)),
            key=itemgetter(0),
        )
        for place, message in placed:
            messages[place] = message
        # A turn of several messages may be covered only in part.
        rest = messages_of(border)[covered.count(border.id) :]
        rest += [message for turn in turns for message in messages_of(turn)]
        before = tuple(message for _, message in placed)
        all_sent = without_invalid((*before, *rest))
        if all_sent[: len(before)] != before:
            return False
        self.messages = (*messages, *all_sent[len(before) :])
        self.archives = frozenset(resumption.archives).union(*map(archives_in, self.messages))
        self._ids = {*covered, *(turn.id for turn in turns), *filter(None, map(given_id, turns))}
        self._last = turns[-1] if turns else border
        self.is_whole = False
        return True

    async def _turns(
        self, *, ids: Sequence[str] | None = None, after: Turn | None = None
    ) -> list[Turn]:
        cursor = None if after is None else Cursor(at=after.ordinal, id=after.id)
        where = Filter(session=self._session)
        return await self._store.turns([self._caller.scope], where, ids=ids, after=cursor)

    def resumption(self, covered_to: int) -> Resumption:
        """Return what is needed to continue after the summarised messages."""
        stay = (
            message
            for message in sorted(staying(self.messages, covered_to))
            if message < covered_to
        )
        turns = (self.messages[place].id or "" for place in stay)
        return Resumption(
            staying=tuple(dict.fromkeys(turns)) if covered_to else (),
            archives=tuple(sorted(self.archives)),
        )

    async def prints(self) -> list[tuple[str, str]]:
        """Return the turn and the fingerprint of every message except system prompts."""
        if not self.is_whole:
            await self.load_whole()
        return [
            (message.id or "", self._prints.get(message.id or "") or fingerprint(message))
            for message in self.messages
            if message.role != "system"
        ]

    async def retract(self, turn_ids: Sequence[str]) -> None:
        """Retract these turns."""
        turns = await self._turns(ids=sorted(turn_ids))
        await self._observer.retract(self._caller, turns)
        await self.load_whole()

    async def hear(self, incoming: Sequence[Incoming], task: str | None) -> list[ReceivedMessage]:
        """Store messages: all of them, or raise an error and store nothing."""
        if not self.is_whole and any(entry.id is not None for entry in incoming):
            # Only the stored messages tell whether an id was used before.
            self._ids |= {turn for turn in map(given_id, await self._turns()) if turn}
        self._check(incoming)
        kept = [await self._stored_form(entry, incoming) for entry in incoming]
        turns = await self._observer.observe(
            self._caller,
            [as_turn(entry.incoming, tool=entry.call.name if entry.call else "") for entry in kept],
            session=self._session,
            new_session=self._session,
            task=task,
        )
        await self._take(turns, kept)
        return [
            ReceivedMessage(said=entry.message, turn=turn, call=one.call, shown=one.shown)
            for entry, turn, one in zip(incoming, turns, kept, strict=True)
        ]

    def _check(self, incoming: Sequence[Incoming]) -> None:
        """Raise an error for messages that cannot follow, before anything is archived for them."""
        check_next(self.messages, [entry.message for entry in incoming])
        given = [entry.id for entry in incoming if entry.id is not None]
        for index, message_id in enumerate(given):
            if message_id in self._ids or message_id in given[:index]:
                raise InvalidInput(
                    f"There is a message with the id {message_id!r} in this session already",
                    code="duplicate_id",
                    hint="Observe every message once; leave the id out where there is none.",
                )
        now = self._clock.now()
        for entry in incoming:
            if entry.message.role != "tool" or len(entry.message.text) <= self._archive.threshold:
                new_turn(as_turn(entry), self._caller.scope, self._session, now, None)

    async def _stored_form(self, entry: Incoming, incoming: Sequence[Incoming]) -> _StoredMessage:
        message = entry.message
        if message.role != "tool":
            return _StoredMessage(incoming=entry)
        call = self._call(entry, incoming)
        shown = _readable(
            await self._archive_result(message.text, call, self._question(entry, incoming))
        )
        closed = close_placeholders(shown)
        if closed == message.text:
            return _StoredMessage(incoming=entry, call=call)
        return _StoredMessage(
            incoming=replace(entry, message=with_result(message, closed)),
            call=call,
            shown=None if shown == closed else shown,
        )

    async def _archive_result(self, text: str, call: ToolCall, question: str) -> str:
        """Return what this turn shows of a result: the result, or its placeholder."""
        try:
            return await self._archive.archived(
                call.name, tool_input(call), text, self._session, question=question
            )
        except StorageError as problem:
            if len(text) > MAX_CONTENT:
                raise
            # The turn can hold the result as well, so the conversation goes on without an archive.
            _log.warning("a result of %s stays in its turn: %s", call.name, problem)
            return text

    def _question(self, result: Incoming, incoming: Sequence[Incoming]) -> str:
        """Return the last user message before a result, for which the tool was probably called."""
        before = self._newest_before(result, incoming)
        return next((message.text for message in before if message.role == "user"), "")

    def _call(self, result: Incoming, incoming: Sequence[Incoming]) -> ToolCall:
        """Return the call that a result answers."""
        wanted = result.message.answers
        calls = (call for said in self._newest_before(result, incoming) for call in said.tool_calls)
        return next(call for call in calls if call.id == wanted)

    def _newest_before(self, entry: Incoming, incoming: Sequence[Incoming]) -> Iterator[Message]:
        """Yield what was said before, latest first."""
        before = takewhile(lambda other: other is not entry, incoming)
        yield from reversed([other.message for other in before])
        yield from reversed(self.messages)

    async def _take(self, turns: Sequence[Turn], kept: Sequence[_StoredMessage]) -> None:
        last = 0 if self._last is None else self._last.ordinal
        if turns[0].ordinal != last + 1:
            # Another process has added turns before these.
            await self.refresh()
            return
        said = [
            replace(entry.incoming.message, id=turn.id)
            for turn, entry in zip(turns, kept, strict=True)
        ]
        self.messages = (*self.messages, *said)
        self.archives = self.archives.union(*map(archives_in, said))
        self._ids.update(turn.id for turn in turns)
        self._ids.update(entry.incoming.id for entry in kept if entry.incoming.id is not None)
        self._prints |= _prints_of(turns)
        self._last = turns[-1]

    async def refresh(self) -> None:
        """Load what other processes have added to this session."""
        turns = await self._turns(after=self._last)
        if not turns:
            return
        said = [message for turn in turns for message in messages_of(turn)]
        self.messages = without_invalid((*self.messages, *said))
        self.archives = self.archives.union(*map(archives_in, said))
        self._ids.update(turn.id for turn in turns)
        self._ids.update(message_id for message_id in map(given_id, turns) if message_id)
        self._prints |= _prints_of(turns)
        self._last = turns[-1]


def _prints_of(turns: Iterable[Turn]) -> dict[str, str]:
    return {turn.id: known for turn in turns if (known := given_fingerprint(turn)) is not None}


def _with_places(covered: Sequence[str], turns: Iterable[Turn]) -> Iterator[tuple[int, Message]]:
    """Yield the messages of turns with their places in a conversation."""
    for turn in turns:
        places = (place for place, turn_id in enumerate(covered) if turn_id == turn.id)
        yield from zip(places, messages_of(turn), strict=False)


def _readable(text: str) -> str:
    """Return the text without lone surrogates, which no provider or database accepts."""
    return text.encode("utf-8", "replace").decode()
