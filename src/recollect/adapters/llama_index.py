"""Memory for LlamaIndex agents: `Memory.from_defaults(memory_blocks=[RecollectBlock(memory)])`.

Every step of an agent is told what is remembered about the user's newest message; it is not
written to the chat history. LlamaIndex puts the block into a system message of its own, or with
`insert_method="user"` into the user's.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llama_index.core.llms import ChatMessage, MessageRole, TextBlock
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from pydantic import PrivateAttr

from recollect.adapters.bridge import AnyMemory
from recollect.adapters.companion import (
    Companion,
    Conversation,
    newest_words,
    result_text,
    text_message,
)
from recollect.context.notes import SessionNotes
from recollect.domain.context import Tongue
from recollect.domain.message import Message, Role

__all__ = ["RecollectBlock"]

_ROLES: Mapping[MessageRole, Role] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
}


class RecollectBlock(BaseMemoryBlock[str]):
    """A memory block for one conversation, of whom `memory.scope(user=…)` names.

    LlamaIndex tells a block only what its short-term memory has no room for, and never that a run
    is over: call `leave` with the history then. `degraded` tells what went wrong with memory.
    """

    _talk: Conversation = PrivateAttr()
    # What the user said last, for the tools that are called about it.
    _asked: str = PrivateAttr("")

    def __init__(
        self,
        memory: AnyMemory,
        *,
        session: str,
        name: str = "recollect",
        language: Tongue = "en",
        **options: Any,
    ) -> None:
        # What is put here is put again by `leave`, with all that came after it.
        super().__init__(name=name, accept_short_term_memory=False, **options)
        self._talk = Companion(memory, language=language).conversation(session)

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return self._talk.companion.degraded

    def tools(self) -> list[FunctionTool]:
        """Return the memory tools."""
        return [
            FunctionTool(
                async_fn=self._tool(spec.name),
                metadata=ToolMetadata(
                    name=spec.name,
                    description=spec.description(self._talk.companion.language),
                    fn_schema=spec.arguments,
                ),
            )
            for spec in self._talk.toolbox.specs
        ]

    def archiving(self, tool: FunctionTool) -> FunctionTool:
        """Return a copy of a tool whose results are noted, and archived if they are large."""
        return _ArchivingTool(tool, self)

    async def known(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """Return what an equal call gave, if it may be used instead of a new call."""
        return await self._talk.known_result(tool, arguments)

    async def kept(self, tool: str, arguments: Mapping[str, Any], result: str) -> str:
        """Note a tool's result, and return it or what stands for a large one."""
        return await self._talk.result(tool, arguments, result, question=self._asked)

    async def notes(self) -> SessionNotes | None:
        """Return what the tools of the conversation have found; None where memory fails."""
        return await self._talk.notes()

    async def reset(self) -> None:
        """Let go of what belongs to the current question; cached structures stay."""
        await self._talk.reset()

    async def reset_all(self) -> None:
        """Let go of everything that the tools of the conversation have found."""
        await self._talk.reset(everything=True)

    async def leave(self, messages: Sequence[ChatMessage]) -> None:
        """Take over a history, and have it read for what is worth remembering."""
        views = [view for message in messages if (view := view_of(message)) is not None]
        await self._talk.leave(views)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        views = [view for it in messages or () if (view := view_of(it)) is not None]
        self._asked = asked = newest_words(views)
        return await self._talk.context(asked) if asked else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self.leave(messages)

    def _tool(self, name: str) -> Callable[..., Any]:
        async def call(**arguments: Any) -> str:
            return await self._talk.call(name, arguments)

        return call


class _ArchivingTool(FunctionTool):
    """A copy of a tool for a conversation with memory."""

    def __init__(self, tool: FunctionTool, block: RecollectBlock) -> None:
        super().__init__(
            fn=tool.real_fn, metadata=tool.metadata, partial_params=tool.partial_params
        )
        self._block = block

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        name = self.metadata.get_name()
        given = {it: value for it, value in kwargs.items() if it != self.ctx_param_name}
        known = await self._block.known(name, given)
        if known is None:
            output = await super().acall(*args, **kwargs)
        else:
            output = ToolOutput(content=known, tool_name=name, raw_input=given, raw_output=known)
        if not all(isinstance(block, TextBlock) for block in output.blocks):
            return output
        text = result_text(output.raw_output)
        kept = await self._block.kept(name, given, text)
        if kept == text:
            return output
        return ToolOutput(
            content=kept,
            tool_name=name,
            raw_input=output.raw_input,
            raw_output=output.raw_output,
        )


def view_of(message: ChatMessage) -> Message | None:
    """Return what a person or the assistant said; None for anything else."""
    role = _ROLES.get(message.role)
    text = message.content or ""
    return None if role is None or not text else text_message(role, text)
