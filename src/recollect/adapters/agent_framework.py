"""Memory for Microsoft's Agent Framework: `Agent(client, context_providers=[…])`.

Every run is told what is remembered at the end of its instructions; it is not written to the
session. Large tool results are archived, and the history keeps what stands for them. The window is
the framework's own matter: it has strategies for that.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from agent_framework import (
    AgentSession,
    Content,
    ContextProvider,
    FunctionInvocationContext,
    FunctionMiddleware,
    FunctionTool,
    SessionContext,
)
from agent_framework import Message as ChatMessage

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.adapters.companion import Companion, newest_words, text_message
from recollect.context.notes import SessionNotes
from recollect.domain.context import Tongue
from recollect.domain.memory_tools import memory_guide
from recollect.domain.message import Message, Role

__all__ = ["RecollectProvider"]

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}


class RecollectProvider(ContextProvider):
    """Memory for one agent; a conversation is the framework's session.

    Its user is the one that the memory was given to, else that of the run (`options={"user": …}`).
    `degraded` tells what went wrong with memory; a run never fails because of it.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        source_id: str = "recollect",
        language: Tongue = "en",
        with_tools: bool = True,
    ) -> None:
        super().__init__(source_id)
        self._bridge = Bridge(memory)
        self._companion = Companion(self._bridge.memory, language=language)
        self._with_tools = with_tools

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return self._companion.degraded

    async def before_run(self, *, session: AgentSession, context: SessionContext, **_: Any) -> None:
        asked = newest_words(views_of(context.input_messages))
        here, user = session.session_id, self._companion.named(context.options.get("user"))
        # The framework takes it out of the options before the run is over.
        context.metadata[self.source_id] = user
        if asked:
            told = await self._bridge.arun(
                lambda: self._companion.context(asked, session=here, user=user)
            )
            context.extend_instructions(self.source_id, told or ())
        archive = _Archive(self._bridge, self._companion, here, user, asked)
        context.extend_middleware(self.source_id, archive)
        if self._with_tools:
            context.extend_instructions(self.source_id, memory_guide(self._companion.language))
            context.extend_tools(self.source_id, self._tools(here, user))

    async def after_run(self, *, session: AgentSession, context: SessionContext, **_: Any) -> None:
        """Observe what was new in this run; what went before was observed by the runs before."""
        answers = context.response.messages if context.response else ()
        said = views_of([*context.input_messages, *answers])
        user = context.metadata.get(self.source_id)
        await self._bridge.arun(lambda: self._left(session.session_id, user, said))

    async def notes(self, session: AgentSession, user: str | None = None) -> SessionNotes | None:
        """Return what the tools of a session have found; None where memory fails."""
        return await self._bridge.arun(lambda: self._companion.notes(session.session_id, user=user))

    async def reset(self, session: AgentSession, user: str | None = None) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        here = session.session_id
        await self._bridge.arun(lambda: self._companion.reset(here, user=user))

    async def reset_all(self, session: AgentSession, user: str | None = None) -> None:
        """Let go of everything that the tools of a session have found."""
        here = session.session_id
        await self._bridge.arun(lambda: self._companion.reset(here, user=user, everything=True))

    async def _left(self, session: str, user: str | None, said: Sequence[Message]) -> None:
        await self._companion.observe(said, session=session, user=user)
        await self._companion.leave(session=session, user=user)

    def _tools(self, session: str, user: str | None) -> list[FunctionTool]:
        return [
            FunctionTool(
                name=told["name"],
                description=told["description"],
                input_model=told["parameters"],
                func=self._tool(told["name"], session, user),
            )
            for told in self._companion.toolbox(session=session, user=user).json_schemas()
        ]

    def _tool(self, name: str, session: str, user: str | None) -> Callable[..., Any]:
        async def call(**arguments: Any) -> str:
            box = self._companion.toolbox(session=session, user=user)
            return await self._bridge.arun(lambda: box.call(name, arguments))

        return call


class _Archive(FunctionMiddleware):
    """Notes results of tools, puts large ones away, and answers calls that are known."""

    def __init__(
        self, bridge: Bridge, companion: Companion, session: str, user: str | None, asked: str
    ) -> None:
        self._bridge = bridge
        self._companion = companion
        self._session = session
        self._user = user
        self._asked = asked

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        name, arguments = context.function.name, dict(context.arguments)
        known = await self._bridge.arun(
            lambda: self._companion.known_result(name, arguments, session=self._session)
        )
        if known is None:
            await call_next()
        else:
            context.result = [Content.from_text(known)]
        text = _text_of(context.result)
        if text is None:
            return
        kept = await self._bridge.arun(
            lambda: self._companion.result(
                name,
                arguments,
                text,
                question=self._asked,
                session=self._session,
                user=self._user,
            )
        )
        if kept != text:
            context.result = [Content.from_text(kept)]


def views_of(messages: Sequence[ChatMessage]) -> list[Message]:
    """Return what people and the assistant said."""
    return [
        text_message(_ROLES[message.role], message.text)
        for message in messages
        if message.role in _ROLES and message.text
    ]


def _text_of(result: object) -> str | None:
    """Return a result that is nothing but text; another middleware may have left a plain one."""
    items = result if isinstance(result, list) else [result]
    texts = [item if isinstance(item, str) else getattr(item, "text", None) for item in items]
    found = [text for text in texts if isinstance(text, str)]
    return "\n".join(found) if len(found) == len(items) else None
