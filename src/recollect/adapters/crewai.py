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

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.adapters.companion import Companion, result_text
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
    """Return a copy of a tool whose results are noted, and archived if they are large."""
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
        known = self._bridge.run(lambda: self._known(arguments))
        result = self._tool.run(**arguments) if known is None else known
        return self._bridge.run(lambda: self._kept(arguments, result))

    async def _arun(self, **arguments: Any) -> Any:
        known = await self._bridge.arun(lambda: self._known(arguments))
        result = await self._tool.arun(**arguments) if known is None else known
        return await self._bridge.arun(lambda: self._kept(arguments, result))

    async def _known(self, arguments: dict[str, Any]) -> str | None:
        return await self._companion.known_result(self.name, arguments, session=self._session)

    async def _kept(self, arguments: dict[str, Any], result: Any) -> Any:
        text = result_text(result)
        kept = await self._companion.result(self.name, arguments, text, session=self._session)
        return result if kept == text else kept


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
