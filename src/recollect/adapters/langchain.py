"""Memory for LangChain agents: `create_agent(model, middleware=[RecollectMiddleware(memory)])`.

Every model call gets what is remembered at the end of its system prompt and a window that fits;
neither is written to the agent's state. Large tool results are archived, and the state keeps what
stands for them. Memory tools are there for the model.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Annotated, Any, Final, NotRequired, cast

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    OmitFromInput,
    OmitFromOutput,
)
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

from recollect.adapters.bridge import AnyMemory
from recollect.adapters.companion import Companion, Conversation, applied, newest_words
from recollect.context.history import SessionPlan
from recollect.context.notes import SessionNotes
from recollect.domain.context import Tongue
from recollect.domain.ids import new_id
from recollect.domain.message import FilePart, Message, Part, Role, TextPart, ToolCall

__all__ = ["RecollectMiddleware"]

_ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "tool": "tool"}


# Where a run may name its user, the surest first: LangGraph's server sets the first one after a
# sign-in; the others are the program's own.
_CONFIGURED: Final = ("langgraph_auth_user_id", "user_id", "langgraph_user_id")
_FIELDS: Final = ("user_id", "user_name")
_MOST_RUNS: Final = 1_000


@dataclass(frozen=True)
class Run:
    """The conversation that a call belongs to, and what went wrong with memory in it so far."""

    talk: Conversation
    problems: list[str] = field(default_factory=list)
    """Those of agents that were called as tools of this run's agent among them."""

    def add(self, problems: Sequence[str]) -> None:
        """Note what went wrong, each once."""
        self.problems[:] = dict.fromkeys([*self.problems, *problems])


def run_of(companion: Companion, state: object = None, session: str | None = None) -> Run:
    """Return the run that a call belongs to.

    Its user is named by the run's configuration, its context or its state, or by the run whose
    tool calls this one. Otherwise it is somebody anonymous: of the thread, without one of the run.
    """
    try:
        configured: Mapping[str, Any] = get_config().get("configurable") or {}
    except RuntimeError:
        configured = {}
    runtime = configured.get("__pregel_runtime")
    session = session or configured.get("thread_id")
    places = (
        (_field(_field(runtime, "server_info"), "user"), ("identity",)),
        (configured, _CONFIGURED),
        (_field(runtime, "context"), _FIELDS),
        (state, _FIELDS),
    )
    named = (_first(source, names) for source, names in places)
    user = companion.named(next((it for it in named if it is not None), None))
    known = _RUNS.find(_field(runtime, "control"))
    thread = None if session is None else str(session)
    whose = companion.user_of(user, thread or known.anonymous)
    return Run(companion.conversation(thread, whose), known.problems)


@dataclass(frozen=True)
class _Known:
    """What is kept about a run while it goes on."""

    control: object
    anonymous: str = field(default_factory=lambda: new_id("sess"))
    problems: list[str] = field(default_factory=list)


class _Runs:
    """The runs that go on now, by the object that LangGraph makes for each, sub-graphs included."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, _Known] = OrderedDict()
        self._lock = Lock()

    def find(self, control: object) -> _Known:
        if control is None:
            return _Known(control)
        with self._lock:
            # It is held here, so that no other object can get its number.
            known = self._known.pop(id(control), None) or _Known(control)
            self._known[id(control)] = known
            while len(self._known) > _MOST_RUNS:
                self._known.popitem(last=False)
            return known


_RUNS: Final = _Runs()


def _first(source: object, names: Sequence[str]) -> Any:
    found = (_field(source, name) for name in names)
    return next((it for it in found if it is not None and str(it).strip()), None)


def _field(source: object, name: str) -> Any:
    return source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)


def _newest(_: list[str], told: list[str]) -> list[str]:
    """Sub-agents that work side by side tell the same run's problems: any of them will do."""
    return told


class MemoryState(AgentState):
    """The state of an agent with memory: who its user is, and what went wrong in this run."""

    memory_degraded: NotRequired[Annotated[list[str], OmitFromInput, _newest]]
    user_id: NotRequired[Annotated[str, OmitFromOutput]]
    user_name: NotRequired[Annotated[str, OmitFromOutput]]


