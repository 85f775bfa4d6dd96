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
from recollect.domain.context import Tongue
from recollect.domain.memory_tools import memory_guide
from recollect.domain.message import Message, Role

__all__ = ["RecollectProvider"]

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}


class RecollectProvider(ContextProvider):
    """Memory for one agent; a conversation is the framework's session.

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
        if asked:
            told = await self._bridge.arun(
                lambda: self._companion.context(asked, session=session.session_id)
            )
            context.extend_instructions(self.source_id, told or ())
        archive = _Archive(self._bridge, self._companion, session.session_id, asked)
        context.extend_middleware(self.source_id, archive)
        if self._with_tools:
            context.extend_instructions(self.source_id, memory_guide(self._companion.language))
            context.extend_tools(self.source_id, self._tools(session.session_id))

    async def after_run(self, *, session: AgentSession, context: SessionContext, **_: Any) -> None:
        """Observe what was new in this run; what went before was observed by the runs before."""
        answers = context.response.messages if context.response else ()
        said = views_of([*context.input_messages, *answers])
        await self._bridge.arun(lambda: self._left(session.session_id, said))

    async def _left(self, session: str, said: Sequence[Message]) -> None:
        await self._companion.observe(said, session=session)
        await self._companion.leave(session=session)

    def _tools(self, session: str) -> list[FunctionTool]:
        return [
            FunctionTool(
                name=told["name"],
                description=told["description"],
                input_model=told["parameters"],
                func=self._tool(told["name"], session),
            )
            for told in self._companion.toolbox(session=session).json_schemas()
        ]

    def _tool(self, name: str, session: str) -> Callable[..., Any]:
        async def call(**arguments: Any) -> str:
            box = self._companion.toolbox(session=session)
            return await self._bridge.arun(lambda: box.call(name, arguments))

        return call


class _Archive(FunctionMiddleware):
    """Puts large results of tools away."""

    def __init__(self, bridge: Bridge, companion: Companion, session: str, asked: str) -> None:
        self._bridge = bridge
        self._companion = companion
        self._session = session
        self._asked = asked

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        await call_next()
        text = _text_of(context.result)
        if text is None:
            return
        kept = await self._bridge.arun(
            lambda: self._companion.result(
                context.function.name,
                dict(context.arguments),
                text,
                question=self._asked,
                session=self._session,
            )
        )
        if kept != text:
            context.result = [Content.from_text(kept)]


def views_of(messages: Sequence[ChatMessage]) -> list[Message]:
    """Return what people and the assistant said."""
    return [
        text_message(_ROLES[it.role], it.text) for it in messages if it.role in _ROLES and it.text
    ]


def _text_of(result: object) -> str | None:
    """Return a result that is nothing but text; another middleware may have left a plain one."""
    items = result if isinstance(result, list) else [result]
    texts = [it if isinstance(it, str) else getattr(it, "text", None) for it in items]
    found = [it for it in texts if isinstance(it, str)]
    return "\n".join(found) if len(found) == len(items) else None
