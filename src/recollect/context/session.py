"""A session: an agent passes its messages in and gets back what to send to its model.

What was said is stored durably and can be recalled. What is sent stays within the budget, in order,
with tool calls and results together; everything that left the window remains available.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, Literal, overload

from recollect.context.anthropic_messages import AnthropicMessages, reports_error
from recollect.context.archives.manager import Renewed, ToolResultManager
from recollect.context.archives.triggers import choose, nearness_of
from recollect.context.background_compression import BackgroundCompression
from recollect.context.edits import (
    Drop,
    Edit,
    Insert,
    Keep,
    Replace,
    archives_in,
    newest_places,
    placeholder_ids,
    with_result,
)
from recollect.context.history import SessionPlan, Synced, align, edits_between, fingerprint
from recollect.context.message_formats import (
    Format,
    GivenMessage,
    Incoming,
    Prepared,
    read_messages,
    written,
)
from recollect.context.message_intake import MessageIntake, ReceivedMessage
from recollect.context.notes import SessionNotes
from recollect.context.offers import Offer, Offers
from recollect.context.placeholder import renew_placeholders
from recollect.context.prompt_builder import BuiltPrompt, PromptBuilder, PromptExtras
from recollect.context.scratchpad import SessionScratchpad, render_scratchpad
from recollect.context.session_state import (
    SessionParts,
    SessionStateStore,
    WindowState,
)
from recollect.context.window import Budget, RememberedCounts
from recollect.domain.archive import EarlierResult, ToolResult
from recollect.domain.context import MemoryContext, SessionUsage, Tongue
from recollect.domain.fields import checked_items
from recollect.domain.filters import Filter
from recollect.domain.memory_tools import memory_guide
from recollect.domain.message import Message, ToolCall
from recollect.domain.notes import Cached, Hint
from recollect.domain.operation import Operation
from recollect.domain.scope import Caller, Role, Scope
from recollect.domain.summary import Summary
from recollect.domain.turn import Turn
from recollect.domain.write import Pending
from recollect.errors import Closed, InvalidInput, NotFound, StorageError
from recollect.language.characters import language
from recollect.ports.runtime import caller_waits

_log: Final = logging.getLogger(__name__)
# How much of a long message is used as the query of the notes.
_MAX_QUERY_CHARS: Final = 2_000


class CurrentTurn:
    """The content that one turn shows until the user speaks again, beyond what is stored.

    Archived results are open here, and calls show what they returned before.
    """

    def __init__(self, offers: Offers) -> None:
        self._offers = offers
        # Texts by turn.
        self.shown: Mapping[str, str] = {}
        self._offered: Mapping[ToolCall, Offer] = {}

    @property
    def offered(self) -> Mapping[str, Offer]:
        """Return the known results of calls, by id; of two with the same id the later one."""
        return {call.id: offer for call, offer in self._offered.items()}

    def renew(self, current: Mapping[str, Renewed]) -> None:
        """Show archives as they are now."""
        placeholders = {archive: it.placeholder for archive, it in current.items()}
        shown = dict(self.shown)
        for turn, text in shown.items():
            late = [current[archive].shown for archive in placeholder_ids(text) & current.keys()]
            whole = next((it for it in late if it is not None), text)
            shown[turn] = renew_placeholders(whole, placeholders)
        self.shown = shown

    async def offers_for(self, messages: Iterable[Message]) -> Mapping[ToolCall, Offer]:
        """Return the known results of the calls in new messages."""
        return await self._offers.of(messages)

    def hear(self, heard: ReceivedMessage, offers: Mapping[ToolCall, Offer]) -> None:
        """Add a message; a user message starts a new turn."""
        if heard.said.role == "user":
            self.shown, self._offered = {}, {}
        if heard.shown is not None:
            self.shown = {**self.shown, heard.turn.id: heard.shown}
        known = {call: offers[call] for call in heard.said.tool_calls if call in offers}
        if known:
            self._offered = {**self._offered, **known}

    def in_place(self, messages: Sequence[Message]) -> dict[int, Message]:
        """Return, by place, the messages that this turn shows with more than is stored."""
        changed: dict[int, Message] = {}
        newest: dict[str, ToolCall] = {}
        for index, message in enumerate(messages if self.shown or self._offered else ()):
            newest |= {call.id: call for call in message.tool_calls}
            text = self.shown.get(message.id or "")
            call = newest.get(message.answers or "")
            offer = None if call is None else self._offered.get(call)
            if isinstance(offer, EarlierResult):
                text = self._offers.beside(message.text if text is None else text, offer)
            if text is not None:
                changed[index] = with_result(message, text)
        return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """The services that build the window of a loaded session."""

    compression: BackgroundCompression
    sender: PromptBuilder


class Session:
    """One conversation of one caller.

    It can be used at once; `async with memory.session("monday") as session` loads what is stored
    first. Leaving the block starts the extraction of what is worth remembering; only `end` ends the
    session.
    """

    def __init__(
        self,
        session_id: str,
        caller: Caller,
        parts: SessionParts,
        budget: Budget,
    ) -> None:
        self._id = session_id
        self._caller = caller
        self._parts = parts
        self._budget = budget
        self._notes = SessionNotes(parts.notes, parts.notes_rules)
        self._archive = ToolResultManager(caller, parts.archive, parts.archiving)
        settings = parts.settings
        self._scratchpad = SessionScratchpad(
            parts.state,
            caller.scope,
            session_id,
            timedelta(minutes=settings.scratchpad_minutes),
        )
        self._intake = MessageIntake(session_id, caller, parts, self._archive)
        self._kept = SessionStateStore(
            parts.state,
            caller.scope,
            session_id,
            timedelta(days=settings.keep_days),
            parts.archive.clock.now(),
        )
        # Concurrent calls are processed one after another.
        self._turn = asyncio.Lock()
        self._window: _Window | None = None
        self._current = CurrentTurn(Offers(self._notes, self._archive))
        self._spans: Mapping[str, tuple[int, int]] = {}
        self._sent = BuiltPrompt()
        self._remembered = MemoryContext(text="", tokens=0, ids=(), left_out=())
        self._saved_tokens = 0
        # The calls whose results were noted when they came, before the conversation has them.
        self._noted_calls: set[str] = set()
        self._is_over = False
        # The language of the guide, as soon as it is known.
        self._tongue: Tongue | None = None
        # Whether anything was said since the session was opened or closed.
        self._has_news = False
        self._pending = Pending()

    def __await__(self) -> Generator[Any, None, Session]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Session:
        await self._ensure_loaded()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def unread(self) -> Pending:
        """Return what was still to be read when the session was last left or ended."""
        return self._pending

    @property
    def id(self) -> str:
        return self._id

    @property
    def is_over(self) -> bool:
        """Return whether it has ended or was forgotten; opening it again starts a new one."""
        return self._is_over

    @property
    def scope(self) -> Scope:
        """Return the scope of the conversation."""
        return self._caller.scope

    @property
    def notes(self) -> SessionNotes:
        """Return what the tools of this session have found."""
        return self._notes

    @property
    def scratchpad(self) -> SessionScratchpad:
        """Return the state of the agent's task."""
        return self._scratchpad

    @property
    def archive(self) -> ToolResultManager:
        """Return the archived tool results."""
        return self._archive

    @property
    def offers(self) -> Mapping[str, Offer]:
        """Return the known results of this turn's tool calls, by id, before they are made.

        That is the hint or cached answer of the notes, or what the same call returned in any
        session of this scope.
        """
        return self._current.offered

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """Return what replaces the beginning of the conversation, in order."""
        return () if self._window is None else self._window.compression.compression.parts

    @property
    def remembered(self) -> MemoryContext:
        """Return what the last prompt said of what is remembered."""
        return self._remembered

    @property
    def usage(self) -> SessionUsage:
        """Return how full the window was when it was last prepared."""
        return SessionUsage(
            messages=len(self._intake.messages),
            window_messages=len(self._sent.messages),
            window_tokens=self._sent.tokens,
            budget_tokens=self._budget.tokens,
            saved_tokens=self._saved_tokens,
            level=self._sent.level,
            pending=self._sent.pending,
            archived=len(self._intake.archives),
            degraded=self._sent.degraded,
        )

    @Operation("POST", "/v1/sessions/{session_id}/observe", "observe_in_session", Role.WRITER)
    async def observe(
        self, messages: GivenMessage | Iterable[GivenMessage], *, task: str | None = None
    ) -> tuple[Turn, ...]:
        """Store one or several messages durably: all of them or none.

        Messages are neutral ones, or mappings in OpenAI's or Anthropic's format; `at` in a mapping
        sets a past time. A large tool result is archived, and its turn stores the placeholder.
        """
        return await self._observe_all(read_messages(messages), task)

    async def _observe_all(
        self, incoming: Sequence[Incoming], task: str | None
    ) -> tuple[Turn, ...]:
        if not incoming:
            return ()
        async with self._turn:
            await self._load()
            # Before their own results are archived, or those would be offered.
            offers = await self._current.offers_for(entry.message for entry in incoming)
            heard = await self._intake.hear(incoming, task)
            self._has_news = True
            for received in heard:
                self._current.hear(received, offers)
                self._note(received)
                if received.said.role == "assistant" and received.said.text:
                    scope = self._caller.scope
                    self._parts.prefetch.answered(scope, self._id, received.said.text)
            await self._save()
        return tuple(received.turn for received in heard)

    @overload
    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Literal["openai"] = "openai",
        with_notes: bool = True,
        with_scratchpad: bool = False,
        with_guide: bool | None = None,
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
        with_guide: bool | None = None,
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
        with_guide: bool | None = None,
    ) -> tuple[Message, ...]: ...

    @Operation(
        "POST",
        "/v1/sessions/{session_id}/prepare",
        "prepare_session",
        Role.WRITER,
        repeat="read",
        timed=True,
    )
    async def prepare(
        self,
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        format: Format = "openai",
        with_notes: bool = True,
        with_scratchpad: bool = False,
        with_guide: bool | None = None,
    ) -> Prepared:
        """Return the messages to send now; what is stored does not change.

        The prompt includes the profile of the user and, with a `query`, what is remembered about
        it. The archives in `load` are
        opened for this call, by the passages about the query if the whole is too large. What the
        tools found is included, and the scratchpad on request. From the first query on, the guide
        to the memory tools is included where the agent has memory, unless `with_guide` says
        otherwise. What is remembered has `session.prepare_seconds` to be found; the rest is left
        out. The first prompt of a process also waits for its models, up to `session.patience`.
        `usage.degraded` reports what is missing.
        """
        await self._send(
            query,
            load=load,
            with_notes=with_notes,
            with_scratchpad=with_scratchpad,
            with_guide=with_guide,
        )
        return written(self._sent.messages, format)

    @Operation(
        "POST",
        "/v1/sessions/{session_id}/tool-results",
        "process_tool_result",
        Role.WRITER,
        repeat="repeatable",
        names={"arguments": "input"},
        answer="result",
    )
    async def process_tool_result(
        self,
        tool: str,
        arguments: object,
        result: ToolResult,
        *,
        thread: str | None = None,
        question: str = "",
        call_id: str | None = None,
        failed: bool = False,
    ) -> ToolResult:
        """Note a tool's result, archive it if it is large, and return what to keep of it.

        This is for frameworks, which keep the conversation themselves and take this result into
        it; `call_id` is the call's id there. The notes see the whole result, unless it `failed`.
        """
        async with self._turn:
            await self._load()
        kept = result
        try:
            kept = await self._archive.process_tool_result(
                tool, arguments, result, self._id, thread, question=question
            )
        finally:
            if call_id is not None:
                self._noted_calls.add(call_id)
            if not failed and self._note_result(tool, arguments, result, kept, question):
                await self.save()
        return kept

    @Operation(
        "POST",
        "/v1/sessions/{session_id}/tool-results/known",
        "find_known_result",
        Role.READER,
        repeat="read",
        names={"arguments": "input"},
        answer="offer",
    )
    async def known_result(self, tool: str, arguments: object) -> Hint | Cached | None:
        """Return what the notes say before a call whose result is known, or None.

        It is the result itself if the settings allow to answer from the notes.
        """
        await self._ensure_loaded()
        return self._notes.before_tool(tool, arguments)

    @Operation(
        "POST", "/v1/sessions/{session_id}/sync", "sync_session", Role.WRITER, repeat="repeatable"
    )
    async def sync(self, messages: Iterable[GivenMessage], *, task: str | None = None) -> Synced:
        """Take over a history that a framework keeps, and observe what is new in it.

        What the framework has removed or replaced at its end is marked as retracted: it stays
        stored but is not recalled any more. Syncing the same history twice changes nothing. System
        prompts are left to the framework, and so is a beginning that it has cut off.
        """
        given = _as_history(messages)
        async with self._turn:
            await self._load()
            known = await self._intake.prints()
            aligned = align([mark for _, mark in known], [entry.print or "" for entry in given])
            gone = [turn for turn, _ in known[aligned.start + aligned.shared :]]
            if gone:
                await self._intake.retract(gone)
                await self._save()
        added = await self._observe_all(given[aligned.shared :], task)
        return Synced(added=added, retracted=tuple(gone), unchanged=aligned.shared)

    @Operation(
        "POST", "/v1/sessions/{session_id}/plan", "plan_session", Role.WRITER, repeat="repeatable"
    )
    async def plan(
        self,
        messages: Iterable[GivenMessage],
        query: str | None = None,
        *,
        load: str | Iterable[str] = (),
        with_notes: bool = True,
        with_scratchpad: bool = False,
        with_guide: bool | None = None,
    ) -> SessionPlan:
        """Return the changes to a framework's history before a model call, by index.

        The history is synced first. Applied to the framework's own messages, the edits send what
        `prepare` would. They are for one call and are not stored. Each given message must become
        one message here: give tool results one by one.
        """
        listed = checked_items(messages, "messages")
        spoken = [at for at, message in enumerate(listed) if not _is_system(message)]
        given = _as_history(listed)
        if len(given) != len(spoken):
            raise InvalidInput(
                "A message holds several tool results; nothing was changed",
                code="not_one_message",
                hint="Give each result as a message of its own, or use sync() and prepare().",
            )
        await self.sync(listed)
        before = await self._send(
            query,
            load=load,
            with_notes=with_notes,
            with_scratchpad=with_scratchpad,
            with_guide=with_guide,
        )
        said = [entry.message for entry in given]
        return _plan_for(before, self._sent, dict(zip(spoken, said, strict=True)), len(listed))

    async def _send(
        self,
        query: str | None,
        *,
        load: str | Iterable[str],
        with_notes: bool,
        with_scratchpad: bool,
        with_guide: bool | None,
    ) -> tuple[Message, ...]:
        """Build the prompt; return the conversation that it is made from."""
        with caller_waits():
            return await self._build(query, load, with_notes, with_scratchpad, with_guide)

    async def _build(
        self,
        query: str | None,
        load: str | Iterable[str],
        with_notes: bool,
        with_scratchpad: bool,
        with_guide: bool | None,
    ) -> tuple[Message, ...]:
        window = await self._ensure_loaded()
        messages = self._intake.messages
        window.sender.begin(messages)
        if query is not None:
            await self._parts.ready()
        began = time.monotonic()
        question = _newest_words(messages) if query is None else query
        if with_guide is None:
            with_guide = query is not None or self._tongue is not None
        beside = [*self._notes_texts()] if with_notes else []
        if with_scratchpad:
            beside.append(render_scratchpad(await self._scratchpad.read()))
        ahead = ""
        limit = self._parts.settings.prepare_seconds or math.inf
        left = limit - (time.monotonic() - began)
        remembered = await self._recall(query, messages, max(0.0, left))
        self._remembered = remembered
        degraded = remembered.degraded
        if remembered.place == "system":
            beside.append(remembered.recalled)
        else:
            ahead = remembered.recalled
        opened = await self._to_load(load, question)
        if not self._intake.is_whole and len(newest_places(messages, opened)) < len(opened):
            # One of them was archived in a part of the conversation that was not read so far.
            async with self._turn:
                await self._intake.load_whole()
            messages = self._intake.messages
        wishes = PromptExtras(
            renewed=await self._renewed(messages),
            shown=self._current.in_place(messages),
            load=opened,
            question=question,
            guide=self._guide(question) if with_guide else "",
            profile=remembered.profile,
            beside=tuple(filter(None, beside)),
            ahead=ahead,
        )
        sent = await window.sender.send(messages, wishes)
        self._saved_tokens = max(0, window.sender.tokens_of(messages) - sent.tokens)
        self._parts.archive.meter.add("window_tokens_saved", self._saved_tokens)
        self._sent = replace(sent, degraded=tuple(dict.fromkeys((*degraded, *sent.degraded))))
        return messages

    @Operation(
        "GET",
        "/v1/sessions/{session_id}/summaries/{summary_id}/turns",
        "expand_summary",
        Role.READER,
        pages=True,
    )
    async def expand(self, summary: Summary | str) -> tuple[Turn, ...]:
        """Return the turns of a summary that is or was in the window."""
        await self._ensure_loaded()
        name = summary.id if isinstance(summary, Summary) else summary
        span = self._all_spans().get(name)
        if span is None:
            raise NotFound(
                f"There is no summary {name!r} in this session",
                code="unknown_summary",
                hint="session.summaries has those in the window, with their ids.",
            )
        covered = {
            message.id for message in self._intake.messages[slice(*span)] if message.id is not None
        }
        where = Filter(session=self._id)
        store = self._parts.archive.store
        return tuple(await store.turns([self._caller.scope], where, ids=sorted(covered)))

    async def refresh(self) -> None:
        """Load what other processes have added to this session."""
        async with self._turn:
            await self._load()
            await self._intake.refresh()

    @Operation(
        "PUT", "/v1/sessions/{session_id}/notes", "replace_notes", Role.WRITER, repeat="repeatable"
    )
    async def save(self) -> None:
        """Store the notes and the window now; observing messages does it too."""
        async with self._turn:
            await self._load()
            await self._save()

    @Operation(
        "POST",
        "/v1/sessions/{session_id}/settle",
        "settle_session",
        Role.WRITER,
        repeat="read",
        patient=True,
    )
    async def settle(self) -> None:
        """Wait for the compression in the background."""
        window = await self._ensure_loaded()
        await window.compression.settle()

    @Operation(
        "POST", "/v1/sessions/{session_id}/leave", "leave_session", Role.WRITER, repeat="repeatable"
    )
    async def close(self) -> Pending:
        """Stop working and store the state; the session can be opened again where it was left.

        Return what of it is still to be read, which happens in the background.
        """
        async with self._turn:
            if self._window is None or self._is_over:
                return self._pending
            await self._window.compression.close()
            await self._archive.close()
            await self._save()
            has_news, self._has_news = self._has_news, False
        # Saving detects whether the session was forgotten elsewhere.
        if has_news and not self._is_over:
            await self._notify(self._parts.left)
        return self._pending

    async def discard(self) -> None:
        """Drop the state of a forgotten session; it cannot continue."""
        async with self._turn:
            if self._window is not None:
                await self._window.compression.close()
            await self._archive.close()
            self._notes.reset()
            self._is_over = True

    @Operation("POST", "/v1/sessions/{session_id}/end", "end_session", Role.WRITER)
    async def end(self) -> Pending:
        """End the session: delete its notes and scratchpad, keep what was said.

        Return what of it is still to be read, which happens in the background.
        """
        async with self._turn:
            window = await self._load()
            await window.compression.close()
            await self._archive.close()
            await self._kept.clear()
            self._notes.reset()
            self._is_over = True
        await self._notify(self._parts.ended)
        return self._pending

    async def _notify(self, listener: Callable[[Caller, str], Awaitable[Pending]]) -> None:
        """Notify a listener that the session was left or ended; a failure is only logged."""
        try:
            self._pending = await listener(self._caller, self._id)
        except StorageError as problem:
            _log.warning("session %s is not read for now: %s", self._id, problem)

    async def _ensure_loaded(self) -> _Window:
        if self._window is None or self._is_over:
            async with self._turn:
                return await self._load()
        return self._window

    async def _load(self) -> _Window:
        """Load what is stored, once; the caller holds the lock."""
        if self._is_over:
            raise Closed(
                f"The session {self._id} has ended", hint="memory.session(id) opens it again."
            )
        if self._window is None:
            kept = await self._kept.load(self._notes)
            await self._intake.load(kept)
            self._current.shown, self._spans = kept.shown, kept.spans
            counter = RememberedCounts(self._parts.archive.tokens)
            compression = BackgroundCompression(
                self._parts.summariser,
                counter,
                self._parts.compression,
                kept.compression,
                # The system prompt and the summaries are two of the messages.
                most_verbatim=self._parts.settings.messages - 2,
            )
            patience = self._parts.settings.patience
            sender = PromptBuilder(compression, self._archive, self._budget, counter, patience)
            self._window = _Window(compression=compression, sender=sender)
            self._parts.opened(self._caller)
        return self._window

    def _note(self, heard: ReceivedMessage) -> None:
        """Update the notes with what was said."""
        if heard.said.role == "user":
            self._notes.current_query = heard.said.text[:_MAX_QUERY_CHARS]
        if heard.call is None:
            return
        if heard.call.id in self._noted_calls:
            self._noted_calls.discard(heard.call.id)
            return
        if reports_error(heard.said):
            return
        self._note_result(
            heard.call.name, heard.call.arguments, heard.said.text, heard.turn.content
        )

    def _note_result(
        self,
        tool: str,
        arguments: object,
        result: ToolResult,
        kept: ToolResult,
        question: str = "",
    ) -> bool:
        """Note a result and where it is archived; return whether anything was noted."""
        if isinstance(result, str) and placeholder_ids(result):
            # It was archived by somebody else, and what is left is no result of the tool.
            return False
        if question:
            self._notes.current_query = question[:_MAX_QUERY_CHARS]
        archive = next(iter(placeholder_ids(kept)), "") if isinstance(kept, str) else ""
        return self._notes.observe_tool(tool, arguments, result, archive=archive)

    async def _save(self) -> None:
        """Store the state; the turns are stored already, so a failure is only logged."""
        if self._window is None:
            return
        self._spans = self._all_spans()
        compression = self._window.compression.compression
        state = WindowState(
            compression=compression,
            resumption=self._intake.resumption(compression.covered_to),
            shown=self._current.shown,
            spans=self._spans,
        )
        try:
            await self._scratchpad.touch()
            await self._kept.save(self._notes, state)
        except NotFound:
            # Another process has forgotten the session: nothing is kept, and it cannot continue.
            self._notes.reset()
            self._is_over = True
        except StorageError as problem:
            _log.warning("the state of session %s is not kept for now: %s", self._id, problem)

    def _all_spans(self) -> Mapping[str, tuple[int, int]]:
        """Return what every summary covers that is or was in the window."""
        now = {summary.id: (summary.start, summary.end) for summary in self.summaries}
        return self._spans if now.items() <= self._spans.items() else {**self._spans, **now}

    def _guide(self, question: str) -> str:
        """Return the guide to the memory tools, in one language for the whole session."""
        if not self._parts.prefetch.is_enabled(self._caller.scope.agent):
            return ""
        if self._tongue is None:
            prompt = next(
                (message for message in self._intake.messages if message.role == "system"), None
            )
            said = question if prompt is None else prompt.text
            self._tongue = "zh" if language(said[:_MAX_QUERY_CHARS]) == "zh" else "en"
        return memory_guide(self._tongue)

    def _notes_texts(self) -> Iterator[str]:
        yield self._notes.get_toc_cache_hint()
        yield self._notes.get_memory_context()

    async def _recall(
        self, query: str | None, messages: Sequence[Message], within: float
    ) -> MemoryContext:
        """Return the profile, and what is remembered about a query and not in the window."""
        if query is None:
            return await self._parts.prefetch.profile(self._caller, self._id)
        covered = max((summary.end for summary in self.summaries), default=0)
        return await self._parts.prefetch.context(
            self._caller, self._id, query, window=messages[covered:], within=within
        )

    async def _renewed(self, messages: Sequence[Message]) -> dict[int, Message]:
        """Return the messages whose placeholders have changed since they were stored.

        A result is digested as a whole, or by a model, after its turn was stored.
        """
        covered = max((summary.end for summary in self.summaries), default=0)
        held = {
            index: ids
            for index, message in enumerate(messages[covered:], covered)
            if (ids := archives_in(message))
        }
        current = await self._archive.renewed(sorted(set[str]().union(*held.values())))
        self._current.renew(current)
        placeholders = {archive: it.placeholder for archive, it in current.items()}
        changed: dict[int, Message] = {}
        for index in held:
            text = messages[index].text
            renewed = renew_placeholders(text, placeholders)
            if renewed != text:
                changed[index] = with_result(messages[index], renewed)
        return changed

    async def _to_load(self, load: str | Iterable[str], question: str) -> tuple[str, ...]:
        """Return the archives to open: the requested ones and those the policy chooses."""
        asked = [load] if isinstance(load, str) else checked_items(load, "load")
        known = self._intake.archives
        for archive in asked:
            if archive not in known:
                raise NotFound(
                    f"This session has no archived tool result {archive!r}",
                    code="unknown_archive",
                    hint="Take the id from a placeholder; load_tool_history loads any other.",
                )
        if known and self._parts.archiving.policy != "model":
            asked += await self._chosen(question)
        return tuple(dict.fromkeys(asked))

    async def _chosen(self, question: str) -> list[str]:
        """Return the archives of earlier turns that match the query, by the trigger policy."""
        messages = self._intake.messages
        users = [index for index, message in enumerate(messages) if message.role == "user"]
        known = sorted(self._intake.archives)
        places = newest_places(messages, known)
        earlier = [
            archive_id for archive_id in known if users and places.get(archive_id, -1) < users[-1]
        ]
        found = await self._parts.archive.archives.find(self._caller.readable, ids=earlier)
        nearness = await nearness_of(question, found, self._parts.archive.embedding)
        return choose(question, nearness, self._parts.archiving)


