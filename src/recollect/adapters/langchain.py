"""Memory for LangChain agents: `create_agent(model, middleware=[RecollectMiddleware(memory)])`.

Every model call gets what is remembered at the end of its system prompt and a window that fits;
neither is written to the agent's state. Large tool results are archived, and the state keeps what
stands for them. Memory tools are there for the model.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, AgentState, ModelRequest
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import StructuredTool
from langgraph.config import get_config
from langgraph.types import Command

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.adapters.companion import Companion, applied, newest_words
from recollect.context.history import SessionPlan
from recollect.context.notes import SessionNotes
from recollect.domain.context import Tongue
from recollect.domain.message import FilePart, Message, Part, Role, TextPart, ToolCall
from recollect.memory import Memory

__all__ = ["RecollectMiddleware"]

_ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "tool": "tool"}


@dataclass(frozen=True)
class Run:
    """Whose conversation a call belongs to."""

    session: str | None
    user: str | None


def run_of(memory: Memory, session: str | None = None) -> Run:
    """Return the conversation and the user that the configuration of the run names."""
    try:
        configured: Mapping[str, Any] = get_config().get("configurable") or {}
    except RuntimeError:
        configured = {}
    session = session or configured.get("thread_id")
    user = configured.get("user_id")
    if user is None and memory.caller_scope.user is None:
        user = memory.anonymous_user
    return Run(
        session=None if session is None else str(session), user=None if user is None else str(user)
    )


class MemoryState(AgentState):
    """The state of an agent with memory: what went wrong with it in this run."""

    memory_degraded: list[str]


class RecollectMiddleware(AgentMiddleware):
    """Memory for one agent, in blocking and in async runs.

    A conversation is the run's `thread_id`, its user the run's `user_id`, both from the
    configuration of the run; without them it is `session` and the memory's own user, or somebody
    anonymous. A run never fails because of memory: `memory_degraded` in its result tells what
    went wrong.
    """

    state_schema = MemoryState

    def __init__(
        self,
        memory: AnyMemory,
        *,
        session: str | None = None,
        model: str | None = None,
        context_tokens: int | None = None,
        language: Tongue = "en",
        with_tools: bool = True,
        name: str = "recollect",
    ) -> None:
        super().__init__()
        self._bridge = Bridge(memory)
        self._companion = Companion(
            self._bridge.memory, model=model, context_tokens=context_tokens, language=language
        )
        self._session = session
        self._name = name
        self._with_tools = with_tools
        self.tools = self._made_tools() if with_tools else []

    @property
    def name(self) -> str:
        """Return the name; two memories for one agent need different ones."""
        return self._name

    def wrap_model_call(self, request: ModelRequest, handler: Callable[..., Any]) -> Any:
        run = self._run()
        plan = self._bridge.run(lambda: self._plan(request, run))
        return handler(_planned(request, plan))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        run = self._run()
        plan = await self._bridge.arun(lambda: self._plan(request, run))
        return await handler(_planned(request, plan))

    def wrap_tool_call(self, request: Any, handler: Callable[..., Any]) -> Any:
        run = self._run()
        known = self._bridge.run(lambda: self._known(request, run))
        result = handler(request) if known is None else known
        return self._bridge.run(lambda: self._archived(request, result, run))

    async def awrap_tool_call(self, request: Any, handler: Callable[..., Awaitable[Any]]) -> Any:
        run = self._run()
        known = await self._bridge.arun(lambda: self._known(request, run))
        result = await handler(request) if known is None else known
        return await self._bridge.arun(lambda: self._archived(request, result, run))

    def notes(self, session: str | None = None, user: str | None = None) -> SessionNotes | None:
        """Return what the tools of a conversation have found; None where memory fails."""
        return self._bridge.run(lambda: self._companion.notes(self._named(session), user=user))

    async def anotes(
        self, session: str | None = None, user: str | None = None
    ) -> SessionNotes | None:
        """Return what the tools of a conversation have found; None where memory fails."""
        wanted = self._named(session)
        return await self._bridge.arun(lambda: self._companion.notes(wanted, user=user))

    def reset(self, session: str | None = None, user: str | None = None) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        self._bridge.run(lambda: self._companion.reset(self._named(session), user=user))

    async def areset(self, session: str | None = None, user: str | None = None) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        await self._bridge.arun(lambda: self._companion.reset(self._named(session), user=user))

    def reset_all(self, session: str | None = None, user: str | None = None) -> None:
        """Let go of everything that the tools of a conversation have found."""
        wanted = self._named(session)
        self._bridge.run(lambda: self._companion.reset(wanted, user=user, everything=True))

    async def areset_all(self, session: str | None = None, user: str | None = None) -> None:
        """Let go of everything that the tools of a conversation have found."""
        wanted = self._named(session)
        await self._bridge.arun(lambda: self._companion.reset(wanted, user=user, everything=True))

    def _named(self, session: str | None) -> str | None:
        return session or self._session

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        run = self._run()
        self._bridge.run(lambda: self._left(state["messages"], run))
        return self._told()

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        run = self._run()
        await self._bridge.arun(lambda: self._left(state["messages"], run))
        return self._told()

    def _told(self) -> dict[str, Any] | None:
        degraded = self._companion.take_degraded()
        return {"memory_degraded": list(degraded)} if degraded else None

    def _run(self) -> Run:
        return run_of(self._bridge.memory, self._session)

    async def _plan(self, request: ModelRequest, run: Run) -> SessionPlan:
        views = [view_of(message) for message in request.messages]
        return await self._companion.plan(
            views, session=run.session, user=run.user, with_tools=self._with_tools
        )

    async def _left(self, messages: Sequence[AnyMessage], run: Run) -> None:
        views = [view_of(message) for message in messages]
        await self._companion.sync(views, session=run.session, user=run.user)
        await self._companion.leave(session=run.session, user=run.user)

    async def _known(self, request: Any, run: Run) -> ToolMessage | None:
        """Return the result of an equal call that may be used instead of a new one."""
        call = request.tool_call
        known = await self._companion.known_result(
            call["name"], call["args"], session=run.session, user=run.user
        )
        if known is None:
            return None
        return ToolMessage(content=known, name=call["name"], tool_call_id=call["id"])

    async def _archived(self, request: Any, result: Any, run: Run) -> Any:
        """Return a tool's result without what is too large; a command carries messages too."""
        if isinstance(result, ToolMessage):
            return await self._archived_message(request, result, run)
        if isinstance(result, Command) and isinstance(result.update, dict):
            messages = result.update.get("messages")
            if isinstance(messages, list):
                kept = [
                    await self._archived_message(request, it, run)
                    if isinstance(it, ToolMessage)
                    else it
                    for it in messages
                ]
                return replace(result, update={**result.update, "messages": kept})
        return result

    async def _archived_message(self, request: Any, message: ToolMessage, run: Run) -> ToolMessage:
        state = request.state if isinstance(request.state, Mapping) else {}
        said = [view_of(it) for it in state.get("messages", ())]
        text = view_of(message).text
        kept = await self._companion.result(
            request.tool_call["name"],
            request.tool_call["args"],
            text,
            question=newest_words(said),
            call_id=message.tool_call_id,
            failed=message.status == "error",
            session=run.session,
            user=run.user,
        )
        return message if kept == text else message.model_copy(update={"content": kept})

    def _made_tools(self) -> list[StructuredTool]:
        box = self._companion.toolbox()
        return [
            StructuredTool(
                name=spec.name,
                description=spec.description(self._companion.language),
                args_schema=spec.arguments,
                func=self._blocking(spec.name),
                coroutine=self._awaited(spec.name),
            )
            for spec in box.specs
        ]

    def _blocking(self, tool: str) -> Callable[..., str]:
        def call(**arguments: Any) -> str:
            run = self._run()
            return self._bridge.run(lambda: self._call(tool, arguments, run))

        return call

    def _awaited(self, tool: str) -> Callable[..., Awaitable[str]]:
        async def call(**arguments: Any) -> str:
            run = self._run()
            return await self._bridge.arun(lambda: self._call(tool, arguments, run))

        return call

    async def _call(self, tool: str, arguments: Mapping[str, Any], run: Run) -> str:
        box = self._companion.toolbox(user=run.user, session=run.session)
        given = {
            name: it.model_dump(exclude_unset=True) if hasattr(it, "model_dump") else it
            for name, it in arguments.items()
        }
        return await box.call(tool, given)


