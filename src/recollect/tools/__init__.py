"""Tools for agents, published by every interface."""

from recollect.tools.desk import Desk
from recollect.tools.specs import SPECS, ToolSpec
from recollect.tools.toolbox import Toolbox, open_toolbox

__all__ = ["SPECS", "Desk", "ToolSpec", "Toolbox", "open_toolbox"]
