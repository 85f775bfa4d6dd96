"""The public facade: `Memory` and the views it hands out."""

from recollect.memory.facade import Memory, Namespace

__all__ = ["Memory", "Namespace"]