def view_of(message: AnyMessage) -> Message:
    """Return a LangChain message as our own, with all that is compared and counted of it."""
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    return Message(
        role=_ROLES.get(message.type, "system"),
        parts=tuple(_parts(message.content)),
        tool_calls=tuple(
            ToolCall(
                id=call["id"] or "",
                name=call["name"],
                arguments=json.dumps(call["args"], ensure_ascii=False, default=str),
            )
            for call in calls
        ),
        answers=message.tool_call_id if isinstance(message, ToolMessage) else None,
        name=message.name if isinstance(message, HumanMessage) else None,
    )


def _parts(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [TextPart(text=content)] if content else []
    parts: list[Part] = []
    for block in content:
        if isinstance(block, str):
            parts.append(TextPart(text=block))
        elif block.get("type") == "text":
            parts.append(TextPart(text=block["text"]))
        elif block.get("type") not in ("tool_use", "tool_call"):
            parts.append(FilePart(source={"langchain": block}, name=str(block.get("type", ""))))
    return parts


def _planned(request: ModelRequest, plan: SessionPlan) -> ModelRequest:
    messages = applied(request.messages, plan, _replaced, _made)
    return with_system_text(request.override(messages=messages), plan.system)


def with_system_text(request: ModelRequest, text: str) -> ModelRequest:
    """Return the request with a text at the end of its system prompt."""
    if not text:
        return request
    before = request.system_message
    told = text if before is None else f"{before.text}\n\n{text}"
    return request.override(system_message=SystemMessage(content=told))


def _replaced(message: AnyMessage, by: Message) -> AnyMessage:
    return cast("AnyMessage", message.model_copy(update={"content": by.text}))


def _made(message: Message) -> AnyMessage:
    kind = AIMessage if message.role == "assistant" else HumanMessage
    return kind(content=message.text)
