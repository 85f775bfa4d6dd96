"""The tools of a memory for blocking code."""

from __future__ import annotations

from recollect.sync.twin import Twin, blocking, wrapped
from recollect.tools.specs import ToolSpec
from recollect.tools.toolbox import Toolbox as AsyncToolbox


class Toolbox(Twin[AsyncToolbox]):
    """The tools for a model: their descriptions, and the answers to its calls."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools in order; none if memory is disabled for the agent."""
        return self._inner.specs

    openai = wrapped(AsyncToolbox.openai, lambda tools, _: tools)
    anthropic = wrapped(AsyncToolbox.anthropic, lambda tools, _: tools)
    json_schemas = wrapped(AsyncToolbox.json_schemas, lambda tools, _: tools)
    call = blocking(AsyncToolbox.call)
    run = blocking(AsyncToolbox.run)
