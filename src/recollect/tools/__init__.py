"""Tools for agents, published by every interface."""

from recollect.tools.specs import SPECS, ToolSpec
from recollect.tools.tool_context import Desk
from recollect.tools.toolbox import Toolbox, open_toolbox

__all__ = ["SPECS", "Desk", "ToolSpec", "Toolbox", "open_toolbox"]
