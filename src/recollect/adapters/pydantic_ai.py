"""Memory for PydanticAI agents: `Agent(model, capabilities=[RecollectMemory(memory)])`.

Every model request gets what is remembered among its instructions and a window that fits; neither
is stored in the message history. Large tool results are archived, and the history keeps what
stands for them. What was said is read for what is worth remembering when the run ends, also when
it fails or is cancelled.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    RetryFeedbackPart,
    SpeechPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.tools import Tool
from pydantic_ai.toolsets import FunctionToolset

from recollect.adapters.bridge import AnyMemory
from recollect.adapters.companion import MOST_SESSIONS, Companion, Conversation, newest_words
from recollect.context.edits import Drop, Insert, Replace
from recollect.context.history import SessionPlan
from recollect.context.notes import SessionNotes
from recollect.context.session import Session
from recollect.domain.context import Tongue
from recollect.domain.memory_tools import memory_guide
from recollect.domain.message import FilePart, Message, Part, ToolCall
from recollect.domain.message import TextPart as OurText

__all__ = ["RecollectMemory"]

ID: Final = "memory"
User = Callable[[RunContext[Any]], str | None]


class RecollectMemory(AbstractCapability[Any]):
    """Memory for one agent.

    A conversation is the run's `conversation_id` unless `session` names it. `user` says whose it
    is, as a name or as a function of the run's context; by default it is the one that the memory
    was given to (`memory.scope(user=…)`), else that of the run which delegates to this one, else
    somebody anonymous of the conversation. `degraded` tells what went wrong with memory; a run
    never fails because of it.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        session: str | None = None,
        user: str | User | None = None,
        model: str | None = None,
        context_tokens: int | None = None,
        language: Tongue = "en",
        with_tools: bool = True,
    ) -> None:
        self.id = ID
        self._given = memory
        self._companion = Companion(
            memory, model=model, context_tokens=context_tokens, language=language
        )
        self._session = session
        self._user = user
        # Whose each conversation is, the one that ran last at the end.
        self._users: OrderedDict[str, str | None] = OrderedDict()
        self._with_tools = with_tools

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return self._companion.degraded

    def for_delegate(self, agent: str, **options: Any) -> RecollectMemory:
        """Return the memory of an agent that this one delegates to: the same user, its own notes.

        Give it to the run: `helper.run(task, capabilities=[memory.for_delegate("helper")])`.
        """
        return RecollectMemory(
            self._given.scope(agent=agent),
            user=self._user,
            language=self._companion.language,
            **options,
        )

    async def notes(self, session: str | None = None, *, user: str | None = None) -> SessionNotes:
        """Return what the tools of a conversation have found: structures and chunks.

        It is the conversation that ran last unless `session` names one. Give the `user` where
        several of them have conversations with that name.
        """
        wanted = session or self._session or next(reversed(self._users), None)
        whose = user or (self._user if isinstance(self._user, str) else None)
        whose = whose or self._users.get(wanted or "")
        talk = self._companion.conversation(wanted, whose)
        return (await self._companion.bridge.arun(lambda: _opened(talk))).notes

    async def reset(self, session: str | None = None, *, user: str | None = None) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        (await self.notes(session, user=user)).clear_query_context()

    async def reset_all(self, session: str | None = None, *, user: str | None = None) -> None:
        """Let go of everything that the tools of a conversation have found."""
        (await self.notes(session, user=user)).reset()

    def get_ordering(self) -> CapabilityOrdering:
        """Be outermost: see the history as it is kept, and a result as the others leave it."""
        return CapabilityOrdering(position="outermost")

    def get_instructions(self) -> Callable[[RunContext[Any]], Any]:
        """Tell a realtime session what is remembered; it has no model requests to prepare."""

        async def told(ctx: RunContext[Any]) -> str | None:
            if isinstance(ctx.model, Model):
                return None
            asked = newest_words([piece.view for piece in flattened(ctx.messages)])
            guide = memory_guide(self._companion.language) if self._with_tools else ""
            known = await self._talk(ctx).context(asked) if asked else ""
            return "\n\n".join(filter(None, (guide, known))) or None

        return told

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the memory tools."""
        if not self._with_tools:
            return None
        box = self._companion.memory.tools(self._companion.language)
        return FunctionToolset(
            [
                Tool[Any].from_schema(
                    self._tool(told["name"]),
                    name=told["name"],
                    description=told["description"],
                    json_schema=told["parameters"],
                    takes_ctx=True,
                )
                for told in box.json_schemas()
            ]
        )

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Change what goes to the model for this one request."""
        flat = flattened(request_context.messages)
        views = [piece.view for piece in flat]
        plan = await self._talk(ctx).plan(views, with_tools=self._with_tools)
        parameters = request_context.model_request_parameters
        if plan.system:
            told = InstructionPart(content=plan.system, dynamic=True)
            parts = [*(parameters.instruction_parts or ()), told]
            parameters = replace(parameters, instruction_parts=parts)
        return replace(
            request_context,
            messages=planned(request_context.messages, flat, plan),
            model_request_parameters=parameters,
        )

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        """Answer a call whose result is known, where the settings allow it."""
        known = await self._talk(ctx).known_result(call.tool_name, args)
        if known is None:
            return await handler(args)
        return await self.after_tool_execute(
            ctx, call=call, tool_def=tool_def, args=args, result=known
        )

    async def after_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: Any, args: Any, result: Any
    ) -> Any:
        """Put a large result away; the history keeps what stands for it."""
        returned = _returned(result)
        part = ToolReturnPart(tool_name=call.tool_name, content=returned.return_value)
        if part.files:
            return result
        text = part.model_response_str()
        question = newest_words([piece.view for piece in flattened(ctx.messages)])
        kept = await self._talk(ctx).result(
            call.tool_name, args, text, question=question, call_id=call.tool_call_id
        )
        if kept == text:
            return result
        return replace(returned, return_value=kept)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Callable[[], Any]) -> Any:
        """Have the conversation read when the run is over, however it ends."""
        talk = self._talk(ctx)
        views: list[Message] = []
        try:
            with self._companion.calling(talk.user):
                result = await handler()
            views = [piece.view for piece in flattened(result.all_messages())]
            return result
        finally:
            # What was said before a failure was taken over with the last request.
            await talk.leave(views)

    def _talk(self, ctx: RunContext[Any]) -> Conversation:
        session = self._session or ctx.conversation_id
        named = self._user(ctx) if callable(self._user) else self._user
        user = self._companion.user_of(named or None, session)
        if session is not None:
            self._users[session] = user
            self._users.move_to_end(session)
            while len(self._users) > MOST_SESSIONS:
                self._users.popitem(last=False)
        return self._companion.conversation(session, user)

    def _tool(self, name: str) -> Callable[..., Any]:
        async def call(ctx: RunContext[Any], **arguments: Any) -> str:
            return await self._talk(ctx).call(name, arguments)

        return call


