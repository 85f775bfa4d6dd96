"""What every adapter does with a memory, whichever framework it serves.

A memory that fails never stops the agent: the call goes on without it, and `degraded` says so.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from pydantic_core import to_json

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.context.edits import Drop, Insert, Keep, Replace
from recollect.context.history import SessionPlan
from recollect.context.notes import SessionNotes
from recollect.context.session import Session
from recollect.domain.context import Tongue
from recollect.domain.ids import anonymous_id, new_id
from recollect.domain.memory_tools import is_memory_tool
from recollect.domain.message import Message, Role, TextPart
from recollect.domain.notes import Cached
from recollect.errors import InvalidInput, RecollectError
from recollect.memory import Memory
from recollect.tools import Toolbox

N = TypeVar("N")
P = ParamSpec("P")
R = TypeVar("R")

MOST_SESSIONS: Final = 200
_MOST_TOLD: Final = 20

_log: Final = logging.getLogger(__name__)


@dataclass
class _Caller:
    """Whose run calls other agents as tools."""

    user: str | None


_caller: Final[ContextVar[_Caller | None]] = ContextVar("recollect_caller", default=None)
# The memories for which it was told that conversations name no user, each by its run's own id.
_told_of_nobody: Final[set[str]] = set()


class Companion:
    """One memory beside the conversations of a framework's agents.

    `bridge` is that of another scope of the same memory, if there is one.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        model: str | None = None,
        context_tokens: int | None = None,
        language: Tongue = "en",
        bridge: Bridge | None = None,
    ) -> None:
        self.bridge = bridge or Bridge(memory)
        self.memory = memory if isinstance(memory, Memory) else self.bridge.memory
        self.language: Tongue = language
        self._model = model
        self._context_tokens = context_tokens
        # The one used last comes last.
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self.own_session = new_id("sess")
        self._degraded: list[str] = []

    @property
    def degraded(self) -> tuple[str, ...]:
        """The problems with memory since the last `take_degraded`, each once."""
        return tuple(dict.fromkeys(self._degraded))

    def take_degraded(self) -> tuple[str, ...]:
        """Return what went wrong so far, and begin anew."""
        told, self._degraded = self.degraded, []
        return told

    def named(self, user: object) -> str | None:
        """Return the user that a framework names; None where the memory was given to one."""
        name = "" if user is None else str(user)
        return None if self.memory.user_is_named or not name.strip() else name

    def user_of(self, user: str | None, session: str | None = None) -> str | None:
        """Return whose a conversation is; None is the user that the memory was given to.

        Where nobody was named, it is the user of the run that calls this one as a tool. Otherwise
        each conversation has an anonymous user of its own: people would share the default one.
        """
        if user is not None or self.memory.user_is_named:
            return user
        if (caller := _caller.get()) is not None and caller.user is not None:
            return caller.user
        anonymous = anonymous_id(session or self.own_session)
        if self.memory.anonymous_user not in _told_of_nobody:
            _told_of_nobody.add(self.memory.anonymous_user)
            _log.warning(
                "no user was named for a conversation: what it says is kept for %s, and other"
                " conversations do not see it. Name the user as the framework does, or give the"
                " adapter memory.scope(user=...)",
                anonymous,
            )
        return anonymous

    def seen_by(self, user: str | None, session: str | None = None) -> Memory:
        """Return the memory of whoever speaks in a conversation, see `user_of`."""
        whose = self.user_of(user, session)
        return self.memory if whose is None else self.memory.scope(user=whose)

    @contextmanager
    def calling(self, user: str | None) -> Generator[None]:
        """Let agents that are called meanwhile know on whose behalf, if nothing else names a user.

        A task that goes on afterwards no longer knows.
        """
        caller = _Caller(user or self.memory.caller_scope.user)
        token = _caller.set(caller)
        try:
            yield
        finally:
            caller.user = None
            _caller.reset(token)

    def conversation(self, session: str | None = None, user: str | None = None) -> Conversation:
        """Return one conversation, of the user that `user_of` says."""
        return Conversation(self, session, user)

    async def opened(self, session: str | None, user: str | None) -> Session:
        """Return the session of a conversation."""
        whose = self.user_of(user, session)
        key = (whose or "", session or self.own_session)
        known = self._sessions.pop(key, None)
        if known is None or known.is_over:
            known = self.seen_by(whose).session(
                key[1], model=self._model, context_tokens=self._context_tokens
            )
        self._sessions[key] = known
        while len(self._sessions) > MOST_SESSIONS:
            _, oldest = self._sessions.popitem(last=False)
            await oldest.close()
        return known

    def note(self, problems: Sequence[str]) -> None:
        """Note what a prompt had to do without."""
        self._degraded += problems

    def tell(self, problem: RecollectError) -> None:
        """Note that memory failed, and go on."""
        _log.warning("the agent continues without memory: %s", problem)
        self._degraded = [*self._degraded, f"{problem.code}: {problem.message}"][-_MOST_TOLD:]

    @contextmanager
    def going_on(self) -> Generator[None]:
        """Note that memory failed here, and go on behind it."""
        try:
            yield
        except RecollectError as problem:
            self.tell(problem)


