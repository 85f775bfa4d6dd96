"""Memory for the OpenAI Agents SDK.

    known = AgentMemory(memory, session="monday")
    result = await known.run(known.agent(agent), "Hello", session=known.session)

Every model call, also of agents that were handed the conversation, gets what is remembered at the
end of its instructions and a window that fits; neither is written to the session. Large results of
tools are archived, and the session keeps what stands for them.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from agents import (
    Agent,
    FunctionTool,
    RunConfig,
    RunHooks,
    Runner,
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputText,
)
from agents.memory import SessionSettings
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
from agents.run import CallModelData, ModelInputData

from recollect.adapters.bridge import AnyMemory
from recollect.adapters.companion import Companion, applied, newest_words, result_text
from recollect.context.notes import SessionNotes
from recollect.domain.context import Tongue
from recollect.domain.memory_tools import is_memory_tool
from recollect.domain.message import FilePart, Message, Part, Role, TextPart, ToolCall
from recollect.memory.items import Items

__all__ = ["AgentMemory", "RecollectSession"]

T = TypeVar("T")

_PLACE: Final = "openai-agents"
# With these the provider keeps the history, and a call carries only what is new.
_KEPT_ELSEWHERE: Final = ("conversation_id", "previous_response_id", "auto_previous_response_id")
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_BLOCKS: Final = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)


class RecollectSession:
    """The SDK's `Session` on a memory's items: durable, exported and forgotten with the rest.

    It belongs to the memory's user (`memory.scope(user=…)`); without one, to somebody anonymous.
    """

    def __init__(
        self,
        session_id: str,
        memory: AnyMemory,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = (
            SessionSettings()
            if session_settings is None
            else coerce_session_settings(session_settings)
        )
        self._companion = Companion(memory)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the newest items in their order, or all of them."""
        most = resolve_session_limit(limit, self.session_settings)
        if most == 0:
            return []
        # The SDK's own session takes a negative limit for none.
        wanted = None if most is None or most < 0 else most
        found = await self._run(
            lambda items: items.listed(self._place, limit=wanted, last_first=True)
        )
        return [dict(it.value) for it in reversed(found)]

    async def add_items(self, items: Sequence[Any]) -> None:
        """Add items at the end."""
        if items:
            await self._run(lambda kept: kept.append(self._place, items))

    async def pop_item(self) -> Any:
        """Remove the last item and return it, or None."""
        last = await self._run(lambda items: items.pop(self._place))
        return None if last is None else dict(last.value)

    async def clear_session(self) -> None:
        """Remove every item of this session."""
        await self._run(lambda items: items.clear(self._place))

    async def _run(self, call: Callable[[Items], Awaitable[T]]) -> T:
        memory = self._companion.seen_by(None, self.session_id)
        return await self._companion.bridge.arun(lambda: call(memory.items))

    @property
    def _place(self) -> tuple[str, str]:
        return (_PLACE, self.session_id)


