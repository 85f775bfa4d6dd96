"""The memory tools for CrewAI: `Agent(…, tools=memory_tools(memory))`.

`archiving(tool, memory)` is a tool of yours whose large results are put away.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any

from crewai.tools import BaseTool
from pydantic import PrivateAttr

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.adapters.companion import Companion
from recollect.domain.context import Tongue
from recollect.tools import Toolbox

__all__ = ["archiving", "memory_tools"]


def memory_tools(
    memory: AnyMemory, *, session: str | None = None, language: Tongue = "en"
) -> list[BaseTool]:
    """Return the memory tools for an agent; `session` is the conversation of its scratchpad.

    They are those of the memory's user (`memory.scope(user=…)`); without one, of the conversation.
    """
    bridge = Bridge(memory)
    box = Companion(bridge.memory, language=language).toolbox(session=session)
    return [
        _MemoryTool(
            bridge,
            box,
            name=spec.name,
            description=spec.description(language),
            args_schema=spec.arguments,
            # What was found before need not be what is found now.
            cache_function=_never,
        )
        for spec in box.specs
    ]


def archiving(tool: BaseTool, memory: AnyMemory, *, session: str | None = None) -> BaseTool:
    """Return a copy of a tool that archives its result if it is a large text."""
    bridge = Bridge(memory)
    companion = Companion(bridge.memory)
    return _ArchivingTool(
        bridge,
        companion,
        tool,
        session,
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        result_as_answer=tool.result_as_answer,
        max_usage_count=tool.max_usage_count,
        cache_function=tool.cache_function,
    )


class _ArchivingTool(BaseTool):
    """Another tool, whose large results are put away."""

    _bridge: Bridge = PrivateAttr()
    _companion: Companion = PrivateAttr()
    _tool: BaseTool = PrivateAttr()
    _session: str | None = PrivateAttr()

    def __init__(
        self,
        bridge: Bridge,
        companion: Companion,
        tool: BaseTool,
        session: str | None,
        **fields: Any,
    ) -> None:
        super().__init__(**fields)
        self._bridge, self._companion, self._tool = bridge, companion, tool
        self._session = session

    def _run(self, **arguments: Any) -> Any:
        result = self._tool.run(**arguments)
        return self._bridge.run(lambda: self._kept(arguments, result))

    async def _arun(self, **arguments: Any) -> Any:
        result = await self._tool.arun(**arguments)
        return await self._bridge.arun(lambda: self._kept(arguments, result))

    async def _kept(self, arguments: dict[str, Any], result: Any) -> Any:
        if not isinstance(result, str):
            return result
        return await self._companion.result(self.name, arguments, result, session=self._session)


class _MemoryTool(BaseTool):
    """One memory tool, for blocking and for async crews."""

    _bridge: Bridge = PrivateAttr()
    _box: Toolbox = PrivateAttr()

    def __init__(self, bridge: Bridge, box: Toolbox, **fields: Any) -> None:
        super().__init__(**fields)
        self._bridge = bridge
        self._box = box

    def _run(self, **arguments: Any) -> str:
        given = _without_nothing(arguments)
        return self._bridge.run(lambda: self._box.call(self.name, given))

    async def _arun(self, **arguments: Any) -> str:
        given = _without_nothing(arguments)
        return await self._bridge.arun(lambda: self._box.call(self.name, given))


def _without_nothing(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that the model gave, without the nulls that CrewAI adds."""
    return {name: it for name, it in arguments.items() if it is not None}


def _never(*_: Any) -> bool:
    return False
