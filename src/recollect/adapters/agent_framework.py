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

from recollect.adapters.bridge import AnyMemory
from recollect.adapters.companion import Companion, Conversation, newest_words, text_message
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
        self._companion = Companion(memory, language=language)
        self._with_tools = with_tools

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return self._companion.degraded

    async def before_run(self, *, session: AgentSession, context: SessionContext, **_: Any) -> None:
        asked = newest_words(views_of(context.input_messages))
        user = self._companion.named(context.options.get("user"))
        talk = self._companion.conversation(session.session_id, user)
        # The framework takes it out of the options before the run is over.
        context.metadata[self.source_id] = user
        if asked:
            context.extend_instructions(self.source_id, await talk.context(asked) or ())
        context.extend_middleware(self.source_id, _Archive(talk, asked))
        if self._with_tools:
            context.extend_instructions(self.source_id, memory_guide(self._companion.language))
            context.extend_tools(self.source_id, _tools(talk))

    async def after_run(self, *, session: AgentSession, context: SessionContext, **_: Any) -> None:
        """Observe what was new in this run; what went before was observed by the runs before."""
        answers = context.response.messages if context.response else ()
        said = views_of([*context.input_messages, *answers])
        talk = self._companion.conversation(
            session.session_id, context.metadata.get(self.source_id)
        )
        await talk.observe(said)
        await talk.leave()

    async def notes(self, session: AgentSession, user: str | None = None) -> SessionNotes | None:
        """Return what the tools of a session have found; None where memory fails."""
        return await self._companion.conversation(session.session_id, user).notes()

    async def reset(self, session: AgentSession, user: str | None = None) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        await self._companion.conversation(session.session_id, user).reset()

    async def reset_all(self, session: AgentSession, user: str | None = None) -> None:
        """Let go of everything that the tools of a session have found."""
        await self._companion.conversation(session.session_id, user).reset(everything=True)


def _tools(talk: Conversation) -> list[FunctionTool]:
    return [
        FunctionTool(
            name=told["name"],
            description=told["description"],
            input_model=told["parameters"],
            func=_tool(talk, told["name"]),
        )
        for told in talk.toolbox.json_schemas()
    ]


def _tool(talk: Conversation, name: str) -> Callable[..., Any]:
    async def call(**arguments: Any) -> str:
        return await talk.call(name, arguments)

    return call


class _Archive(FunctionMiddleware):
    """Notes results of tools, puts large ones away, and answers calls that are known."""

    def __init__(self, talk: Conversation, asked: str) -> None:
        self._talk = talk
        self._asked = asked

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        name, arguments = context.function.name, dict(context.arguments)
        known = await self._talk.known_result(name, arguments)
        if known is None:
            await call_next()
        else:
            context.result = [Content.from_text(known)]
        text = _text_of(context.result)
        if text is None:
            return
        kept = await self._talk.result(name, arguments, text, question=self._asked)
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