class AgentMemory:
    """Memory for one conversation, whichever agents take part in it.

    The agent that a run starts with and those it hands over to are told and observed. An agent
    that is called as a tool gets what is remembered about its task, and is not observed: its task
    is no word of the user. `degraded` tells what went wrong; a run never fails because of memory.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        session: str,
        model: str | None = None,
        context_tokens: int | None = None,
        language: Tongue = "en",
    ) -> None:
        self._companion = Companion(
            memory, model=model, context_tokens=context_tokens, language=language
        )
        self._talk = self._companion.conversation(session)
        self.session = RecollectSession(session, memory)
        self.hooks = HandoffHooks(self)
        self._speakers: set[str] = set()
        self._newest: list[Any] = []
        self._is_kept_elsewhere = False

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return self._companion.degraded

    @property
    def tools(self) -> list[FunctionTool]:
        """Return the memory tools."""
        # Strict schemas would make every argument required that has a default.
        return [
            FunctionTool(
                name=told["name"],
                description=told["description"],
                params_json_schema=told["parameters"],
                on_invoke_tool=self._memory_tool(told["name"]),
                strict_json_schema=False,
            )
            for told in self._talk.toolbox.json_schemas()
        ]

    def agent(self, agent: Agent[Any], *, with_tools: bool = True) -> Agent[Any]:
        """Return a copy of an agent: with memory tools, and large results of its own archived."""
        own = [
            self.archiving(tool) if isinstance(tool, FunctionTool) else tool for tool in agent.tools
        ]
        return agent.clone(tools=[*own, *(self.tools if with_tools else ())])

    def archiving(self, tool: FunctionTool) -> FunctionTool:
        """Return a copy of a tool whose results are noted, and archived if they are large."""
        invoke = tool.on_invoke_tool

        async def call(context: Any, arguments: str) -> Any:
            known = await self._talk.known_result(tool.name, arguments)
            result = await invoke(context, arguments) if known is None else known
            text = _text_of(result)
            if text is None or is_memory_tool(tool.name):
                return result
            question = newest_words([view_of(it) for it in grouped(self._newest)])
            kept = await self._talk.result(
                tool.name, arguments, text, question=question, call_id=context.tool_call_id
            )
            return result if kept == text else kept

        return replace(tool, on_invoke_tool=call)

    async def notes(self) -> SessionNotes | None:
        """Return what the tools of the conversation have found; None where memory fails."""
        return await self._talk.notes()

    async def reset(self) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        await self._talk.reset()

    async def reset_all(self) -> None:
        """Let go of everything that the tools of the conversation have found."""
        await self._talk.reset(everything=True)

    def run_config(self, **options: Any) -> RunConfig:
        """Return the configuration of a run with memory; `options` are those of `RunConfig`."""
        return RunConfig(call_model_input_filter=self.input_filter, **options)

    async def run(self, agent: Agent[Any], input: Any, **options: Any) -> Any:
        """Run an agent as `Runner.run` does, and read what was said when it ends, however it does.

        For a streamed run give it `run_config()` and `hooks`, and call `leave` at its end.
        """
        self.begin(agent)
        self._is_kept_elsewhere = any(options.get(it) for it in _KEPT_ELSEWHERE)
        options.setdefault("hooks", self.hooks)
        options.setdefault("run_config", self.run_config())
        result: Any = None
        try:
            result = await Runner.run(agent, input, **options)
            return result
        finally:
            await self.leave(result)

    def begin(self, agent: Agent[Any]) -> None:
        """Take an agent for one that speaks with the user."""
        self._speakers.add(agent.name)

    async def leave(self, result: Any = None) -> None:
        """Take over the answer of a run, and have what was said read for what is worth keeping."""
        said = list(self._newest)
        if result is not None and result.raw_responses:
            said += result.raw_responses[-1].to_input_items()
        views = [] if self._is_kept_elsewhere else [view_of(it) for it in grouped(said)]
        await self._talk.leave(views)

    async def input_filter(self, data: CallModelData[Any]) -> ModelInputData:
        """Change what goes to the model for this one call."""
        given = data.model_data
        pieces = grouped(given.input)
        views = [view_of(it) for it in pieces]
        if self._is_kept_elsewhere or not self._is_conversation(data):
            told = await self._talk.context(newest_words(views))
            return ModelInputData(input=given.input, instructions=_joined(given, told))
        self._newest = list(given.input)
        with_tools = any(is_memory_tool(tool.name) for tool in data.agent.tools)
        plan = await self._talk.plan(views, with_tools=with_tools)
        sent = applied(pieces, plan, _replaced, _made)
        return ModelInputData(
            input=[item for piece in sent for item in piece],
            instructions=_joined(given, plan.system),
        )

    def _is_conversation(self, data: CallModelData[Any]) -> bool:
        """Return whether a call is part of the conversation, not of an agent used as a tool.

        Who was handed over to is known from the hooks; without them, from the same beginning.
        """
        if not self._speakers:
            self.begin(data.agent)
        same = self._newest[:1] == list(data.model_data.input[:1])
        return data.agent.name in self._speakers or same

    def _memory_tool(self, name: str) -> Callable[..., Any]:
        async def call(_: Any, arguments: str) -> str:
            return await self._talk.call(name, arguments)

        return call


class HandoffHooks(RunHooks[Any]):
    """Notice which agents a conversation was handed to, also when the handoff cuts its history."""

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        self._memory.begin(to_agent)


def _text_of(result: Any) -> str | None:
    """Return a tool's result as text; None for content blocks of the SDK."""
    items = result if isinstance(result, list | tuple) else [result]
    if any(
        isinstance(item, _BLOCKS) or (isinstance(item, dict) and "type" in item) for item in items
    ):
        return None
    return result_text(result)


def grouped(items: Sequence[Any]) -> list[list[Any]]:
    """Return the items in pieces: what a model gave in one answer stays together."""
    pieces: list[list[Any]] = []
    was_answer = False
    for item in items:
        is_answer = _role(item) == "assistant"
        if is_answer and was_answer:
            pieces[-1].append(item)
        else:
            pieces.append([item])
        was_answer = is_answer
    return pieces


def view_of(piece: Sequence[Mapping[str, Any]]) -> Message:
    """Return a piece as a message of ours."""
    first = piece[0]
    calls = tuple(
        ToolCall(id=it["call_id"], name=it["name"], arguments=it["arguments"])
        for it in piece
        if it.get("type") == "function_call"
    )
    parts = [part for it in piece if it.get("type") != "function_call" for part in _parts(it)]
    answers = first["call_id"] if first.get("type") == "function_call_output" else None
    return Message(role=_role(first), parts=tuple(parts), tool_calls=calls, answers=answers)


def _role(item: Mapping[str, Any]) -> Role:
    if "role" in item:
        return _ROLES.get(item["role"], "system")
    return "tool" if item.get("type") == "function_call_output" else "assistant"


def _parts(item: Mapping[str, Any]) -> list[Part]:
    content = item.get("content" if "role" in item else "output")
    if isinstance(content, str):
        return [TextPart(text=content)]
    if not isinstance(content, Sequence) or (
        "role" not in item and item.get("type") == "reasoning"
    ):
        kind = str(item.get("type", ""))
        return [FilePart(source={"openai": dict(item)}, name=kind)]
    return [
        TextPart(text=block["text"])
        if isinstance(block.get("text"), str)
        else FilePart(source={"openai": dict(block)}, name=str(block.get("type", "")))
        for block in content
    ]


def _joined(given: ModelInputData, told: str) -> str | None:
    return "\n\n".join(it for it in (given.instructions, told) if it) or None


def _replaced(piece: list[Any], by: Message) -> list[Any]:
    """Return a piece with another text; an answer keeps its calls and its reasoning."""
    if by.role == "assistant":
        return piece
    field = "output" if by.role == "tool" else "content"
    return [{**piece[0], field: by.text}]


def _made(message: Message) -> list[Any]:
    role = "assistant" if message.role == "assistant" else "user"
    return [{"role": role, "content": message.text}]
