"""Where the parts meet: settings in, a wired memory out. Nothing else knows every part.

Here stands only what opens a memory; what is needed more rarely is imported from its own module,
so that a program that asks one question starts without it.
"""

from recollect.assemble.memory import assemble

__all__ = ["assemble"]
