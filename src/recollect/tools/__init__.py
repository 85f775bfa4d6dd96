"""Tools for agents, published by every interface."""

from recollect.tools.specs import SPECS, ToolSpec
from recollect.tools.tool_context import ToolContext
from recollect.tools.toolbox import Toolbox, open_toolbox

__all__ = ["SPECS", "ToolContext", "ToolSpec", "Toolbox", "open_toolbox"]