async def _opened(talk: Conversation) -> Session:
    return await (await talk.opened())


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a history as one message of ours, and where it stands there.

    Of a request every part is one, of a response all parts together.
    """

    view: Message
    message: int
    part: int | None


def flattened(messages: Sequence[ModelMessage]) -> list[Piece]:
    """Return a history as messages of ours, one after another."""
    pieces: list[Piece] = []
    for at, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            pieces.append(Piece(_response_view(message), at, None))
            continue
        pieces += [Piece(_part_view(part), at, place) for place, part in enumerate(message.parts)]
    return pieces


def planned(
    messages: Sequence[ModelMessage], flat: Sequence[Piece], plan: SessionPlan
) -> list[ModelMessage]:
    """Return the history after a plan; what stays are the same objects."""
    dropped = {flat[it.index] for it in plan.edits if isinstance(it, Drop)}
    replaced = {flat[it.index]: it.message for it in plan.edits if isinstance(it, Replace)}
    inserted: dict[int, list[ModelMessage]] = {}
    for edit in plan.edits:
        if isinstance(edit, Insert):
            at = flat[edit.before].message if edit.before < len(flat) else len(messages)
            told = UserPromptPart(content=edit.message.text)
            inserted.setdefault(at, []).append(ModelRequest(parts=[told]))
    result: list[ModelMessage] = []
    for at, message in enumerate(messages):
        pieces = [it for it in flat if it.message == at]
        result += inserted.get(at, [])
        if not any(it in dropped or it in replaced for it in pieces):
            result.append(message)
        elif isinstance(message, ModelRequest) and any(it not in dropped for it in pieces):
            kept = [
                _replaced(part, replaced[piece].text) if piece in replaced else part
                for part, piece in zip(message.parts, pieces, strict=True)
                if piece not in dropped
            ]
            result.append(replace(message, parts=kept))
    return [*result, *inserted.get(len(messages), [])]


def _returned(result: Any) -> ToolReturn[Any]:
    is_one = isinstance(result, ToolReturn)
    return cast("ToolReturn[Any]", result) if is_one else ToolReturn(return_value=result)


def _replaced(part: ModelRequestPart, text: str) -> ModelRequestPart:
    return cast("ModelRequestPart", replace(cast("Any", part), content=text))


def _part_view(part: ModelRequestPart) -> Message:
    match part:
        case UserPromptPart():
            return Message(role="user", parts=tuple(_contents(part.content)))
        case SpeechPart():
            return Message(role="user", parts=(_spoken(part),))
        case ToolReturnPart():
            return _result(part.tool_call_id, part.model_response_str())
        case RetryFeedbackPart():
            return Message(role="user", parts=(OurText(text=str(part.content)),))
        case SystemPromptPart():
            return Message(role="system", parts=(OurText(text=str(part.content)),))
        case _:
            return Message(role="system", parts=())


def _result(call: str, text: str) -> Message:
    return Message(role="tool", answers=call, parts=(OurText(text=text),))


def _response_view(message: ModelResponse) -> Message:
    parts: list[Part] = []
    calls: list[ToolCall] = []
    for part in message.parts:
        match part:
            case TextPart():
                parts.append(OurText(text=part.content))
            case SpeechPart():
                parts.append(_spoken(part))
            case ToolCallPart():
                given = json.dumps(part.args_as_dict(), ensure_ascii=False, default=str)
                calls.append(ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=given))
            case _:
                parts.append(FilePart(source={"pydantic_ai": part.part_kind}, name=part.part_kind))
    return Message(role="assistant", parts=tuple(parts), tool_calls=tuple(calls))


def _spoken(part: SpeechPart) -> Part:
    if part.transcript:
        return OurText(text=part.transcript)
    return FilePart(source={"pydantic_ai": part.part_kind}, name=part.part_kind)


def _contents(content: object) -> list[Part]:
    if isinstance(content, str):
        return [OurText(text=content)]
    several = cast("Sequence[object]", content)
    return [
        OurText(text=it) if isinstance(it, str) else FilePart(source=_named(it), name=_kind(it))
        for it in several
    ]


def _named(part: object) -> Mapping[str, Any]:
    return {"pydantic_ai": _kind(part)}


def _kind(part: object) -> str:
    return str(getattr(part, "kind", type(part).__name__))
