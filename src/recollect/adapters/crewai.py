"""The memory tools for CrewAI: `Agent(…, tools=memory_tools(memory))`.

`archiving(tool, memory)` is a tool of yours whose large results are put away, and which does not
repeat a call whose result is known, where the settings say so (`notes.answer_from_cache`).
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any

from crewai.tools import BaseTool
from pydantic import PrivateAttr

from recollect.adapters.bridge import AnyMemory
from recollect.adapters.companion import Companion, Conversation, result_text
from recollect.domain.context import Tongue

__all__ = ["archiving", "memory_tools"]


def memory_tools(
    memory: AnyMemory, *, session: str | None = None, language: Tongue = "en"
) -> list[BaseTool]:
    """Return the memory tools for an agent; `session` is the conversation of its scratchpad.

    They are those of the memory's user (`memory.scope(user=…)`); without one, of the conversation.
    """
    talk = Companion(memory, language=language).conversation(session)
    return [
        _MemoryTool(
            talk,
            name=spec.name,
            description=spec.description(language),
            args_schema=spec.arguments,
            # What was found before need not be what is found now.
            cache_function=_never,
        )
        for spec in talk.toolbox.specs
    ]


def archiving(tool: BaseTool, memory: AnyMemory, *, session: str | None = None) -> BaseTool:
    """Return a copy of a tool whose results are noted, and archived if they are large."""
    return _ArchivingTool(
        Companion(memory).conversation(session),
        tool,
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        result_as_answer=tool.result_as_answer,
        max_usage_count=tool.max_usage_count,
        cache_function=tool.cache_function,
    )


class _ArchivingTool(BaseTool):
    """Another tool, whose large results are put away."""

    _talk: Conversation = PrivateAttr()
    _tool: BaseTool = PrivateAttr()

    def __init__(self, talk: Conversation, tool: BaseTool, **fields: Any) -> None:
        super().__init__(**fields)
        self._talk, self._tool = talk, tool

    def _run(self, **arguments: Any) -> Any:
        run = self._talk.companion.bridge.run
        known = run(lambda: self._talk.known_result(self.name, arguments))
        result = self._tool.run(**arguments) if known is None else known
        return run(lambda: self._kept(arguments, result))

    async def _arun(self, **arguments: Any) -> Any:
        known = await self._talk.known_result(self.name, arguments)
        result = await self._tool.arun(**arguments) if known is None else known
        return await self._kept(arguments, result)

    async def _kept(self, arguments: dict[str, Any], result: Any) -> Any:
        text = result_text(result)
        kept = await self._talk.result(self.name, arguments, text)
        return result if kept == text else kept


class _MemoryTool(BaseTool):
    """One memory tool, for blocking and for async crews."""

    _talk: Conversation = PrivateAttr()

    def __init__(self, talk: Conversation, **fields: Any) -> None:
        super().__init__(**fields)
        self._talk = talk

    def _run(self, **arguments: Any) -> str:
        return self._talk.companion.bridge.run(lambda: self._arun(**arguments))

    async def _arun(self, **arguments: Any) -> str:
        return await self._talk.call(self.name, _without_nothing(arguments))


def _without_nothing(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that the model gave, without the nulls that CrewAI adds."""
    return {name: it for name, it in arguments.items() if it is not None}


def _never(*_: Any) -> bool:
    return False
