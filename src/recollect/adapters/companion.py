"""What every adapter does with a memory, whichever framework it serves.

A memory that fails never stops the agent: the call goes on without it, and `degraded` says so.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from recollect.context.edits import Drop, Insert, Keep, Replace
from recollect.context.history import SessionPlan
from recollect.context.session import Session
from recollect.domain.context import Tongue
from recollect.domain.ids import new_id
from recollect.domain.memory_tools import is_memory_tool
from recollect.domain.message import Message, Role, TextPart
from recollect.errors import InvalidInput, RecollectError
from recollect.memory import Memory
from recollect.tools import Toolbox

N = TypeVar("N")

_MOST_SESSIONS: Final = 200
_MOST_TOLD: Final = 20

_log: Final = logging.getLogger(__name__)


class Companion:
    """One memory beside the conversations of a framework's agents."""

    def __init__(
        self,
        memory: Memory,
        *,
        model: str | None = None,
        context_tokens: int | None = None,
        language: Tongue = "en",
    ) -> None:
        self.memory = memory
        self.language: Tongue = language
        self._model = model
        self._context_tokens = context_tokens
        # The one used last comes last.
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._own_session = new_id("sess")
        self._degraded: list[str] = []

    @property
    def degraded(self) -> tuple[str, ...]:
        """The problems with memory since the last `take_degraded`, each once."""
        return tuple(dict.fromkeys(self._degraded))

    def take_degraded(self) -> tuple[str, ...]:
        """Return what went wrong so far, and begin anew."""
        told, self._degraded = self.degraded, []
        return told

    def seen_by(self, user: str | None) -> Memory:
        """Return the memory as a user of the framework sees it; None is the one it was given."""
        return self.memory if user is None else self.memory.scope(user=user)

    def toolbox(self, *, user: str | None = None, session: str | None = None) -> Toolbox:
        """Return the memory tools of a conversation."""
        return self.seen_by(user).tools(self.language, session=session or self._own_session)

    async def session(self, id: str | None, *, user: str | None = None) -> Session:
        """Return the session of a conversation, open."""
        key = (user or "", id or self._own_session)
        session = self._sessions.pop(key, None)
        if session is None or session.is_over:
            session = self.seen_by(user).session(
                key[1], model=self._model, context_tokens=self._context_tokens
            )
        self._sessions[key] = session
        while len(self._sessions) > _MOST_SESSIONS:
            _, oldest = self._sessions.popitem(last=False)
            await oldest.close()
        return session

    async def plan(
        self,
        messages: Sequence[Message],
        *,
        session: str | None = None,
        user: str | None = None,
        with_tools: bool = True,
    ) -> SessionPlan:
        """Take over what is new in a conversation, and say what to send of it to the model.

        Without tools the guide to them is left out. Where memory fails, all of it is sent as it is.
        """
        try:
            opened = await self.session(session, user=user)
            plan = await opened.plan(
                messages, newest_words(messages) or None, with_guide=None if with_tools else False
            )
        except RecollectError as problem:
            self.tell(problem)
            return SessionPlan(
                edits=tuple(map(Keep, range(len(messages)))), degraded=(str(problem),)
            )
        self._degraded += plan.degraded
        return plan

    async def sync(
        self, messages: Sequence[Message], *, session: str | None = None, user: str | None = None
    ) -> None:
        """Take over what is new in a conversation."""
        try:
            await (await self.session(session, user=user)).sync(messages)
        except RecollectError as problem:
            self.tell(problem)

    async def observe(
        self, messages: Sequence[Message], *, session: str | None = None, user: str | None = None
    ) -> None:
        """Take over what was said, all of it new."""
        try:
            await (await self.session(session, user=user)).observe(messages)
        except RecollectError as problem:
            self.tell(problem)

    async def observe_new(
        self, messages: Sequence[Message], *, session: str | None = None, user: str | None = None
    ) -> None:
        """Take over what was said, but for messages whose ids are known."""
        try:
            opened = await self.session(session, user=user)
            for message in messages:
                try:
                    await opened.observe(message)
                except InvalidInput as problem:
                    if problem.code != "duplicate_id":
                        raise
        except RecollectError as problem:
            self.tell(problem)

    async def leave(self, *, session: str | None = None, user: str | None = None) -> None:
        """Have what was said read for what is worth remembering: the run is over."""
        try:
            await (await self.session(session, user=user)).close()
        except RecollectError as problem:
            self.tell(problem)

    async def result(
        self,
        tool: str,
        arguments: object,
        result: str,
        *,
        question: str = "",
        session: str | None = None,
        user: str | None = None,
    ) -> str:
        """Put a large tool result away, and return what the framework keeps of it."""
        if is_memory_tool(tool):
            return result
        try:
            opened = await self.session(session, user=user)
            return await opened.archive.process_tool_result(
                tool, arguments, result, opened.id, question=question
            )
        except RecollectError as problem:
            self.tell(problem)
            return result

    async def context(
        self,
        message: str,
        *,
        session: str | None = None,
        user: str | None = None,
        run: str | None = None,
    ) -> str:
        """Return the block of what is remembered about a message; empty where memory fails."""
        try:
            found = await self.seen_by(user).context(
                message, language=self.language, session=session or self._own_session, run=run
            )
        except RecollectError as problem:
            self.tell(problem)
            return ""
        self._degraded += found.degraded
        return found.text

    def tell(self, problem: RecollectError) -> None:
        """Note that memory failed, and go on."""
        _log.warning("the agent goes on without memory: %s", problem)
        self._degraded = [*self._degraded, f"{problem.code}: {problem.message}"][-_MOST_TOLD:]

    async def close(self) -> None:
        """Close the sessions; the memory itself is its owner's to close."""
        while self._sessions:
            _, session = self._sessions.popitem()
            try:
                await session.close()
            except RecollectError as problem:
                self.tell(problem)


def newest_words(messages: Sequence[Message]) -> str:
    """Return what the user said last."""
    return next((it.text for it in reversed(messages) if it.role == "user"), "")


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