class RecollectMiddleware(AgentMiddleware):
    """Memory for one agent, in blocking and in async runs.

    A conversation is the run's `thread_id`, unless `session` names it. Its user is the one that
    the memory was given to (`memory.scope(user=…)`), else the run's: `user_id` or
    `langgraph_user_id` in its configuration, `user_id` or `user_name` in its context or state, else
    somebody anonymous of the thread, or of the run. A run never fails because of memory:
    `memory_degraded` in its result tells what went wrong.
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
        self._companion = Companion(
            memory, model=model, context_tokens=context_tokens, language=language
        )
        self._bridge = self._companion.bridge
        self._session = session
        self._name = name
        self._with_tools = with_tools
        self.tools = self._made_tools() if with_tools else []

    @property
    def name(self) -> str:
        """Return the name; two memories for one agent need different ones."""
        return self._name

    def wrap_model_call(self, request: ModelRequest, handler: Callable[..., Any]) -> Any:
        run = self._run(request.state)
        plan = self._bridge.run(lambda: self._plan(request, run))
        return handler(_planned(request, plan))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        run = self._run(request.state)
        plan = await self._plan(request, run)
        return await handler(_planned(request, plan))

    def wrap_tool_call(self, request: Any, handler: Callable[..., Any]) -> Any:
        run = self._run(request.state)
        known = self._bridge.run(lambda: self._known(request, run))
        with self._companion.calling(run.talk.user):
            result = handler(request) if known is None else known
        return self._bridge.run(lambda: self._archived(request, result, run))

    async def awrap_tool_call(self, request: Any, handler: Callable[..., Awaitable[Any]]) -> Any:
        run = self._run(request.state)
        known = await self._known(request, run)
        with self._companion.calling(run.talk.user):
            result = await handler(request) if known is None else known
        return await self._archived(request, result, run)

    def notes(self, session: str | None = None, user: str | None = None) -> SessionNotes | None:
        """Return what the tools of a conversation have found; None where memory fails."""
        return self._bridge.run(self._named(session, user).notes)

    async def anotes(
        self, session: str | None = None, user: str | None = None
    ) -> SessionNotes | None:
        """Return what the tools of a conversation have found; None where memory fails."""
        return await self._named(session, user).notes()

    def reset(self, session: str | None = None, user: str | None = None) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        self._bridge.run(self._named(session, user).reset)

    async def areset(self, session: str | None = None, user: str | None = None) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        await self._named(session, user).reset()

    def reset_all(self, session: str | None = None, user: str | None = None) -> None:
        """Let go of everything that the tools of a conversation have found."""
        self._bridge.run(lambda: self._named(session, user).reset(everything=True))

    async def areset_all(self, session: str | None = None, user: str | None = None) -> None:
        """Let go of everything that the tools of a conversation have found."""
        await self._named(session, user).reset(everything=True)

    def _named(self, session: str | None, user: str | None) -> Conversation:
        return self._companion.conversation(session or self._session, user)

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        run = self._run(state)
        self._bridge.run(lambda: run.talk.leave(views_of(state["messages"])))
        return self._told(run)

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        run = self._run(state)
        await run.talk.leave(views_of(state["messages"]))
        return self._told(run)

    def _told(self, run: Run) -> dict[str, Any]:
        run.add(self._companion.take_degraded())
        return {"memory_degraded": list(run.problems)}

    def _run(self, state: object = None) -> Run:
        return run_of(self._companion, state, self._session)

    async def _plan(self, request: ModelRequest, run: Run) -> SessionPlan:
        return await run.talk.plan(views_of(request.messages), with_tools=self._with_tools)

    async def _known(self, request: Any, run: Run) -> ToolMessage | None:
        """Return the result of an equal call that may be used instead of a new one."""
        call = request.tool_call
        known = await run.talk.known_result(call["name"], call["args"])
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
                    await self._archived_message(request, message, run)
                    if isinstance(message, ToolMessage)
                    else message
                    for message in messages
                ]
                return replace(result, update={**result.update, "messages": kept})
        return result

    async def _archived_message(self, request: Any, message: ToolMessage, run: Run) -> ToolMessage:
        state = request.state if isinstance(request.state, Mapping) else {}
        text = view_of(message).text
        kept = await run.talk.result(
            request.tool_call["name"],
            request.tool_call["args"],
            text,
            question=newest_words(views_of(state.get("messages", ()))),
            call_id=message.tool_call_id,
            failed=message.status == "error",
        )
        return message if kept == text else message.model_copy(update={"content": kept})

    def _made_tools(self) -> list[StructuredTool]:
        box = self._companion.memory.tools(self._companion.language)
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
            talk = self._run().talk
            return self._bridge.run(lambda: talk.call(tool, _given(arguments)))

        return call

    def _awaited(self, tool: str) -> Callable[..., Awaitable[str]]:
        async def call(**arguments: Any) -> str:
            return await self._run().talk.call(tool, _given(arguments))

        return call


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as JSON has them."""
    return {
        name: it.model_dump(exclude_unset=True) if hasattr(it, "model_dump") else it
        for name, it in arguments.items()
    }


def views_of(messages: Iterable[AnyMessage]) -> list[Message]:
    """Return LangChain messages as our own."""
    return [view_of(message) for message in messages]


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