def _newest_words(messages: Sequence[Message]) -> str:
    return next((message.text for message in reversed(messages) if message.role == "user"), "")


def _as_history(messages: Iterable[GivenMessage]) -> list[Incoming]:
    """Return a framework's messages with their fingerprints, except system prompts.

    The ids of frameworks are not used: a message that is rewritten may keep its id.
    """
    return [
        replace(entry, id=None, print=fingerprint(entry.message))
        for entry in read_messages(messages)
        if entry.message.role != "system"
    ]


def _is_system(message: GivenMessage) -> bool:
    role = message.role if isinstance(message, Message) else message.get("role")
    return role in ("system", "developer")


def _plan_for(
    messages: Sequence[Message], sent: BuiltPrompt, given: Mapping[int, Message], count: int
) -> SessionPlan:
    """Return the edits for a list of `count` messages, of which those `given` were said.

    The last messages of the conversation are those of the list. The list has a large result whole,
    where the conversation has its placeholder.
    """
    places = list(given)
    prompts = [message for message in sent.messages if message.role == "system"]
    spoken = [message for message in messages if message.role != "system"]
    shown = [message for message in sent.messages if message.role != "system"]
    start = len(spoken) - len(places)
    edits: list[Edit] = []
    for edit in edits_between(spoken, shown):
        at = edit.before if isinstance(edit, Insert) else edit.index
        place = count if at >= len(spoken) else places[max(0, at - start)]
        match edit:
            case Insert(message=message):
                edits.append(Insert(place, message))
            case Replace(message=message) if at >= start:
                edits.append(Replace(place, message))
            case Drop() if at >= start:
                edits.append(Drop(place))
            case Keep() if at >= start:
                is_whole = spoken[at].role != "tool" or spoken[at].parts == given[place].parts
                edits.append(Keep(place) if is_whole else Replace(place, spoken[at]))
            case _:
                # The framework has already cut it off.
                pass
    return SessionPlan(
        edits=tuple(edits),
        system="\n\n".join(prompt.text for prompt in prompts),
        degraded=sent.degraded,
    )
