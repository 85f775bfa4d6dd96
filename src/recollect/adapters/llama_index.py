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

from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.tools import FunctionTool, ToolMetadata
from pydantic import PrivateAttr

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.adapters.companion import Companion, newest_words, text_message
from recollect.domain.context import Tongue
from recollect.domain.message import Message, Role

__all__ = ["RecollectBlock"]

_ROLES: Mapping[MessageRole, Role] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
}


class RecollectBlock(BaseMemoryBlock[str]):
    """A memory block for one conversation.

    LlamaIndex tells a block only what its short-term memory has no room for, and never that a run
    is over: call `leave` with the history then. `degraded` tells what went wrong with memory.
    """

    _bridge: Bridge = PrivateAttr()
    _companion: Companion = PrivateAttr()
    _session: str = PrivateAttr()
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
        self._bridge = Bridge(memory)
        self._companion = Companion(self._bridge.memory, language=language)
        self._session = session

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return what went wrong with memory so far."""
        return self._companion.degraded

    def tools(self) -> list[FunctionTool]:
        """Return the memory tools."""
        box = self._companion.toolbox(session=self._session)
        return [
            FunctionTool(
                async_fn=self._tool(spec.name),
                metadata=ToolMetadata(
                    name=spec.name,
                    description=spec.description(self._companion.language),
                    fn_schema=spec.arguments,
                ),
            )
            for spec in box.specs
        ]

    def archiving(self, tool: FunctionTool) -> FunctionTool:
        """Return a copy of a tool that archives its result if it is a large text."""

        async def archive(result: Any) -> str | None:
            if not isinstance(result, str):
                return None
            return await self._bridge.arun(
                lambda: self._companion.result(
                    tool.metadata.get_name(),
                    {},
                    result,
                    question=self._asked,
                    session=self._session,
                )
            )

        return FunctionTool(
            fn=tool.real_fn,
            metadata=tool.metadata,
            async_callback=archive,
            partial_params=tool.partial_params,
        )

    async def leave(self, messages: Sequence[ChatMessage]) -> None:
        """Take over a history, and have it read for what is worth remembering."""
        views = [view for it in messages if (view := view_of(it)) is not None]
        await self._bridge.arun(lambda: self._left(views))

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        views = [view for it in messages or () if (view := view_of(it)) is not None]
        self._asked = asked = newest_words(views)
        if not asked:
            return ""
        return await self._bridge.arun(
            lambda: self._companion.context(asked, session=self._session)
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self.leave(messages)

    async def _left(self, views: Sequence[Message]) -> None:
        await self._companion.sync(views, session=self._session)
        await self._companion.leave(session=self._session)

    def _tool(self, name: str) -> Callable[..., Any]:
        async def call(**arguments: Any) -> str:
            box = self._companion.toolbox(session=self._session)
            return await self._bridge.arun(lambda: box.call(name, arguments))

        return call


def view_of(message: ChatMessage) -> Message | None:
    """Return what a person or the assistant said; None for anything else."""
    role = _ROLES.get(message.role)
    text = message.content or ""
    return None if role is None or not text else text_message(role, text)