# --- One conversation: what an adapter asks of memory in it ---------------------------------------


def _on_its_loop(
    method: Callable[Concatenate[Conversation, P], Awaitable[R]],
) -> Callable[Concatenate[Conversation, P], Coroutine[Any, Any, R]]:
    """Let a method be called from any event loop; what it does is done on the memory's."""

    @wraps(method)
    async def call(here: Conversation, *given: P.args, **named: P.kwargs) -> R:
        return await here.companion.bridge.arun(lambda: method(here, *given, **named))

    return call


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of one user, which goes on without memory where that fails."""

    companion: Companion
    session: str | None
    user: str | None

    @property
    def memory(self) -> Memory:
        """Return the memory of whoever speaks in it."""
        return self.companion.seen_by(self.user, self.session)

    @property
    def toolbox(self) -> Toolbox:
        """Return its memory tools."""
        return self.memory.tools(self.companion.language, session=self._name)

    async def opened(self) -> Session:
        """Return its session."""
        return await self.companion.opened(self.session, self.user)

    @_on_its_loop
    async def call(self, tool: str, arguments: Mapping[str, Any] | str) -> str:
        """Answer a model's call of a memory tool."""
        return await self.toolbox.call(tool, arguments)

    @_on_its_loop
    async def plan(self, messages: Sequence[Message], *, with_tools: bool = True) -> SessionPlan:
        """Take over what is new, and say what to send of it to the model.

        Without tools the guide to them is left out. Where memory fails, all of it is sent as it is.
        """
        try:
            plan = await (await self.opened()).plan(
                messages, newest_words(messages) or None, with_guide=None if with_tools else False
            )
        except RecollectError as problem:
            self.companion.tell(problem)
            return SessionPlan(
                edits=tuple(map(Keep, range(len(messages)))), degraded=(str(problem),)
            )
        self.companion.note(plan.degraded)
        return plan

    @_on_its_loop
    async def sync(self, messages: Sequence[Message]) -> None:
        """Take over what is new of all that was said."""
        with self.companion.going_on():
            await (await self.opened()).sync(messages)

    @_on_its_loop
    async def observe(self, messages: Sequence[Message]) -> None:
        """Take over what was said, all of it new."""
        with self.companion.going_on():
            await (await self.opened()).observe(messages)

    @_on_its_loop
    async def observe_new(self, messages: Sequence[Message]) -> None:
        """Take over what was said, but for messages whose ids are known."""
        with self.companion.going_on():
            session = await self.opened()
            for message in messages:
                try:
                    await session.observe(message)
                except InvalidInput as problem:
                    if problem.code != "duplicate_id":
                        raise

    @_on_its_loop
    async def leave(self, messages: Sequence[Message] = ()) -> None:
        """Have what was said read for what is worth remembering: the run is over.

        Of the messages what is new is taken over first.
        """
        if messages:
            await self.sync(messages)
        with self.companion.going_on():
            await (await self.opened()).close()

    @_on_its_loop
    async def result(
        self,
        tool: str,
        arguments: object,
        result: str,
        *,
        question: str = "",
        call_id: str | None = None,
        failed: bool = False,
    ) -> str:
        """Note a tool's result, put a large one away, and return what the framework keeps of it.

        `call_id` is the id that the result has in a conversation that is taken over by `plan` or
        `sync`: it is not noted again there. What `failed` is not noted at all.
        """
        if is_memory_tool(tool):
            return result
        with self.companion.going_on():
            kept = await (await self.opened()).process_tool_result(
                tool, arguments, result, question=question, call_id=call_id, failed=failed
            )
            return str(kept)
        return result

    @_on_its_loop
    async def known_result(self, tool: str, arguments: object) -> str | None:
        """Return what an equal call gave, if it is known and may be used instead of a new call."""
        with self.companion.going_on():
            known = await (await self.opened()).known_result(tool, arguments)
            return result_text(known.result) if isinstance(known, Cached) else None
        return None

    @_on_its_loop
    async def notes(self) -> SessionNotes | None:
        """Return what its tools have found; None where memory fails."""
        with self.companion.going_on():
            return (await (await self.opened())).notes
        return None

    async def noted(self) -> str:
        """Return what its tools have found, as text for a prompt."""
        notes = await self.notes()
        texts = () if notes is None else (notes.get_toc_cache_hint(), notes.get_memory_context())
        return "\n\n".join(filter(None, texts))

    @_on_its_loop
    async def reset(self, *, everything: bool = False) -> None:
        """Let go of what belongs to the current question, or of everything that tools found."""
        with self.companion.going_on():
            session = await (await self.opened())
            if everything:
                session.notes.reset()
            else:
                session.notes.clear_query_context()
            await session.save()

    @_on_its_loop
    async def context(self, message: str, *, with_notes: bool = True) -> str:
        """Return the block of what is remembered about a message; empty where memory fails.

        In a session that is named, what its tools have found stands below.
        """
        noted = await self.noted() if self.session and with_notes else ""
        with self.companion.going_on():
            found = await self.memory.context(
                message, language=self.companion.language, session=self._name
            )
            self.companion.note(found.degraded)
            return "\n\n".join(filter(None, (found.text, noted)))
        return noted

    @property
    def _name(self) -> str:
        return self.session or self.companion.own_session


