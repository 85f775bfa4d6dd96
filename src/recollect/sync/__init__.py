"""Memory for blocking code: the calls of `recollect.Memory` without await."""

from recollect.sync.memory import Memory
from recollect.sync.session import Session

__all__ = ["Memory", "Session"]
