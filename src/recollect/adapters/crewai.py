"""The memory tools for CrewAI: `Agent(…, tools=memory_tools(memory))`."""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any

from crewai.tools import BaseTool
from pydantic import PrivateAttr

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.domain.context import Tongue
from recollect.domain.ids import new_id
from recollect.tools import Toolbox

__all__ = ["memory_tools"]


def memory_tools(
    memory: AnyMemory, *, session: str | None = None, language: Tongue = "en"
) -> list[BaseTool]:
    """Return the memory tools for an agent; `session` is the conversation of its scratchpad."""
    bridge = Bridge(memory)
    box = bridge.memory.tools(language, session=session or new_id("sess"))
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
    """Return what the model said; CrewAI adds every argument that it left out."""
    return {name: it for name, it in arguments.items() if it is not None}


def _never(*_: Any) -> bool:
    return False