def newest_words(messages: Sequence[Message]) -> str:
    """Return what the user said last."""
    return next((message.text for message in reversed(messages) if message.role == "user"), "")


def result_text(result: object) -> str:
    """Return a tool's result as text: itself, or as JSON."""
    return result if isinstance(result, str) else to_json(result, fallback=str).decode()


def text_message(role: Role, text: str, **fields: Any) -> Message:
    """Return a plain message."""
    return Message(role=role, parts=(TextPart(text=text),), **fields)


def applied(
    native: Sequence[N],
    plan: SessionPlan,
    replaced: Callable[[N, Message], N],
    made: Callable[[Message], N],
) -> list[N]:
    """Return a framework's own messages after a plan; those that stay are the same objects."""
    inserted: dict[int, list[N]] = {}
    changed: dict[int, list[N]] = {}
    for edit in plan.edits:
        match edit:
            case Insert(before=at, message=message):
                inserted.setdefault(at, []).append(made(message))
            case Replace(index=at, message=message):
                changed[at] = [replaced(native[at], message)]
            case Drop(index=at):
                changed[at] = []
            case Keep():
                pass
    result: list[N] = []
    for at, message in enumerate(native):
        result += inserted.get(at, [])
        result += changed.get(at, [message])
    return [*result, *inserted.get(len(native), [])]
