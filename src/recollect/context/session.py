"""A session: an agent hands over its messages and gets back what to send to its model.

What was said is stored durably and can be recalled. What is sent stays within the budget, in
order, with tool calls and their results together; all that left it is still within reach.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, overload

from recollect.context.anthropic_messages import AnthropicMessages
from recollect.context.archive import ToolResultManager
from recollect.context.archive_triggers import choose
from recollect.context.background import BackgroundCompression
from recollect.context.current_turn import CurrentTurn
from recollect.context.incoming import GivenMessage, read_messages
from recollect.context.listening import Heard, Listener
from recollect.context.notes import SessionNotes
from recollect.context.offers import Offer, Offers
from recollect.context.scratchpad import SessionScratchpad, render_scratchpad
from recollect.context.sending import Sender, Sent, Wishes
from recollect.context.session_parts import SessionOptions, SessionParts
from recollect.context.session_state import KeptState, WindowState
from recollect.context.tool_texts import newest_places
from recollect.context.window import Budget, RememberedCounts
from recollect.context.wire import Format, Prepared, written
from recollect.domain.context import MemoryContext
from recollect.domain.fields import checked_items
from recollect.domain.filters import Filter
from recollect.domain.message import Message
from recollect.domain.scope import Caller, Scope
from recollect.domain.session_usage import SessionUsage
from recollect.domain.summary import Summary
from recollect.domain.turn import Turn
from recollect.errors import Closed, NotFound, StorageError

_log: Final = logging.getLogger(__name__)

# Of a long message so much tells what the notes of a turn are about.
_MOST_OF_QUERY: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """What makes the window of a session that was read."""

    compression: BackgroundCompression
    sender: Sender


class Session:
    """One conversation of one caller.

    It can be used at once; `async with memory.session("monday") as session` reads what is stored
    of it first. Leaving it ends nothing: only `end` does.
    """

    def __init__(
        self,
        session_id: str,
        caller: Caller,
        parts: SessionParts,
        options: SessionOptions,
        budget: Budget,
    ) -> None:
        self._id = session_id
        self._caller = caller
        self._parts = parts
        self._options = options
        self._budget = budget
        self._notes = SessionNotes(options.notes, options.notes_rules)
        self._archive = ToolResultManager(caller, parts.archive, options.archive)
        self._scratchpad = SessionScratchpad(
            parts.state, caller.scope, session_id, options.scratchpad_ttl
        )
        self._listener = Listener(session_id, caller, parts, self._archive)
        self._kept = KeptState(
            parts.state, caller.scope, session_id, options.keep_for, parts.archive.clock.now()
        )
        # What is said at the same time is taken one after the other.
        self._turn = asyncio.Lock()
        self._window: _Window | None = None
        self._current = CurrentTurn(Offers(self._notes, self._archive))
        self._spans: Mapping[str, tuple[int, int]] = {}
        self._sent = Sent()
        self._is_over = False

    def __await__(self) -> Generator[Any, None, Session]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Session:
        await self._opened()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def id(self) -> str:
        return self._id

    @property
    def scope(self) -> Scope:
        """Whose conversation it is."""
        return self._caller.scope

    @property
    def notes(self) -> SessionNotes:
        """What the tools of this session have found."""
        return self._notes

    @property
    def scratchpad(self) -> SessionScratchpad:
        """Where the agent stands in its task."""
        return self._scratchpad

    @property
    def archive(self) -> ToolResultManager:
        """The large tool results that were put away."""
        return self._archive

    @property
    def offers(self) -> Mapping[str, Offer]:
        """What is known of this turn's tool calls, by their ids, before they are made.

        The notes' hint or cached answer, or what the same call gave in any session of this scope.
        """
        return self._current.offered

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """What stands for the beginning of the conversation now, in its order."""
        return () if self._window is None else self._window.compression.compression.parts

    @property
    def usage(self) -> SessionUsage:
        """How full the window was when it was last prepared."""
        return SessionUsage(
            messages=len(self._listener.messages),
            window_messages=len(self._sent.messages),
            window_tokens=self._sent.tokens,
            budget_tokens=self._budget.tokens,
            level=self._sent.level,
            pending=self._sent.pending,
            archived=len(self._listener.archives),
            degraded=self._sent.degraded,
        )

    async def observe(
        self, messages: GivenMessage | Iterable[GivenMessage], *, task: str | None = None
    ) -> tuple[Turn, ...]:
        """Take what was just said, one message or several: all of it, durably, or nothing.

        Messages are neutral ones, or mappings as OpenAI or Anthropic write them; `at` in a mapping
        gives it a past time. A large tool result is archived; its turn keeps the placeholder.
        """
        incoming = read_messages(messages)
        if not incoming:
            return ()
        async with self._turn:
            await self._load()
            # Before their results are put away, or these would be offered.
            offers = await self._current.offers_for(it.message for it in incoming)
            heard = await self._listener.hear(incoming, task)
            for it in heard:
                self._current.hear(it, offers)
                self._note(it)
            await self._save()
        return tuple(it.turn for it in heard)

    @overload
    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Literal["openai"] = "openai",
        with_notes: bool = True,
        with_scratchpad: bool = False,
    ) -> list[dict[str, Any]]: ...

    @overload
    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Literal["anthropic"],
        with_notes: bool = True,
        with_scratchpad: bool = False,
    ) -> AnthropicMessages: ...

    @overload
    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Literal["neutral"],
        with_notes: bool = True,
        with_scratchpad: bool = False,
    ) -> tuple[Message, ...]: ...

    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Format = "openai",
        with_notes: bool = True,
        with_scratchpad: bool = False,
    ) -> Prepared:
        """The messages to send now; what is stored stays as it is.

        With a `query` what memory knows about it is in the prompt. The archives in `load` are open
        for this one call, by the passages about the query where the whole is too large. What the
        tools found goes along, and the scratchpad when it is asked for.
        """
        window = await self._opened()
        messages = self._listener.messages
        question = _newest_words(messages) if query is None else query
        beside = [*self._notes_texts()] if with_notes else []
        if with_scratchpad:
            beside.append(render_scratchpad(await self._scratchpad.read()))
        ahead = ""
        if query is not None:
            remembered = await self._remembered(query, messages)
            if remembered.place == "system":
                beside.append(remembered.text)
            else:
                ahead = remembered.text
        wishes = Wishes(
            shown=self._current.in_place(messages),
            load=await self._to_load(load, question),
            question=question,
            beside=tuple(filter(None, beside)),
            ahead=ahead,
        )
        self._sent = await window.sender.send(messages, wishes)
        return written(self._sent.messages, format)

    async def expand(self, summary: Summary | str) -> tuple[Turn, ...]:
        """The turns that a summary stands for, or stood for when it was in the window."""
        await self._opened()
        name = summary.id if isinstance(summary, Summary) else summary
        span = self._all_spans().get(name)
        if span is None:
            raise NotFound(
                f"There is no summary {name!r} in this session",
                code="unknown_summary",
                hint="session.summaries has those in the window, with their ids.",
            )
        covered = {it.id for it in self._listener.messages[slice(*span)] if it.id is not None}
        where = Filter(session=self._id)
        store = self._parts.archive.store
        return tuple(await store.turns([self._caller.scope], where, ids=sorted(covered)))

    async def settle(self) -> None:
        """Wait for the compression that is going on in the background."""
        window = await self._opened()
        await window.compression.settle()

    async def close(self) -> None:
        """Stop working on it and keep its state; it can be opened again where it was left."""
        async with self._turn:
            if self._window is not None and not self._is_over:
                await self._window.compression.close()
                await self._save()

    async def discard(self) -> None:
        """What was said here is forgotten: nothing of it is kept, and it cannot go on."""
        async with self._turn:
            if self._window is not None:
                await self._window.compression.close()
            self._notes.reset()
            self._is_over = True

    async def end(self) -> None:
        """The session is over: its notes and its scratchpad are gone, what was said stays."""
        async with self._turn:
            window = await self._load()
            await window.compression.close()
            await self._kept.clear()
            self._notes.reset()
            self._is_over = True
        try:
            await self._parts.ended(self._caller, self._id)
        except StorageError as problem:
            _log.warning("nothing is done after session %s: %s", self._id, problem)

    async def _opened(self) -> _Window:
        if self._window is None or self._is_over:
            async with self._turn:
                return await self._load()
        return self._window

    async def _load(self) -> _Window:
        """Read what is stored, if that was not done yet; whoever calls this has the turn."""
        if self._is_over:
            raise Closed(
                f"The session {self._id} has ended", hint="memory.session(id) opens it again."
            )
        if self._window is None:
            await self._listener.load()
            kept = await self._kept.load(self._notes)
            self._current.shown, self._spans = kept.shown, kept.spans
            counter = RememberedCounts(self._parts.archive.tokens)
            compression = BackgroundCompression(
                self._parts.summariser, counter, self._options.compression, kept.compression
            )
            sender = Sender(compression, self._archive, self._budget, counter)
            self._window = _Window(compression=compression, sender=sender)
        return self._window

    def _note(self, heard: Heard) -> None:
        """Let the notes know what was said."""
        if heard.said.role == "user":
            self._notes.current_query = heard.said.text[:_MOST_OF_QUERY]
        if heard.call is not None:
            self._notes.observe_tool(heard.call.name, heard.call.arguments, heard.said.text)

    async def _save(self) -> None:
        """Keep the state. The turns are stored already: a failure here is told, and no more."""
        if self._window is None:
            return
        self._spans = self._all_spans()
        state = WindowState(
            compression=self._window.compression.compression,
            shown=self._current.shown,
            spans=self._spans,
        )
        try:
            await self._scratchpad.touch()
            await self._kept.save(self._notes, state)
        except NotFound:
            # Another process has forgotten it: nothing of it is kept, and it cannot go on.
            self._notes.reset()
            self._is_over = True
        except StorageError as problem:
            _log.warning("the state of session %s is not kept for now: %s", self._id, problem)

    def _all_spans(self) -> Mapping[str, tuple[int, int]]:
        """What every summary stands for that is or was in the window."""
        now = {it.id: (it.start, it.end) for it in self.summaries}
        return self._spans if now.items() <= self._spans.items() else {**self._spans, **now}

    def _notes_texts(self) -> Iterator[str]:
        yield self._notes.get_toc_cache_hint()
        yield self._notes.get_memory_context()

    async def _remembered(self, query: str, messages: Sequence[Message]) -> MemoryContext:
        """What memory knows about a question and the window does not say."""
        covered = max((it.end for it in self.summaries), default=0)
        return await self._parts.prefetch.context(
            self._caller, self._id, query, window=messages[covered:]
        )

    async def _to_load(self, load: str | Iterable[str], question: str) -> tuple[str, ...]:
        """The archives to open: those that were asked for, and those the policy chooses."""
        asked = [load] if isinstance(load, str) else checked_items(load, "load")
        known = self._listener.archives
        for archive in asked:
            if archive not in known:
                raise NotFound(
                    f"This session has no archived tool result {archive!r}",
                    code="unknown_archive",
                    hint="Take the id from a placeholder; load_tool_history loads any other.",
                )
        if known and self._options.trigger.policy != "model":
            asked += await self._chosen(question)
        return tuple(dict.fromkeys(asked))

    async def _chosen(self, question: str) -> list[str]:
        """The archives of earlier turns that the question is about, by the trigger policy."""
        messages = self._listener.messages
        users = [index for index, it in enumerate(messages) if it.role == "user"]
        places = newest_places(messages, self._listener.archives)
        earlier = [it for it, place in places.items() if users and place < users[-1]]
        found = await self._parts.archive.archives.find(self._caller.readable, ids=earlier)
        return choose(question, found, self._options.trigger)


def _newest_words(messages: Sequence[Message]) -> str:
    return next((it.text for it in reversed(messages) if it.role == "user"), "")
