"""The composition root: settings in, wired services out. No other package knows every part.

Only what opens a memory is imported here; what is needed more rarely is imported from its own
module, so that a program that asks one question starts without it.
"""

from recollect.assemble.memory import assemble

__all__ = ["assemble"]
