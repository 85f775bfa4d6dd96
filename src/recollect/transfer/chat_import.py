"""Import of chat histories: each message becomes a turn, once, however often it is imported."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from recollect.context.message_formats import as_turn, given_id, read_messages
from recollect.domain.filters import Filter
from recollect.domain.job import Progress
from recollect.domain.scope import Caller
from recollect.domain.transfer import ImportedChats, LineProblem
from recollect.domain.turn import new_turn
from recollect.errors import InvalidInput, RecollectError
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.transfer.chat_files import ChatMessage, Unreadable, read_chats
from recollect.writing.observer import Observer

_BATCH_MESSAGES: Final = 100
_MAX_LISTED_PROBLEMS: Final = 100


class ChatImporter:
    """The import of a file's messages in batches, one conversation after another.

    Each batch is durable before the next one starts, so that a second run continues where the first
    one ended.
    """

    def __init__(self, store: Store, observer: Observer, clock: Clock) -> None:
        self._store = store
        self._observer = observer
        self._clock = clock

    async def import_from(
        self,
        caller: Caller,
        source: str | Path | BinaryIO,
        *,
        session: str | None = None,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> ImportedChats:
        """Store the messages that are not stored yet; stop at a bad one, or skip it."""
        file = await asyncio.to_thread(read_chats, source, session)
        conversations: dict[str, list[ChatMessage]] = {}
        for message in file.messages:
            conversations.setdefault(message.session, []).append(message)
        bad: list[Unreadable] = [*file.unreadable]
        if bad and not skip_bad:
            raise _refused(bad[0], "nothing was added")
        done = ImportedChats(conversations=len(conversations), empty=file.empty)
        for name, messages in conversations.items():
            known = await self._known(caller, name)
            new = iter([message for message in messages if message.id not in known])
            done = replace(
                done, known=done.known + sum(message.id in known for message in messages)
            )
            while batch := [*islice(new, _BATCH_MESSAGES)]:
                turns = [*self._turns(caller, batch, bad)]
                if len(bad) > len(file.unreadable) and not skip_bad:
                    raise _refused(bad[-1], f"{done.added} messages before it were added")
                await self._observer.observe(caller, turns, session=name, new_session=name)
                done = replace(done, added=done.added + len(turns))
                if progress is not None:
                    progress(done.added + done.known + len(bad), len(file.messages))
        return replace(
            done, bad=len(bad), problems=tuple(map(_line_problem, bad[:_MAX_LISTED_PROBLEMS]))
        )

    async def _known(self, caller: Caller, session: str) -> set[str | None]:
        """Return the ids of the messages that were imported before."""
        turns = await self._store.turns([caller.scope], Filter(session=session))
        return {given_id(turn) for turn in turns}

    def _turns(
        self, caller: Caller, messages: Iterable[ChatMessage], bad: list[Unreadable]
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the turn of each message; add those that cannot be stored to `bad`."""
        now = self._clock.now()
        for message in messages:
            try:
                turns = [*_as_turns(message)]
                for turn in turns:
                    new_turn(turn, caller.scope, message.session, now, None)
            except RecollectError as problem:
                bad.append(Unreadable(place=message.place, problem=problem))
            else:
                yield from turns


def _as_turns(message: ChatMessage) -> Sequence[dict[str, Any]]:
    given = {**message.message, "id": message.id, "at": message.at}
    return [as_turn(incoming) for incoming in read_messages(cast("Mapping[str, Any]", given))]


def _line_problem(bad: Unreadable) -> LineProblem:
    return LineProblem(line=bad.place, code=bad.problem.code, message=bad.problem.message)


def _refused(bad: Unreadable, kept: str) -> InvalidInput:
    return InvalidInput(
        f"Entry {bad.place} of the file cannot be stored: {bad.problem.message}; {kept}",
        code=bad.problem.code,
        hint="Fix it and run this again: nothing is added twice. Or skip bad entries.",
    )
